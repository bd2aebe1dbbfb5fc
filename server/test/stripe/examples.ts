import type Stripe from 'stripe'
import type { StripeStandIn } from './stand-in.ts'

/** The last of January: where months are clamped. */
export const NOON = Date.UTC(2026, 0, 31, 12) / 1000
export const A_DAY = 86_400
export const URLS = { success_url: 'https://shop.test/done', cancel_url: 'https://shop.test/back' }

/** An open session for a monthly price, unless it is told otherwise. */
export function openCheckout(
  stripe: StripeStandIn,
  given: Stripe.Checkout.SessionCreateParams = {},
): Promise<Stripe.Checkout.Session> {
  return stripe.sdk().checkout.sessions.create({
    mode: 'subscription',
    line_items: given.line_items ?? [{ price: stripe.sell({ name: 'Pro', amount: 900 }).id, quantity: 1 }],
    ...URLS,
    ...given,
  })
}

/** A subscription's id, by way of a paid checkout. */
export async function subscribed(stripe: StripeStandIn): Promise<string> {
  const { id } = await openCheckout(stripe)
  return String(stripe.pay(id).subscription)
}

export const typesSince = (stripe: StripeStandIn, count: number): string[] =>
  stripe.events.slice(count).map(({ type }) => type)
