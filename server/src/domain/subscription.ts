import type { JsonObject } from './metadata.ts'
import { periodEnd } from './package-version.ts'
import { longestEnding, periodAt, type ResetPeriod } from './period.ts'

export const SUBSCRIPTION_STATUSES = ['ACTIVE', 'CANCELLED'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

/** When a subscription lasts, and to what. */
export interface Span {
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

export interface Subscription extends Span {
  /** A trial until then; what follows it, if anything, is planned already. */
  trialEndsAt: number | null
  /** multiplies the limits of the package */
  quantity: number
  /** The package's version when it was bought, and how far its history had got: see package-version.ts. */
  version: number
  versionAsOf: number
}

/** The terms on which a package is bought now: its newest version, once. */
export function termsOf(bought: { version: number; history: number }): Omit<Subscription, keyof Span> {
  return { trialEndsAt: null, quantity: 1, version: bought.version, versionAsOf: bought.history }
}

/** The terms on which a package succeeds a subscription: another quantity of the same one keeps the version. */
export function termsAfter(
  before: Pick<Subscription, 'packageId' | 'version' | 'versionAsOf'> | undefined,
  bought: { id: string; version: number; history: number },
): Omit<Subscription, keyof Span> {
  const terms = termsOf(bought)
  if (before?.packageId !== bought.id) return terms
  return { ...terms, version: before.version, versionAsOf: before.versionAsOf }
}

/** No job updates expired rows: a subscription past its `cancelAt` is cancelled by the clock alone. */
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

/** When a plan and what is to follow it are over; null: that is not foreseen. Its add-ons last no longer. */
export const endOfPlan = (plan: {
  cancelAt: number | null
  next: { endsAt: number | null } | null
}): number | null => (plan.next ? plan.next.endsAt : plan.cancelAt)

/**
 * The last millisecond in which it may have been used; null while it is live. At its `cancelAt` a subscription is over,
 * but the millisecond of an immediate cancellation may have seen usage before it.
 */
export function lastLiveAt(
  subscription: Pick<Subscription, 'cancelAt' | 'cancelledAt'>,
  now: number,
): number | null {
  const ended = endedAt(subscription, now)
  return ended !== null && ended === subscription.cancelAt ? ended - 1 : ended
}

/** An earlier base plan of a user, with the reset periods of what it granted. */
export interface EarlierBase {
  anchor: number
  lastLiveAt: number
  resetPeriods: ResetPeriod[]
}

/**
 * A new base plan counts from its own start, unless a period of an earlier one is still running: then it keeps that
 * anchor, so that cancelling and subscribing again neither refills nor loses usage. NEVER has no anchor to keep.
 */
export function anchorFor(earlier: readonly EarlierBase[], now: number): number {
  const newestFirst = [...earlier].sort((a, b) => b.lastLiveAt - a.lastLiveAt)
  for (const base of newestFirst) {
    const longest = longestEnding(base.resetPeriods)
    if (longest === null) continue
    const { end } = periodAt(longest, base.anchor, base.lastLiveAt)
    if (end !== null && now < end) return base.anchor
  }
  return now
}

/**
 * When a cancellation "at the period's end" takes effect: the end of the package's longest period, or of the month if
 * it counts nothing.
 */
export function cancellationTime(anchor: number, resetPeriods: readonly ResetPeriod[], now: number): number {
  return periodEnd(anchor, resetPeriods, now)
}
