import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { type CatalogueFeature, grantText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'

const PACKAGES = graphql(`
  query FeaturePackages($appId: String!, $id: String!) {
    featurePackages(appId: $appId, id: $id) {
      version subscribers moreSubscribers
      grant { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } }
      package { id name status isAddon archived publishedVersion }
    }
  }
`)
type Row = ResultOf<typeof PACKAGES>['featurePackages'][number]

/** The packages that include the feature, each version that somebody may have. */
export function FeaturePackages({ appId, feature }: { appId: string; feature: CatalogueFeature }) {
  const asked = useAsk(PACKAGES, { appId, id: feature.id })
  return (
    <Stack gap="xs">
      <Title order={2}>Packages that include it</Title>
      <Loaded of={asked} skeleton={<SkeletonTable columns={4} rows={3} />}>
        {({ featurePackages: rows }) =>
          rows.length === 0 ? (
            <Paper p="md" radius="md">
              <Text c="dimmed" size="sm">
                No package includes this feature, so only users with an override can use it. Add it in{' '}
                <AnchorLink to="/apps/$app/packages" params={{ app: appId }} size="sm" underline="always">
                  Packages
                </AnchorLink>
                .
              </Text>
            </Paper>
          ) : (
            <DataTable
              label="Packages that include it"
              rows={rows}
              keyOf={(row) => `${row.package.id} ${row.version}`}
              columns={COLUMNS(appId, feature)}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}

const COLUMNS = (appId: string, feature: CatalogueFeature) => [
  {
    label: 'Package',
    cell: (row: Row) => (
      <>
        <Group gap="xs">
          <Link to="/apps/$app/packages/$id" params={{ app: appId, id: row.package.id }} className="row-link">
            {row.package.name}
          </Link>
          {row.package.isAddon && <Tag tone="accent">Add-on</Tag>}
          {row.package.archived && <Tag>Archived</Tag>}
        </Group>
        <Text size="xs" c="dimmed">
          {versionText(row)}
        </Text>
      </>
    ),
  },
  { label: 'Includes', cell: ({ grant }: Row) => grantText(grant, feature) },
  {
    label: 'Subscribers',
    right: true,
    cell: ({ package: p, version, subscribers, moreSubscribers }: Row) =>
      version === null || p.status === 'DRAFT' ? (
        '–'
      ) : (
        <AnchorLink
          to="/apps/$app/features/$id"
          params={{ app: appId, id: feature.id }}
          search={{ tab: 'users', package: p.id }}
          size="sm"
        >
          {`${number(subscribers)}${moreSubscribers ? '+' : ''}`}
        </AnchorLink>
      ),
  },
]

function versionText({ package: p, version }: Row): string {
  if (version === null) return 'in its draft, not published yet'
  if (p.status === 'DRAFT') return 'not published yet'
  return version === p.publishedVersion
    ? `version ${number(version)}`
    : `version ${number(version)}, an earlier one`
}
