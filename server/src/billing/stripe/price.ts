import type Stripe from 'stripe'
import { INTERVALS, type Interval } from '../../domain/price.ts'
import type { ProviderPrice } from '../provider.ts'

export function intervalOf({ recurring }: Stripe.Price): Interval | null {
  return INTERVALS.find((interval) => interval === recurring?.interval) ?? null
}

/** Why a Stripe price cannot be used for a package. */
export function unusableBecause(price: Stripe.Price): string | null {
  if (price.unit_amount === null) return 'has no fixed amount; use a price with a fixed amount per period'
  if (price.recurring?.usage_type === 'metered')
    return 'is metered; use a price with a fixed amount per period'
  if (price.recurring && price.recurring.interval_count !== 1) {
    return `is charged every ${price.recurring.interval_count} ${price.recurring.interval}s; use a price with an interval count of 1`
  }
  return null
}

export function priceFrom(price: Stripe.Price): ProviderPrice {
  const { product } = price
  return {
    id: price.id,
    provider: 'stripe',
    amount: price.unit_amount ?? 0,
    currency: price.currency,
    interval: intervalOf(price),
    productName: typeof product === 'object' && !product.deleted ? product.name : null,
  }
}
