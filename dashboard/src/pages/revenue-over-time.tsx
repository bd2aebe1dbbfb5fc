import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { useAsk } from '../api/use-api.ts'
import type { Series } from '../ui/chart.tsx'
import { download } from '../ui/csv.ts'
import { Days } from '../ui/days.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { moneyText, providerName } from '../ui/price.ts'
import classes from './revenue-over-time.module.css'
import {
  changeText,
  type MoneySeries,
  OVER_TIME,
  type OverTime,
  type Period,
  revenueCsv,
} from './revenue-series.ts'

const Chart = lazy(async () => ({ default: (await import('../ui/chart.tsx')).Chart }))

interface RevenueOverTimeProps {
  appId: string
  period: Period
  onPeriod: (period: Period) => void
}

/** Recurring revenue, payments, starts and ends by day, compared with the period before. */
export function RevenueOverTime({ appId, period, onPeriod }: RevenueOverTimeProps) {
  const asked = useAsk(OVER_TIME, { appId, ...period }, { keepPrevious: true })
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={2}>Over time</Title>
          <Text size="xs" c="dimmed">
            By calendar day in UTC. The figures above count back from now, so sums can differ.
          </Text>
        </div>
        <Group gap="xs" align="flex-end">
          <Days period={period} onChange={onPeriod} />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            disabled={!asked.data?.revenueOverTime}
            onClick={() => {
              const series = asked.data?.revenueOverTime
              if (series) download(`revenue-${period.from}-${period.to}.csv`, 'text/csv', revenueCsv(series))
            }}
          >
            Export CSV
          </Button>
        </Group>
      </Group>
      <Loaded of={asked} skeleton={<Skeleton height={620} />}>
        {({ revenueOverTime }) => revenueOverTime && <Charts series={revenueOverTime} />}
      </Loaded>
    </Stack>
  )
}

const keyOf = ({ provider, currency }: MoneySeries) => `${provider} ${currency}`

function Charts({ series }: { series: OverTime }) {
  const [chosen, setChosen] = useState<string | null>(null)
  const largest = [...series.money].sort((a, b) => b.totals.mrr - a.totals.mrr)
  const money = series.money.find((one) => keyOf(one) === chosen) ?? largest[0]
  const { started, ended, totals, previous, days } = series
  const times = useMemo(() => days.map((day) => Date.parse(day) / 1000), [days])
  const moved = useMemo<Series[]>(
    () => [
      { label: 'New', kind: 'bars', values: started },
      { label: 'Cancelled', kind: 'line', values: ended },
    ],
    [started, ended],
  )
  return (
    <Stack gap="md">
      {series.money.length > 1 && (
        <SegmentedControl
          w="fit-content"
          aria-label="Currency"
          value={money ? keyOf(money) : ''}
          onChange={setChosen}
          data={series.money.map((one) => ({
            value: keyOf(one),
            label: `${one.currency.toUpperCase()} · ${providerName(one.provider)}`,
          }))}
        />
      )}
      {money ? (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <MoneyCharts money={money} times={times} />
        </SimpleGrid>
      ) : (
        <Panel title="Monthly recurring revenue">
          <Text size="sm" c="dimmed">
            No provider has charged a subscription in this period.
          </Text>
        </Panel>
      )}
      <div className={classes.moved}>
        <Panel
          title="New and cancelled"
          figure={`${number(totals.started)} new, ${number(totals.ended)} cancelled`}
          note={`${number(previous.started)} new, ${number(previous.ended)} cancelled in the previous period`}
        >
          <Plot label="New and cancelled subscriptions by day" times={times} series={moved} />
        </Panel>
        <Panel
          title="Churn"
          figure={percentText(totals.churn)}
          note={`Previous period: ${percentText(previous.churn)}`}
        >
          <Text size="sm" c="dimmed">
            Cancelled subscriptions as a share of those live at the start of the period. Plan changes do not
            count.
          </Text>
        </Panel>
      </div>
    </Stack>
  )
}

function MoneyCharts({ money, times }: { money: MoneySeries; times: number[] }) {
  const { mrr, paid, refunded, totals, previous, currency, decimals } = money
  const text = (amount: number) => moneyText({ amount, currency, decimals })
  const unit = 10 ** decimals
  const recurring = useMemo<Series[]>(
    () => [{ label: 'MRR', kind: 'line', values: mrr.map((value) => value / unit) }],
    [mrr, unit],
  )
  const payments = useMemo<Series[]>(
    () => [
      { label: 'Paid', kind: 'bars', values: paid.map((value) => value / unit) },
      { label: 'Refunded', kind: 'line', values: refunded.map((value) => value / unit) },
    ],
    [paid, refunded, unit],
  )
  const net = totals.paid - totals.refunded
  return (
    <>
      <Panel
        title="Monthly recurring revenue"
        figure={text(totals.mrr)}
        note={comparison(totals.mrr, previous.mrr, text)}
      >
        <Plot
          label={`Monthly recurring revenue by day, now ${text(totals.mrr)}`}
          times={times}
          series={recurring}
        />
      </Panel>
      <Panel
        title="Payments per day, less refunds"
        figure={text(net)}
        note={comparison(net, previous.paid - previous.refunded, text)}
      >
        <Plot label={`Payments by day, ${text(net)} in total`} times={times} series={payments} />
      </Panel>
    </>
  )
}

const comparison = (now: number, before: number, text: (amount: number) => string): string => {
  const change = changeText(now, before)
  return `Previous period: ${text(before)}${change === null ? '' : ` (${change})`}`
}

const percentText = (share: number | null): string =>
  share === null ? 'Not available' : `${(share * 100).toFixed(1)}%`

function Panel({
  title,
  figure,
  note,
  children,
}: {
  title: string
  figure?: string
  note?: string
  children: ReactNode
}) {
  return (
    <Paper p="md" radius="md" component="section" aria-label={title}>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      {figure !== undefined && (
        <Text fz={24} fw={650} className="numbers">
          {figure}
        </Text>
      )}
      {note !== undefined && (
        <Text size="xs" c="dimmed" mb="xs">
          {note}
        </Text>
      )}
      {children}
    </Paper>
  )
}

const Plot = (props: { label: string; times: number[]; series: Series[] }) => (
  <Suspense
    fallback={
      <Loading>
        <Skeleton height={210} />
      </Loading>
    }
  >
    <Chart {...props} height={180} />
  </Suspense>
)
