import { type BilledItem, type PriceChange, ProviderError } from './provider.ts'

/** The items of the bill after the change. A change that was already made leaves them as they are. */
export function itemsAfter(items: readonly BilledItem[], { from, to, quantity }: PriceChange): BilledItem[] {
  const isThere = items.some(({ priceId }) => priceId === to)
  if (!items.some(({ priceId }) => priceId === from)) {
    const made = items.some((item) => item.priceId === to && item.quantity === quantity)
    if (made) return [...items]
    throw new ProviderError('refused', `the price ${from} is not part of the subscription`)
  }
  if (isThere && from !== to)
    throw new ProviderError('refused', `the price ${to} is already part of the subscription`)
  return items.map((item) => (item.priceId === from ? { priceId: to, quantity } : item))
}

export function sameItems(some: readonly BilledItem[], others: readonly BilledItem[]): boolean {
  return (
    some.length === others.length &&
    some.every((one) =>
      others.some((other) => other.priceId === one.priceId && other.quantity === one.quantity),
    )
  )
}
