import { ActionIcon, Kbd, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { IconApps, IconMoon, IconSearch, IconSun, IconUser } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useApps } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { PLACES } from './places.ts'
import classes from './shell.module.css'

const [store, bar] = createSpotlight()

const FOUND = graphql(`
  query CommandBar($appId: String!, $search: String!) {
    users(appId: $appId, search: $search, first: 5) { rows { id name email } }
  }
`)

/** ⌘K: every page, every app, and users by prefix. */
export function CommandBar({ app }: { app: string }) {
  const navigate = useNavigate()
  const apps = useApps()
  const { setColorScheme } = useMantineColorScheme()
  const [query, setQuery] = useState('')
  const [search] = useDebouncedValue(query.trim(), 150)
  const users = useAsk(FOUND, { appId: app, search }, { enabled: search.length > 1, keepPrevious: true })

  const places: SpotlightActionData[] = PLACES.flatMap(({ places }) =>
    places.map(({ label, to, icon: Icon, words = '' }) => ({
      id: to,
      label,
      keywords: words,
      leftSection: <Icon size={18} stroke={1.7} aria-hidden />,
      onClick: () => void navigate({ to, params: { app } }),
    })),
  )
  const others: SpotlightActionData[] = apps
    .filter(({ id }) => id !== app)
    .map(({ id, name }) => ({
      id: `app ${id}`,
      label: `Go to the app ${name}`,
      keywords: id,
      leftSection: <IconApps size={18} stroke={1.7} aria-hidden />,
      onClick: () => void navigate({ to: '/apps/$app', params: { app: id } }),
    }))
  const colours: SpotlightActionData[] = [
    {
      id: 'light',
      label: 'Light colours',
      leftSection: <IconSun size={18} aria-hidden />,
      onClick: () => setColorScheme('light'),
    },
    {
      id: 'dark',
      label: 'Dark colours',
      leftSection: <IconMoon size={18} aria-hidden />,
      onClick: () => setColorScheme('dark'),
    },
  ]
  const found: SpotlightActionData[] = (search.length > 1 ? (users.data?.users?.rows ?? []) : []).map(
    (user) => ({
      id: `user ${user.id}`,
      label: user.name ?? user.id,
      description: [user.name && user.id, user.email].filter(Boolean).join(' · '),
      keywords: [query],
      leftSection: <IconUser size={18} stroke={1.7} aria-hidden />,
      onClick: () => void navigate({ to: '/apps/$app/users/$id', params: { app, id: user.id } }),
    }),
  )
  return (
    <Spotlight
      store={store}
      attributes={{ content: { 'aria-label': 'Go to' } }}
      actions={[...places, ...found, ...others, ...colours]}
      shortcut={['mod + K']}
      query={query}
      onQueryChange={setQuery}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound="Nothing found. Users are found by the beginning of their id, email or billing id."
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'Go to a page, an app or a user',
        'aria-label': 'Go to a page, an app or a user',
      }}
    />
  )
}

export function OpenCommandBar({ compact = false }: { compact?: boolean }) {
  if (compact) {
    return (
      <ActionIcon variant="subtle" color="gray" aria-label="Search" onClick={bar.open}>
        <IconSearch size={18} />
      </ActionIcon>
    )
  }
  return (
    <UnstyledButton className={classes.command} onClick={bar.open}>
      <IconSearch size={15} aria-hidden />
      <span className={classes.grow}>Go to…</span>
      <Kbd size="xs">{/Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'} K</Kbd>
    </UnstyledButton>
  )
}
