import { Group, Paper, SegmentedControl, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useApp, useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { byDay, daysAgo } from '../ui/by-day.ts'
import { Chart } from '../ui/chart.tsx'
import { Figure } from '../ui/figure.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { Sentence } from '../ui/sentence.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { When } from '../ui/when.tsx'
import { FirstMinute } from './first-minute.tsx'
import { HomeCredits } from './home-credits.tsx'
import { HomeRevenue } from './home-revenue.tsx'
import { SampleNote } from './sample-note.tsx'

const ACTIVITY = graphql(`
  query Activity($appId: String!, $from: String!, $to: String!, $interval: ActivityInterval!) {
    activity(appId: $appId, from: $from, to: $to, interval: $interval) { at checks records }
  }
`)
const LATEST = graphql(`
  query Latest($appId: String!) {
    nearLimits(appId: $appId, first: 6) { userId userName featureId featureName used budget overageEnabled }
    latestEvents(appId: $appId, first: 12) { id at parts { text at subject { kind appId id } } }
  }
`)
type Point = ResultOf<typeof ACTIVITY>['activity'][number]
type Latest = ResultOf<typeof LATEST>

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RANGES = {
  hour: { label: 'Last hour', span: HOUR, step: MINUTE, interval: 'MINUTE', unfinished: 'current minute' },
  day: { label: 'Last day', span: 24 * HOUR, step: HOUR, interval: 'HOUR', unfinished: 'current hour' },
  // By the hour, since the reader's days are not the service's.
  month: { label: 'Last 30 days', span: 30 * 24 * HOUR, step: HOUR, interval: 'HOUR', unfinished: 'today' },
} as const

export function HomePage() {
  const appId = useAppId()
  const app = useApp()
  return (
    <Page title={app?.name ?? appId} about="Activity in this app.">
      {!app?.sampleLoaded && <FirstMinute appId={appId} />}
      <SampleNote appId={appId} />
      <Calls appId={appId} />
      <HomeRevenue appId={appId} />
      <HomeCredits appId={appId} />
      <LatestOf appId={appId} />
      {/* With a sample loaded, its data comes first. */}
      {app?.sampleLoaded && <FirstMinute appId={appId} />}
    </Page>
  )
}

function Calls({ appId }: { appId: string }) {
  const { range = 'day' } = useSearch({ from: '/inside/apps/$app/' })
  const navigate = useNavigate({ from: '/apps/$app' })
  const { span, step, interval } = RANGES[range]
  // Rounded to the step, so that re-rendering repeats the same query.
  const now = Math.floor(Date.now() / step) * step
  const asked = useAsk(
    ACTIVITY,
    {
      appId,
      from: new Date(range === 'month' ? daysAgo(now, 29) : now - span + step).toISOString(),
      to: new Date(now + step).toISOString(),
      interval,
    },
    { keepPrevious: true, refetchInterval: 15_000 },
  )
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>Checks and records</Title>
        <SegmentedControl
          size="xs"
          aria-label="Range"
          value={range}
          onChange={(value) => void navigate({ search: { range: value as typeof range }, replace: true })}
          data={Object.entries(RANGES).map(([value, { label }]) => ({ value, label }))}
        />
      </Group>
      <Paper p="md" radius="md">
        <Loaded of={asked} skeleton={<Skeleton height={300} />}>
          {({ activity }) => (
            <CallsChart
              activity={activity}
              daily={range === 'month'}
              range={RANGES[range].label}
              unfinished={RANGES[range].unfinished}
            />
          )}
        </Loaded>
      </Paper>
    </Stack>
  )
}

interface CallsChartProps {
  activity: Point[]
  daily: boolean
  range: string
  unfinished: string
}

function CallsChart({ activity, daily, range, unfinished }: CallsChartProps) {
  const { times, series, checks, records } = useMemo(() => {
    const points = daily ? byDay(activity, 'checks', 'records') : activity
    const of = (name: 'checks' | 'records') => points.map((point) => point[name])
    const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
    return {
      times: points.map(({ at }) => Date.parse(at) / 1000),
      series: [
        { label: 'Checks', kind: 'line' as const, values: of('checks') },
        { label: 'Records', kind: 'line' as const, values: of('records') },
      ],
      checks: sum(of('checks')),
      records: sum(of('records')),
    }
  }, [activity, daily])
  return (
    <>
      <Group gap="xl" mb="xs" style={{ rowGap: 0 }}>
        <Figure label={checks === 1 ? 'check' : 'checks'} value={checks} />
        <Figure label={records === 1 ? 'record' : 'records'} value={records} />
      </Group>
      <Chart
        label={`${range}: ${units(checks, 'check', 'checks')}, ${units(records, 'record', 'records')}`}
        times={times}
        series={series}
        unfinished={unfinished}
      />
    </>
  )
}

function LatestOf({ appId }: { appId: string }) {
  const asked = useAsk(LATEST, { appId }, { refetchInterval: 15_000 })
  return (
    <Loaded of={asked} skeleton={<SkeletonCards cards={2} cols={{ base: 1, md: 2 }} height={220} />}>
      {(latest) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <NearLimits appId={appId} rows={latest.nearLimits} />
          <Events rows={latest.latestEvents} />
        </SimpleGrid>
      )}
    </Loaded>
  )
}

function NearLimits({ appId, rows }: { appId: string; rows: Latest['nearLimits'] }) {
  return (
    <Stack gap="xs">
      <Title order={2}>Closest to their limits</Title>
      <Paper p="md" radius="md" flex={1}>
        {rows.length === 0 ? (
          <Text c="dimmed" size="sm">
            No recent usage of a limited feature.
          </Text>
        ) : (
          <Stack gap="md">
            {rows.map((row) => (
              <div key={`${row.userId} ${row.featureId}`}>
                <Text size="sm" mb="xxs">
                  <Link
                    to="/apps/$app/users/$id"
                    params={{ app: appId, id: row.userId }}
                    search={{ feature: row.featureId }}
                    className="row-link"
                  >
                    {row.userName ?? row.userId}
                  </Link>{' '}
                  ·{' '}
                  <AnchorLink
                    to="/apps/$app/features/$id"
                    params={{ app: appId, id: row.featureId }}
                    inherit
                    underline="always"
                  >
                    {row.featureName}
                  </AnchorLink>
                </Text>
                <UsageBar label={`${row.featureName} of ${row.userId}`} {...row} />
              </div>
            ))}
          </Stack>
        )}
      </Paper>
    </Stack>
  )
}

function Events({ rows }: { rows: Latest['latestEvents'] }) {
  return (
    <Stack gap="xs">
      <Title order={2}>Latest events</Title>
      <Paper p="md" radius="md" flex={1}>
        {rows.length === 0 ? (
          <Text c="dimmed" size="sm">
            No events yet.
          </Text>
        ) : (
          <Stack gap="xs">
            {rows.map(({ id, parts, at }) => (
              <div key={id}>
                <Text size="sm" className="break">
                  <Sentence parts={parts} />
                </Text>
                <Text size="xs" c="dimmed">
                  <When at={at} time />
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Paper>
    </Stack>
  )
}
