import type Stripe from 'stripe'
import { createInvoice, markFailed, markPaid, subscriptionOf } from './invoices.ts'
import { lineOf } from './item-changes.ts'
import { behaviourOf } from './payment-methods.ts'
import { invalid } from './refusals.ts'
import { buildSubscription, isOver, type NewItem, type NewSubscription, periodEnd } from './subscriptions.ts'
import { periodEndAfter } from './time.ts'
import { idOf, type World } from './world.ts'

/** How the first payment went; `pending` where the method takes days to tell. */
export type FirstPayment = 'paid' | 'failed' | 'pending'

interface Started {
  subscription: Stripe.Subscription
  invoice: Stripe.Invoice
}

/** A new subscription with its first invoice, which also carries what is paid only once. */
export function start(
  world: World,
  given: Omit<NewSubscription, 'status'>,
  payment: FirstPayment,
  once: NewItem[] = [],
): Started {
  const trial = (given.trialDays ?? 0) > 0
  // A method that takes days to tell counts as good until it has told.
  const status = trial ? 'trialing' : payment === 'failed' ? 'incomplete' : 'active'
  const subscription = buildSubscription(world, { ...given, status })
  const invoice = bill(world, subscription, 'subscription_create', trial ? 0 : 1, once)
  subscription.latest_invoice = invoice.id
  world.emit('customer.subscription.created', subscription)
  if (invoice.total === 0 || payment === 'paid') markPaid(world, invoice)
  else if (payment === 'failed') markFailed(world, invoice, { retry: false })
  else finalizeOpen(world, invoice)
  return { subscription, invoice }
}

function finalizeOpen(world: World, invoice: Stripe.Invoice): void {
  invoice.status = 'open'
  invoice.attempted = true
  world.emit('invoice.finalized', invoice)
}

/** The invoice of the period that runs now. */
function bill(
  world: World,
  subscription: Stripe.Subscription,
  reason: Stripe.Invoice.BillingReason,
  share: 0 | 1,
  once: NewItem[] = [],
): Stripe.Invoice {
  const recurring = subscription.items.data.map((item) => ({ ...lineOf(item, 1, share), proration: false }))
  const pending = [...world.invoiceItems.values()].filter((item) => item.subscription === subscription.id)
  for (const { id } of pending) world.invoiceItems.delete(id)
  const single = once.map(({ price, quantity }) => ({
    amount: (price.unit_amount ?? 0) * quantity,
    currency: price.currency,
    description: price.nickname,
    period: { start: world.now, end: world.now },
    quantity,
    price,
    subscriptionItem: null,
  }))
  return createInvoice(world, {
    customer: idOf(subscription.customer) ?? '',
    currency: subscription.currency,
    reason,
    subscription,
    lines: [...pending.flatMap(({ line }) => line ?? []), ...recurring, ...single],
  })
}

/** The next period begins; its payment succeeds or fails, as it is told or as the payment method behaves. */
export function renew(
  world: World,
  subscription: Stripe.Subscription,
  outcome?: 'paid' | 'failed',
): Stripe.Invoice {
  if (isOver(subscription)) throw invalid('A canceled subscription does not renew.')
  for (const item of subscription.items.data) {
    if (!item.price.recurring) continue
    item.current_period_start = item.current_period_end
    item.current_period_end = periodEndAfter(
      subscription.billing_cycle_anchor,
      item.price.recurring,
      item.current_period_start,
    )
  }
  const invoice = bill(world, subscription, 'subscription_cycle', 1)
  world.change('customer.subscription.updated', subscription, {
    latest_invoice: invoice.id,
    ...(subscription.status === 'trialing' && { status: 'active' }),
  })
  if (subscription.pause_collection) {
    const kept = { keep_as_draft: 'draft', mark_uncollectible: 'uncollectible', void: 'void' } as const
    const behaviour = subscription.pause_collection.behavior
    if (behaviour in kept) invoice.status = kept[behaviour as keyof typeof kept]
    return invoice
  }
  const charges = behaviourOf(world, idOf(subscription.default_payment_method))
  const fails = outcome ? outcome === 'failed' : charges !== 'pays' && charges !== 'pays later'
  if (fails) failToCollect(world, invoice)
  else collect(world, invoice)
  return invoice
}

