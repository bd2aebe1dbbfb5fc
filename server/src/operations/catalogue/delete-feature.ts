import type { Catalogue } from '../../domain/catalogue.ts'
import { checkDeletable, counted, deletionRefusal } from '../../domain/deletion.ts'
import { countCreditPrices } from '../../store/billing/prices.ts'
import * as store from '../../store/catalogue/features.ts'
import { packagesThatGranted } from '../../store/catalogue/references.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'

/** Uses of a feature, and whether it can be deleted. */
export interface FeatureUse {
  /** packages that grant it, including drafts */
  packages: number
  /** packages that granted it in an earlier version */
  earlier: number
  overridden: boolean
  /** whether users have or had credits or reservations of it */
  spends: boolean
  /** prices that sell credits of it, including archived ones */
  prices: number
  refusal: string | null
}

export async function featureUse(call: Call, id: string): Promise<FeatureUse> {
  const found = await uses(call.service.pool, call.appId, await catalogueOf(call), id)
  return { ...found, refusal: deletionRefusal('feature', id, reasons(found)) }
}

/**
 * Deletes a feature that no package grants or ever granted and that was never overridden. So it cannot have been used.
 * All of these change under the app's lock, which this holds.
 */
export function deleteFeature(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutateCatalogue(
    call,
    async (tx, { catalogue }) => {
      checkDeletable('feature', id, reasons(await uses(tx, appId, catalogue, id)))
      await store.deleteFeature(tx, appId, id)
    },
    () => ({ id }),
  )
}

async function uses(
  db: HomeDb,
  appId: string,
  catalogue: Catalogue,
  id: string,
): Promise<Omit<FeatureUse, 'refusal'>> {
  const { overridePeriods, spends } = requireFeature(catalogue, id)
  const grants = [...catalogue.packages.values()].filter(({ features, draft }) =>
    [...features, ...(draft?.features ?? [])].some(({ featureId }) => featureId === id),
  )
  const now = new Set(grants.map((p) => p.id))
  const granted = await packagesThatGranted(db, appId, id)
  return {
    packages: now.size,
    earlier: granted.filter((packageId) => !now.has(packageId)).length,
    overridden: overridePeriods.length > 0,
    spends,
    prices: await countCreditPrices(db, appId, id),
  }
}

const reasons = ({ packages, earlier, overridden, spends, prices }: Omit<FeatureUse, 'refusal'>) => [
  counted('is part of', packages, 'package', 'packages'),
  counted('was part of an earlier version of', earlier, 'package', 'packages'),
  overridden ? 'has or had overrides' : null,
  spends ? 'has or had credits, reservations or a pool' : null,
  counted('has', prices, 'price for credits', 'prices for credits'),
]
