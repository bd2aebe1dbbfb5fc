import { Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import {
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSelector,
  IconSparkles,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { forgetSession } from '../api/session.ts'
import { useMe } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { MenuItemLink } from '../ui/links.tsx'
import { WHATS_NEW } from './help.ts'
import classes from './shell.module.css'

const SIGN_OUT = graphql(`
  mutation SignOut {
    signOut
  }
`)

const SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const

export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const me = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = useChange(SIGN_OUT, {
    async after() {
      await navigate({ to: '/sign-in' })
      forgetSession(client)
    },
  })
  return (
    <Menu position="top-start" width="target">
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <VisuallyHidden>Account</VisuallyHidden>
          <IconUserCircle size={22} stroke={1.6} aria-hidden />
          <div className={classes.grow}>
            <Text size="sm" truncate>
              {me?.email}
            </Text>
            <Text size="xs" c="dimmed">
              {me?.role.toLowerCase()}
            </Text>
          </div>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuItemLink to="/account" leftSection={<IconUserCircle size={16} aria-hidden />}>
          Password and sessions
        </MenuItemLink>
        <Menu.Item
          visibleFrom="sm"
          leftSection={<IconKeyboard size={16} aria-hidden />}
          onClick={onShortcuts}
        >
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          component="a"
          href={WHATS_NEW}
          target="_blank"
          rel="noreferrer"
          leftSection={<IconSparkles size={16} aria-hidden />}
        >
          What's new
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} aria-hidden />}
            aria-current={colorScheme === value}
            fw={colorScheme === value ? 650 : undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate({})}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
