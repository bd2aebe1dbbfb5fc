import { Button, Group, Text } from '@mantine/core'
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
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { Tag } from '../ui/tag.tsx'

const FEATURES = graphql(`
  query Features($appId: String!, $search: String) {
    features(appId: $appId, search: $search) {
      id name type unitLabel unitLabelPlural metadata version archived
      packages { id name }
    }
  }
`)
type Feature = ResultOf<typeof FEATURES>['features'][number]

export function FeaturesPage() {
  const appId = useAppId()
  const may = useMay()
  const search = useSearch({ from: '/inside/apps/$app/features' })
  const navigate = useNavigate({ from: '/apps/$app/features' })
  const features = useAsk(FEATURES, { appId, search: search.search ?? null }, { keepPrevious: true })
  const archived = search.show === 'archived'
  const edited = features.data?.features.find(({ id }) => id === search.edit)
  const close = () => void navigate({ search: ({ edit, make, ...rest }) => rest })
  const make = (
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
      actions={make}
    >
      <Group gap="sm">
        <SearchInput
          label="Search by id or name"
          value={search.search ?? ''}
          onSearch={(text) => void navigate({ search: (s) => ({ ...s, search: text }), replace: true })}
        />
        <ArchivedFilter
          archived={archived}
          onChange={(archived) =>
            void navigate({
              search: ({ show, ...s }) => (archived ? { ...s, show: 'archived' } : s),
              replace: true,
            })
          }
        />
      </Group>
      <Loaded of={features}>
        {({ features: all }) => {
          const features = all.filter((feature) => feature.archived === archived)
          return features.length > 0 ? (
            <DataTable label="Features" rows={features} keyOf={({ id }) => id} columns={COLUMNS(appId)} />
          ) : archived ? (
            <Text c="dimmed">No feature is archived.</Text>
          ) : all.length > 0 ? (
            <Text c="dimmed">All features are archived.</Text>
          ) : search.search !== undefined ? (
            <Text c="dimmed">No feature has “{search.search}” in its id or name.</Text>
          ) : (
            <Empty
              title="Create your first feature"
              action={make}
              code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
            >
              A feature is binary (access or none: single sign-on) or consumable (a budget that is used up:
              API calls). Your code asks “may this user use it?” by the feature's id.
            </Empty>
          )
        }}
      </Loaded>
      <FormDialog opened={search.make !== undefined} onClose={close} title="New feature">
        <FeatureForm appId={appId} feature={null} onDone={close} />
      </FormDialog>
      <FormDialog opened={edited !== undefined} onClose={close} title="Edit feature">
        {edited && <FeatureForm key={edited.id} appId={appId} feature={edited} onDone={close} />}
      </FormDialog>
    </Page>
  )
}

const EXAMPLE = adminCall('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
  input: { id: 'api-calls', name: 'API calls', type: 'CONSUMABLE' },
})

const COLUMNS = (appId: string) => [
  {
    label: 'Name',
    cell: ({ id, name }: Feature) => (
      <>
        <Link
          to="/apps/$app/features"
          params={{ app: appId }}
          search={(s) => ({ ...s, edit: id })}
          className="row-link"
        >
          {name}
        </Link>
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      </>
    ),
  },
  {
    label: 'Kind',
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
