import { Button, Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { RecordUsageForm } from '../forms/record-usage-form.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { units, withNumbers } from '../ui/number.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { Sentence } from '../ui/sentence.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { When } from '../ui/when.tsx'

// Only a feature whose history is open has one.
const Chart = lazy(async () => ({ default: (await import('../ui/chart.tsx')).Chart }))

const UsageOverTime = lazy(async () => ({
  default: (await import('./usage-over-time.tsx')).UsageOverTime,
}))

const GRANTED = graphql(`
  query GrantedFeatures($appId: String!, $userId: String!) {
    grantedFeatures(appId: $appId, userId: $userId) {
      featureId name type unitLabel unitLabelPlural access reason resetPeriod periodEnd
      creditsLeft poolLeft
      consumption { used budget overageEnabled }
      source { text at subject { kind appId id } }
    }
  }
`)
const PAST = graphql(`
  query PastUsage($appId: String!, $userId: String!, $featureId: String!) {
    showUsage(appId: $appId, userId: $userId, featureId: $featureId) {
      current { periodStart consumption { used budget } }
      past { periodStart consumption { used budget } }
    }
  }
`)
type Granted = ResultOf<typeof GRANTED>['grantedFeatures'][number]
type Usage = NonNullable<ResultOf<typeof PAST>['showUsage']>

interface UserUsageProps {
  appId: string
  userId: string
  onSubscribe: () => void
}

/** The user's features, current usage and past periods. */
export function UserUsage({ appId, userId, onSubscribe }: UserUsageProps) {
  const { feature } = useSearch({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const [recording, setRecording] = useState<Granted | null>(null)
  const asked = useAsk(GRANTED, { appId, userId })
  const choose = (feature: string | undefined) =>
    void navigate({
      to: '.',
      search: (s: Record<string, unknown>) => ({ ...s, feature }),
      replace: true,
    } as never)
  return (
    <Loaded of={asked} skeleton={<SkeletonCards cards={6} cols={{ base: 1, sm: 2, lg: 3 }} height={156} />}>
      {({ grantedFeatures }) =>
        grantedFeatures.length === 0 ? (
          <Empty
            title="No features yet"
            action={
              <Button onClick={onSubscribe} disabled={!may('subscribe')}>
                Subscribe to a plan
              </Button>
            }
          >
            This user has no subscription, so every check is denied.
          </Empty>
        ) : (
          <Stack gap="xl">
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
              {grantedFeatures.map((granted) => (
                <Paper key={granted.featureId} p="md" radius="md">
                  <Stack gap="xs" h="100%">
                    <Group justify="space-between" gap="xs" wrap="nowrap">
                      <Link
                        to="/apps/$app/features/$id"
                        params={{ app: appId, id: granted.featureId }}
                        className="row-link break"
                      >
                        {granted.name}
                      </Link>
                      {granted.access ? (
                        <Tag tone="good">Access</Tag>
                      ) : (
                        <Link
                          to="/apps/$app/playground"
                          params={{ app: appId }}
                          search={{ user: userId, feature: granted.featureId }}
                          title={`Why ${granted.name} is denied`}
                        >
                          <Tag tone="bad">No access</Tag>
                        </Link>
                      )}
                    </Group>
                    {granted.consumption && granted.resetPeriod ? (
                      <UsageBar label={`${granted.name} used`} {...granted.consumption} labels={granted} />
                    ) : (
                      <Text size="sm" c="dimmed">
                        {granted.consumption ? 'Not part of a package' : withNumbers(granted.reason)}
                      </Text>
                    )}
                    <Beside granted={granted} />
                    {granted.source.length > 0 && (
                      <Text size="xs" c="dimmed" className="break numbers">
                        <Sentence parts={granted.source} />
                      </Text>
                    )}
                    <Text size="xs" c="dimmed">
                      {granted.periodEnd ? (
                        <>
                          Resets <When at={granted.periodEnd} time />
                        </>
                      ) : (
                        granted.resetPeriod && 'Never resets'
                      )}
                    </Text>
                    {granted.consumption && (
                      <RowActions>
                        <Button
                          size="compact-sm"
                          variant="subtle"
                          aria-pressed={feature === granted.featureId}
                          aria-label={`History of ${granted.name}`}
                          onClick={() =>
                            choose(feature === granted.featureId ? undefined : granted.featureId)
                          }
                        >
                          History
                        </Button>
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={!may('recordUsage')}
                          aria-label={`Record usage of ${granted.name}`}
                          onClick={() => setRecording(granted)}
                        >
                          Record
                        </Button>
                      </RowActions>
                    )}
                  </Stack>
                </Paper>
              ))}
            </SimpleGrid>
            {feature !== undefined && (
              <PastPeriods
                appId={appId}
                userId={userId}
                featureId={feature}
                name={grantedFeatures.find(({ featureId }) => featureId === feature)?.name ?? feature}
              />
            )}
            {grantedFeatures
              .filter(({ featureId }) => featureId === feature)
              .map((granted) => (
                <Suspense key={granted.featureId} fallback={<Loading />}>
                  <UsageOverTime
                    appId={appId}
                    userId={userId}
                    feature={{ ...granted, id: granted.featureId }}
                  />
                </Suspense>
              ))}
            <FormDialog
              opened={recording !== null}
              onClose={() => setRecording(null)}
              title={`Record usage of ${recording?.name ?? ''}`}
            >
              {recording && (
                <RecordUsageForm
                  appId={appId}
                  userId={userId}
                  feature={recording}
                  onDone={() => setRecording(null)}
                />
              )}
            </FormDialog>
          </Stack>
        )
      }
    </Loaded>
  )
}

/** Credits and pools that pay for a feature beside the plan. */
function Beside({ granted }: { granted: Granted }) {
  const { creditsLeft, poolLeft, unitLabel, unitLabelPlural } = granted
  const amount = (left: number) => units(left, unitLabel, unitLabelPlural)
  return (
    <>
      {creditsLeft !== null && creditsLeft > 0 && (
        <Text size="sm" className="numbers">
          {amount(creditsLeft)} left in credits
        </Text>
      )}
      {poolLeft !== null && poolLeft > 0 && (
        <Text size="sm" className="numbers">
          {amount(poolLeft)} more from its pool
        </Text>
      )}
    </>
  )
}

function PastPeriods(props: { appId: string; userId: string; featureId: string; name: string }) {
  const { name, ...variables } = props
  const asked = useAsk(PAST, variables)
  return (
    <Stack gap="xs">
      <Title order={2}>{name}, period by period</Title>
      <Paper p="md" radius="md">
        <Loaded of={asked} skeleton={<Skeleton height={250} />}>
          {({ showUsage }) => showUsage && <PastChart usage={showUsage} name={name} />}
        </Loaded>
      </Paper>
    </Stack>
  )
}

function PastChart({ usage, name }: { usage: Usage; name: string }) {
  const { times, series } = useMemo(() => {
    const periods = [...(usage.current ? [usage.current] : []), ...usage.past].reverse()
    return {
      times: periods.map(({ periodStart }) => Date.parse(periodStart) / 1000),
      series: [
        { label: 'Used', kind: 'bars' as const, values: periods.map(({ consumption }) => consumption.used) },
        {
          label: 'Limit',
          kind: 'limit' as const,
          values: periods.map(({ consumption }) => consumption.budget),
        },
      ],
    }
  }, [usage])
  return (
    <Suspense
      fallback={
        <Loading>
          <Skeleton height={250} />
        </Loading>
      }
    >
      <Chart
        label={`Usage of ${name} in the last ${times.length} periods`}
        times={times}
        series={series}
        {...(usage.current && { unfinished: 'current period' })}
      />
    </Suspense>
  )
}
