import type Stripe from 'stripe'
import type { Form } from './form.ts'
import { invalid, noSuch } from './refusals.ts'
import { buildItem, type NewItem } from './subscriptions.ts'
import { periodEndAfter } from './time.ts'
import type { NewLine, World } from './world.ts'

export const PRORATIONS = ['create_prorations', 'none', 'always_invoice'] as const
export type Proration = (typeof PRORATIONS)[number]

export function newItem(world: World, form: Form): NewItem {
  const price = world.price(form.required('price'), form.path('price'))
  if (!price.recurring) throw invalid('The price specified is set to `type=one_time`.', form.path('price'))
  return { price, quantity: form.integer('quantity') ?? 1 }
}

export interface ItemChange {
  items: Stripe.SubscriptionItem[]
  anchor: number
  /** a period of another interval starts now */
  anew: boolean
  /** the unused time of what goes and the remaining time of what comes, as `proration`; and new periods */
  lines: NewLine[]
}

/** What the `items` of a request make of a subscription, and what that costs. */
export function changedItems(world: World, subscription: Stripe.Subscription, form: Form): ItemChange {
  const before = subscription.items.data
  const wanted = wantedItems(world, subscription, form)
  if (wanted.length === 0) throw invalid('A subscription must have at least one active plan.', 'items')
  for (const { price } of wanted) checkPrice(price, subscription)
  const intervals = new Set(wanted.map(({ price }) => price.recurring?.interval))
  if (intervals.size > 1) {
    throw invalid('All prices on a subscription must have the same `recurring.interval`.', 'items')
  }
  const trial = subscription.status === 'trialing'
  const anew = !trial && before[0]?.price.recurring?.interval !== wanted[0]?.price.recurring?.interval
  const anchor = anew ? world.now : subscription.billing_cycle_anchor
  const items = wanted.map((item) =>
    anew && item.price.recurring
      ? {
          ...item,
          current_period_start: world.now,
          current_period_end: periodEndAfter(anchor, item.price.recurring, world.now),
        }
      : item,
  )
  if (trial) return { items, anchor, anew, lines: [] }
  const isSame = (a: Stripe.SubscriptionItem, b: Stripe.SubscriptionItem) =>
    a.id === b.id && a.price.id === b.price.id && a.quantity === b.quantity
  const gone = before.filter((item) => anew || !items.some((other) => isSame(item, other)))
  const come = items.filter((item) => anew || !before.some((other) => isSame(item, other)))
  return {
    items,
    anchor,
    anew,
    lines: [
      ...gone.map((item) => ({ ...lineOf(item, -1, leftOf(world, item)), description: 'Unused time' })),
      ...come.map((item) =>
        anew
          ? { ...lineOf(item, 1, 1), proration: false }
          : { ...lineOf(item, 1, leftOf(world, item)), description: 'Remaining time' },
      ),
    ],
  }
}

export function checkPrice(price: Stripe.Price, { currency }: Stripe.Subscription): void {
  if (!price.recurring) throw invalid('The price specified is set to `type=one_time`.', 'items')
  if (price.currency === currency) return
  throw invalid(
    `The price specified only supports \`${price.currency}\`. This doesn't match the expected currency: \`${currency}\`.`,
    'items',
  )
}

function wantedItems(world: World, subscription: Stripe.Subscription, form: Form): Stripe.SubscriptionItem[] {
  const items = [...subscription.items.data]
  for (const change of form.forms('items')) {
    const id = change.text('id')
    if (id === undefined) {
      const made = newItem(world, change)
      items.push(buildItem(world, subscription.id, made, subscription.billing_cycle_anchor))
      continue
    }
    const at = items.findIndex((item) => item.id === id)
    const item = items[at]
    if (!item) throw noSuch('subscription_item', id, change.path('id'), 400)
    if (change.flag('deleted')) {
      items.splice(at, 1)
      continue
    }
    const priceId = change.text('price')
    const price = priceId ? world.price(priceId, change.path('price')) : item.price
    const quantity = change.integer('quantity') ?? item.quantity ?? 1
    const { current_period_start, current_period_end } = item
    const built = buildItem(world, subscription.id, { price, quantity }, subscription.billing_cycle_anchor)
    items[at] = { ...built, id, current_period_start, current_period_end }
  }
  if (new Set(items.map(({ price }) => price.id)).size < items.length) {
    throw invalid('Cannot add multiple subscription items with the same plan.', 'items')
  }
  return items
}

/** The share of its period that lies ahead. */
function leftOf(world: World, item: Stripe.SubscriptionItem): number {
  const whole = item.current_period_end - item.current_period_start
  return whole <= 0 ? 0 : Math.max(item.current_period_end - world.now, 0) / whole
}

export function lineOf(item: Stripe.SubscriptionItem, sign: 1 | -1, share: number): NewLine {
  const quantity = item.quantity ?? 1
  return {
    amount: sign * Math.round((item.price.unit_amount ?? 0) * quantity * share) + 0,
    currency: item.price.currency,
    description: item.price.nickname,
    period: { start: item.current_period_start, end: item.current_period_end },
    quantity,
    price: item.price,
    subscriptionItem: item.id,
    proration: true,
  }
}
