import type Stripe from 'stripe'
import type { BillingStanding } from '../../domain/billing-changes.ts'
import { INTERVALS, type Interval } from '../../domain/price.ts'
import { isSandboxCustomer } from '../customer-refs.ts'
import {
  type BillingProvider,
  type CheckoutRequest,
  type Customer,
  type ProviderCheckout,
  ProviderError,
  type ProviderPrice,
  type ProviderSubscription,
} from '../provider.ts'

/** The metadata key under which everything created by a link carries our id of it. */
const SESSION = 'tollgate_session'
const MOST_PRICES = 500

const STANDINGS: Record<Stripe.Subscription.Status, BillingStanding> = {
  active: 'live',
  trialing: 'live',
  past_due: 'past due',
  unpaid: 'past due',
  paused: 'paused',
  canceled: 'ended',
  incomplete: 'never',
  incomplete_expired: 'never',
}

export function stripeProvider(stripe: Stripe): BillingProvider {
  return {
    createCheckout: async (request) => {
      const made = await asked(() =>
        stripe.checkout.sessions.create(checkoutParams(request), { idempotencyKey: request.id }),
      )
      if (!made.url) throw new ProviderError('refused', 'it created a checkout session without a URL')
      return { ref: made.id, url: made.url }
    },

    fetchCheckout: (ref) =>
      found(async () => {
        const session = await stripe.checkout.sessions.retrieve(ref, {
          expand: ['customer', 'payment_intent.latest_charge', 'subscription'],
        })
        return checkoutFrom(session, await isPaid(stripe, session))
      }),

    fetchSubscription: (ref) =>
      found(async () => {
        const current = await stripe.subscriptions.retrieve(ref, { expand: ['customer'] })
        const owes = STANDINGS[current.status] === 'past due'
        return subscriptionFrom(current, owes ? await owingSince(stripe, current) : null)
      }),

    fetchCustomer: (ref) => found(async () => customerFrom(await stripe.customers.retrieve(ref))),

    async cancel(ref, when) {
      const current = await found(() => stripe.subscriptions.retrieve(ref))
      if (!current || current.status === 'canceled' || current.status === 'incomplete_expired') return
      await asked(() =>
        when === 'now'
          ? stripe.subscriptions.cancel(ref)
          : stripe.subscriptions.update(ref, { cancel_at_period_end: true }),
      )
    },

    async keep(ref) {
      const current = await found(() => stripe.subscriptions.retrieve(ref))
      if (!current || current.status === 'canceled' || current.status === 'incomplete_expired') return
      if (current.cancel_at_period_end) {
        await asked(() => stripe.subscriptions.update(ref, { cancel_at_period_end: false }))
      } else if (current.cancel_at !== null) {
        await asked(() => stripe.subscriptions.update(ref, { cancel_at: '' }))
      }
    },

    async addPrice(ref, priceId) {
      const current = await found(() => stripe.subscriptions.retrieve(ref))
      if (!current || current.items.data.some(({ price }) => price.id === priceId)) return
      const item = { subscription: ref, price: priceId, proration_behavior: 'none' } as const
      await asked(() => stripe.subscriptionItems.create(item))
    },

    async dropPrice(ref, priceId) {
      const current = await found(() => stripe.subscriptions.retrieve(ref))
      const item = current?.items.data.find(({ price }) => price.id === priceId)
      if (item) await asked(() => stripe.subscriptionItems.del(item.id, { proration_behavior: 'none' }))
    },

    fetchPrice: (id) =>
      found(async () => {
        const price = await stripe.prices.retrieve(id, { expand: ['product'] })
        const problem = problemOf(price)
        if (problem !== null) throw new ProviderError('refused', `the price ${id} ${problem}`)
        return priceFrom(price)
      }),

    listPrices: () =>
      asked(async () => {
        const listed = stripe.prices.list({ active: true, limit: 100, expand: ['data.product'] })
        const prices = await listed.autoPagingToArray({ limit: MOST_PRICES })
        return prices.filter((price) => problemOf(price) === null).map(priceFrom)
      }),
  }
}

function checkoutParams({ id, offer, user, successUrl, cancelUrl }: CheckoutRequest) {
  const metadata = { [SESSION]: id }
  const recurring = offer.interval !== null
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: recurring ? 'subscription' : 'payment',
    line_items: offer.items.map(({ price }) => ({ price: price.id, quantity: 1 })),
    success_url: successUrl,
    cancel_url: cancelUrl,
    client_reference_id: id,
    metadata,
  }
  if (recurring) params.subscription_data = { metadata }
  else params.payment_intent_data = { metadata }
  if (user?.billingId && !isSandboxCustomer(user.billingId)) params.customer = user.billingId
  else {
    if (user?.email) params.customer_email = user.email
    // A subscription has a customer anyway; a one-off payment would have none, and nobody to become a user.
    if (!recurring) params.customer_creation = 'always'
  }
  return params
}

function checkoutFrom(session: Stripe.Checkout.Session, paid: boolean): ProviderCheckout {
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
  }
}

/**
 * When the payer paid. A session does not say; what it creates at that moment does: the charge, or the subscription.
 * Payments that take days also count from the payer's action. A free checkout creates neither.
 */
