import type { BillingStatus } from '../domain/bill.ts'
import type { Offer } from '../domain/offer.ts'
import type { Price } from '../domain/price.ts'
import type { Reversal } from '../domain/reversal.ts'
import type { SaleTerms } from '../domain/sale-terms.ts'

/** A payment link to create. The id comes back with everything that results from it. */
export interface CheckoutRequest {
  id: string
  offer: Offer
  terms: SaleTerms
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
  /** what was taken back of a one-off payment; null: the provider does not say */
  reversal: Reversal | null
  /** what was paid in all, for a one-off payment; null: nothing, or the provider does not say */
  paid: { amount: number; currency: string } | null
}

/** A charge that was paid, or should have been. */
export interface ProviderPayment {
  ref: string
  state: 'PAID' | 'FAILED'
  /** minor units, above 0 */
  amount: number
  currency: string
  at: number
}

interface RecentPayments {
  payments: ProviderPayment[]
  /** There are no others from then on; null: the provider does not say. */
  since: number | null
}

/** A price on a bill, and how many of it are charged. */
export interface BilledItem {
  priceId: string
  quantity: number
}

/** One price of a subscription replaced by another, or its quantity changed. */
export interface PriceChange {
  from: string
  to: string
  quantity: number
}

/**
 * What a change gives back and what it charges, in minor units, neither below 0. At the period's end nothing is given
 * back, and the charge is that of the first period after it.
 */
export interface ChangeQuote {
  credit: number
  charge: number
  currency: string
}

export type ChangeTime = 'now' | 'period end'

/** A subscription as the provider knows it now. */
export interface ProviderSubscription {
  ref: string
  sessionId: string | null
  customer: Customer | null
  /** in the provider's terms */
  status: string
  billingStatus: BillingStatus
  /** it will not change any more */
  final: boolean
  items: BilledItem[]
  /** what it will be charged for instead, from a moment on that may have passed */
  scheduled: { at: number; items: BilledItem[] } | null
  /** null: it is in no trial */
  trialEndsAt: number | null
  /** when the trial was over that it began with; null: it had none, or is in it */
  triedUntil: number | null
  madeAt: number
  anchor: number
  paidUntil: number | null
  cancelAt: number | null
  endedAt: number | null
  pastDueSince: number | null
  /** what was taken back of its payments; null: the provider does not say */
  reversal: Reversal | null
}

export interface ProviderPrice extends Price {
  productName: string | null
}

/** What a notice is about. Everything else is asked of the provider: notices come in any order. */
export interface Subject {
  checkoutRef: string | null
  subscriptionRef: string | null
  customerRef: string | null
  /** a payment, or the provider's charge of it */
  paymentRef: string | null
}

/** What a payment was for, by the provider's ids. */
export type PaymentPurpose = { subscriptionRef: string } | { checkoutRef: string }

/** A payment provider, with the account of one app. Failures are thrown as ProviderError. */
export interface BillingProvider {
  /** Idempotent: one checkout per id. */
  createCheckout(request: CheckoutRequest): Promise<{ ref: string; url: string }>
  fetchCheckout(ref: string): Promise<ProviderCheckout | null>
  fetchSubscription(ref: string): Promise<ProviderSubscription | null>
  /** The newest invoices of a subscription that cost something and were charged. */
  recentPayments(subscriptionRef: string): Promise<RecentPayments>
  /** Nobody can pay it any more. One that is paid, or has ended, is left alone. */
  closeCheckout(ref: string): Promise<void>
  /** null: for nothing that a link could have sold */
  fetchPurpose(paymentRef: string): Promise<PaymentPurpose | null>
  /** null: it no longer exists */
  fetchCustomer(ref: string): Promise<Customer | null>
  /** Ends it, now or when the paid period ends, and with it a scheduled change. One that has ended is left alone. */
  cancel(ref: string, when: ChangeTime): Promise<void>
  /** Takes back an end that has been set. One that has already ended is left alone. */
  keep(ref: string): Promise<void>
  /** Charges one more price, from the next invoice on. */
  addPrice(ref: string, priceId: string, quantity: number): Promise<void>
  /** Stops charging one price from now on. */
  dropPrice(ref: string, priceId: string): Promise<void>
  /** What `changePrice` would charge. Refused where that would be. */
  previewChange(ref: string, change: PriceChange, when: ChangeTime): Promise<ChangeQuote>
  /**
   * Idempotent: a change that has been made or scheduled already changes nothing. One at the period's end replaces
   * another that is scheduled, and takes back a scheduled end; one that is made now ends a scheduled one. A charge
   * that fails changes nothing, nor can anything be changed now while a payment is due.
   */
  changePrice(ref: string, change: PriceChange, when: ChangeTime): Promise<void>
  /** Takes a scheduled change back, if there is one. */
  dropScheduledChange(ref: string): Promise<void>
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
