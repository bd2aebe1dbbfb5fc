import { Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import type { CatalogueFeature } from '../grants.ts'
import { byDay, daysAgo } from '../ui/by-day.ts'
import { Chart } from '../ui/chart.tsx'
import { Figure } from '../ui/figure.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units, unitWord } from '../ui/number.ts'
import { SkeletonCards } from '../ui/skeletons.tsx'

const ACTIVITY = graphql(`
  query FeatureActivity($appId: String!, $id: String!, $from: String!, $to: String!) {
    featureActivity(appId: $appId, id: $id, from: $from, to: $to, interval: HOUR) {
      at checks denied records units refused
    }
  }
`)
type Point = ResultOf<typeof ACTIVITY>['featureActivity'][number]
type Count = Exclude<keyof Point, 'at'>

const HOUR = 3_600_000
const RANGES = {
  month: { label: 'Last 30 days', unfinished: 'today' },
  day: { label: 'Last day', unfinished: 'this hour' },
} as const

interface FeatureActivityProps {
  appId: string
  feature: CatalogueFeature
}

/** How much of the feature was used, and how often it was denied. */
export function FeatureActivity({ appId, feature }: FeatureActivityProps) {
  const { range = 'month' } = useSearch({ from: '/inside/apps/$app/features/$id' })
  const navigate = useNavigate({ from: '/apps/$app/features/$id' })
  // Rounded to the hour, so that re-rendering repeats the same query.
  const now = Math.floor(Date.now() / HOUR) * HOUR
  const asked = useAsk(
    ACTIVITY,
    {
      appId,
      id: feature.id,
      from: new Date(range === 'month' ? daysAgo(now, 29) : now - 23 * HOUR).toISOString(),
      to: new Date(now + HOUR).toISOString(),
    },
    { keepPrevious: true, refetchInterval: 15_000 },
  )
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>Usage and denials</Title>
        <SegmentedControl
          size="xs"
          aria-label="Range"
          value={range}
          onChange={(value) =>
            void navigate({
              search: ({ range, ...rest }) => (value === 'day' ? { ...rest, range: 'day' } : rest),
              replace: true,
            })
          }
          data={Object.entries(RANGES).map(([value, { label }]) => ({ value, label }))}
        />
      </Group>
      <Loaded of={asked} skeleton={<SkeletonCards cards={2} cols={1} height={288} />}>
        {({ featureActivity }) => (
          <Charts appId={appId} feature={feature} activity={featureActivity} range={range} />
        )}
      </Loaded>
    </Stack>
  )
}

interface ChartsProps {
  appId: string
  feature: CatalogueFeature
  activity: Point[]
  range: keyof typeof RANGES
}

function Charts({ appId, feature, activity, range }: ChartsProps) {
  const { times, of, total } = useMemo(() => {
    const points =
      range === 'month' ? byDay(activity, 'checks', 'denied', 'records', 'units', 'refused') : activity
    const of = (name: Count) => points.map((point) => point[name])
    return {
      times: points.map(({ at }) => Date.parse(at) / 1000),
      of,
      total: (name: Count) => of(name).reduce((a, b) => a + b, 0),
    }
  }, [activity, range])
  const { label, unfinished } = RANGES[range]
  const [checks, denied, used, refused] = [total('checks'), total('denied'), total('units'), total('refused')]
  const counted = feature.type === 'CONSUMABLE'
  const usage = useMemo(
    () => [
      counted
        ? {
            label: feature.unitLabelPlural || feature.unitLabel || 'Used',
            kind: 'line' as const,
            values: of('units').map((value) => Math.max(value, 0)),
          }
        : { label: 'Checks', kind: 'line' as const, values: of('checks') },
    ],
    [counted, feature, of],
  )
  const denials = useMemo(
    () => [
      { label: 'Denied checks', kind: 'line' as const, values: of('denied') },
      ...(counted ? [{ label: 'Refused records', kind: 'line' as const, values: of('refused') }] : []),
    ],
    [counted, of],
  )
  if (checks === 0 && refused === 0 && total('records') === 0) {
    return (
      <Paper p="md" radius="md">
        <Text c="dimmed" size="sm">
          No activity in this range. Checks and records appear here a few seconds after your application makes
          them.
        </Text>
      </Paper>
    )
  }
  const [unit, plural] =
    feature.unitLabel || feature.unitLabelPlural
      ? [feature.unitLabel, feature.unitLabelPlural]
      : ['unit', 'units']
  return (
    <>
      <Paper p="md" radius="md">
        <Group gap="xl" mb="xs" style={{ rowGap: 0 }}>
          {counted && <Figure label={`${unitWord(used, unit, plural)} used`} value={used} />}
          <Figure label={checks === 1 ? 'check' : 'checks'} value={checks} />
        </Group>
        <Chart
          label={`${label}: ${counted ? `${units(used, unit, plural)} used` : units(checks, 'check', 'checks')}`}
          times={times}
          series={usage}
          height={180}
          unfinished={unfinished}
        />
      </Paper>
      <Paper p="md" radius="md">
        <Group gap="xl" mb="xs" style={{ rowGap: 0 }}>
          <Figure label={denied === 1 ? 'denied check' : 'denied checks'} value={denied} />
          {counted && <Figure label={refused === 1 ? 'refused record' : 'refused records'} value={refused} />}
          {denied + refused > 0 && (
            <AnchorLink
              to="/apps/$app/features/$id"
              params={{ app: appId, id: feature.id }}
              search={{ tab: 'denials' }}
              size="sm"
            >
              See who was denied
            </AnchorLink>
          )}
        </Group>
        <Chart
          label={`${label}: ${units(denied, 'denied check', 'denied checks')}`}
          times={times}
          series={denials}
          height={140}
          unfinished={unfinished}
        />
      </Paper>
    </>
  )
}
