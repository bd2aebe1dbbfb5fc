import type { BillingStanding } from '../domain/billing-changes.ts'
import type { Offer } from '../domain/offer.ts'
import type { Price } from '../domain/price.ts'

/** One payment link to be made. The id comes back with everything that follows from it. */
export interface CheckoutRequest {
  id: string
  offer: Offer
  /** null: whoever pays becomes a user */
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
  /** the id that the link was made with */
  sessionId: string | null
  state: 'OPEN' | 'AWAITING' | 'PAID' | 'FAILED' | 'EXPIRED'
  customer: Customer | null
  /** null: paid once, or not paid yet */
  subscriptionRef: string | null
  /** when it was paid, in real time; null: not yet, or the provider does not tell */
  paidAt: number | null
  /** the same by the app's clock: where what was paid once begins */
  startsAt: number | null
  /** what the provider calls the payment where it is paid once: whoever refunds it looks for this */
  paymentRef: string | null
}

/** A subscription as the provider knows it now. */
export interface ProviderSubscription {
  ref: string
  sessionId: string | null
  customer: Customer | null
  /** the provider's own word */
  status: string
  standing: BillingStanding
  /** nothing more will become of it */
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

/** What a notice is about. Whatever else it says is asked of the provider anew: notices come in any order. */
export interface Subject {
  checkoutRef: string | null
  subscriptionRef: string | null
  customerRef: string | null
}

/** Whoever takes the money for one app. What it refuses is thrown as a ProviderError. */
export interface BillingProvider {
  /** Made once for each id, however often it is asked for. */
  createCheckout(request: CheckoutRequest): Promise<{ ref: string; url: string }>
  fetchCheckout(ref: string): Promise<ProviderCheckout | null>
  fetchSubscription(ref: string): Promise<ProviderSubscription | null>
  /** null: there is none any more */
  fetchCustomer(ref: string): Promise<Customer | null>
  /** Ends it, or has it end with the time that is paid for. One that has ended is left alone. */
  cancel(ref: string, when: 'now' | 'period end'): Promise<void>
  /** Takes one price off what is charged from now on. */
  dropPrice(ref: string, priceId: string): Promise<void>
  fetchPrice(id: string): Promise<ProviderPrice | null>
  listPrices(): Promise<ProviderPrice[]>
}

/** Why a provider did not do as it was asked: it could not be reached, or it would not. */
export class ProviderError extends Error {
  readonly kind: 'unreachable' | 'refused'
  /** what it was asked about does not exist */
  readonly missing: boolean

  constructor(kind: 'unreachable' | 'refused', message: string, missing = false) {
    super(message)
    this.kind = kind
    this.missing = missing
  }
}
