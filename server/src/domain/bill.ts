import type { Span } from './subscription.ts'

// What a provider says of one of its subscriptions, and what its payer has.

/**
 * The state of a provider's subscription: `live`; `past due`, live for a grace time; `paused`, which may resume;
 * `ended`; `never`, which was not paid for and has granted nothing.
 */
export type BillingStatus = 'live' | 'past due' | 'paused' | 'ended' | 'never'

export interface Billed {
  provider: string
  ref: string
  billingStatus: BillingStatus
  /** when it was paid, in real time: of two payments the later one counts */
  paidAt: number
  /** when it began, by the app's clock */
  madeAt: number
  /** where its periods are counted from */
  anchor: number
  /** The provider's periods begin elsewhere only because their length has changed: usage is counted on as before. */
  keepsAnchor: boolean
  trialEndsAt: number | null
  /** when the trial was over that it began with */
  triedUntil: number | null
  /** The link that it was made by promised a trial, which is given once. */
  byTrialLink: boolean
  /** a one-off payment that does not renew */
  forGood: boolean
  /** set: it ends then */
  cancelAt: number | null
  endedAt: number | null
  packages: readonly BilledPackage[]
  /** what is charged for instead from then on, which may have passed */
  scheduled: { at: number; packages: readonly BilledPackage[] } | null
}

export interface BilledPackage {
  id: string
  isAddon: boolean
  quantity: number
}

/** A subscription of the user, with the provider's subscription behind it, if any. */
export interface HeldSubscription extends Span {
  provider: string | null
  providerRef: string | null
  /** when the provider's subscription was paid, in real time */
  paidAt: number | null
  /** the provider's subscription was a one-off payment */
  forGood: boolean
  quantity: number
  trialEndsAt: number | null
  /** what is planned to succeed it, and when that is over; paid for at `provider`, if that is not null */
  next: {
    packageId: string
    quantity: number
    at: number
    provider: string | null
    endsAt: number | null
  } | null
}
