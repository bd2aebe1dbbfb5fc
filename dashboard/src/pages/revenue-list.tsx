import { Group, Stack, Text, Title } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { ExportLink } from '../ui/export-rows.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PackageLink } from '../ui/package-link.tsx'
import { Pager } from '../ui/pager.tsx'
import { moneyText, providerName } from '../ui/price.ts'
import { Tag } from '../ui/tag.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'

const SUBSCRIPTIONS = graphql(`
  query RevenueSubscriptions($appId: String!, $list: RevenueList!, $days: Int!, $after: String) {
    revenueList(appId: $appId, list: $list, days: $days, first: 50, after: $after) {
      rows { id at userId userName packageId packageName fromPackageId fromPackageName provider }
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

const RECURRING = graphql(`
  query RecurringRevenue($appId: String!, $after: String) {
    mrrList(appId: $appId, first: 50, after: $after) {
      rows { ref provider currency decimals amount pastDue since userId userName packageIds packageNames }
      next
    }
  }
`)

const LISTS = {
  new: { title: 'New subscriptions', list: 'NEW', time: 'Started' },
  changed: { title: 'Changed plans', list: 'CHANGED', time: 'Changed' },
  cancelled: { title: 'Cancelled subscriptions', list: 'CANCELLED', time: 'Ended' },
  'past-due': { title: 'Past due subscriptions', list: 'PAST_DUE', time: 'Since' },
  trialing: { title: 'Trials', list: 'TRIALING', time: 'Until' },
} as const

const CHARGES = {
  paid: { title: 'Payments', state: 'PAID', time: 'Paid' },
  failed: { title: 'Failed payments', state: 'FAILED', time: 'Charged' },
  refunded: { title: 'Refunds and disputes', state: 'REFUNDED', time: 'On' },
} as const

interface RevenueListProps {
  appId: string
  list: keyof typeof LISTS | keyof typeof CHARGES | 'mrr'
  days: number
  after: string | undefined
}

/** What a figure is made of. */
export function RevenueListOf({ appId, list, days, after }: RevenueListProps) {
  if (list === 'mrr') return <MrrList appId={appId} after={after} />
  if (list === 'paid' || list === 'failed' || list === 'refunded') {
    return <PaymentList appId={appId} list={list} days={days} after={after} />
  }
  return <SubscriptionList appId={appId} list={list} days={days} after={after} />
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
      <Group justify="space-between">
        <Title order={2}>{title}</Title>
        <ExportLink size="xs" list="revenue" query={{ app: appId, list: name, days }} />
      </Group>
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
                {
                  label: 'User',
                  cell: (row) => (
                    <UserLink appId={appId} id={row.userId} name={row.userName} tab="subscriptions" />
                  ),
                },
                {
                  label: 'Plan or add-on',
                  cell: ({ packageId, packageName, fromPackageId, fromPackageName }) => (
                    <>
                      {fromPackageId && (
                        <>
                          <PackageLink appId={appId} id={fromPackageId} name={fromPackageName} /> →{' '}
                        </>
                      )}
                      <PackageLink appId={appId} id={packageId} name={packageName} />
                    </>
                  ),
                },
                {
                  label: 'Provider',
                  wide: true,
                  cell: ({ provider }) => (provider === null ? 'Not billed' : providerName(provider)),
                },
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

function PaymentList({ appId, list, days, after }: RevenueListProps & { list: keyof typeof CHARGES }) {
  const { title, state, time } = CHARGES[list]
  const asked = useAsk(PAYMENTS, { appId, state, days, after: after ?? null }, { keepPrevious: true })
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>{title}</Title>
        <ExportLink size="xs" list="payments" query={{ app: appId, state, days }} />
      </Group>
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
                {
                  label: 'User',
                  cell: (row) => (
                    <UserLink appId={appId} id={row.userId} name={row.userName} tab="subscriptions" />
                  ),
                },
                { label: 'Amount', right: true, cell: (row) => moneyText(row) },
                {
                  label: 'Invoice',
                  wide: true,
                  cell: ({ provider, ref }) => (
                    <>
                      {providerName(provider)}{' '}
                      <Text span size="xs" ff="monospace">
                        {ref}
                      </Text>
                    </>
                  ),
                },
                { label: time, cell: ({ at }) => <When at={at} time /> },
              ]}
            />
          )
        }
      </Loaded>
      <Pager after={after} next={asked.data?.payments?.next} />
    </Stack>
  )
}

/** What each subscription adds to the monthly recurring revenue. */
function MrrList({ appId, after }: Pick<RevenueListProps, 'appId' | 'after'>) {
  const title = 'Recurring revenue by subscription'
  const asked = useAsk(RECURRING, { appId, after: after ?? null }, { keepPrevious: true })
  const rows = asked.data?.mrrList?.rows ?? []
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>{title}</Title>
        <ExportLink size="xs" list="mrr" query={{ app: appId }} />
      </Group>
      <Loaded of={asked}>
        {() =>
          rows.length === 0 ? (
            <Text c="dimmed">No recurring payments yet. Subscriptions that are not billed do not count.</Text>
          ) : (
            <DataTable
              label={title}
              rows={rows}
              keyOf={({ provider, ref, currency }) => `${provider} ${ref} ${currency}`}
              columns={[
                {
                  label: 'User',
                  cell: (row) => (
                    <UserLink appId={appId} id={row.userId} name={row.userName} tab="subscriptions" />
                  ),
                },
                {
                  label: 'Plan or add-on',
                  cell: ({ packageIds, packageNames }) => (
                    <Group gap="xs">
                      {packageIds.map((id, i) => (
                        <PackageLink key={id} appId={appId} id={id} name={packageNames[i]} />
                      ))}
                    </Group>
                  ),
                },
                {
                  label: 'Per month',
                  right: true,
                  cell: (row) => (
                    <>
                      {moneyText(row)} {row.pastDue > 0 && <Tag tone="warn">Past due</Tag>}
                    </>
                  ),
                },
                { label: 'Provider', wide: true, cell: ({ provider }) => providerName(provider) },
                { label: 'Since', wide: true, cell: ({ since }) => <When at={since} /> },
              ]}
            />
          )
        }
      </Loaded>
      <Pager after={after} next={asked.data?.mrrList?.next} />
    </Stack>
  )
}