function paidAtOf({ payment_intent: payment, subscription }: Stripe.Checkout.Session): number | null {
  const charge = typeof payment === 'object' ? payment?.latest_charge : null
  const made =
    typeof subscription === 'object' && subscription !== null
      ? subscription.created
      : typeof charge === 'object' && charge !== null
        ? charge.created
        : null
  return made === null ? null : made * 1000
}

function stateOf(session: Stripe.Checkout.Session, paid: boolean): ProviderCheckout['state'] {
  if (session.status === 'expired') return 'EXPIRED'
  if (session.status !== 'complete') return 'OPEN'
  if (paid) return 'PAID'
  // Some payment methods take days: the session is complete, and the money still pending, or failed.
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

/** A failed first payment may still be paid later; the invoices say so, the session does not. */
async function isPaid(stripe: Stripe, session: Stripe.Checkout.Session): Promise<boolean> {
  if (session.payment_status !== 'unpaid') return true
  const subscription = idOf(session.subscription)
  if (subscription === null) return false
  const { data } = await stripe.invoices.list({ subscription, status: 'paid', limit: 1 })
  return data.length > 0
}

/** What the payer entered is in the session, even if the customer no longer exists. */
function payerOf(session: Stripe.Checkout.Session): Customer | null {
  const ref = idOf(session.customer)
  if (ref === null) return null
  const entered = session.customer_details
  const known = typeof session.customer === 'object' ? customerFrom(session.customer) : null
  return {
    ref,
    email: known?.email ?? entered?.email ?? null,
    name: known?.name ?? entered?.name ?? null,
  }
}

function customerFrom(customer: Stripe.Customer | Stripe.DeletedCustomer | null): Customer | null {
  if (!customer || customer.deleted) return null
  return { ref: customer.id, email: customer.email, name: customer.name ?? null }
}

/** When the oldest unpaid payment was due. */
async function owingSince(stripe: Stripe, { id, created }: Stripe.Subscription): Promise<number> {
  const { data } = await stripe.invoices.list({ subscription: id, status: 'open', limit: 100 })
  return (data.at(-1)?.created ?? created) * 1000
}

function subscriptionFrom(s: Stripe.Subscription, pastDueSince: number | null): ProviderSubscription {
  const ends = s.items.data.map((item) => item.current_period_end * 1000)
  const paidUntil = ends.length > 0 ? Math.max(...ends) : null
  const standing = STANDINGS[s.status] ?? 'never'
  const cancelAt = s.cancel_at !== null ? s.cancel_at * 1000 : s.cancel_at_period_end ? paidUntil : null
  const ref = idOf(s.customer)
  const customer = typeof s.customer === 'object' ? customerFrom(s.customer) : null
  return {
    ref: s.id,
    sessionId: s.metadata[SESSION] ?? null,
    customer: customer ?? (ref === null ? null : { ref, email: null, name: null }),
    status: s.status,
    standing,
    final: s.status === 'canceled' || s.status === 'incomplete_expired',
    priceIds: s.items.data.map((item) => item.price.id),
    madeAt: s.created * 1000,
    anchor: s.billing_cycle_anchor * 1000,
    paidUntil,
    cancelAt,
    endedAt: s.ended_at === null ? null : s.ended_at * 1000,
    pastDueSince,
  }
}

function intervalOf({ recurring }: Stripe.Price): Interval | null {
  return INTERVALS.find((interval) => interval === recurring?.interval) ?? null
}

/** Why a Stripe price cannot be used for a package. */
function problemOf(price: Stripe.Price): string | null {
  if (price.unit_amount === null) return 'has no fixed amount: use one with a fixed amount for each period'
  if (price.recurring?.usage_type === 'metered')
    return 'is metered: use one with a fixed amount for each period'
  if (price.recurring && price.recurring.interval_count !== 1) {
    return `is charged every ${price.recurring.interval_count} ${price.recurring.interval}s: use one of a single interval`
  }
  return null
}

function priceFrom(price: Stripe.Price): ProviderPrice {
  const { product } = price
  return {
    id: price.id,
    provider: 'stripe',
    amount: price.unit_amount ?? 0,
    currency: price.currency,
    interval: intervalOf(price),
    productName: typeof product === 'object' && !product.deleted ? product.name : null,
  }
}

const idOf = (thing: string | { id: string } | null | undefined): string | null =>
  typeof thing === 'string' ? thing : (thing?.id ?? null)

/** The answer; null where Stripe has no such object. */
async function found<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await asked(ask)
  } catch (error) {
    if (error instanceof ProviderError && error.missing) return null
    throw error
  }
}

async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw isStripeError(error) ? providerError(error) : error
  }
}

/** By shape: the class is in a module that is loaded only when needed. */
function isStripeError(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Error && 'rawType' in error
}

function providerError(error: Stripe.errors.StripeError): ProviderError {
  const unreachable =
    error.type === 'StripeConnectionError' ||
    error.type === 'StripeAPIError' ||
    error.type === 'StripeRateLimitError'
  const refusal =
    error.type === 'StripeAuthenticationError' || error.type === 'StripePermissionError'
      ? `it does not accept the secret key: set another one in the dashboard (${error.message})`
      : error.message
  return new ProviderError(
    unreachable ? 'unreachable' : 'refused',
    refusal,
    error.code === 'resource_missing',
  )
}
