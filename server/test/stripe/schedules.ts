import type Stripe from 'stripe'
import { invalid } from './refusals.ts'
import { cancelNow } from './subscription-lifecycle.ts'
import { buildItem, isOver, periodEnd } from './subscriptions.ts'
import { idOf, type World } from './world.ts'

export interface PhaseItem {
  price: Stripe.Price
  quantity: number
}

export function buildPhase(
  items: readonly PhaseItem[],
  currency: string,
  period: { start: number; end: number },
  trialEnd: number | null,
  discounts: readonly string[],
): Stripe.SubscriptionSchedule.Phase {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: discounts.map((discount) => ({ coupon: null, discount, promotion_code: null })),
    end_date: period.end,
    invoice_settings: null,
    items: items.map(({ price, quantity }) => ({
      billing_thresholds: null,
      discounts: [],
      metadata: {},
      plan: price.id,
      price: price.id,
      quantity,
      tax_rates: [],
    })),
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'none',
    start_date: period.start,
    transfer_data: null,
    trial_end: trialEnd,
  }
}

/** A schedule of one phase, which is how the subscription stands. */
export function scheduleFrom(world: World, subscription: Stripe.Subscription): Stripe.SubscriptionSchedule {
  const { id, schedule } = subscription
  if (isOver(subscription)) throw invalid('A canceled subscription cannot be scheduled.', 'from_subscription')
  if (schedule !== null) {
    throw invalid(
      `You cannot migrate a subscription that is already attached to a schedule: \`${idOf(schedule)}\`.`,
      'from_subscription',
    )
  }
  const trialEnd = subscription.status === 'trialing' ? subscription.trial_end : null
  const start = Math.max(...subscription.items.data.map((item) => item.current_period_start))
  const period = { start, end: periodEnd(subscription) }
  const items = subscription.items.data.map(({ price, quantity }) => ({ price, quantity: quantity ?? 1 }))
  const discounts = subscription.discounts.flatMap((discount) => idOf(discount) ?? [])
  const made: Stripe.SubscriptionSchedule = {
    id: world.id('sub_sched'),
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    canceled_at: null,
    completed_at: null,
    created: world.now,
    current_phase: { start_date: period.start, end_date: period.end },
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: subscription.cancel_at_period_end ? 'cancel' : 'release',
    livemode: false,
    metadata: {},
    pause_schedules: [],
    phases: [buildPhase(items, subscription.currency, period, trialEnd, discounts)],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: id,
    test_clock: null,
  }
  world.schedules.set(made.id, made)
  world.emit('subscription_schedule.created', made)
  world.change('customer.subscription.updated', subscription, { schedule: made.id })
  return made
}

/** The subscription goes on as it is, without the schedule. */
export function release(world: World, schedule: Stripe.SubscriptionSchedule): void {
  if (schedule.status !== 'active') {
    throw invalid(
      `You cannot release a subscription schedule that is currently in the \`${schedule.status}\` status. It must be in the \`not_started\` or \`active\` status.`,
    )
  }
  const subscription = world.subscription(idOf(schedule.subscription) ?? '')
  Object.assign(schedule, {
    status: 'released',
    released_at: world.now,
    released_subscription: subscription.id,
    subscription: null,
    current_phase: null,
  })
  world.emit('subscription_schedule.released', schedule)
  world.change('customer.subscription.updated', subscription, { schedule: null })
}

/** The current phase is over. */
export function endPhase(world: World, schedule: Stripe.SubscriptionSchedule): void {
  const subscription = world.subscription(idOf(schedule.subscription) ?? '')
  const next = schedule.phases.find(({ start_date }) => start_date >= (schedule.current_phase?.end_date ?? 0))
  if (next) {
    schedule.current_phase = { start_date: next.start_date, end_date: next.end_date }
    world.emit('subscription_schedule.updated', schedule)
    applyPhase(world, subscription, next)
  } else if (schedule.end_behavior === 'cancel') {
    cancelNow(world, subscription)
  } else release(world, schedule)
}

/** Its items are the phase's. Another interval starts its first period now. */
export function applyPhase(
  world: World,
  subscription: Stripe.Subscription,
  phase: Stripe.SubscriptionSchedule.Phase,
): void {
  const [old] = subscription.items.data
  const data = phase.items.map(({ price: id, quantity }) => {
    const price = world.price(idOf(id) ?? '', 'price')
    const kept = subscription.items.data.find((item) => item.price.id === price.id)
    if (kept) return { ...kept, quantity: quantity ?? 1 }
    const item = { price, quantity: quantity ?? 1 }
    const built = buildItem(world, subscription.id, item, subscription.billing_cycle_anchor)
    return {
      ...built,
      current_period_start: old?.current_period_start ?? world.now,
      current_period_end: old?.current_period_end ?? world.now,
    }
  })
  const anew = data[0]?.price.recurring?.interval !== old?.price.recurring?.interval
  world.change('customer.subscription.updated', subscription, {
    items: { ...subscription.items, data },
    discounts: phase.discounts.flatMap(({ discount }) => idOf(discount) ?? []),
    ...(anew && { billing_cycle_anchor: world.now }),
  })
}
