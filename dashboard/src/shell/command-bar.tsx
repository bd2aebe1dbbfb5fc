import { ActionIcon, Kbd, Loader, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight'
import {
  IconApps,
  IconBox,
  IconKeyboard,
  IconMoon,
  IconPlus,
  IconPuzzle,
  IconSearch,
  IconSparkles,
  IconSun,
  IconUser,
  type TablerIcon,
} from '@tabler/icons-react'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useApps, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { WHATS_NEW } from './help.ts'
import { ACTIONS, DOCUMENTATION, PLACES } from './places.ts'
import classes from './shell.module.css'

const [store, bar] = createSpotlight()

const FOUND = graphql(`
  query CommandBar($appId: String!, $search: String!) {
    users(appId: $appId, search: $search, first: 5) { rows { id name email } }
    packages(appId: $appId, search: $search) { id name isAddon }
    features(appId: $appId, search: $search) { id name }
  }
`)

/** Of packages and of features; of users the server sends no more. */
const SHOWN = 5

const iconOf = (Icon: TablerIcon) => <Icon size={18} stroke={1.7} aria-hidden />

/** Every word of it is somewhere in the text. */
const has = (text: string, query: string) => {
  const folded = text.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word))
}

/** What is found arrives after the typing, above what was first until then. A choice made meanwhile stays. */
function selectFirst(): void {
  const { listId, selected } = store.getState()
  if (selected > 0) return
  const actions = document.getElementById(listId)?.querySelectorAll('[data-action]') ?? []
  for (const [index, action] of actions.entries()) action.toggleAttribute('data-selected', index === 0)
  store.updateState((state) => ({ ...state, selected: actions.length > 0 ? 0 : -1 }))
}

/** The best matches by name or id. */
const best = <Item extends { id: string; name: string }>(items: readonly Item[], query: string): Item[] =>
  items.toSorted((a, b) => rankOfName(a, query) - rankOfName(b, query)).slice(0, SHOWN)

const rankOfName = ({ id, name }: { id: string; name: string }, query: string) =>
  rankOf({ id, label: name, description: id }, query)

/** How well an entry matches: 0 is an exact name, id or email; 1 begins with it; 2 has it somewhere. */
function rankOf({ label = '', description = '' }: SpotlightActionData, query: string): number {
  const wanted = query.toLowerCase()
  const texts = [label, ...description.split(' · ')].map((text) => text.toLowerCase())
  if (texts.includes(wanted)) return 0
  return texts.some((text) => text.startsWith(wanted)) ? 1 : 2
}

/** Exact matches first, within each group and among the groups. */
function byMatch(
  groups: readonly { group: string; actions: SpotlightActionData[] }[],
  query: string,
): SpotlightActionGroupData[] {
  if (query === '') return [...groups]
  const ranked = groups.map(({ group, actions }) => {
    const sorted = actions.toSorted((a, b) => rankOf(a, query) - rankOf(b, query))
    const [best] = sorted
    return { group, actions: sorted, isExact: best !== undefined && rankOf(best, query) === 0 }
  })
  return ranked
    .toSorted((a, b) => Number(b.isExact) - Number(a.isExact))
    .map(({ group, actions }) => ({ group, actions }))
}

