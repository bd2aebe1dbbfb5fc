import type Stripe from 'stripe'
import { charged } from './charges.ts'
import { createCustomer } from './customers.ts'
import { attach, behaviourOf, createPaymentMethod } from './payment-methods.ts'
import { cardDeclined, invalid } from './refusals.ts'
import { collect, type FirstPayment, failToCollect, start } from './subscription-lifecycle.ts'
import { idOf, type World } from './world.ts'

export interface Payer {
  email?: string
  name?: string
  /** a payment method's id; a card that pays unless told; null: none, where Checkout asks for none */
  method?: string | null
}

/** What Checkout does when its payer presses Pay. */
export function pay(
  world: World,
  session: Stripe.Checkout.Session,
  payer: Payer = {},
): Stripe.Checkout.Session {
  if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`)
  const method = payer.method === undefined ? createPaymentMethod(world).id : payer.method
  if (method === null && !mayPayNothing(world, session)) throw invalid('A payment method is required.')
  const behaviour = method === null ? 'pays' : behaviourOf(world, method)
  if (behaviour === 'declines' || behaviour === 'needs action') throw cardDeclined()
  const payment: FirstPayment = behaviour === 'pays' ? 'paid' : 'pending'
  const customer = payingCustomer(world, session, payer)
  const isSaved = session.mode === 'subscription' || world.promises.get(session.id)?.savesMethod === true
  if (customer && method !== null && isSaved) attach(world, method, customer.id)
  session.customer = customer?.id ?? null
  session.customer_details = {
    address: null,
    business_name: null,
    email: customer?.email ?? session.customer_email ?? payer.email ?? null,
    individual_name: null,
    name: customer?.name ?? payer.name ?? null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: [],
  }
  const due =
    session.mode === 'subscription'
      ? subscribe(world, session, method, payment)
      : charge(world, session, method ?? '', payment)
  session.status = 'complete'
  session.url = null
  session.payment_status = due === 0 ? 'no_payment_required' : payment === 'paid' ? 'paid' : 'unpaid'
  world.emit('checkout.session.completed', session)
  return session
}

/** Nothing is due today, and no card is asked for. */
const mayPayNothing = (world: World, session: Stripe.Checkout.Session) =>
  session.payment_method_collection === 'if_required' && (world.promises.get(session.id)?.trialDays ?? 0) > 0

function payingCustomer(
  world: World,
  session: Stripe.Checkout.Session,
  payer: Payer,
): Stripe.Customer | null {
  const known = idOf(session.customer)
  if (known) return world.customer(known)
  if (session.mode === 'payment' && session.customer_creation !== 'always') return null
  return createCustomer(world, {
    email: session.customer_email ?? payer.email ?? null,
    name: payer.name ?? null,
  })
}

/** Makes the subscription; answers what was due at once. */
function subscribe(
  world: World,
  session: Stripe.Checkout.Session,
  method: string | null,
  payment: FirstPayment,
): number {
  const items = (world.lineItems.get(session.id) ?? []).flatMap(({ price, quantity }) =>
    price ? [{ price, quantity: quantity ?? 1 }] : [],
  )
  const told = world.promises.get(session.id)
  const { subscription, invoice } = start(
    world,
    {
      customer: idOf(session.customer) ?? '',
      items: items.filter(({ price }) => price.recurring),
      metadata: told?.metadata ?? {},
      method,
      trialDays: told?.trialDays ?? 0,
      missingMethod: told?.missingMethod ?? 'create_invoice',
      anchor: told?.anchor ?? null,
    },
    payment,
    items.filter(({ price }) => !price.recurring),
  )
  session.subscription = subscription.id
  session.invoice = invoice.id
  return invoice.total
}

/** Makes the payment intent of a one-off payment; answers what was due. */
function charge(
  world: World,
  session: Stripe.Checkout.Session,
  method: string,
  payment: FirstPayment,
): number {
  const amount = session.amount_total ?? 0
  if (amount === 0) return 0
  const paid = payment === 'paid'
  const intent = charged(world, {
    amount,
    currency: session.currency ?? 'usd',
    customer: idOf(session.customer),
    method,
    metadata: world.promises.get(session.id)?.metadata ?? {},
    paid,
  })
  session.payment_intent = intent.id
  world.emit('payment_intent.created', intent)
  world.emit(paid ? 'payment_intent.succeeded' : 'payment_intent.processing', intent)
  return amount
}

/** What a method that takes days to tell has told at last. */
export function settle(world: World, session: Stripe.Checkout.Session, outcome: 'paid' | 'failed'): void {
  if (session.status !== 'complete' || session.payment_status !== 'unpaid') {
    throw invalid('Nothing is pending on this Checkout Session.')
  }
  const paid = outcome === 'paid'
  const [invoice, intent] = [idOf(session.invoice), idOf(session.payment_intent)]
  if (invoice && paid) collect(world, world.invoice(invoice))
  else if (invoice) failToCollect(world, world.invoice(invoice))
  const awaited = intent ? world.paymentIntents.get(intent) : undefined
  if (awaited) {
    const charge = world.charges.get(idOf(awaited.latest_charge) ?? '')
    if (charge) Object.assign(charge, { paid, status: paid ? 'succeeded' : 'failed' })
    awaited.status = paid ? 'succeeded' : 'requires_payment_method'
    awaited.amount_received = paid ? awaited.amount : 0
    world.emit(paid ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', awaited)
  }
  if (paid) session.payment_status = 'paid'
  world.emit(
    paid ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed',
    session,
  )
}
