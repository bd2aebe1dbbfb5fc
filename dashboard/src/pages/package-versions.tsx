import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { MigrateForm } from '../forms/migrate-form.tsx'
import { UndoMigration } from '../forms/undo-migration.tsx'
import { type CatalogueFeature, grantText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const VERSIONS = graphql(`
  query PackageVersions($appId: String!, $packageId: String!) {
    packageVersions(appId: $appId, packageId: $packageId) {
      versions { version for publishedAt held grants { id limit resetPeriod overageEnabled } }
      migrations { id fromVersion toVersion when at undoneAt }
    }
  }
`)
type Version = NonNullable<ResultOf<typeof VERSIONS>['packageVersions']>['versions'][number]

interface PackageVersionsProps {
  appId: string
  packageId: string
  features: readonly CatalogueFeature[]
}

const FOR = { ALL: 'All subscribers', NEW_ONLY: 'New subscribers', AT_PERIOD_END: 'All, at period end' }

/** What each version granted, who has it, and how people were moved. */
export function PackageVersions({ appId, packageId, features }: PackageVersionsProps) {
  const may = useMay()
  const [migrating, setMigrating] = useState(false)
  const asked = useAsk(VERSIONS, { appId, packageId }, { patienceMs: OVER_ALL_USERS_MS })
  const contentOf = ({ grants }: Version) =>
    grants
      .map((grant) => {
        const feature = features.find(({ id }) => id === grant.id)
        return `${feature?.name ?? grant.id}: ${grantText(grant, feature)}`
      })
      .join('; ')
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} rows={3} />}>
      {({ packageVersions }) =>
        packageVersions && (
          <Stack gap="xl">
            <Stack gap="sm">
              <Group justify="space-between">
                <Text c="dimmed">
                  Each publication creates a version. Every subscriber is on one version.
                </Text>
                <Button
                  variant="default"
                  disabled={!may('migrateSubscriptions') || packageVersions.versions.length < 2}
                  onClick={() => setMigrating(true)}
                >
                  Move subscribers
                </Button>
              </Group>
              <DataTable
                label="Versions"
                rows={packageVersions.versions}
                keyOf={({ version }) => String(version)}
                columns={[
                  { label: 'Version', cell: ({ version }) => number(version) },
                  {
                    label: 'Subscribers',
                    right: true,
                    cell: ({ held }) => number(held),
                  },
                  { label: 'Limits', wide: true, cell: contentOf },
                  { label: 'Published for', cell: (v) => (v.for === null ? FOR.ALL : FOR[v.for]) },
                  {
                    label: 'Published',
                    wide: true,
                    cell: ({ publishedAt }) => (publishedAt === null ? '–' : <When at={publishedAt} />),
                  },
                ]}
              />
            </Stack>
            {packageVersions.migrations.length > 0 && (
              <Stack gap="sm">
                <Title order={2}>Moves</Title>
                <DataTable
                  label="Moves between versions"
                  rows={packageVersions.migrations}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      label: 'Move',
                      cell: ({ fromVersion, toVersion }) => `Version ${fromVersion} → ${toVersion}`,
                    },
                    {
                      label: 'When',
                      cell: ({ when }) => (when === 'NOW' ? 'Immediately' : 'At period end'),
                    },
                    { label: 'Created', wide: true, cell: ({ at }) => <When at={at} time /> },
                    {
                      label: 'Undo',
                      hiddenLabel: true,
                      right: true,
                      cell: (migration) =>
                        migration.undoneAt === null ? (
                          <UndoMigration appId={appId} migration={migration} />
                        ) : (
                          <Tag>Undone</Tag>
                        ),
                    },
                  ]}
                />
              </Stack>
            )}
            <FormDialog
              opened={migrating}
              onClose={() => setMigrating(false)}
              title="Move subscribers to another version"
            >
              <MigrateForm
                appId={appId}
                packageId={packageId}
                versions={packageVersions.versions}
                onDone={() => setMigrating(false)}
              />
            </FormDialog>
          </Stack>
        )
      }
    </Loaded>
  )
}
