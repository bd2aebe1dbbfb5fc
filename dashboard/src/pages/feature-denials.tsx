import { Stack, Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number, withNumbers } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'

const DENIALS = graphql(`
  query FeatureDenials($appId: String!, $id: String!, $after: String) {
    featureDenials(appId: $appId, id: $id, after: $after) {
      next
      rows { userId userName kind reason times at }
    }
  }
`)
type Row = NonNullable<ResultOf<typeof DENIALS>['featureDenials']>['rows'][number]

/** Users to whom the feature was denied: who, when and why. */
export function FeatureDenials({ appId, featureId }: { appId: string; featureId: string }) {
  const { after } = useSearch({ from: '/inside/apps/$app/features/$id' })
  const asked = useAsk(DENIALS, { appId, id: featureId, after: after ?? null }, { keepPrevious: true })
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={4} />}>
      {({ featureDenials: page }) =>
        page?.rows.length === 0 && !page.next && after === undefined ? (
          <Empty title="No denials">
            Users appear here a few seconds after a check or usage of this feature was denied. Calls for
            unknown users are counted in the chart, but not listed.
          </Empty>
        ) : (
          <Stack>
            <Text c="dimmed" size="sm">
              The latest denial of each user, for up to 500 users.
            </Text>
            <DataTable
              label="Denials"
              rows={page?.rows ?? []}
              keyOf={({ userId }) => userId}
              columns={COLUMNS(appId, featureId)}
            />
            <Pager after={after} next={page?.next} />
          </Stack>
        )
      }
    </Loaded>
  )
}

const COLUMNS = (appId: string, featureId: string) => [
  {
    label: 'User',
    cell: ({ userId, userName }: Row) => <UserLink appId={appId} id={userId} name={userName} />,
  },
  { label: 'Last denied', cell: ({ at }: Row) => <When at={at} time /> },
  {
    label: 'Reason',
    cell: ({ kind, reason }: Row) => (
      <>
        {withNumbers(reason)}
        <Text size="xs" c="dimmed">
          {kind === 'CHECK' ? 'Check' : 'Usage'}
        </Text>
      </>
    ),
  },
  { label: 'Times', right: true, wide: true, cell: ({ times }: Row) => number(times) },
  {
    label: 'Explain',
    hiddenLabel: true,
    right: true,
    cell: ({ userId }: Row) => (
      <AnchorLink
        to="/apps/$app/playground"
        params={{ app: appId }}
        search={{ user: userId, feature: featureId }}
        size="sm"
        aria-label={`Explain for ${userId}`}
      >
        Explain
      </AnchorLink>
    ),
  },
]
