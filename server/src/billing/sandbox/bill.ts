import { costOf, type Price, totalOf } from '../../domain/price.ts'
import { findPrices } from '../../store/billing/prices.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { type BilledItem, ProviderError } from '../provider.ts'
import { newRef } from './events.ts'
import { type InvoiceLine, insertInvoice, type SandboxSubscription } from './subscription-books.ts'

/** Invoices kept per subscription; older ones are deleted. */
const KEPT_INVOICES = 24

/** The prices of these items, by id. The sandbox uses the app's own prices. */
export async function pricesById(
  db: HomeDb,
  appId: string,
  items: readonly BilledItem[],
): Promise<ReadonlyMap<string, Price>> {
  const ids = [...new Set(items.map(({ priceId }) => priceId))]
  const found = await findPrices(db, appId, 'sandbox', ids)
  return new Map(found.map((price) => [price.id, price]))
}

export function requirePrice(prices: ReadonlyMap<string, Price>, id: string): Price {
  const price = prices.get(id)
  if (!price) throw new ProviderError('refused', `the price ${id} does not exist`, true)
  return price
}

/** Cost of these items for a whole period. */
export function wholePeriod(items: readonly BilledItem[], prices: ReadonlyMap<string, Price>): InvoiceLine[] {
  return items.map(({ priceId, quantity }) => ({
    priceId,
    quantity,
    amount: chargeFor(requirePrice(prices, priceId), quantity),
    proration: false,
  }))
}

export function chargeFor(price: Price, quantity: number): number {
  const cost = costOf(price, quantity)
  if (cost === null) {
    throw new ProviderError('refused', `${quantity} times the price ${price.id} exceeds the maximum amount`)
  }
  return cost
}

/** Rejects items whose total at renewal exceeds the largest amount that can be charged. */
export function checkBillTotal(items: readonly BilledItem[], prices: ReadonlyMap<string, Price>): void {
  if (totalOf(wholePeriod(items, prices)) === null) {
    throw new ProviderError('refused', 'the total of the bill exceeds the maximum amount')
  }
}

interface NewInvoice {
  lines: readonly InvoiceLine[]
  /** amount due now, and the credit left over */
  due: number
  credit: number
}

/** An invoice with these lines, after deducting the credit. */
export function invoiceOf({ credit }: SandboxSubscription, lines: readonly InvoiceLine[]): NewInvoice {
  const total = lines.reduce((sum, { amount }) => sum + amount, 0) - credit
  return { lines, due: Math.max(total, 0), credit: Math.max(-total, 0) }
}

export async function keepInvoice(
  db: HomeDb,
  appId: string,
  s: SandboxSubscription,
  { lines, due }: NewInvoice,
  made: {
    reason: Parameters<typeof insertInvoice>[3]['reason']
    currency: string
    paid: boolean
    at: number
  },
): Promise<string> {
  const { reason, currency, paid, at } = made
  const id = newRef('in')
  await insertInvoice(db, appId, s.id, { id, reason, currency, lines, due, paid, madeAt: at }, KEPT_INVOICES)
  return id
}
