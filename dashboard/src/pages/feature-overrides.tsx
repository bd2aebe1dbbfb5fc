import { Stack, Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { type CatalogueFeature, overrideText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'

const OVERRIDES = graphql(`
  query FeatureOverrides($appId: String!, $id: String!, $after: String) {
    featureOverrides(appId: $appId, id: $id, after: $after) {
      next
      rows { userName override { userId mode limit overageEnabled expiresAt reason } }
    }
  }
`)
type Row = NonNullable<ResultOf<typeof OVERRIDES>['featureOverrides']>['rows'][number]

/** Whose access to the feature differs from what their packages say. */
export function FeatureOverrides({ appId, feature }: { appId: string; feature: CatalogueFeature }) {
  const { after } = useSearch({ from: '/inside/apps/$app/features/$id' })
  const asked = useAsk(OVERRIDES, { appId, id: feature.id, after: after ?? null }, { keepPrevious: true })
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={4} />}>
      {({ featureOverrides: page }) =>
        page?.rows.length === 0 && !page.next && after === undefined ? (
          <Empty title="No overrides">
            An override changes this feature for one user, regardless of their packages. Set one on the user’s
            page.
          </Empty>
        ) : (
          <Stack>
            <DataTable
              label="Overrides"
              rows={page?.rows ?? []}
              keyOf={({ override }) => override.userId}
              columns={COLUMNS(appId, feature)}
            />
            <Pager after={after} next={page?.next} />
          </Stack>
        )
      }
    </Loaded>
  )
}

const COLUMNS = (appId: string, feature: CatalogueFeature) => [
  {
    label: 'User',
    cell: ({ userName, override }: Row) => <UserLink appId={appId} id={override.userId} name={userName} />,
  },
  { label: 'Override', cell: ({ override }: Row) => overrideText(override, feature) },
  {
    label: 'Until',
    cell: ({ override: { expiresAt } }: Row) => (expiresAt ? <When at={expiresAt} time /> : 'No end date'),
  },
  {
    label: 'Reason',
    wide: true,
    cell: ({ override }: Row) => (
      <Text size="sm" className="break">
        {override.reason}
      </Text>
    ),
  },
]
