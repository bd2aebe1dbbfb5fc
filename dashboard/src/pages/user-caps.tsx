import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { CapForm } from '../forms/cap-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { RemoveCap } from '../forms/remove-cap.tsx'
import { capText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { When } from '../ui/when.tsx'

const CAPS = graphql(`
  query UserCaps($appId: String!, $userId: String!) {
    userCaps(appId: $appId, userId: $userId) {
      more
      caps { featureId entity perEntity period limit own planLimit used reserved resetsAt }
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
type Cap = NonNullable<ResultOf<typeof CAPS>['userCaps']>['caps'][number]

/** Caps of a user: of their plans, and their own. */
export function UserCaps({ appId, userId }: { appId: string; userId: string }) {
  const may = useMay()
  const asked = useAsk(CAPS, { appId, userId })
  /** the cap that is changed, `new` for one that is set */
  const [open, setOpen] = useState<Cap | 'new' | null>(null)
  const add = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      disabled={!may('setCap')}
      onClick={() => setOpen('new')}
    >
      Set cap
    </Button>
  )
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={4} lines={1} rows={3} />}>
      {({ userCaps, features }) => {
        if (!userCaps) return null
        const { caps, more } = userCaps
        const featureOf = (id: string) => features.find((feature) => feature.id === id)
        const nameOf = (cap: Cap) => `${featureOf(cap.featureId)?.name ?? cap.featureId}, ${textOf(cap)}`
        return (
          <>
            {caps.length === 0 ? (
              <Empty title="No caps" action={add}>
                A cap limits the usage of a feature in each hour, day, week, month or year: all usage of this
                user, or that of one entity such as a team or an agent.
              </Empty>
            ) : (
              <Stack>
                <Group justify="flex-end">{add}</Group>
                <DataTable
                  label="Caps"
                  rows={caps}
                  keyOf={({ featureId, entity, perEntity, period }) =>
                    JSON.stringify([featureId, entity, perEntity, period])
                  }
                  columns={[
                    {
                      label: 'Feature',
                      cell: ({ featureId }) => (
                        <AnchorLink
                          to="/apps/$app/features/$id"
                          params={{ app: appId, id: featureId }}
                          size="sm"
                        >
                          {featureOf(featureId)?.name ?? featureId}
                        </AnchorLink>
                      ),
                    },
                    {
                      label: 'Cap',
                      cell: (cap) => (
                        <>
                          {textOf(cap)}
                          <Text size="xs" c="dimmed">
                            {originOf(cap)}
                          </Text>
                        </>
                      ),
                    },
                    { label: 'Used', cell: (cap) => <Used cap={cap} label={`Used of ${nameOf(cap)}`} /> },
                    {
                      label: 'Resets',
                      cell: ({ resetsAt }) => (resetsAt ? <When at={resetsAt} time /> : 'never'),
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: (cap) => (
                        <RowActions>
                          {cap.perEntity === null && (
                            <Button
                              size="compact-sm"
                              variant="default"
                              disabled={!may('setCap')}
                              aria-label={`Change the cap ${nameOf(cap)}`}
                              onClick={() => setOpen(cap)}
                            >
                              Change
                            </Button>
                          )}
                          {cap.own && (
                            <RemoveCap appId={appId} userId={userId} cap={cap} name={nameOf(cap)} />
                          )}
                        </RowActions>
                      ),
                    },
                  ]}
                />
                {more > 0 && (
                  <Text size="sm" c="dimmed">
                    And {number(more)} more caps of the plans.
                  </Text>
                )}
              </Stack>
            )}
            <FormDialog
              opened={open !== null}
              onClose={() => setOpen(null)}
              title={open === 'new' || open === null ? 'Set a cap' : `Change the cap ${nameOf(open)}`}
            >
              {open !== null && (
                <CapForm
                  appId={appId}
                  userId={userId}
                  features={features.filter(({ type }) => type === 'CONSUMABLE')}
                  cap={open === 'new' ? null : open}
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

/** "at most 50 an hour for agent:42" */
const textOf = ({ limit, period, entity, perEntity }: Cap): string =>
  `${capText({ limit: String(limit), period, perEntity })}${entity === null ? '' : ` for ${entity}`}`

function originOf({ own, planLimit }: Cap): string {
  if (!own) return 'of the plan'
  return planLimit === null ? 'of this user' : `of this user, instead of ${number(planLimit)} of the plan`
}

function Used({ cap: { used, reserved, limit }, label }: { cap: Cap; label: string }) {
  if (used === null)
    return (
      <Text size="sm" c="dimmed">
        counted for each
      </Text>
    )
  return (
    <>
      <UsageBar label={label} used={used} budget={limit} overageEnabled={false} />
      {reserved !== null && reserved > 0 && (
        <Text size="xs" c="dimmed">
          and {number(reserved)} reserved
        </Text>
      )}
    </>
  )
}
