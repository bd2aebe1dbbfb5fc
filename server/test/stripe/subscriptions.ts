import type Stripe from 'stripe'
import { planOf } from './catalogue.ts'
import { whole } from './lists.ts'
import { periodEndAfter } from './time.ts'
import type { World } from './world.ts'

export interface NewItem {
  price: Stripe.Price
  quantity: number
}

export interface NewSubscription {
  customer: string
  items: NewItem[]
  metadata: Stripe.Metadata
  status: Stripe.Subscription.Status
  method: string | null
  trialDays?: number
  /** when the first full period starts; now unless told */
  anchor?: number | null
  missingMethod?: Stripe.Subscription.TrialSettings.EndBehavior.MissingPaymentMethod
}

const A_DAY = 86_400

/** The subscription as it is stored; what is told of it is the caller's. */
export function buildSubscription(world: World, given: NewSubscription): Stripe.Subscription {
  const id = world.id('sub')
  const trialEnd = given.trialDays ? world.now + given.trialDays * A_DAY : null
  const anchor = given.anchor ?? trialEnd ?? world.now
  const subscription: Stripe.Subscription = {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: anchor,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: world.now,
    currency: given.items[0]?.price.currency ?? 'usd',
    customer: given.customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: given.method,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: whole(
      `/v1/subscription_items?subscription=${id}`,
      given.items.map((item) => buildItem(world, id, item, anchor)),
    ),
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    metadata: given.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: world.now,
    status: given.status,
    test_clock: null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: {
        billing_cycle_anchor: null,
        missing_payment_method: given.missingMethod ?? 'create_invoice',
      },
    },
    trial_start: trialEnd && world.now,
  }
  world.subscriptions.set(id, subscription)
  return subscription
}

/** An item in the period that runs now: up to the anchor where that lies ahead. */
export function buildItem(
  world: World,
  subscription: string,
  { price, quantity }: NewItem,
  anchor: number,
): Stripe.SubscriptionItem {
  return {
    id: world.id('si'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: world.now,
    current_period_end:
      anchor > world.now || !price.recurring ? anchor : periodEndAfter(anchor, price.recurring, world.now),
    current_period_start: world.now,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  }
}

/** When the period that runs ends. */
export const periodEnd = (subscription: Stripe.Subscription): number =>
  Math.min(...subscription.items.data.map((item) => item.current_period_end))

export const isOver = ({ status }: Stripe.Subscription): boolean =>
  status === 'canceled' || status === 'incomplete_expired'
