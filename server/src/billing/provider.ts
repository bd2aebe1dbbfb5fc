import type { BillingStatus } from '../domain/bill.ts'
import type { Price } from '../domain/price.ts'
import type { RefundReason, Reversal } from '../domain/reversal.ts'
import type { SaleTerms } from '../domain/sale-terms.ts'

export interface CheckoutItem {
  /** what is sold, as the payer sees it */
  name: string
  price: Price
  quantity: number
}

/** A payment link to create. The id comes back with everything that results from it. */
export interface CheckoutRequest {
  id: string
  /** in one currency, and all with the same interval */
  items: readonly [CheckoutItem, ...CheckoutItem[]]
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
  /** refunded or disputed amount of a one-off payment; null: the provider does not report it */
  reversal: Reversal | null
  /** total of a one-off payment; null: nothing was paid, or the provider does not report it */
  paid: { amount: number; currency: string } | null
}

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
  /** All payments from this time on are included; null: the provider does not report it. */
  since: number | null
}

/** A price on a bill, with its quantity. */
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
 * The credit and the charge of a change, in minor units, both at least 0. A change at the end of the period has no
 * credit; its charge is that of the next period.
 */
export interface ChangeQuote {
  credit: number
  charge: number
  currency: string
}

export type PriceChangeTime = 'now' | 'period end'

export interface ProviderSubscription {
  ref: string
  sessionId: string | null
  customer: Customer | null
  /** the provider's own name for it */
  status: string
  billingStatus: BillingStatus
  /** It can no longer change. */
  final: boolean
  items: BilledItem[]
  /** items charged from `at` on, which may have passed */
  scheduled: { at: number; items: BilledItem[] } | null
  /** null: not in a trial */
  trialEndsAt: number | null
  /** end of the initial trial; null: there was none, or it is still running */
  triedUntil: number | null
  madeAt: number
  anchor: number
  paidUntil: number | null
  cancelAt: number | null
  endedAt: number | null
  pastDueSince: number | null
  /** refunded and disputed payments; null: the provider does not report them */
  reversal: Reversal | null
}

/** Paid and refunded amounts, in minor units. */
export interface Refundable {
  amount: number
  refunded: number
}

export interface Refund {
  /** minor units */
  amount: number
  reason: RefundReason
  /** a repeated request with this key refunds once */
  key: string
}

export interface ProviderPrice extends Price {
  productName: string | null
}

/**
 * The objects that an event is about. Everything else is fetched from the provider, because events arrive in any order.
 */
export interface NoticeSubject {
  checkoutRef: string | null
  subscriptionRef: string | null
  customerRef: string | null
  /** a payment, or the provider's charge of it */
  paymentRef: string | null
}

/** A charge of a saved card, without the payer. The id comes back with everything that results from it. */
export interface ChargeRequest {
  /** A repeated request with this id charges once. */
  id: string
  item: CheckoutItem
  customerRef: string
  /** of `savedCard` */
  card: string
  /** The answer to an earlier request may have been lost. */
  isRetry: boolean
}

export type ChargeOutcome =
  /** paid, or being paid: `fetchCheckout` returns its state under this id */
  | { kind: 'made'; ref: string }
  /** `hard`: the card can never be charged again without its owner */
  | { kind: 'declined'; hard: boolean; reason: string }

/** The object a payment was for, by the provider's ids. */
export type PaymentPurpose = { subscriptionRef: string } | { checkoutRef: string }

/** A payment provider, with the account of one app. Failures are thrown as ProviderError. */
export interface BillingProvider {
  /** Idempotent: one checkout per id. */
  createCheckout(request: CheckoutRequest): Promise<{ ref: string; url: string }>
  fetchCheckout(ref: string): Promise<ProviderCheckout | null>
  fetchSubscription(ref: string): Promise<ProviderSubscription | null>
  /** The card of a customer that can be charged without them; null: none. */
  savedCard(customerRef: string): Promise<string | null>
  /** Idempotent: one charge per id. */
  charge(request: ChargeRequest): Promise<ChargeOutcome>
  /** A charge by its id, among those that were made since then, whoever the customer is; null: none was made. */
  findCharge(id: string, since: number): Promise<string | null>
  /** The newest invoices of a subscription that cost something and were charged. */
  recentPayments(subscriptionRef: string): Promise<RecentPayments>
  /** Makes the checkout unpayable. No effect if it is paid or has expired. */
  closeCheckout(ref: string): Promise<void>
  /** null: not a purchase through a payment link */
  fetchPurpose(paymentRef: string): Promise<PaymentPurpose | null>
  /** null: it no longer exists */
  fetchCustomer(ref: string): Promise<Customer | null>
  /** Cancels it, now or at the end of the paid period, along with any scheduled change. No effect if it has ended. */
  cancel(ref: string, when: PriceChangeTime): Promise<void>
  /** Reverts a scheduled cancellation. No effect if it has ended. */
  keep(ref: string): Promise<void>
  /** Adds a price, charged from the next invoice on. */
  addPrice(ref: string, priceId: string, quantity: number): Promise<void>
  /** Stops charging a price immediately. */
  dropPrice(ref: string, priceId: string): Promise<void>
  /** Charge of `changePrice`. Fails where `changePrice` would fail. */
  previewChange(ref: string, change: PriceChange, when: PriceChangeTime): Promise<ChangeQuote>
  /**
   * Idempotent: repeating a change has no effect. A change at the end of the period replaces another scheduled change
   * and reverts a scheduled cancellation; an immediate change cancels a scheduled one. If the charge fails, nothing
   * changes. No immediate change is possible while a payment is due.
   */
  changePrice(ref: string, change: PriceChange, when: PriceChangeTime): Promise<void>
  /** Cancels the scheduled change, if there is one. */
  dropScheduledChange(ref: string): Promise<void>
  /** Of an invoice or a one-off payment; null: it does not exist. */
  fetchRefundable(paymentRef: string): Promise<Refundable | null>
  /** Refunds an invoice or a one-off payment, in part or in full. */
  refund(paymentRef: string, refund: Refund): Promise<void>
  fetchPrice(id: string): Promise<ProviderPrice | null>
  listPrices(): Promise<ProviderPrice[]>
}

/** A failed call to a provider: unreachable, or rejected by it. */
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
