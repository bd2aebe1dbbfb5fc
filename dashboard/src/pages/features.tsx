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
import { AnchorLink } from '../ui/links.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { OrderSelect } from '../ui/order-select.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { byName, slice } from '../ui/slice.ts'
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
type Feature = ResultOf<typeof FEATURES>['features'][number]

type Filters = {
  search?: string
  type?: 'binary' | 'consumable'
  show?: 'archived'
  order?: keyof typeof ORDERS
}

const ORDERS = { name: 'By name', newest: 'Newest first', packages: 'In most packages' }

export function FeaturesPage() {
  const appId = useAppId()
  const may = useMay()
  const { edit, make, after, ...filters } = useSearch({ from: '/inside/apps/$app/features' })
  const navigate = useNavigate({ from: '/apps/$app/features' })
  const asked = useAsk(FEATURES, { appId, search: filters.search ?? null }, { keepPrevious: true })
  const edited = asked.data?.features.find(({ id }) => id === edit)
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
      about="What users can use. Packages define who gets how much of each."
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
          <OrderSelect
            usual="Oldest first"
            others={ORDERS}
            value={filters.order}
            onChange={(order) => set({ order })}
          />
          <ArchivedFilter
            archived={filters.show === 'archived'}
            onChange={(archived) => set({ show: archived ? 'archived' : undefined })}
          />
        </ListTools>
        <Loaded of={asked} skeleton={<SkeletonTable columns={5} total />}>
          {({ features }) => {
            const shown = listed(features, filters)
            const page = slice(shown, after)
            return features.length === 0 && filters.search === undefined ? (
              <Empty
                title="Create your first feature"
                action={newOne}
                code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
              >
                A feature is binary (access or none: single sign-on) or consumable (a budget that is used up:
                API calls). Your code asks “may this user use it?” by the feature's id.
              </Empty>
            ) : shown.length === 0 ? (
              <Text c="dimmed">{noneText(filters)}</Text>
            ) : (
              <>
                <Total of={{ count: shown.length, more: false }} one="feature" many="features" />
                <DataTable
                  label="Features"
                  rows={page.rows}
                  keyOf={({ id }) => id}
                  columns={COLUMNS(appId)}
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
function listed(features: readonly Feature[], { type, show, order }: Filters): Feature[] {
  const shown = features.filter(
    (feature) =>
      feature.archived === (show === 'archived') &&
      (type === undefined || feature.type === type.toUpperCase()),
  )
  if (order === 'name') return shown.sort(byName)
  if (order === 'newest') return shown.reverse()
  if (order === 'packages') return shown.sort((a, b) => b.packages.length - a.packages.length)
  return shown
}

function noneText({ search, type, show }: Filters): string {
  const kind = type ? `${type} feature` : 'feature'
  if (search !== undefined) return `No ${kind} has “${search}” in its id or name.`
  if (show === 'archived') return `No ${kind} is archived.`
  return type === undefined ? 'All features are archived.' : `There is no ${kind}.`
}

const EXAMPLE = adminCall('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
  input: { id: 'api-calls', name: 'API calls', type: 'CONSUMABLE' },
})

const COLUMNS = (appId: string) => [
  {
    label: 'Name',
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
    cell: ({ type }: Feature) =>
      type === 'BINARY' ? <Tag>Binary</Tag> : <Tag tone="accent">Consumable</Tag>,
  },
  { label: 'Unit', wide: true, cell: (f: Feature) => f.unitLabelPlural ?? f.unitLabel ?? '' },
  {
    label: 'In packages',
    wide: true,
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
    label: 'Actions',
    hiddenLabel: true,
    right: true,
    cell: (feature: Feature) => (
      <RowActions>
        <FeatureRemoval appId={appId} feature={feature} />
      </RowActions>
    ),
  },
]
