import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { OverrideForm } from '../forms/override-form.tsx'
import { RemoveOverride } from '../forms/remove-override.tsx'
import { overrideText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'

const OVERRIDES = graphql(`
  query Overrides($appId: String!, $userId: String!) {
    overrides(appId: $appId, userId: $userId) {
      featureId mode limit overageEnabled resetPeriod startedAt expiresAt reason
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
type Answer = ResultOf<typeof OVERRIDES>
type Override = Answer['overrides'][number]

/** The exceptions made for a user. */
export function UserOverrides({ appId, userId }: { appId: string; userId: string }) {
  const may = useMay()
  const asked = useAsk(OVERRIDES, { appId, userId })
  /** the override that is changed, `new` for one that is made */
  const [open, setOpen] = useState<Override | 'new' | null>(null)
  const make = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      disabled={!may('setOverride')}
      onClick={() => setOpen('new')}
    >
      New override
    </Button>
  )
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} rows={3} />}>
      {({ overrides, features }) => {
        const featureOf = (id: string) => features.find((feature) => feature.id === id)
        const nameOf = (id: string) => featureOf(id)?.name ?? id
        return (
          <>
            {overrides.length === 0 ? (
              <Empty title="No overrides" action={make}>
                An override changes the limit of one feature for this user, regardless of the plan: a higher
                limit until a date, for example, or access to a feature.
              </Empty>
            ) : (
              <Stack>
                <Group justify="flex-end">{make}</Group>
                <DataTable
                  label="Overrides"
                  rows={overrides}
                  keyOf={({ featureId }) => featureId}
                  columns={[
                    {
                      label: 'Feature',
                      cell: ({ featureId }) => (
                        <AnchorLink
                          to="/apps/$app/features/$id"
                          params={{ app: appId, id: featureId }}
                          size="sm"
                        >
                          {nameOf(featureId)}
                        </AnchorLink>
                      ),
                    },
                    {
                      label: 'Override',
                      cell: (override) => (
                        <>
                          {overrideText(override, featureOf(override.featureId))}
                          {override.expiresAt && (
                            <Text size="xs" c="dimmed" hiddenFrom="sm">
                              until <When at={override.expiresAt} time />
                            </Text>
                          )}
                        </>
                      ),
                    },
                    {
                      label: 'Until',
                      wide: true,
                      cell: ({ expiresAt }) => (expiresAt ? <When at={expiresAt} time /> : 'No end date'),
                    },
                    {
                      label: 'Reason',
                      wide: true,
                      cell: ({ reason }) => (
                        <Text size="sm" className="break">
                          {reason}
                        </Text>
                      ),
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: (override) => (
                        <RowActions>
                          <Button
                            size="compact-sm"
                            variant="default"
                            disabled={!may('setOverride')}
                            aria-label={`Change the override of ${nameOf(override.featureId)}`}
                            onClick={() => setOpen(override)}
                          >
                            Change
                          </Button>
                          <RemoveOverride
                            appId={appId}
                            userId={userId}
                            override={restorable(override)}
                            name={nameOf(override.featureId)}
                          />
                        </RowActions>
                      ),
                    },
                  ]}
                />
              </Stack>
            )}
            <FormDialog
              opened={open !== null}
              onClose={() => setOpen(null)}
              title={
                open === 'new' || open === null
                  ? 'New override'
                  : `Change the override of ${nameOf(open.featureId)}`
              }
            >
              {open !== null && (
                <OverrideForm
                  appId={appId}
                  userId={userId}
                  features={features}
                  override={open === 'new' ? null : open}
                  onDone={() => setOpen(null)}
                />
              )}
            </FormDialog>
          </>
        )
      }}
    </Loaded>
  )
}

/** What it takes to set the override again. */
const restorable = ({ startedAt, ...override }: Override) => override