/** The money came: the invoice is paid, and its subscription is in order again. */
export function collect(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  markPaid(world, invoice)
  const subscription = ownerOf(world, invoice)
  const owes = subscription && ['past_due', 'unpaid', 'incomplete'].includes(subscription.status)
  if (owes) world.change('customer.subscription.updated', subscription, { status: 'active' })
  return invoice
}

export function failToCollect(
  world: World,
  invoice: Stripe.Invoice,
  { retry = true }: { retry?: boolean } = {},
): Stripe.Invoice {
  markFailed(world, invoice, { retry })
  const subscription = ownerOf(world, invoice)
  if (subscription && !isOver(subscription) && subscription.status !== 'incomplete') {
    world.change('customer.subscription.updated', subscription, { status: 'past_due' })
  }
  return invoice
}

function ownerOf(world: World, invoice: Stripe.Invoice): Stripe.Subscription | null {
  const id = subscriptionOf(invoice)
  return id === null ? null : world.subscription(id)
}

type Reason = 'cancellation_requested' | 'payment_failed'

export function cancelNow(
  world: World,
  subscription: Stripe.Subscription,
  reason: Reason = 'cancellation_requested',
): void {
  if (isOver(subscription)) throw invalid('The subscription is canceled already.')
  subscription.status = 'canceled'
  subscription.canceled_at ??= world.now
  subscription.ended_at = world.now
  const schedule = world.schedules.get(idOf(subscription.schedule) ?? '')
  if (schedule) Object.assign(schedule, { status: 'canceled', canceled_at: world.now })
  subscription.schedule = null
  if (subscription.cancellation_details) subscription.cancellation_details.reason = reason
  world.emit('customer.subscription.deleted', subscription)
}

/** Ends it with the period that runs, or takes that back. */
export function cancelAtPeriodEnd(world: World, subscription: Stripe.Subscription, ends: boolean): void {
  world.change('customer.subscription.updated', subscription, {
    cancel_at_period_end: ends,
    cancel_at: ends ? periodEnd(subscription) : null,
    canceled_at: ends ? world.now : null,
  })
}

export function cancelAt(world: World, subscription: Stripe.Subscription, time: number | null): void {
  if (time !== null && time <= world.now) throw invalid('`cancel_at` must lie ahead.', 'cancel_at')
  world.change('customer.subscription.updated', subscription, {
    cancel_at: time,
    cancel_at_period_end: false,
    canceled_at: time === null ? null : world.now,
  })
}

/** Nothing is billed and no period begins until it is resumed. */
export function pause(world: World, subscription: Stripe.Subscription): void {
  if (isOver(subscription) || subscription.status === 'paused')
    throw invalid('Only a live subscription is paused.')
  subscription.status = 'paused'
  world.emit('customer.subscription.paused', subscription)
}

export function resume(world: World, subscription: Stripe.Subscription): void {
  if (subscription.status !== 'paused') throw invalid('Only a paused subscription is resumed.')
  subscription.status = 'active'
  world.emit('customer.subscription.resumed', subscription)
}

/** The trial is over: it is billed, or paused or ended where no method was given and that was agreed. */
export function endTrial(world: World, subscription: Stripe.Subscription): void {
  if (subscription.status !== 'trialing') throw invalid('The subscription is not in a trial.', 'trial_end')
  subscription.trial_end = world.now
  const agreed = subscription.trial_settings?.end_behavior.missing_payment_method
  const unpayable = subscription.default_payment_method === null
  if (unpayable && agreed === 'pause') pause(world, subscription)
  else if (unpayable && agreed === 'cancel') cancelNow(world, subscription)
  else startBilling(world, subscription)
}

function startBilling(world: World, subscription: Stripe.Subscription): void {
  subscription.billing_cycle_anchor = world.now
  for (const item of subscription.items.data) item.current_period_end = world.now
  renew(world, subscription)
}
