import type Stripe from 'stripe'
import type { Form } from './form.ts'
import { createInvoice } from './invoices.ts'
import { changedItems, lineOf, newItem, PRORATIONS } from './item-changes.ts'
import { page } from './lists.ts'
import { attach, behaviourOf } from './payment-methods.ts'
import { cardDeclined, invalid, noSuch } from './refusals.ts'
import type { Route } from './route.ts'
import {
  cancelAt,
  cancelAtPeriodEnd,
  cancelNow,
  collect,
  endTrial,
  failToCollect,
  pause,
  resume,
  start,
} from './subscription-lifecycle.ts'
import { buildItem, isOver, periodEnd } from './subscriptions.ts'
import { idOf, type NewLine, type World } from './world.ts'

/** Settings that are taken and change nothing here: no taxes, no invoices by mail. */
const IGNORED = ['off_session', 'payment_settings', 'collection_method', 'description']

function create(world: World, form: Form): Stripe.Subscription {
  const customer = world.customer(form.required('customer'))
  const given = form.text('default_payment_method')
  const method = given
    ? attach(world, given, customer.id).id
    : idOf(customer.invoice_settings.default_payment_method)
  const trialDays = form.integer('trial_period_days') ?? 0
  if (method === null && trialDays === 0) {
    throw invalid(
      'This customer has no attached payment source or default payment method.',
      undefined,
      'resource_missing',
    )
  }
  const items = form.forms('items').map((item) => newItem(world, item))
  if (items.length === 0) throw invalid('Missing required param: items.', 'items', 'parameter_missing')
  const ending = form.form('trial_settings')?.form('end_behavior')
  form.without('proration_behavior', ...IGNORED)
  const fails = behaviourOf(world, method) === 'declines' && trialDays === 0
  const behavior = form.word('payment_behavior', BEHAVIOURS)
  if (fails && behavior === 'error_if_incomplete') throw cardDeclined()
  const ends = form.flag('cancel_at_period_end')
  const anchor = form.integer('billing_cycle_anchor') ?? null
  const metadata = form.metadata()
  const { subscription } = start(
    world,
    {
      customer: customer.id,
      items,
      metadata,
      method,
      trialDays,
      anchor,
      missingMethod:
        ending?.word('missing_payment_method', ['pause', 'cancel', 'create_invoice']) ?? 'create_invoice',
    },
    fails ? 'failed' : 'paid',
  )
  if (ends) cancelAtPeriodEnd(world, subscription, true)
  return subscription
}

const BEHAVIOURS = ['allow_incomplete', 'error_if_incomplete'] as const

/** Changes what is charged: at once, on the next invoice, or from the next period on. */
function updateItems(world: World, subscription: Stripe.Subscription, form: Form): void {
  const proration = form.word('proration_behavior', PRORATIONS) ?? 'create_prorations'
  const behaviour = form.word('payment_behavior', BEHAVIOURS) ?? 'allow_incomplete'
  const { items, anchor, anew, lines } = changedItems(world, subscription, form)
  const charged = lines.filter((line) => proration !== 'none' || !line.proration)
  const atOnce = charged.length > 0 && (proration === 'always_invoice' || anew)
  const customer = world.customer(idOf(subscription.customer) ?? '')
  const due = customer.balance + charged.reduce((sum, { amount }) => sum + amount, 0)
  const pays = behaviourOf(world, idOf(subscription.default_payment_method)).startsWith('pays')
  if (atOnce && due > 0 && !pays && behaviour === 'error_if_incomplete') throw cardDeclined()
  const invoice = atOnce
    ? createInvoice(world, {
        customer: customer.id,
        currency: subscription.currency,
        reason: 'subscription_update',
        subscription,
        lines: charged,
      })
    : null
  world.change('customer.subscription.updated', subscription, {
    items: { ...subscription.items, data: items },
    billing_cycle_anchor: anchor,
    ...(invoice && { latest_invoice: invoice.id }),
  })
  if (!invoice) for (const line of charged) addPending(world, subscription, line)
  else if (pays || due <= 0) collect(world, invoice)
  else failToCollect(world, invoice)
}

/** Waits for the subscription's next invoice. */
function addPending(world: World, { id: subscription, customer }: Stripe.Subscription, line: NewLine): void {
  const id = world.id('ii')
  const { amount, currency, description } = line
  world.invoiceItems.set(id, {
    id,
    object: 'invoiceitem',
    amount,
    currency,
    customer: idOf(customer) ?? '',
    date: world.now,
    description,
    livemode: false,
    line,
    subscription,
  })
}

