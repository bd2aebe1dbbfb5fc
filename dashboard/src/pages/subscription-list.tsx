import { Group, Stack, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf, type VariablesOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { CancelSubscription } from '../forms/cancel-subscription.tsx'
import { ExtendTrial } from '../forms/extend-trial.tsx'
import { KeepSubscription } from '../forms/keep-subscription.tsx'
import { TakeChangeBack } from '../forms/take-change-back.tsx'
import { TryRefund } from '../forms/try-refund.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { providerName } from '../ui/price.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { StatusTag } from '../ui/status-tag.tsx'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'
import { ReversalTags } from './reversal-tags.tsx'

const SUBSCRIPTIONS = graphql(`
  query Subscriptions($appId: String!, $userId: String, $search: String, $packageId: String, $state: SubscriptionState, $provider: String, $oldestFirst: Boolean, $after: String) {
    subscriptions(appId: $appId, userId: $userId, search: $search, packageId: $packageId, state: $state, provider: $provider, oldestFirst: $oldestFirst, after: $after) {
      next
      total { count more }
      rows {
        id userId userName status startedAt cancelAt cancelledAt trialEndsAt quantity packageVersion
        scheduled { packageName at }
        package { id name isAddon }
        billing { provider status paidUntil }
        reversals { paymentRef amount refunded amountText refundedText refundedAt dispute { state reason openedAt } }
        nextEvent { kind at packageName }
      }
    }
  }
`)
type Filter = Omit<VariablesOf<typeof SUBSCRIPTIONS>, 'appId' | 'userId' | 'after'>
type Subscription = NonNullable<ResultOf<typeof SUBSCRIPTIONS>['subscriptions']>['rows'][number]

interface SubscriptionListProps {
  appId: string
  /** only this user's */
  userId?: string
  /** only those of this package */
  packageId?: string
  /** other filters; none is a filter of its own */
  filter?: Filter
}

export function SubscriptionList({ appId, userId, packageId, filter = {} }: SubscriptionListProps) {
  const { after } = useSearch({ strict: false })
  const asked = useAsk(
    SUBSCRIPTIONS,
    { packageId: packageId ?? null, ...filter, appId, userId: userId ?? null, after: after ?? null },
    { keepPrevious: true },
  )
  const columns = [
    ...(userId === undefined ? [USER(appId)] : []),
    ...(packageId === undefined ? [PACKAGE(appId)] : []),
    {
      label: 'Status',
      cell: (subscription: Subscription) => (
        <>
          <StatusTag of={subscription} />
          <ReversalTags reversals={subscription.reversals} />
        </>
      ),
    },
    { label: 'Next', cell: nextOf },
    { label: 'Since', wide: true, cell: ({ startedAt }: Subscription) => <When at={startedAt} /> },
    { label: 'Provider', wide: true, cell: billingOf },
    {
      label: 'Actions',
      hiddenLabel: true,
      right: true,
      cell: (subscription: Subscription) => (
        <Group gap="xxs" justify="flex-end">
          {subscription.billing?.provider === 'sandbox' && (
            <TryRefund appId={appId} subscription={subscription} />
          )}
          {subscription.status === 'ACTIVE' && (
            <>
              {isTrialByHand(subscription) && subscription.trialEndsAt && (
                <ExtendTrial appId={appId} subscription={subscription} endsAt={subscription.trialEndsAt} />
              )}
              {subscription.scheduled && <TakeChangeBack appId={appId} userId={subscription.userId} />}
              {subscription.cancelAt && !subscription.scheduled && !isTrialByHand(subscription) && (
                <KeepSubscription
                  appId={appId}
                  subscription={subscription}
                  cancelAt={subscription.cancelAt}
                />
              )}
              <CancelSubscription appId={appId} subscription={subscription} />
            </>
          )}
        </Group>
      ),
    },
  ]
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={6} total={userId === undefined} />}>
      {({ subscriptions }) => (
        <Stack gap="sm">
          {userId === undefined && (
            <Total of={subscriptions?.total} one="subscription" many="subscriptions" />
          )}
          {subscriptions?.rows.length === 0 ? (
            <Text c="dimmed">{whyEmpty(filter, userId, subscriptions.next)}</Text>
          ) : (
            <DataTable
              label="Subscriptions"
              rows={subscriptions?.rows ?? []}
              keyOf={({ id }) => id}
              columns={columns}
            />
          )}
          <Pager after={after} next={subscriptions?.next} />
        </Stack>
      )}
    </Loaded>
  )
}

const USER = (appId: string) => ({
  label: 'User',
  cell: ({ userId, userName }: Subscription) => <UserLink appId={appId} id={userId} name={userName} />,
})

const PACKAGE = (appId: string) => ({
  label: 'Package',
  cell: ({ package: { id, name, isAddon }, quantity }: Subscription) => (
    <>
      <Link to="/apps/$app/packages/$id" params={{ app: appId, id }} className="row-link">
        {name}
      </Link>{' '}
      {quantity > 1 && <Text span size="sm" c="dimmed">{`× ${quantity} `}</Text>}
      {isAddon && <Tag tone="accent">Add-on</Tag>}
    </>
  ),
})

function whyEmpty(filter: Filter, userId: string | undefined, next: string | null): string {
  if (next) return 'None on this page. Select Next to keep looking.'
  if (Object.values(filter).some(Boolean) || filter.provider === '') return 'No subscription matches.'
  return userId === undefined ? 'Nobody has subscribed yet.' : 'No subscriptions, so nothing is granted.'
}

const NEXT = { TRIAL_END: 'Trial ends', CHANGE: 'Changes', END: 'Ends', RENEWAL: 'Renews' }

function nextOf({ nextEvent, cancelledAt }: Subscription) {
  if (cancelledAt) {
    return (
      <Text span size="sm" c="dimmed">
        Ended <When at={cancelledAt} />
      </Text>
    )
  }
  if (!nextEvent) return null
  const { kind, at, packageName } = nextEvent
  return (
    <>
      {NEXT[kind]} <When at={at} />
      {packageName && `, then ${packageName}`}
    </>
  )
}

/** One that a provider gives is extended and kept there. */
const isTrialByHand = ({ trialEndsAt, cancelAt, billing }: Subscription) =>
  trialEndsAt !== null && trialEndsAt === cancelAt && !billing

function billingOf({ billing }: Subscription) {
  if (!billing)
    return (
      <Text size="sm" c="dimmed">
        by hand or API
      </Text>
    )
  // Usual states are told by the status, and when it is paid until by what comes next.
  const unusual = !['active', 'trialing', 'past_due', 'canceled', 'paid'].includes(billing.status)
  return unusual
    ? `${providerName(billing.provider)}: ${billing.status.replaceAll('_', ' ')}`
    : providerName(billing.provider)
}
