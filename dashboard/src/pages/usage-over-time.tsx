import { Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { graphql } from '../api/graphql.ts'
import { useApp } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import type { Series } from '../ui/chart.tsx'
import { download } from '../ui/csv.ts'
import { Days } from '../ui/days.tsx'
import { Figure } from '../ui/figure.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number, unitWord } from '../ui/number.ts'
import { When } from '../ui/when.tsx'
import { type Period, periodOf } from './revenue-series.ts'
import { seriesCsv } from './usage-csv.ts'

const Chart = lazy(async () => ({ default: (await import('../ui/chart.tsx')).Chart }))

const SERIES = graphql(`
  query UsageOverTime(
    $appId: String!, $featureId: String!, $userId: String, $from: String!, $to: String!, $bucket: UsageBucket!
  ) {
    usageSeries(appId: $appId, featureId: $featureId, userId: $userId, from: $from, to: $to, bucket: $bucket) {
      total completeFrom points { at used }
    }
  }
`)

const DAY_MS = 86_400_000
const [HOURS_UP_TO_DAYS, DAYS_UP_TO_DAYS] = [3, 400]

/** As many points as can be told apart. */
function bucketOf({ from, to }: Period): 'HOUR' | 'DAY' | 'MONTH' {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  return days <= HOURS_UP_TO_DAYS ? 'HOUR' : days <= DAYS_UP_TO_DAYS ? 'DAY' : 'MONTH'
}

interface UsageOverTimeProps {
  appId: string
  feature: { id: string; name: string; unitLabel: string | null; unitLabelPlural: string | null }
  /** undefined: all users */
  userId?: string
}

/** Recorded usage of a feature in a range of days, as a chart and as CSV. */
export function UsageOverTime({ appId, feature, userId }: UsageOverTimeProps) {
  const search: { from?: string; to?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const app = useApp()
  const period = periodOf(search, Date.parse(app?.now ?? new Date().toISOString()))
  const asked = useAsk(
    SERIES,
    {
      appId,
      featureId: feature.id,
      userId: userId ?? null,
      from: `${period.from}T00:00:00Z`,
      to: new Date(Date.parse(period.to) + DAY_MS).toISOString(),
      bucket: bucketOf(period),
    },
    { keepPrevious: true },
  )
  const series = asked.data?.usageSeries
  const times = useMemo(() => series?.points.map(({ at }) => Date.parse(at) / 1000) ?? [], [series])
  const drawn = useMemo<Series[]>(
    () => [
      { label: 'Used', kind: 'bars', values: series?.points.map(({ used }) => Math.max(used, 0)) ?? [] },
    ],
    [series],
  )
  const { unitLabel, unitLabelPlural } = feature
  const [unit, plural] = unitLabel || unitLabelPlural ? [unitLabel, unitLabelPlural] : ['unit', 'units']
  return (
    <Stack gap="xs" component="section" aria-label="Usage over time">
      <Group justify="space-between" align="flex-end">
        <Title order={2}>{userId === undefined ? 'Usage by date' : `${feature.name} by date`}</Title>
        <Group gap="xs" align="flex-end">
          <Days
            period={period}
            onChange={(chosen) =>
              void navigate({
                to: '.',
                search: (before: Record<string, unknown>) => ({ ...before, ...chosen }),
                replace: true,
              } as never)
            }
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            disabled={!series}
            onClick={() => {
              if (!series) return
              const text = seriesCsv(feature.id, userId ?? '', series.points)
              download(`usage-${feature.id}-${period.from}-${period.to}.csv`, 'text/csv', text)
            }}
          >
            Export CSV
          </Button>
        </Group>
      </Group>
      <Paper p="md" radius="md">
        <Loaded of={asked} skeleton={<Skeleton height={260} />}>
          {({ usageSeries }) =>
            usageSeries && (
              <>
                <Figure
                  label={`${unitWord(usageSeries.total, unit, plural)} used`}
                  value={usageSeries.total}
                />
                <Suspense
                  fallback={
                    <Loading>
                      <Skeleton height={210} />
                    </Loading>
                  }
                >
                  <Chart
                    label={`Usage of ${feature.name} from ${period.from} to ${period.to}: ${number(usageSeries.total)}`}
                    times={times}
                    series={drawn}
                    height={180}
                  />
                </Suspense>
                <Text size="xs" c="dimmed" mt="xxs">
                  {bucketOf(period) === 'HOUR' ? 'Hours' : bucketOf(period) === 'DAY' ? 'Days' : 'Months'} in
                  UTC.
                  {usageSeries.completeFrom !== null && (
                    <>
                      {' '}
                      Entries before <When at={usageSeries.completeFrom} time /> have been archived or deleted
                      and are not shown.
                    </>
                  )}
                </Text>
              </>
            )
          }
        </Loaded>
      </Paper>
    </Stack>
  )
}
