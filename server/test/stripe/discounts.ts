import type Stripe from 'stripe'
import { found, idOf, type NewLine, type World } from './world.ts'

/** A share off everything that a subscription is charged, for good. */
export function giveDiscount(
  world: World,
  subscription: Stripe.Subscription,
  percentOff: number,
): Stripe.Discount {
  const coupon: Stripe.Coupon = {
    id: world.id('coupon'),
    object: 'coupon',
    amount_off: null,
    created: world.now,
    currency: null,
    duration: 'forever',
    duration_in_months: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    name: null,
    percent_off: percentOff,
    redeem_by: null,
    times_redeemed: 1,
    valid: true,
  }
  const discount: Stripe.Discount = {
    id: world.id('di'),
    object: 'discount',
    checkout_session: null,
    customer: idOf(subscription.customer),
    customer_account: null,
    end: null,
    invoice: null,
    invoice_item: null,
    promotion_code: null,
    source: { coupon: coupon.id, type: 'coupon' },
    start: world.now,
    subscription: subscription.id,
    subscription_item: null,
  }
  world.coupons.set(coupon.id, coupon)
  world.discounts.set(discount.id, discount)
  world.emit('customer.discount.created', discount)
  world.change('customer.subscription.updated', subscription, { discounts: [discount.id] })
  return discount
}

type Discounted = Pick<Stripe.InvoiceLineItem, 'amount' | 'discounts' | 'discountable'> & {
  discount_amounts: Stripe.InvoiceLineItem.DiscountAmount[]
}

/**
 * A line with the discount of its subscription: off beside the amount, which is the whole one. For a part of a period
 * the amount is what remains, unless the subscription has them itemized.
 */
export function discounted(
  world: World,
  subscription: Stripe.Subscription | null,
  { amount, proration = false }: Pick<NewLine, 'amount' | 'proration'>,
): Discounted {
  const [discount] = (subscription?.discounts ?? []).flatMap((one) => idOf(one) ?? [])
  const discountable = !proration
  if (discount === undefined) return { amount, discount_amounts: [], discounts: [], discountable }
  const { source } = found(world.discounts, 'discount', discount)
  const { percent_off } = found(world.coupons, 'coupon', idOf(source.coupon) ?? '')
  const off = Math.sign(amount) * Math.round((Math.abs(amount) * (percent_off ?? 0)) / 100) + 0
  const included = proration && subscription?.billing_mode.flexible?.proration_discounts !== 'itemized'
  return {
    amount: included ? amount - off : amount,
    discount_amounts: [{ amount: included ? 0 : off, discount }],
    discounts: [discount],
    discountable,
  }
}
