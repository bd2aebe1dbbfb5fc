import type { JsonObject } from './metadata.ts'
import { longestEnding, periodAt, type ResetPeriod } from './period.ts'

export const SUBSCRIPTION_STATUSES = ['ACTIVE', 'CANCELLED'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

export interface Subscription {
  id: string
  packageId: string
  isAddon: boolean
  startedAt: number
  /** Where the periods of its features are counted from; an add-on's is its base plan's. */
  anchor: number
  /** It ends then; until then it is live. */
  cancelAt: number | null
  cancelledAt: number | null
  metadata: JsonObject
}

/** No job marks what has run out: a subscription whose `cancelAt` has come is cancelled by the clock alone. */
export function endedAt(
  subscription: Pick<Subscription, 'cancelAt' | 'cancelledAt'>,
  now: number,
): number | null {
  if (subscription.cancelledAt !== null) return subscription.cancelledAt
  return subscription.cancelAt !== null && subscription.cancelAt <= now ? subscription.cancelAt : null
}

export function statusAt(
  subscription: Pick<Subscription, 'cancelAt' | 'cancelledAt'>,
  now: number,
): SubscriptionStatus {
  return endedAt(subscription, now) === null ? 'ACTIVE' : 'CANCELLED'
}

/** An earlier base plan of a user, with the reset periods of what it granted. */
export interface EarlierBase {
  anchor: number
  endedAt: number
  resetPeriods: ResetPeriod[]
}

/**
 * A new base plan counts from its own start, unless a period of an earlier one still runs: then it goes on
 * counting from there, so that cancelling and subscribing again neither refills nor loses usage. NEVER has no
 * anchor to keep.
 */
export function anchorFor(earlier: readonly EarlierBase[], now: number): number {
  const newestFirst = [...earlier].sort((a, b) => b.endedAt - a.endedAt)
  for (const base of newestFirst) {
    const longest = longestEnding(base.resetPeriods)
    if (longest === null) continue
    // Half-open: one that ended where a period ends had no part in the next.
    const { end } = periodAt(longest, base.anchor, Math.max(base.endedAt - 1, base.anchor))
    if (end !== null && now < end) return base.anchor
  }
  return now
}

/**
 * When a cancellation "at the period's end" takes effect: the end of the longest period that the package counts
 * in, a month where it counts nothing.
 */
export function cancellationTime(anchor: number, resetPeriods: readonly ResetPeriod[], now: number): number {
  const { end } = periodAt(longestEnding(resetPeriods) ?? 'MONTH', anchor, now)
  return end ?? now
}
