import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FeatureForm } from '../forms/feature-form.tsx'
import { FeatureRemoval } from '../forms/feature-removal.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { adminCall, curl } from '../snippets.ts'
import { ArchivedFilter } from '../ui/archived-filter.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { AnchorLink, MenuItemLink } from '../ui/links.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'

const FEATURES = graphql(`
  query Features($appId: String!, $search: String) {
    features(appId: $appId, search: $search) {
      id name type unitLabel unitLabelPlural metadata thresholds version archived
      packages { id name }
    }
  }
`)
const TOTALS = graphql(`
  query FeatureTotals($appId: String!) {
    featureTotals(appId: $appId) { featureId denied units }
  }
`)
type Totals = ResultOf<typeof TOTALS>['featureTotals'] | undefined
type Feature = ResultOf<typeof FEATURES>['features'][number]

type Filters = {
  search?: string
  type?: 'binary' | 'consumable'
  show?: 'archived'
  order?: Order
}

type Column = 'name' | 'type' | 'packages' | 'usage' | 'denials'
type Order = Column | `-${Column}`

export function FeaturesPage() {
  const appId = useAppId()
  const may = useMay()
  const { edit, make, after, ...filters } = useSearch({ from: '/inside/apps/$app/features' })
  const navigate = useNavigate({ from: '/apps/$app/features' })
  const asked = useAsk(FEATURES, { appId, search: filters.search ?? null }, { keepPrevious: true })
  const edited = asked.data?.features.find(({ id }) => id === edit)
  // The table does not wait for them.
  const totals = useAsk(TOTALS, { appId }).data?.featureTotals
  const close = () => void navigate({ search: ({ edit, make, ...rest }) => rest })
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const newOne = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => void navigate({ search: (s) => ({ ...s, make: '1' }) })}
      disabled={!may('createFeature')}
    >
      New feature
    </Button>
  )
  return (
    <Page
      title="Features"
      about="Capabilities of your product. Packages define how much of each a user gets."
      actions={newOne}
    >
      <Stack gap="sm">
        <ListTools>
          <SearchInput
            label="Search by id or name"
            value={filters.search ?? ''}
            onSearch={(text) => set({ search: text === '' ? undefined : text })}
          />
          <Select
            aria-label="Type"
            placeholder="Any type"
            w={150}
            clearable
            data={[
              { value: 'binary', label: 'Binary' },
              { value: 'consumable', label: 'Consumable' },
            ]}
            value={filters.type ?? null}
            onChange={(type) => set({ type: (type ?? undefined) as Filters['type'] })}
          />
          <ArchivedFilter
            archived={filters.show === 'archived'}
            onChange={(archived) => set({ show: archived ? 'archived' : undefined })}
          />
          <ExportRows
            name="features"
            rows={listed(asked.data?.features ?? [], filters, totals)}
            columns={[
              ['id', ({ id }) => id],
              ['name', ({ name }) => name],
              ['type', ({ type }) => type],
              ['unit', ({ unitLabel }) => unitLabel],
              ['packages', ({ packages }) => packages.map(({ id }) => id).join(' ')],
              ['usedIn7Days', ({ id, type }) => (type === 'BINARY' ? null : totalOf(id, totals)?.units)],
              ['deniedIn7Days', ({ id }) => totalOf(id, totals)?.denied],
            ]}
          />
        </ListTools>
        <Loaded of={asked} skeleton={<SkeletonTable columns={5} total />}>
          {({ features }) => {
            const shown = listed(features, filters, totals)
            const page = slice(shown, after)
            return features.length === 0 && filters.search === undefined ? (
              <Empty
                title="Create your first feature"
                action={newOne}
                code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
              >
                A feature is binary (access or no access, like single sign-on) or consumable (counted against
                a limit, like API calls). Your code asks “may this user use it?” by the feature's id.
              </Empty>
            ) : shown.length === 0 ? (
              <Text c="dimmed">{noneText(filters)}</Text>
            ) : (
              <>
                <Total
                  of={{ count: shown.length, more: false }}
                  one="feature"
                  many="features"
                  page={{ before: page.before, rows: page.rows.length }}
                />
                <DataTable
                  label="Features"
                  rows={page.rows}
                  keyOf={({ id }) => id}
                  columns={COLUMNS(appId, totals)}
                  sorting={{ now: filters.order, set: (order) => set({ order: order as Order }) }}
                />
                <Pager after={after} next={page.next} />
              </>
            )
          }}
        </Loaded>
      </Stack>
      <FormDialog opened={make !== undefined} onClose={close} title="New feature">
        <FeatureForm appId={appId} feature={null} onDone={close} />
      </FormDialog>
      <FormDialog opened={edited !== undefined} onClose={close} title="Edit feature">
        {edited && <FeatureForm key={edited.id} appId={appId} feature={edited} onDone={close} />}
      </FormDialog>
    </Page>
  )
}

