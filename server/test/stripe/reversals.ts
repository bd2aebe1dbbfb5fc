import type Stripe from 'stripe'
import { page } from './lists.ts'
import { invalid } from './refusals.ts'
import type { Route } from './route.ts'
import { found, idOf, type World } from './world.ts'

/** The charge of a payment intent, or the charge itself. */
export function chargeOf(world: World, payment: string): Stripe.Charge {
  const intent = world.paymentIntents.get(payment)
  return found(world.charges, 'charge', idOf(intent?.latest_charge) ?? payment)
}

/** Gives money back, all that is left of it unless told. */
export function refund(
  world: World,
  payment: string,
  amount?: number,
  reason: Stripe.Refund['reason'] = null,
): Stripe.Refund {
  const charge = chargeOf(world, payment)
  const left = charge.amount - charge.amount_refunded
  if (left === 0)
    throw invalid(`Charge ${charge.id} has already been refunded.`, undefined, 'charge_already_refunded')
  if ((amount ?? left) > left) throw invalid('Refund amount is greater than unrefunded amount', 'amount')
  const made: Stripe.Refund = {
    id: world.id('re'),
    object: 'refund',
    amount: amount ?? left,
    balance_transaction: null,
    charge: charge.id,
    created: world.now,
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  }
  world.refunds.set(made.id, made)
  count(world, charge)
  world.emit('refund.created', made)
  world.emit('charge.refunded', charge)
  return made
}

/** The bank sends a refund back, or it is withdrawn before it has left. */
export function takeRefundBack(world: World, id: string, status: 'failed' | 'canceled'): void {
  const taken = found(world.refunds, 'refund', id)
  taken.status = status
  count(world, chargeOf(world, idOf(taken.charge) ?? ''))
  world.emit('refund.updated', taken)
  if (status === 'failed') world.emit('refund.failed', taken)
}

function count(world: World, charge: Stripe.Charge): void {
  const kept = [...world.refunds.values()].filter(
    ({ charge: of, status }) => of === charge.id && status !== 'failed' && status !== 'canceled',
  )
  charge.amount_refunded = kept.reduce((sum, { amount }) => sum + amount, 0)
  charge.refunded = charge.amount_refunded === charge.amount
}

/** The payer objects at their bank: with a dispute, or with an inquiry before it. */
export function dispute(
  world: World,
  payment: string,
  { status = 'needs_response', amount }: { status?: Stripe.Dispute.Status; amount?: number } = {},
): Stripe.Dispute {
  const charge = chargeOf(world, payment)
  const made = {
    id: world.id('du'),
    object: 'dispute',
    amount: amount ?? charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: world.now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    // Letters of a customer, which nobody else should keep.
    evidence: { customer_email_address: 'pat@letters.example', customer_name: 'Pat Letters' },
    evidence_details: { due_by: null, has_evidence: false, past_due: false, submission_count: 0 },
    intended_submission_method: null,
    is_charge_refundable: status.startsWith('warning'),
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status,
  } as unknown as Stripe.Dispute
  world.disputes.set(made.id, made)
  charge.disputed = true
  world.emit('charge.dispute.created', made)
  if (!status.startsWith('warning')) world.emit('charge.dispute.funds_withdrawn', made)
  return made
}

/** What the bank decides, or what the dispute becomes on the way there. */
export function decide(world: World, id: string, status: Stripe.Dispute.Status): void {
  const decided = found(world.disputes, 'dispute', id)
  decided.status = status
  world.emit('charge.dispute.updated', decided)
  if (status === 'won') world.emit('charge.dispute.funds_reinstated', decided)
  if (['won', 'lost', 'warning_closed'].includes(status)) world.emit('charge.dispute.closed', decided)
}

interface Taken {
  id: string
  created: number
  charge: string | Stripe.Charge | null
  payment_intent: string | Stripe.PaymentIntent | null
}

const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

const lists = (path: string, of: (world: World) => ReadonlyMap<string, Taken>): Route[] => [
  {
    method: 'GET',
    path,
    answer({ world, form }) {
      const [charge, intent] = [form.text('charge'), form.text('payment_intent')]
      const keep = (one: Taken) =>
        (charge === undefined || one.charge === charge) &&
        (intent === undefined || one.payment_intent === intent)
      return page(path, of(world).values(), form, keep)
    },
  },
  { method: 'GET', path: `${path}/:id`, answer: ({ world, id }) => found(of(world), path, id) },
]

export const reversalRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/charges',
    answer({ world, form }) {
      const [customer, intent] = [form.text('customer'), form.text('payment_intent')]
      const keep = (one: Stripe.Charge) =>
        (customer === undefined || one.customer === customer) &&
        (intent === undefined || one.payment_intent === intent)
      return page('/v1/charges', world.charges.values(), form, keep)
    },
  },
  {
    method: 'GET',
    path: '/v1/charges/:id',
    answer: ({ world, id }) => found(world.charges, 'charge', id),
  },
  {
    method: 'GET',
    path: '/v1/invoice_payments',
    answer({ world, form }) {
      const [invoice, by] = [form.text('invoice'), form.form('payment')]
      by?.word('type', ['payment_intent'])
      const intent = by?.text('payment_intent')
      const keep = (one: Stripe.InvoicePayment) =>
        (invoice === undefined || one.invoice === invoice) &&
        (intent === undefined || one.payment.payment_intent === intent)
      return page('/v1/invoice_payments', world.invoicePayments.values(), form, keep)
    },
  },
  {
    method: 'POST',
    path: '/v1/refunds',
    answer({ world, form }) {
      const payment = form.text('payment_intent') ?? form.required('charge')
      const reason = form.word('reason', REASONS) ?? null
      return refund(world, payment, form.integer('amount'), reason)
    },
  },
  ...lists('/v1/refunds', (world) => world.refunds),
  ...lists('/v1/disputes', (world) => world.disputes),
]
