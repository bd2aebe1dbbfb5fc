import { Group, Skeleton, Text } from '@mantine/core'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { AnchorLink } from '../ui/links.tsx'
import { StatusTag } from '../ui/status-tag.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const STANDING = graphql(`
  query UserStanding($appId: String!, $userId: String!) {
    subscriptions(appId: $appId, userId: $userId, state: LIVE) {
      rows {
        id userId userName status replaced quantity cancelAt trialEndsAt
        scheduled { at }
        package { id name isAddon }
        billing { provider ref status }
        nextEvent { kind at packageName }
      }
    }
  }
`)
type Subscription = NonNullable<ResultOf<typeof STANDING>['subscriptions']>['rows'][number]

const NEXT = { TRIAL_END: 'trial ends', END: 'ends', RENEWAL: 'renews' }

const HEIGHT = 22

/** A user's live subscriptions; undefined until they are known. */
export const useStanding = (appId: string, userId: string): readonly Subscription[] | undefined =>
  useAsk(STANDING, { appId, userId }).data?.subscriptions?.rows

/** A user's plan and add-ons, and what happens to each next. */
export function UserStanding({ appId, userId }: { appId: string; userId: string }) {
  const asked = useAsk(STANDING, { appId, userId })
  const live = asked.data?.subscriptions?.rows
  // As high as what comes: nothing below it moves.
  if (asked.isPending) return <Skeleton height={HEIGHT} width={160} />
  if (!live) return null
  const plansFirst = [...live].sort((a, b) => Number(a.package.isAddon) - Number(b.package.isAddon))
  return (
    <Group gap="md" mih={HEIGHT} aria-label="Plan and add-ons" component="section">
      {live.length === 0 && <Tag>No plan</Tag>}
      {plansFirst.map((subscription) => (
        <One key={subscription.id} appId={appId} subscription={subscription} />
      ))}
    </Group>
  )
}

function One({ appId, subscription }: { appId: string; subscription: Subscription }) {
  const { package: p, quantity, nextEvent } = subscription
  return (
    <Group gap="xs">
      <AnchorLink size="sm" to="/apps/$app/packages/$id" params={{ app: appId, id: p.id }}>
        {p.name}
        {quantity > 1 && ` × ${quantity}`}
      </AnchorLink>
      {p.isAddon && <Tag tone="accent">Add-on</Tag>}
      <StatusTag of={subscription} />
      {nextEvent && (
        <Text size="sm" c="dimmed">
          {nextEvent.kind === 'CHANGE' ? (
            <>
              switches to {nextEvent.packageName} on <When at={nextEvent.at} />
            </>
          ) : (
            <>
              {NEXT[nextEvent.kind]} <When at={nextEvent.at} />
              {nextEvent.kind === 'END' && subscription.billing?.status === 'past_due' && ' unless paid'}
              {nextEvent.packageName && `, then ${nextEvent.packageName}`}
            </>
          )}
        </Text>
      )}
    </Group>
  )
}