/** The server sends them oldest first. */
function listed(
  features: readonly Feature[],
  { type, show, order }: Filters,
  totals: Totals,
): readonly Feature[] {
  const shown = features.filter(
    (feature) =>
      feature.archived === (show === 'archived') &&
      (type === undefined || feature.type === type.toUpperCase()),
  )
  return sorted(shown, order, {
    name: ({ name }) => name,
    type: ({ type }) => type,
    packages: ({ packages }) => packages.length,
    usage: ({ id, type }) => (type === 'BINARY' ? null : totalOf(id, totals)?.units),
    denials: ({ id }) => totalOf(id, totals)?.denied,
  })
}

/** Undefined: not counted yet. */
const totalOf = (id: string, totals: Totals) =>
  totals && (totals.find(({ featureId }) => featureId === id) ?? { units: 0, denied: 0 })

function noneText({ search, type, show }: Filters): string {
  const kind = type ? `${type} feature` : 'feature'
  if (search !== undefined) return `No ${kind} has “${search}” in its id or name.`
  if (show === 'archived') return `No ${kind} is archived.`
  return type === undefined ? 'All features are archived.' : `There is no ${kind}.`
}

const EXAMPLE = adminCall('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
  input: { id: 'api-calls', name: 'API calls', type: 'CONSUMABLE' },
})

const COLUMNS = (appId: string, totals: Totals) => [
  {
    label: 'Name',
    sort: 'name',
    cell: ({ id, name }: Feature) => (
      <>
        <Link to="/apps/$app/features/$id" params={{ app: appId, id }} className="row-link">
          {name}
        </Link>
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      </>
    ),
  },
  {
    label: 'Type',
    sort: 'type',
    cell: ({ type }: Feature) =>
      type === 'BINARY' ? <Tag>Binary</Tag> : <Tag tone="accent">Consumable</Tag>,
  },
  {
    label: 'In packages',
    wide: true,
    sort: 'packages',
    sortsDown: true,
    cell: ({ packages }: Feature) =>
      packages.length === 0 ? (
        <Text size="sm" c="dimmed">
          none yet
        </Text>
      ) : (
        <Group gap="xs">
          {packages.map(({ id, name }) => (
            <AnchorLink key={id} size="sm" to="/apps/$app/packages/$id" params={{ app: appId, id }}>
              {name}
            </AnchorLink>
          ))}
        </Group>
      ),
  },
  {
    label: 'Used in 7 days',
    right: true,
    sort: 'usage',
    sortsDown: true,
    cell: ({ id, type, unitLabel, unitLabelPlural }: Feature) => {
      if (type === 'BINARY') return '–'
      const used = totalOf(id, totals)?.units
      if (used === undefined) return '…'
      return units(used, unitLabel, unitLabelPlural)
    },
  },
  {
    label: 'Denied in 7 days',
    right: true,
    sort: 'denials',
    sortsDown: true,
    cell: ({ id }: Feature) => {
      const denied = totalOf(id, totals)?.denied
      return denied === undefined ? '…' : units(denied)
    },
  },
  {
    label: 'Actions',
    hiddenLabel: true,
    right: true,
    cell: (feature: Feature) => (
      <FeatureRemoval appId={appId} feature={feature} size="sm">
        <MenuItemLink from="/apps/$app/features" to="." search={(s) => ({ ...s, edit: feature.id })}>
          Edit
        </MenuItemLink>
        <MenuItemLink
          to="/apps/$app/features/$id"
          params={{ app: appId, id: feature.id }}
          search={{ tab: 'users' }}
        >
          Users
        </MenuItemLink>
      </FeatureRemoval>
    ),
  },
]
