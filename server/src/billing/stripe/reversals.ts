import type Stripe from 'stripe'
import {
  type Dispute,
  type DisputeState,
  NO_REVERSAL,
  type Payment,
  type Reversal,
  reversalOf,
} from '../../domain/reversal.ts'
import { idOf } from './asked.ts'

/** Newest charges of a customer that are read: enough for years of monthly payments. */
const MOST_CHARGES = 300
/** Newest invoices of a subscription that are read. */
const MOST_INVOICES = 100
/** Newest payments of a subscription whose refunds and disputes are read. */
const MOST_REVERSED = 24

const DISPUTES: Record<string, DisputeState> = {
  warning_needs_response: 'INQUIRY',
  warning_under_review: 'INQUIRY',
  warning_closed: 'CLOSED',
  needs_response: 'OPEN',
  under_review: 'OPEN',
  appeal_needs_response: 'OPEN',
  appeal_under_review: 'OPEN',
  // Resolved by a refund before it became a dispute; the refund is counted.
  prevented: 'CLOSED',
  won: 'WON',
  lost: 'LOST',
}

/**
 * Refunds and disputes of a subscription's payments; null: the key may not read charges. Usually this takes one
 * request. More are made only if a charge of the customer was refunded or disputed.
 */
export async function reversalOfSubscription(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<Reversal | null> {
  const customer = idOf(subscription.customer)
  if (customer === null) return NO_REVERSAL
  return ifPermitted(async () => {
    const all = stripe.charges.list({ customer, limit: 100 })
    const charges = await all.autoPagingToArray({ limit: MOST_CHARGES })
    if (!charges.some(isTouched)) return NO_REVERSAL
    return reversalIn(stripe, subscription, charges)
  })
}

async function reversalIn(
  stripe: Stripe,
  { id, items }: Stripe.Subscription,
  charges: readonly Stripe.Charge[],
): Promise<Reversal> {
  const listed = stripe.invoices.list({
    subscription: id,
    status: 'paid',
    limit: 100,
    expand: ['data.payments'],
  })
  const invoices = await listed.autoPagingToArray({ limit: MOST_INVOICES })
  const periodStart = Math.min(...items.data.map((item) => item.current_period_start)) * 1000
  const payments: Payment[] = []
  const running: (Payment | null)[] = []
  for (const invoice of invoices) {
    if (invoice.amount_paid === 0) continue
    const period = periodOf(invoice)
    const isRunning = period.start >= periodStart
    const parts = chargesOf(invoice, charges)
    // Paid by other means, such as cash, so no refund is known.
    if (parts.length === 0 && isRunning) running.push(null)
    for (const charge of parts) {
      const read = charge && (payments.length < MOST_REVERSED || isRunning)
      const payment = read
        ? {
            ...(await paymentFrom(stripe, charge, period)),
            charged: chargedOn(invoice),
            ...(invoice.id !== undefined && { invoice: invoice.id }),
          }
        : null
      if (payment && charge && isTouched(charge)) payments.push(payment)
      if (isRunning) running.push(payment)
    }
  }
  return reversalOf(payments, running)
}

/** Refunds and disputes of a one-off payment. */
export function reversalOfCharge(stripe: Stripe, charge: Stripe.Charge): Promise<Reversal | null> {
  return ifPermitted(async () => {
    const payments = [await paymentFrom(stripe, charge, null)]
    return reversalOf(payments, payments)
  })
}

const isTouched = ({ paid, amount_refunded, disputed }: Stripe.Charge): boolean =>
  paid && (amount_refunded > 0 || disputed)

/** The charges that paid an invoice; null if it is older than these, or was paid elsewhere. */
function chargesOf(
  { payments }: Stripe.Invoice,
  charges: readonly Stripe.Charge[],
): (Stripe.Charge | null)[] {
  const paid = (payments?.data ?? []).filter(({ status }) => status === 'paid')
  return paid.map(({ payment }) => {
    const [intent, charge] = [idOf(payment.payment_intent), idOf(payment.charge)]
    const isIt = (one: Stripe.Charge) =>
      one.paid && (one.id === charge || (intent !== null && idOf(one.payment_intent) === intent))
    return charges.find(isIt) ?? null
  })
}

/** The period an invoice is for: that of the line that ends last. Other lines may correct earlier periods. */
function periodOf({ lines, created }: Stripe.Invoice): { start: number; end: number } {
  const last = lines.data.reduce<{ start: number; end: number } | null>(
    (found, { period }) => (found && found.end >= period.end ? found : period),
    null,
  )
  const { start, end } = last ?? { start: created, end: created }
  return { start: start * 1000, end: end * 1000 }
}

const chargedOn = ({ lines }: Stripe.Invoice): NonNullable<Payment['charged']> =>
  lines.data.flatMap(({ amount, quantity, pricing }) => {
    const priceId = idOf(pricing?.price_details?.price ?? null)
    return amount > 0 && priceId !== null ? [{ priceId, quantity: quantity ?? 1 }] : []
  })

async function paymentFrom(
  stripe: Stripe,
  charge: Stripe.Charge,
  period: Payment['period'],
): Promise<Payment> {
  const { id, amount, currency, created, amount_refunded, disputed } = charge
  const refunds = amount_refunded > 0 ? await refundsOf(stripe, id) : []
  return {
    ref: idOf(charge.payment_intent) ?? id,
    amount,
    currency,
    paidAt: created * 1000,
    period,
    refunded: refunds.reduce((sum, refund) => sum + refund.amount, 0),
    refundedAt: refunds.length > 0 ? Math.max(...refunds.map((refund) => refund.created)) * 1000 : null,
    dispute: disputed ? await disputeOf(stripe, id) : null,
  }
}

/** Refunds that did not fail. */
async function refundsOf(stripe: Stripe, charge: string): Promise<Stripe.Refund[]> {
  const { data } = await stripe.refunds.list({ charge, limit: 100 })
  return data.filter(({ status }) => status !== 'failed' && status !== 'canceled')
}

/** The newest one: an inquiry may be followed by a dispute. */
async function disputeOf(stripe: Stripe, charge: string): Promise<Dispute | null> {
  const { data } = await stripe.disputes.list({ charge, limit: 1 })
  const [found] = data
  if (!found) return null
  const { status, reason, created } = found
  return { state: DISPUTES[status] ?? 'OPEN', reason, openedAt: created * 1000 }
}

/**
 * Null if a restricted key may not read it, so that the rest still works. An event about a refund fails and names the
 * missing permission.
 */
export async function ifPermitted<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'StripePermissionError') return null
    throw error
  }
}
