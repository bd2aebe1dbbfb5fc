import { Box, Button, Menu, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconChevronDown, IconDownload, IconFilter } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { SearchInput } from '../ui/search-input.tsx'

/** What is in the address. Days are the reader's. */
export interface AuditSearch {
  by?: 'MEMBER' | 'API_KEY' | 'PROVIDER' | 'VISITOR' | 'SERVICE'
  who?: string
  what?: string
  subject?: string
  from?: string
  to?: string
}

const CHOICES = graphql(`
  query AuditChoices($appId: String!) {
    auditOperations
    members { email }
    apiKeys(appId: $appId) { id name }
  }
`)

const KINDS = [
  { value: 'MEMBER', label: 'Members' },
  { value: 'API_KEY', label: 'API keys' },
  { value: 'PROVIDER', label: 'Billing providers' },
  { value: 'VISITOR', label: 'Failed sign-ins' },
  { value: 'SERVICE', label: 'Tollgate' },
] as const

/** "createFeature" is "Create feature". */
const labelOf = (operation: string): string => {
  const words = operation.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace('Api key', 'API key')
}

/** The filters as the API takes them; a day that is no day is left out. */
export const queryOf = ({ by, who, what, subject, from, to }: AuditSearch) => ({
  actorKind: by ?? null,
  who: who ?? null,
  operation: what ?? null,
  subjectId: subject ?? null,
  from: dayStart(from, 0),
  to: dayStart(to, 1),
})

function dayStart(day: string | undefined, later: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []
  if (year === undefined) return null
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later)
  return Number.isNaN(start.getTime()) ? null : start.toISOString()
}

interface AuditFiltersProps {
  appId: string
  search: AuditSearch
  onChange: (search: AuditSearch) => void
}

export function AuditFilters({ appId, search, onChange }: AuditFiltersProps) {
  const [open, setOpen] = useState(false)
  const asked = useAsk(CHOICES, { appId })
  const set = (change: { [name in keyof AuditSearch]?: AuditSearch[name] | undefined }) =>
    onChange(Object.fromEntries(Object.entries({ ...search, ...change }).filter(([, value]) => value)))
  const count = Object.values(search).filter((value) => value !== undefined).length
  const operations = asked.data?.auditOperations ?? []
  return (
    <Box>
      <FormAlert error={asked.error} />
      <Button
        hiddenFrom="sm"
        size="xs"
        variant="default"
        aria-expanded={open}
        leftSection={<IconFilter size={14} aria-hidden />}
        onClick={() => setOpen(!open)}
      >
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      <Box display={{ base: open ? 'block' : 'none', sm: 'block' }} mt={{ base: 'xs', sm: 0 }}>
        <SimpleGrid cols={{ base: 1, xs: 2, sm: 3, lg: 6 }} spacing="xs">
          <Select
            label="Changed by"
            placeholder="Anyone"
            clearable
            data={KINDS}
            value={search.by ?? null}
            onChange={(by) => set({ by: KINDS.find(({ value }) => value === by)?.value })}
          />
          <Select
            label="Who"
            placeholder="Anyone"
            clearable
            searchable
            data={whoChoices(asked.data, search.who)}
            value={search.who ?? null}
            onChange={(who) => set({ who: who ?? undefined })}
          />
          <Select
            label="What"
            placeholder="Anything"
            clearable
            searchable
            data={[...new Set([...operations, ...(search.what ? [search.what] : [])])]
              .map((value) => ({ value, label: labelOf(value) }))
              .sort((a, b) => a.label.localeCompare(b.label))}
            value={search.what ?? null}
            onChange={(what) => set({ what: what ?? undefined })}
          />
          <TextInput
            type="date"
            label="From"
            value={search.from ?? ''}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label="To"
            value={search.to ?? ''}
            onChange={(event) => set({ to: event.currentTarget.value })}
          />
          <SearchInput
            label="Name or id"
            labelled
            value={search.subject ?? ''}
            onSearch={(subject) => set({ subject })}
          />
        </SimpleGrid>
        {count > 0 && (
          <Button variant="subtle" size="xs" mt="xs" onClick={() => onChange({})}>
            Clear filters
          </Button>
        )}
      </Box>
    </Box>
  )
}

interface Choices {
  members: readonly { email: string }[]
  apiKeys: readonly { id: string; name: string }[]
}

/** Also whoever is chosen already, and is no longer a member. */
function whoChoices(known: Choices | undefined, chosen: string | undefined) {
  const members = (known?.members ?? []).map(({ email }) => ({ value: email, label: email }))
  const keys = (known?.apiKeys ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const providers = [
    { value: 'stripe', label: 'Stripe' },
    { value: 'sandbox', label: 'Sandbox' },
  ]
  const isThere = [...members, ...keys, ...providers].some(({ value }) => value === chosen)
  return [
    ...(chosen === undefined || isThere
      ? []
      : [{ group: 'Chosen', items: [{ value: chosen, label: chosen }] }]),
    { group: 'Members', items: members },
    { group: 'API keys', items: keys },
    { group: 'Billing providers', items: providers },
  ]
}

/** Downloads everything that the filters find, not only this page. */
export function ExportAudit({ appId, search }: { appId: string | null; search: AuditSearch }) {
  const { actorKind, who, operation, subjectId, from, to } = queryOf(search)
  const address = (format: string) => {
    const set = { format, app: appId, kind: actorKind, who, operation, subject: subjectId, from, to }
    const query = Object.entries(set).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
    return `/dashboard/audit?${new URLSearchParams(query)}`
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={address('csv')} download>
          CSV
        </Menu.Item>
        <Menu.Item component="a" href={address('ndjson')} download>
          NDJSON
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
