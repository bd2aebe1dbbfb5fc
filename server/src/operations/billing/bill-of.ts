import type { BilledItem, ProviderSubscription } from '../../billing/provider.ts'
import type { Billed, BilledPackage } from '../../domain/bill.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import { MAX_QUANTITY } from '../../domain/limits.ts'
import type { Interval } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { findPrices, type PriceRow } from '../../store/billing/prices.ts'
import type { Tx } from '../../store/connection/database.ts'
import { requirePackage } from '../call/require.ts'
import { BillingProblem } from './billing-problem.ts'

/** The packages that are charged now and after a scheduled change, with their quantities. */
export async function billOf(
  tx: Tx,
  at: ProviderRef,
  said: ProviderSubscription,
  catalogue: Catalogue,
  now: number,
): Promise<Pick<Billed, 'packages' | 'scheduled'> & { interval: Interval | null; charged: BilledItem[] }> {
  const { items, scheduled } = said
  const all = [...items, ...(scheduled?.items ?? [])]
  const prices = await findPrices(
    tx,
    at.appId,
    at.provider,
    all.map(({ priceId }) => priceId),
  )
  const unknownIn = (some: readonly BilledItem[]) =>
    some.find(({ priceId }) => !prices.some((price) => price.id === priceId))
  // A scheduled change whose time has come counts as made, even if the provider is late.
  const charged = scheduled !== null && scheduled.at <= now ? scheduled.items : items
  const unknown = unknownIn(charged)
  const isLive = said.billingStatus === 'live' || said.billingStatus === 'past due'
  if (unknown !== undefined && isLive) {
    throw new BillingProblem(
      at.ref,
      `The price ${quote(unknown.priceId)} does not belong to a package. Import it in the dashboard and replay this event.`,
    )
  }
  const packagesOf = (some: readonly BilledItem[]) => packagesPaid(some, prices, catalogue)
  const plans = packagesOf(charged).filter(({ isAddon }) => !isAddon)
  if (plans.length > 1 && isLive) {
    throw new BillingProblem(
      at.ref,
      `The subscription contains several base plans: ${plans.map(({ id }) => quote(id)).join(' and ')}. Remove all but one at ${providerName(at.provider)} and replay this event.`,
    )
  }
  const [first] = charged
  return {
    packages: packagesOf(items),
    scheduled:
      scheduled && unknownIn(scheduled.items) === undefined
        ? { at: scheduled.at, packages: packagesOf(scheduled.items) }
        : null,
    interval: prices.find(({ id }) => id === first?.priceId)?.interval ?? null,
    charged,
  }
}

/** A package's quantity is that of its prices. Without a charge there is no package. */
function packagesPaid(
  items: readonly BilledItem[],
  prices: readonly PriceRow[],
  catalogue: Catalogue,
): BilledPackage[] {
  const quantities = new Map<string, number>()
  for (const { id, packageId } of prices) {
    const quantity = items.find(({ priceId }) => priceId === id)?.quantity ?? 0
    if (quantity > 0) quantities.set(packageId, (quantities.get(packageId) ?? 0) + quantity)
  }
  return [...quantities].map(([id, quantity]) => ({
    id,
    isAddon: requirePackage(catalogue, id).isAddon,
    quantity: Math.min(quantity, MAX_QUANTITY),
  }))
}
