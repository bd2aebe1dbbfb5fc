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
import { Dialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { MoreMenu } from '../ui/more-menu.tsx'
import { number } from '../ui/number.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'
import { CompareVersions } from './compare-versions.tsx'
import { RestoreVersion } from './restore-version.tsx'

const VERSIONS = graphql(`
  query PackageVersions($appId: String!, $packageId: String!) {
    packageVersions(appId: $appId, packageId: $packageId) {
      versions { version for publishedAt author note held grants { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } } }
      migrations { id fromVersion toVersion when at author undoneAt }
    }
  }
`)
type Version = NonNullable<ResultOf<typeof VERSIONS>['packageVersions']>['versions'][number]

interface PackageVersionsProps {
  appId: string
  packageId: string
  name: string
  /** whether edits wait for their publication */
  hasDraft: boolean
  /** edits are refused until the draft is published or unscheduled */
  isScheduled: boolean
  /** reloads the package */
  onRestored: () => void
  features: readonly CatalogueFeature[]
}

const FOR = { ALL: 'All subscribers', NEW_ONLY: 'New subscribers', AT_PERIOD_END: 'All, at period end' }

/** What each version granted, who has it, and how people were moved. */
export function PackageVersions(props: PackageVersionsProps) {
  const { appId, packageId, features } = props
  const may = useMay()
  const [migrating, setMigrating] = useState(false)
  const [compared, setCompared] = useState<number | null>(null)
  const [restored, setRestored] = useState<Version | null>(null)
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
                  {
                    label: 'Version',
                    cell: ({ version, note }) => (
                      <>
                        <Text span inherit hiddenFrom="sm">
                          Version{' '}
                        </Text>
                        {number(version)}
                        {note !== null && (
                          <Text size="xs" c="dimmed" className="break">
                            {note}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    label: 'Subscribers',
                    right: true,
                    cell: ({ held }) => number(held),
                  },
                  { label: 'Limits', cell: contentOf },
                  { label: 'Published for', cell: (v) => (v.for === null ? FOR.ALL : FOR[v.for]) },
                  {
                    label: 'Published',
                    cell: ({ publishedAt, author }) => (
                      <>
                        {publishedAt === null ? '–' : <When at={publishedAt} />}
                        {author !== null && (
                          <Text size="xs" c="dimmed" className="break">
                            by {author}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: (version) => (
                      <MoreMenu
                        size="sm"
                        label={`Actions for version ${version.version}`}
                        actions={[
                          packageVersions.versions.length > 1 && {
                            label: 'Compare',
                            onClick: () => setCompared(version.version),
                          },
                          version !== packageVersions.versions[0] && {
                            label: 'Restore as a draft',
                            disabled: !may('editPackage') || props.isScheduled,
                            onClick: () => setRestored(version),
                          },
                        ]}
                      />
                    ),
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
                    { label: 'By', wide: true, cell: ({ author }) => author ?? '–' },
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
            <Dialog
              opened={compared !== null}
              onClose={() => setCompared(null)}
              title="Compare versions"
              size="lg"
            >
              {compared !== null && (
                <CompareVersions versions={packageVersions.versions} version={compared} features={features} />
              )}
            </Dialog>
            {restored && <RestoreVersion {...props} version={restored} onClose={() => setRestored(null)} />}
            <FormDialog
              opened={migrating}
              onClose={() => setMigrating(false)}
              title="Move subscribers to another version"
            >
              <MigrateForm
                appId={appId}
                packageId={packageId}
                name={props.name}
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
