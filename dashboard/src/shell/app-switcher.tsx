import { Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react'
import { useApps } from '../api/use-account.ts'
import { MenuItemLink } from '../ui/links.tsx'
import { Tag } from '../ui/tag.tsx'
import classes from './shell.module.css'

export function AppSwitcher({ app }: { app: string }) {
  const apps = useApps()
  const current = apps.find(({ id }) => id === app)
  const shown = apps.filter(({ id, archivedAt }) => archivedAt === null || id === app)
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <UnstyledButton className={classes.switcher}>
          <VisuallyHidden>App</VisuallyHidden>
          <div className={classes.grow}>
            <Text size="sm" fw={600} truncate>
              {current?.name ?? app}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {app}
            </Text>
          </div>
          {current?.archivedAt && <Tag>Archived</Tag>}
          {current?.testClock && <Tag tone="warn">Test</Tag>}
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(({ id, name, testClock }) => (
          <MenuItemLink
            key={id}
            to="/apps/$app"
            params={{ app: id }}
            leftSection={<IconCheck size={14} style={{ opacity: id === app ? 1 : 0 }} aria-hidden />}
            rightSection={testClock && <Tag tone="warn">Test</Tag>}
          >
            {name}
          </MenuItemLink>
        ))}
        <Menu.Divider />
        <MenuItemLink to="/apps" leftSection={<IconPlus size={14} aria-hidden />}>
          All apps
        </MenuItemLink>
      </Menu.Dropdown>
    </Menu>
  )
}
