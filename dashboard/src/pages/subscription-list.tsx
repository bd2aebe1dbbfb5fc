import { Stack, Text, VisuallyHidden } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf, type VariablesOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { BulkBar } from '../forms/bulk-bar.tsx'
import { SubscriptionActions } from '../forms/subscription-actions.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { PackageLink } from '../ui/package-link.tsx'
import { Pager, rowsBefore } from '../ui/pager.tsx'
import { moneyText, providerName } from '../ui/price.ts'
import { useSelection } from '../ui/selection.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import type { Sorting } from '../ui/sorting.ts'
import { StatusTag } from '../ui/status-tag.tsx'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'
import { NextText } from './next-text.tsx'
import { ReversalTags } from './reversal-tags.tsx'

const SUBSCRIPTIONS = graphql(`
  query Subscriptions($appId: String!, $userId: String, $search: String, $packageId: String, $state: SubscriptionState, $provider: String, $order: SubscriptionOrder, $after: String) {
    subscriptions(appId: $appId, userId: $userId, search: $search, packageId: $packageId, state: $state, provider: $provider, order: $order, after: $after) {
      next
      total { count more }
      rows {
        id userId userName status replaced startedAt cancelAt cancelledAt trialEndsAt quantity packageVersion
        scheduled { packageName at }
        package { id name isAddon }
        billing { provider ref status paidUntil }
        price { amount decimals currency interval }
        reversals { paymentRef amount refunded amountText refundedText refundedAt dispute { state reason openedAt } }
        nextEvent { kind at packageName }
      }
    }
  }
`)
type Filter = Omit<VariablesOf<typeof SUBSCRIPTIONS>, 'appId' | 'userId' | 'order' | 'after'>
type Subscription = NonNullable<ResultOf<typeof SUBSCRIPTIONS>['subscriptions']>['rows'][number]

interface SubscriptionListProps {
  appId: string
  /** only this user's */
  userId?: string
  /** only those of this package */
  packageId?: string
  /** other filters; none is a filter of its own */
  filter?: Filter
  order?: VariablesOf<typeof SUBSCRIPTIONS>['order']
  sorting?: Sorting
}

export function SubscriptionList({
  appId,
  userId,
  packageId,
  filter = {},
  order = 'NEWEST',
  sorting,
}: SubscriptionListProps) {
  const { after, at } = useSearch({ strict: false })
  const before = rowsBefore(after, at)
  const asked = useAsk(
    SUBSCRIPTIONS,
    { packageId: packageId ?? null, ...filter, order, appId, userId: userId ?? null, after: after ?? null },
    { keepPrevious: true },
  )
  const selection = useSelection(JSON.stringify([appId, filter, order, after]))
  const columns = [
    ...(userId === undefined ? [USER(appId)] : []),
    ...(packageId === undefined ? [PACKAGE(appId)] : []),
    {
      label: 'Status',
      cell: (subscription: Subscription) => (
        <>
          <Link
            to="/apps/$app/subscriptions/$id"
            params={{ app: appId, id: subscription.id }}
            className="row-link"
            data-main
          >
            <StatusTag of={subscription} />
            <VisuallyHidden>
              {` subscription to ${subscription.package.name} of ${subscription.userId}`}
            </VisuallyHidden>
          </Link>
          <ReversalTags reversals={subscription.reversals} />
        </>
      ),
    },
    { label: 'Amount', right: true, sort: 'amount', sortsDown: true, cell: amountOf },
    { label: 'Next', cell: (subscription: Subscription) => <NextText of={subscription} /> },
    {
      label: 'Since',
      wide: true,
      sort: 'since',
      sortsDown: true,
      cell: ({ startedAt }: Subscription) => <When at={startedAt} />,
    },
    { label: 'Provider', wide: true, cell: billingOf },
    {
      label: 'Actions',
      hiddenLabel: true,
      right: true,
      cell: (subscription: Subscription) => <SubscriptionActions appId={appId} subscription={subscription} />,
    },
  ]
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={6} total={userId === undefined} />}>
      {({ subscriptions }) => (
        <Stack gap="sm">
          {userId === undefined && (
            <Total
              of={subscriptions?.total}
              one="subscription"
              many="subscriptions"
              page={{ before, rows: subscriptions?.rows.length ?? 0 }}
            />
          )}
          {(order === 'AMOUNT' || order === 'AMOUNT_DESC') && <AmountNote page={subscriptions} />}
          {userId === undefined && packageId === undefined && (
            <BulkBar
              appId={appId}
              selection={selection}
              total={subscriptions?.total}
              one="subscription"
              many="subscriptions"
              all={{
                list: 'SUBSCRIPTIONS',
                search: filter.search ?? null,
                packageId: filter.packageId ?? null,
                state: filter.state ?? null,
                provider: filter.provider ?? null,
              }}
            />
          )}
          {subscriptions?.rows.length === 0 ? (
            <Text c="dimmed">{whyEmpty(filter, userId, subscriptions.next)}</Text>
          ) : (
            <DataTable
              label="Subscriptions"
              selection={
                userId === undefined && packageId === undefined
                  ? { of: selection, name: ({ package: p, userId }) => `${p.name} of ${userId}` }
                  : undefined
              }
              rows={subscriptions?.rows ?? []}
              keyOf={({ id }) => id}
              columns={columns}
              sorting={sorting}
            />
          )}
          <Pager
            after={after}
            next={subscriptions?.next}
            before={before === undefined ? undefined : before + (subscriptions?.rows.length ?? 0)}
          />
        </Stack>
      )}
    </Loaded>
  )
}

