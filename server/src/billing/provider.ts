import type { BillingStanding } from '../domain/billing-changes.ts'
import type { Offer } from '../domain/offer.ts'
import type { Price } from '../domain/price.ts'

/** A payment link to create. The id comes back with everything that results from it. */
export interface CheckoutRequest {
  id: string
  offer: Offer
  /** null: the payer becomes a user */
  user: { billingId: string | null; email: string | null } | null
  successUrl: string
  cancelUrl: string
}

export interface Customer {
  ref: string
  email: string | null
  name: string | null
}

/** A payment link as the provider knows it. */
export interface ProviderCheckout {
  ref: string
  /** the id the link was created with */
  sessionId: string | null
  state: 'OPEN' | 'AWAITING' | 'PAID' | 'FAILED' | 'EXPIRED'
  customer: Customer | null
  /** null: a one-off payment, or not paid yet */
  subscriptionRef: string | null
  /** when it was paid, in real time; null: not yet, or the provider does not say */
  paidAt: number | null
  /** the same by the app's clock: when a one-off purchase starts */
  startsAt: number | null
  /** the provider's id of a one-off payment, needed for a refund */
  paymentRef: string | null
}

/** A subscription as the provider knows it now. */
export interface ProviderSubscription {
  ref: string
  sessionId: string | null
  customer: Customer | null
  /** in the provider's terms */
  status: string
  standing: BillingStanding
  /** it will not change any more */
  final: boolean
  priceIds: string[]
  madeAt: number
  anchor: number
  paidUntil: number | null
  cancelAt: number | null
  endedAt: number | null
  pastDueSince: number | null
}

export interface ProviderPrice extends Price {
  productName: string | null
}

/** What a notice is about. Everything else is asked of the provider: notices come in any order. */
export interface Subject {
  checkoutRef: string | null
  subscriptionRef: string | null
  customerRef: string | null
}

/** A payment provider, with the account of one app. Failures are thrown as ProviderError. */
export interface BillingProvider {
  /** Idempotent: one checkout per id. */
  createCheckout(request: CheckoutRequest): Promise<{ ref: string; url: string }>
  fetchCheckout(ref: string): Promise<ProviderCheckout | null>
  fetchSubscription(ref: string): Promise<ProviderSubscription | null>
  /** null: it no longer exists */
  fetchCustomer(ref: string): Promise<Customer | null>
  /** Ends it, now or when the paid period ends. One that has already ended is left alone. */
  cancel(ref: string, when: 'now' | 'period end'): Promise<void>
  /** Takes back an end that has been set. One that has already ended is left alone. */
  keep(ref: string): Promise<void>
  /** Charges one more price, from the next invoice on. */
  addPrice(ref: string, priceId: string): Promise<void>
  /** Stops charging one price from now on. */
  dropPrice(ref: string, priceId: string): Promise<void>
  fetchPrice(id: string): Promise<ProviderPrice | null>
  listPrices(): Promise<ProviderPrice[]>
}

/** Why a call to a provider failed: it could not be reached, or it refused. */
export class ProviderError extends Error {
  readonly kind: 'unreachable' | 'refused'
  /** the object does not exist there */
  readonly missing: boolean

  constructor(kind: 'unreachable' | 'refused', message: string, missing = false) {
    super(message)
    this.kind = kind
    this.missing = missing
  }
}
