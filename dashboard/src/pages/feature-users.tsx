import { Group, Select, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import type { CatalogueFeature } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'

const USERS = graphql(`
  query FeatureUsers($appId: String!, $id: String!, $packageId: String, $after: String) {
    featureUsers(appId: $appId, id: $id, packageId: $packageId, after: $after) {
      next
      rows {
        userId userName packageId packageName denied overridden used budget overageEnabled periodEnd
      }
    }
    featurePackages(appId: $appId, id: $id) { version package { id name } }
  }
`)
type User = NonNullable<ResultOf<typeof USERS>['featureUsers']>['rows'][number]

/** Who has the feature by a package, and how much of it they have used. */
export function FeatureUsers({ appId, feature }: { appId: string; feature: CatalogueFeature }) {
  const { package: packageId, after } = useSearch({ from: '/inside/apps/$app/features/$id' })
  const navigate = useNavigate({ from: '/apps/$app/features/$id' })
  const asked = useAsk(
    USERS,
    { appId, id: feature.id, packageId: packageId ?? null, after: after ?? null },
    { keepPrevious: true },
  )
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={4} />}>
      {({ featureUsers, featurePackages }) => {
        const names = new Map(featurePackages.map(({ package: p }) => [p.id, p.name]))
        return (
          <Stack>
            <Select
              aria-label="Package"
              placeholder="All packages"
              w={220}
              clearable
              searchable
              data={[...names].map(([value, label]) => ({ value, label }))}
              value={packageId ?? null}
              onChange={(id) =>
                void navigate({
                  search: id === null ? { tab: 'users' } : { tab: 'users', package: id },
                  replace: true,
                })
              }
            />
            {featureUsers?.rows.length === 0 && !featureUsers.next ? (
              <Text c="dimmed">
                No package grants this feature to a user{packageId === undefined ? '' : ' like this'}.
              </Text>
            ) : (
              <>
                <DataTable
                  label="Users with the feature"
                  rows={featureUsers?.rows ?? []}
                  keyOf={({ userId }) => userId}
                  columns={COLUMNS(appId, feature)}
                />
                <Pager after={after} next={featureUsers?.next} />
              </>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

const COLUMNS = (appId: string, feature: CatalogueFeature) => [
  {
    label: 'User',
    cell: ({ userId, userName }: User) => <UserLink appId={appId} id={userId} name={userName} />,
  },
  {
    label: 'Package',
    wide: true,
    cell: ({ packageId, packageName }: User) => (
      <AnchorLink to="/apps/$app/packages/$id" params={{ app: appId, id: packageId }} size="sm">
        {packageName}
      </AnchorLink>
    ),
  },
  {
    label: feature.type === 'BINARY' ? 'Access' : 'Used in this period',
    cell: (user: User) => (
      <Group gap="xs" wrap="nowrap">
        <div style={{ flex: 1, minWidth: 110 }}>{access(user, feature)}</div>
        {user.overridden && !user.denied && <Tag>Override</Tag>}
      </Group>
    ),
  },
  ...(feature.type === 'BINARY'
    ? []
    : [
        {
          label: 'Resets',
          wide: true,
          cell: ({ periodEnd }: User) => (periodEnd ? <When at={periodEnd} /> : ''),
        },
      ]),
]

function access({ userId, denied, used, budget, overageEnabled }: User, feature: CatalogueFeature) {
  if (denied) return 'Denied by an override'
  if (used === null) return 'Yes'
  return (
    <UsageBar
      label={`${feature.name} of ${userId}`}
      used={used}
      budget={budget}
      overageEnabled={overageEnabled}
      labels={feature}
    />
  )
}
