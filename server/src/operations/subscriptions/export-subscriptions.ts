import type { PriceRow } from '../../store/billing/prices.ts'
import type { Call } from '../call/call.ts'
import { everyPage } from '../call/every-page.ts'
import { mutate } from '../call/mutate.ts'
import { dashboardSubscriptions, type SubscriptionsAsked } from './newest-subscriptions.ts'
import { subscriptionPrice } from './subscription-billing.ts'
import type { PackageSubscription } from './subscriptions.ts'

export interface ExportedSubscription extends PackageSubscription {
  price: PriceRow | null
}

/** All subscriptions of the filtered list, in its order. The export itself is in the audit log. */
export async function exportSubscriptions(
  call: Call,
  asked: SubscriptionsAsked,
  order: 'NEWEST' | 'OLDEST',
): Promise<AsyncIterable<readonly ExportedSubscription[]>> {
  // A wrong filter is refused before the file begins.
  await dashboardSubscriptions(call, asked, order, { first: 1 })
  await mutate(call, async () => true)
  return everyPage(async (page) => {
    const { rows, next } = await dashboardSubscriptions(call, asked, order, page)
    const prices = await Promise.all(rows.map((row) => subscriptionPrice(call.service, row)))
    return { rows: rows.map((row, i) => ({ ...row, price: prices[i] ?? null })), next }
  })
}