function update(world: World, subscription: Stripe.Subscription, form: Form): Stripe.Subscription {
  if (isOver(subscription)) throw invalid('A canceled subscription can only update its cancellation_details.')
  const schedule = idOf(subscription.schedule)
  if (schedule !== null && (form.has('cancel_at_period_end') || form.has('cancel_at'))) {
    throw invalid(
      `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    )
  }
  if (form.has('items')) updateItems(world, subscription, form)
  form.without('proration_behavior', 'payment_behavior', ...IGNORED)
  const paused = form.form('pause_collection')
  world.change('customer.subscription.updated', subscription, {
    metadata: form.metadata(subscription.metadata),
    ...(form.has('pause_collection') && {
      pause_collection: paused
        ? { behavior: paused.required('behavior'), resumes_at: paused.integer('resumes_at') ?? null }
        : null,
    }),
  })
  const atEnd = form.flag('cancel_at_period_end')
  if (atEnd !== undefined) cancelAtPeriodEnd(world, subscription, atEnd)
  if (form.has('cancel_at')) {
    const words: Record<string, number> = {
      min_period_end: periodEnd(subscription),
      max_period_end: periodEnd(subscription),
    }
    const given = form.text('cancel_at') ?? ''
    cancelAt(world, subscription, given === '' ? null : (words[given] ?? form.integer('cancel_at') ?? null))
  }
  if (form.text('trial_end') === 'now') endTrial(world, subscription)
  return subscription
}

/** What is left of a period that was paid for comes off the next invoice. */
function giveBack(world: World, subscription: Stripe.Subscription, item: Stripe.SubscriptionItem): void {
  const left = item.current_period_end - world.now
  const share = left / (item.current_period_end - item.current_period_start)
  addPending(world, subscription, { ...lineOf(item, -1, share), description: 'Unused time' })
}

const PATH = '/v1/subscriptions'

export const subscriptionRoutes: Route[] = [
  { method: 'POST', path: PATH, answer: ({ world, form }) => create(world, form) },
  {
    method: 'GET',
    path: PATH,
    answer({ world, form }) {
      const [customer, price, status] = [form.text('customer'), form.text('price'), form.text('status')]
      const keep = (one: Stripe.Subscription) =>
        (customer === undefined || one.customer === customer) &&
        (price === undefined || one.items.data.some((item) => item.price.id === price)) &&
        // Unless it is asked for, what has ended is left out.
        (status === 'all' || (status === undefined ? one.status !== 'canceled' : one.status === status))
      return page(PATH, world.subscriptions.values(), form, keep)
    },
  },
  { method: 'GET', path: `${PATH}/:id`, answer: ({ world, id }) => world.subscription(id) },
  {
    method: 'POST',
    path: `${PATH}/:id`,
    answer: ({ world, form, id }) => update(world, world.subscription(id), form),
  },
  {
    method: 'DELETE',
    path: `${PATH}/:id`,
    answer({ world, form, id }) {
      const subscription = world.subscription(id)
      if (isOver(subscription)) throw noSuch('subscription', id)
      form.without('invoice_now', 'prorate', 'cancellation_details')
      cancelNow(world, subscription)
      return subscription
    },
  },
  {
    method: 'POST',
    path: `${PATH}/:id/pause`,
    answer({ world, form, id }) {
      form.without(...form.names.filter((name) => name !== 'expand'))
      pause(world, world.subscription(id))
      return world.subscription(id)
    },
  },
  {
    method: 'POST',
    path: `${PATH}/:id/resume`,
    answer({ world, form, id }) {
      form.without('billing_cycle_anchor', 'proration_behavior', 'proration_date')
      resume(world, world.subscription(id))
      return world.subscription(id)
    },
  },
  {
    method: 'POST',
    path: '/v1/subscription_items',
    answer({ world, form }) {
      form.without('payment_behavior', 'proration_date')
      const proration = form.word('proration_behavior', PRORATIONS) ?? 'create_prorations'
      // What a part of a period costs is not worked out here.
      if (proration !== 'none') throw invalid('This stand-in adds items without proration only.')
      const subscription = world.subscription(form.required('subscription'))
      if (isOver(subscription))
        throw invalid('A canceled subscription can only update its cancellation_details.')
      const price = world.price(form.required('price'), form.path('price'))
      if (subscription.items.data.some((item) => item.price.id === price.id)) {
        throw invalid('Cannot add multiple subscription items with the same plan.', 'price')
      }
      const quantity = form.integer('quantity') ?? 1
      const item = buildItem(world, subscription.id, { price, quantity }, subscription.billing_cycle_anchor)
      const data = [...subscription.items.data, item]
      world.change('customer.subscription.updated', subscription, { items: { ...subscription.items, data } })
      return item
    },
  },
  {
    method: 'DELETE',
    path: '/v1/subscription_items/:id',
    answer({ world, form, id }) {
      form.without('clear_usage', 'payment_behavior')
      const proration = form.word('proration_behavior', PRORATIONS) ?? 'create_prorations'
      const owner = [...world.subscriptions.values()].find(({ items }) =>
        items.data.some((item) => item.id === id),
      )
      if (!owner) throw noSuch('subscription_item', id)
      const data = owner.items.data.filter((item) => item.id !== id)
      if (data.length === 0) throw invalid('A subscription must have at least one active plan.')
      const dropped = owner.items.data.find((item) => item.id === id)
      if (dropped && proration !== 'none') giveBack(world, owner, dropped)
      world.change('customer.subscription.updated', owner, { items: { ...owner.items, data } })
      return { id, object: 'subscription_item', deleted: true } satisfies Stripe.DeletedSubscriptionItem
    },
  },
]
