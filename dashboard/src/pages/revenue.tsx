import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../api/request.ts'
import { useApp, useAppId } from '../api/use-account.ts'
import { keyOf, useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { When } from '../ui/when.tsx'
import { MoneyFigures, MovementFigures, SkeletonFigures } from './revenue-figures.tsx'
import { RevenueListOf } from './revenue-list.tsx'
import { RevenueOverTime } from './revenue-over-time.tsx'
import { type Figures, REVENUE } from './revenue-query.ts'
import { periodOf } from './revenue-series.ts'

const RANGES = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

export function RevenuePage() {
  const appId = useAppId()
  const search = useSearch({ from: '/inside/apps/$app/revenue' })
  const { range = '30', list, after } = search
  const navigate = useNavigate({ from: '/apps/$app/revenue' })
  const app = useApp()
  const period = periodOf(search, Date.parse(app?.now ?? new Date().toISOString()))
  const days = Number(range)
  const kept = { appId, days, fresh: false }
  const asked = useAsk(REVENUE, kept, { keepPrevious: true })
  const refresh = useRefresh(kept)
  return (
    <Page
      title="Revenue"
      about="Recurring revenue at list prices, payments and subscriptions. Currencies are shown separately."
      actions={
        <SegmentedControl
          aria-label="Range"
          value={range}
          onChange={(value) =>
            void navigate({ search: ({ list }) => ({ range: value as typeof range, ...(list && { list }) }) })
          }
          data={RANGES}
        />
      }
    >
      <FormAlert error={refresh.error} />
      <Loaded of={asked} skeleton={<SkeletonFigures />}>
        {({ revenue }) =>
          revenue && (
            <>
              <Group gap="xs">
                <Text size="sm" c="dimmed">
                  As of <When at={revenue.asOf} time />
                </Text>
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={<IconRefresh size={14} aria-hidden />}
                  loading={refresh.busy}
                  onClick={refresh.again}
                >
                  Refresh
                </Button>
              </Group>
              <MoneyFigures appId={appId} revenue={revenue} range={range} />
              <MovementFigures appId={appId} revenue={revenue} range={range} />
            </>
          )
        }
      </Loaded>
      {list === undefined && (
        <RevenueOverTime
          appId={appId}
          period={period}
          onPeriod={(chosen) =>
            void navigate({ search: (before) => ({ ...before, ...chosen }), replace: true })
          }
        />
      )}
      {list !== undefined && <RevenueListOf appId={appId} list={list} days={days} after={after} />}
      {asked.data?.revenue && <Plans appId={appId} plans={asked.data.revenue.plans} />}
    </Page>
  )
}

/** Has the figures made again, and shows them in place of the kept ones. */
function useRefresh(kept: { appId: string; days: number; fresh: boolean }) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const again = async () => {
    setBusy(true)
    setError(null)
    try {
      const answer = await request(REVENUE, { ...kept, fresh: true })
      client.setQueryData(keyOf(REVENUE, kept), answer)
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)))
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, again: () => void again() }
}

type Plan = Figures['plans'][number]
type Filter = { state: 'LIVE' | 'ACTIVE' | 'TRIAL' | 'PAST_DUE'; provider?: 'none' }

function Plans({ appId, plans }: { appId: string; plans: Plan[] }) {
  const counted = ({ packageId, packageName }: Plan, count: number, filter: Filter) =>
    count === 0 ? (
      number(0)
    ) : (
      <AnchorLink
        to="/apps/$app/subscriptions"
        params={{ app: appId }}
        search={{ package: packageId, ...filter }}
        aria-label={`${number(count)} of ${packageName}`}
      >
        {number(count)}
      </AnchorLink>
    )
  return (
    <Stack gap="xs">
      <Title order={2}>Live subscriptions by plan</Title>
      {plans.length === 0 ? (
        <Empty title="No subscriptions yet">
          Subscriptions appear here once a user pays for a plan or is subscribed to one.
        </Empty>
      ) : (
        <DataTable
          label="Live subscriptions by plan"
          rows={plans}
          keyOf={({ packageId }) => packageId}
          columns={[
            {
              label: 'Plan or add-on',
              cell: ({ packageId, packageName, isAddon }) => (
                <>
                  <AnchorLink to="/apps/$app/packages/$id" params={{ app: appId, id: packageId }}>
                    {packageName}
                  </AnchorLink>
                  {isAddon && (
                    <Text span size="xs" c="dimmed">
                      {' '}
                      add-on
                    </Text>
                  )}
                </>
              ),
            },
            { label: 'Active', right: true, cell: (plan) => counted(plan, plan.active, { state: 'ACTIVE' }) },
            {
              label: 'Trialing',
              right: true,
              wide: true,
              cell: (plan) => counted(plan, plan.trialing, { state: 'TRIAL' }),
            },
            {
              label: 'Past due',
              right: true,
              cell: (plan) => counted(plan, plan.pastDue, { state: 'PAST_DUE' }),
            },
            {
              label: 'Not billed',
              right: true,
              wide: true,
              cell: (plan) => counted(plan, plan.unpaid, { state: 'LIVE', provider: 'none' }),
            },
          ]}
        />
      )}
    </Stack>
  )
}
