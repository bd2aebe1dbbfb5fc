import type { SubscriptionSpan } from './subscription.ts'

// The provider's report about one of its subscriptions, and the subscriptions of the user who pays for it.

/**
 * State of a provider's subscription: `live`; `past due`, which is live for a grace period; `paused`, which may resume;
 * `ended`; `never`, which was not paid for and granted nothing.
 */
export type BillingStatus = 'live' | 'past due' | 'paused' | 'ended' | 'never'

export interface Billed {
  provider: string
  ref: string
  billingStatus: BillingStatus
  /** payment time in real time: of two payments the later one wins */
  paidAt: number
  /** start time by the app's clock */
  madeAt: number
  /** where its periods are counted from */
  anchor: number
  /** The provider's anchor moved only because the interval changed: usage periods continue as before. */
  keepsAnchor: boolean
  trialEndsAt: number | null
  /** end of the initial trial */
  triedUntil: number | null
  /** Created by a link that offered a trial. A trial is granted once. */
  byTrialLink: boolean
  /** a one-off payment that does not renew */
  forGood: boolean
  /** scheduled end */
  cancelAt: number | null
  endedAt: number | null
  packages: readonly BilledPackage[]
  /** packages charged from `at` on, which may have passed */
  scheduled: { at: number; packages: readonly BilledPackage[] } | null
}

export interface BilledPackage {
  id: string
  isAddon: boolean
  quantity: number
}

/** A subscription of the user, with the provider's subscription behind it, if any. */
export interface HeldSubscription extends SubscriptionSpan {
  provider: string | null
  providerRef: string | null
  /** payment time of the provider's subscription, in real time */
  paidAt: number | null
  /** the provider's subscription is a one-off payment */
  forGood: boolean
  quantity: number
  trialEndsAt: number | null
  /** planned successor and its end; paid for at `provider`, if not null */
  next: {
    packageId: string
    quantity: number
    at: number
    provider: string | null
    endsAt: number | null
  } | null
}