/** ⌘K: users, packages and features by any part of a word; every page, app and action. */
export function CommandBar({ app, onShortcuts }: { app: string; onShortcuts: () => void }) {
  const navigate = useNavigate()
  const may = useMay()
  const apps = useApps()
  const { setColorScheme } = useMantineColorScheme()
  const [query, setQuery] = useState('')
  const [search] = useDebouncedValue(query.trim(), 150)
  const asked = useAsk(FOUND, { appId: app, search }, { enabled: search !== '', keepPrevious: true })
  const found = search === '' ? undefined : asked.data
  useEffect(() => {
    if (found) selectFirst()
  }, [found])

  const go = (to: LinkProps['to'], params: object, more: object = {}) =>
    void navigate({ to, params: { app, ...params }, ...more } as never)
  const one = (
    kind: string,
    icon: TablerIcon,
    to: LinkProps['to'],
    { id, name }: { id: string; name: string | null },
    about: (string | null | false)[],
  ): SpotlightActionData => ({
    id: `${kind} ${id}`,
    label: name ?? id,
    description: [name !== null && id, ...about].filter(Boolean).join(' · '),
    leftSection: iconOf(icon),
    onClick: () => go(to, { id }),
  })
  const matching = (actions: (SpotlightActionData & { label: string })[]) =>
    actions.filter(({ label, keywords = '' }) => has(`${label} ${keywords}`, query.trim()))

  const typed = query.trim()
  const groups = [
    {
      group: 'Users',
      actions: (found?.users?.rows ?? []).map((user) =>
        one('user', IconUser, '/apps/$app/users/$id', user, [user.email]),
      ),
    },
    {
      group: 'Packages',
      actions: best(found?.packages ?? [], typed).map((p) =>
        one('package', IconBox, '/apps/$app/packages/$id', p, [p.isAddon && 'Add-on']),
      ),
    },
    {
      group: 'Features',
      actions: best(found?.features ?? [], typed).map((feature) =>
        one('feature', IconPuzzle, '/apps/$app/features/$id', feature, []),
      ),
    },
    {
      group: 'Pages',
      actions: matching([
        ...PLACES.flatMap(({ places }) => places).map(({ label, to, icon, words = '' }) => ({
          id: to,
          label,
          keywords: words,
          leftSection: iconOf(icon),
          onClick: () => go(to as LinkProps['to'], {}),
        })),
        {
          id: DOCUMENTATION.href,
          label: DOCUMENTATION.label,
          keywords: DOCUMENTATION.words,
          leftSection: iconOf(DOCUMENTATION.icon),
          onClick: () => void open(DOCUMENTATION.href, '_blank', 'noreferrer'),
        },
      ]),
    },
    {
      group: 'Actions',
      actions: matching([
        ...ACTIONS.filter(({ mutation }) => may(mutation)).map(({ label, to, search, words = '' }) => ({
          id: label,
          label,
          keywords: words,
          leftSection: iconOf(IconPlus),
          onClick: () => go(to as LinkProps['to'], {}, { search }),
        })),
        {
          id: 'light',
          label: 'Light theme',
          keywords: 'theme',
          leftSection: iconOf(IconSun),
          onClick: () => setColorScheme('light'),
        },
        {
          id: 'dark',
          label: 'Dark theme',
          keywords: 'theme',
          leftSection: iconOf(IconMoon),
          onClick: () => setColorScheme('dark'),
        },
        {
          id: 'shortcuts',
          label: 'Keyboard shortcuts',
          keywords: 'help keys hotkeys',
          leftSection: iconOf(IconKeyboard),
          onClick: onShortcuts,
        },
        {
          id: WHATS_NEW,
          label: "What's new",
          keywords: 'changelog versions changes',
          leftSection: iconOf(IconSparkles),
          onClick: () => void open(WHATS_NEW, '_blank', 'noreferrer'),
        },
      ]),
    },
    {
      group: 'Apps',
      actions: matching(
        apps
          .filter(({ id, archivedAt }) => id !== app && archivedAt === null)
          .map(({ id, name }) => ({
            id: `app ${id}`,
            label: `Go to the app ${name}`,
            keywords: id,
            leftSection: iconOf(IconApps),
            onClick: () => go('/apps/$app', { app: id }),
          })),
      ),
    },
  ]
  return (
    <Spotlight
      store={store}
      attributes={{ content: { 'aria-label': 'Go to' } }}
      actions={byMatch(groups, typed).filter(({ actions }) => actions.length > 0)}
      // Everything here matches already.
      filter={(_, actions) => actions}
      shortcut={['mod + K']}
      query={query}
      onQueryChange={setQuery}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound={asked.isFetching ? 'Searching…' : 'Nothing found.'}
      searchProps={{
        leftSection:
          typed !== '' && (asked.isFetching || typed !== search) ? (
            <Loader size={16} aria-label="Searching" />
          ) : (
            <IconSearch size={18} aria-hidden />
          ),
        placeholder: 'Go to a user, package, feature or page',
        'aria-label': 'Go to a user, package, feature or page',
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
