import type Stripe from 'stripe'
import { storable } from '../../domain/identifier.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import { isSandboxCustomer } from '../customer-refs.ts'
import type { CheckoutRequest, Customer, ProviderCheckout } from '../provider.ts'
import { idOf } from './asked.ts'

/** Metadata key for our id, set on everything that a payment link creates. */
export const SESSION = 'tollgate_session'

export function checkoutParams({ id, items, terms, user, successUrl, cancelUrl }: CheckoutRequest) {
  const metadata = { [SESSION]: id }
  const recurring = items[0].price.interval !== null
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: recurring ? 'subscription' : 'payment',
    line_items: items.map(({ price, quantity }) => ({ price: price.id, quantity })),
    success_url: successUrl,
    cancel_url: cancelUrl,
    client_reference_id: id,
    metadata,
  }
  if (terms.trialDays !== null && !terms.trialNeedsCard) params.payment_method_collection = 'if_required'
  if (terms.promotionCodes) params.allow_promotion_codes = true
  if (recurring) params.subscription_data = { metadata, ...trialOf(terms) }
  else params.payment_intent_data = { metadata, ...(terms.saveCard && { setup_future_usage: 'off_session' }) }
  if (user?.billingId && !isSandboxCustomer(user.billingId)) params.customer = user.billingId
  else {
    if (user?.email) params.customer_email = user.email
    // A subscription always has a customer. A one-off payment would have none, and so no user.
    if (!recurring) params.customer_creation = 'always'
  }
  return params
}

function trialOf({ trialDays, trialNeedsCard }: SaleTerms) {
  if (trialDays === null) return {}
  if (trialNeedsCard) return { trial_period_days: trialDays }
  // The subscription ends if there is no payment method after the trial.
  const end_behavior = { missing_payment_method: 'cancel' } as const
  return { trial_period_days: trialDays, trial_settings: { end_behavior } }
}

export function checkoutFrom(
  session: Stripe.Checkout.Session,
  paid: boolean,
): Omit<ProviderCheckout, 'reversal'> {
  const paidAt = paid ? paidAtOf(session) : null
  return {
    ref: session.id,
    sessionId: session.client_reference_id ?? session.metadata?.[SESSION] ?? null,
    state: stateOf(session, paid),
    customer: payerOf(session),
    subscriptionRef: idOf(session.subscription),
    paidAt,
    startsAt: paidAt,
    paymentRef: idOf(session.payment_intent),
    paid:
      session.amount_total === null || session.currency === null
        ? null
        : { amount: session.amount_total, currency: session.currency },
  }
}

/**
 * When the payer paid. A session does not contain it, but the charge or subscription that it creates does. Payments
 * that take days count from the payer's action. A free checkout creates neither.
 */
function paidAtOf(session: Stripe.Checkout.Session): number | null {
  const { subscription } = session
  const made =
    typeof subscription === 'object' && subscription !== null
      ? subscription.created
      : (chargeOf(session)?.created ?? null)
  return made === null ? null : made * 1000
}

/** The charge of a one-off payment; null: none. */
export function chargeOf({ payment_intent: payment }: Stripe.Checkout.Session): Stripe.Charge | null {
  const charge = typeof payment === 'object' ? payment?.latest_charge : null
  return typeof charge === 'object' ? (charge ?? null) : null
}

function stateOf(session: Stripe.Checkout.Session, paid: boolean): ProviderCheckout['state'] {
  if (session.status === 'expired') return 'EXPIRED'
  if (session.status !== 'complete') return 'OPEN'
  if (paid) return 'PAID'
  // Some payment methods take days: then the session is complete while the payment is pending or has failed.
  const { payment_intent: payment, subscription } = session
  const failed =
    (typeof payment === 'object' &&
      payment !== null &&
      (payment.status === 'requires_payment_method' || payment.status === 'canceled')) ||
    (typeof subscription === 'object' &&
      subscription !== null &&
      (subscription.status === 'canceled' || subscription.status === 'incomplete_expired'))
  return failed ? 'FAILED' : 'AWAITING'
}

/** A failed first payment may be paid later. The invoices show this, the session does not. */
export async function isPaid(stripe: Stripe, session: Stripe.Checkout.Session): Promise<boolean> {
  if (session.payment_status !== 'unpaid') return true
  const subscription = idOf(session.subscription)
  if (subscription === null) return false
  const { data } = await stripe.invoices.list({ subscription, status: 'paid', limit: 1 })
  return data.length > 0
}

/** The session contains what the payer entered, even if the customer no longer exists. */
function payerOf(session: Stripe.Checkout.Session): Customer | null {
  const ref = idOf(session.customer)
  if (ref === null) return null
  const entered = session.customer_details
  const known = typeof session.customer === 'object' ? customerFrom(session.customer) : null
  return {
    ref,
    email: known?.email ?? textOf(entered?.email),
    name: known?.name ?? textOf(entered?.name),
  }
}

export function customerFrom(customer: Stripe.Customer | Stripe.DeletedCustomer | null): Customer | null {
  if (!customer || customer.deleted) return null
  return { ref: customer.id, email: textOf(customer.email), name: textOf(customer.name) }
}

/** A character that cannot be stored must not make a payment fail. */
const textOf = (text: string | null | undefined): string | null => (text == null ? null : storable(text))
