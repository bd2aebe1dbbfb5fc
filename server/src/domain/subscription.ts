import type { JsonObject } from './metadata.ts'
import { periodEnd } from './package-version.ts'
import { longestEnding, periodAt, type ResetPeriod } from './period.ts'

export const SUBSCRIPTION_STATUSES = ['ACTIVE', 'CANCELLED'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

/** The package and duration of a subscription. */
export interface SubscriptionSpan {
  id: string
  packageId: string
  isAddon: boolean
  startedAt: number
  /** Anchor of the reset periods. An add-on has that of its base plan. */
  anchor: number
  /** Scheduled end. The subscription is live until then. */
  cancelAt: number | null
  cancelledAt: number | null
  metadata: JsonObject
}

export interface Subscription extends SubscriptionSpan {
  /** End of the trial. A successor, if any, is already planned. */
  trialEndsAt: number | null
  /** multiplies the limits of the package */
  quantity: number
  /** The package's version at the purchase and the length of its history then: see package-version.ts. */
  version: number
  versionAsOf: number
}

/** Terms of a package bought now: its newest version, quantity 1. */
export function termsOf(bought: {
  version: number
  history: number
}): Omit<Subscription, keyof SubscriptionSpan> {
  return { trialEndsAt: null, quantity: 1, version: bought.version, versionAsOf: bought.history }
}

/** Terms of a package that succeeds a subscription: another quantity of the same package keeps the version. */
export function termsAfter(
  before: Pick<Subscription, 'packageId' | 'version' | 'versionAsOf'> | undefined,
  bought: { id: string; version: number; history: number },
): Omit<Subscription, keyof SubscriptionSpan> {
  const terms = termsOf(bought)
  if (before?.packageId !== bought.id) return terms
  return { ...terms, version: before.version, versionAsOf: before.versionAsOf }
}

/** No job updates expired rows: a subscription past its `cancelAt` counts as cancelled. */
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

/** End of a plan and its planned successor; null: none is scheduled. Add-ons end then at the latest. */
export const endOfPlan = (plan: {
  cancelAt: number | null
  next: { endsAt: number | null } | null
}): number | null => (plan.next ? plan.next.endsAt : plan.cancelAt)

/**
 * The last millisecond in which it may have been used; null while it is live. A subscription is over at its `cancelAt`,
 * but usage may have been recorded in the millisecond of an immediate cancellation.
 */
export function lastLiveAt(
  subscription: Pick<Subscription, 'cancelAt' | 'cancelledAt'>,
  now: number,
): number | null {
  const ended = endedAt(subscription, now)
  return ended !== null && ended === subscription.cancelAt ? ended - 1 : ended
}

/** An earlier base plan of a user, with its reset periods. */
export interface EarlierBase {
  anchor: number
  lastLiveAt: number
  resetPeriods: ResetPeriod[]
}

/**
 * A new base plan starts its own periods, unless a period of an earlier one is still running: then it keeps that
 * anchor, so that cancelling and subscribing again neither refills nor loses usage. NEVER has no anchor.
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
 * Effective time of a cancellation at the end of the period: of the package's longest period, or of the month if it
 * counts nothing.
 */
export function cancellationTime(anchor: number, resetPeriods: readonly ResetPeriod[], now: number): number {
  return periodEnd(anchor, resetPeriods, now)
}
