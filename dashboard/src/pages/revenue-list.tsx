import { Stack, Text, Title } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { moneyText } from '../ui/price.ts'
import { When } from '../ui/when.tsx'

const SUBSCRIPTIONS = graphql(`
  query RevenueSubscriptions($appId: String!, $list: RevenueList!, $days: Int!, $after: String) {
    revenueList(appId: $appId, list: $list, days: $days, first: 50, after: $after) {
      rows { id at userId userName packageId packageName fromPackageName provider }
      next
    }
  }
`)
const PAYMENTS = graphql(`
  query Payments($appId: String!, $state: ChargeState!, $days: Int!, $after: String) {
    payments(appId: $appId, state: $state, days: $days, first: 50, after: $after) {
      rows { ref provider amount currency decimals at userId userName }
      next
    }
  }
`)

const LISTS = {
  new: { title: 'New subscriptions', list: 'NEW', time: 'Began' },
  changed: { title: 'Changed plans', list: 'CHANGED', time: 'Changed' },
  cancelled: { title: 'Cancelled subscriptions', list: 'CANCELLED', time: 'Ended' },
  'past-due': { title: 'Past due subscriptions', list: 'PAST_DUE', time: 'Since' },
  trialing: { title: 'Trials', list: 'TRIALING', time: 'Until' },
} as const

interface RevenueListProps {
  appId: string
  list: keyof typeof LISTS | 'paid' | 'failed'
  days: number
  after: string | undefined
}

/** What a figure is made of. */
export function RevenueListOf({ appId, list, days, after }: RevenueListProps) {
  return list === 'paid' || list === 'failed' ? (
    <PaymentList appId={appId} list={list} days={days} after={after} />
  ) : (
    <SubscriptionList appId={appId} list={list} days={days} after={after} />
  )
}

function SubscriptionList({ appId, list, days, after }: RevenueListProps & { list: keyof typeof LISTS }) {
  const { title, time, list: name } = LISTS[list]
  const asked = useAsk(
    SUBSCRIPTIONS,
    { appId, list: name, days, after: after ?? null },
    { keepPrevious: true },
  )
  return (
    <Stack gap="xs">
      <Title order={2}>{title}</Title>
      <Loaded of={asked}>
        {({ revenueList }) =>
          (revenueList?.rows ?? []).length === 0 ? (
            <Text c="dimmed">None in this range.</Text>
          ) : (
            <DataTable
              label={title}
              rows={revenueList?.rows ?? []}
              keyOf={({ id }) => id}
              columns={[
                { label: 'User', cell: (row) => <UserLink appId={appId} {...row} /> },
                {
                  label: 'Package',
                  cell: ({ packageName, fromPackageName }) =>
                    fromPackageName === null ? packageName : `${fromPackageName} → ${packageName}`,
                },
                { label: 'Provider', wide: true, cell: ({ provider }) => provider ?? 'by hand' },
                { label: time, cell: ({ at }) => <When at={at} time /> },
              ]}
            />
          )
        }
      </Loaded>
      <Pager after={after} next={asked.data?.revenueList?.next} />
    </Stack>
  )
}

function PaymentList({ appId, list, days, after }: RevenueListProps & { list: 'paid' | 'failed' }) {
  const title = list === 'paid' ? 'Payments' : 'Failed payments'
  const state = list === 'paid' ? 'PAID' : 'FAILED'
  const asked = useAsk(PAYMENTS, { appId, state, days, after: after ?? null }, { keepPrevious: true })
  return (
    <Stack gap="xs">
      <Title order={2}>{title}</Title>
      <Loaded of={asked}>
        {({ payments }) =>
          (payments?.rows ?? []).length === 0 ? (
            <Text c="dimmed">None in this range.</Text>
          ) : (
            <DataTable
              label={title}
              rows={payments?.rows ?? []}
              keyOf={({ provider, ref }) => `${provider} ${ref}`}
              columns={[
                { label: 'User', cell: (row) => <UserLink appId={appId} {...row} /> },
                { label: 'Amount', right: true, cell: (row) => moneyText(row) },
                {
                  label: 'Invoice',
                  wide: true,
                  cell: ({ provider, ref }) => (
                    <>
                      {provider}{' '}
                      <Text span size="xs" ff="monospace">
                        {ref}
                      </Text>
                    </>
                  ),
                },
                { label: list === 'paid' ? 'Paid' : 'Charged', cell: ({ at }) => <When at={at} time /> },
              ]}
            />
          )
        }
      </Loaded>
      <Pager after={after} next={asked.data?.payments?.next} />
    </Stack>
  )
}

function UserLink({ appId, userId, userName }: { appId: string; userId: string; userName: string | null }) {
  return (
    <AnchorLink
      to="/apps/$app/users/$id"
      params={{ app: appId, id: userId }}
      search={{ tab: 'subscriptions' }}
    >
      {userName ?? userId}
    </AnchorLink>
  )
}