/** What the order by amount leaves out. */
function AmountNote({ page }: { page: ResultOf<typeof SUBSCRIPTIONS>['subscriptions'] }) {
  const currencies = new Set(page?.rows.flatMap(({ price }) => price?.currency ?? []))
  const notes = [
    currencies.size > 1 && 'Amounts are sorted within each currency.',
    page?.total.more && `Only the newest ${number(page.total.count)} subscriptions are sorted by amount.`,
  ].filter(Boolean)
  return notes.length === 0 ? null : (
    <Text size="xs" c="dimmed">
      {notes.join(' ')}
    </Text>
  )
}

const USER = (appId: string) => ({
  label: 'User',
  cell: ({ userId, userName }: Subscription) => <UserLink appId={appId} id={userId} name={userName} />,
})

const PACKAGE = (appId: string) => ({
  label: 'Plan or add-on',
  cell: ({ package: { id, name, isAddon }, quantity }: Subscription) => (
    <>
      <PackageLink appId={appId} id={id} name={name} />{' '}
      {quantity > 1 && <Text span size="sm" c="dimmed">{`× ${quantity} `}</Text>}
      {isAddon && <Tag tone="accent">Add-on</Tag>}
    </>
  ),
})

function whyEmpty(filter: Filter, userId: string | undefined, next: string | null): string {
  if (next) return 'No matches on this page. Select Next to continue.'
  if (Object.values(filter).some(Boolean) || filter.provider === '') return 'No subscriptions match.'
  return userId === undefined ? 'No subscriptions yet.' : 'No subscriptions.'
}

function amountOf({ price, quantity }: Subscription) {
  if (!price) return '–'
  const { interval, amount } = price
  return (
    <>
      {moneyText({ ...price, amount: amount * quantity })}
      <Text size="xs" c="dimmed">
        {interval === null ? 'once' : `per ${interval}`}
      </Text>
    </>
  )
}

function billingOf({ billing }: Subscription) {
  if (!billing)
    return (
      <Text size="sm" c="dimmed">
        Not billed
      </Text>
    )
  // Usual states are told by the status, and when it is paid until by what comes next.
  const unusual = !['active', 'trialing', 'past_due', 'canceled', 'paid'].includes(billing.status)
  return unusual
    ? `${providerName(billing.provider)}: ${billing.status.replaceAll('_', ' ')}`
    : providerName(billing.provider)
}
