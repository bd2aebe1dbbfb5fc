import { type Money, priceText } from '../ui/price.ts'

export interface PriceRef {
  id: string
  provider: string
}

export const samePrice = (a: PriceRef) => (b: PriceRef) => a.id === b.id && a.provider === b.provider

interface Listed extends PriceRef, Money {
  interval: string | null
  archivedAt: string | null
  isDefault: boolean
}

/** What payment links charge once a price is archived, by the rule of the server. Oldest first. */
export function afterArchiving(prices: readonly Listed[], archived: PriceRef): string {
  const isArchived = samePrice(archived)
  if (!prices.some((price) => price.isDefault && isArchived(price)))
    return 'The default price stays the same.'
  const next = prices.findLast((price) => price.archivedAt === null && !isArchived(price))
  return next
    ? `${priceText(next)} is now the default.`
    : 'The package has no price now, so payment links cannot sell it.'
}
