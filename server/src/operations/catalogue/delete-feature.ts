import type { Catalogue } from '../../domain/catalogue.ts'
import { checkDeletable, counted, deletionRefusal } from '../../domain/deletion.ts'
import { quote } from '../../domain/errors.ts'
import { MAX_FORGOTTEN_SPENDERS } from '../../domain/limits.ts'
import { number } from '../../domain/sentence.ts'
import { countCreditPrices } from '../../store/billing/prices.ts'
import * as store from '../../store/catalogue/features.ts'
import { packagesThatGranted } from '../../store/catalogue/references.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import {
  deleteSpending,
  type FeatureSpending,
  forgetSpenders,
  spendingOnFeature,
} from '../../store/credits/feature-spending.ts'
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
  /** whether it is a pool; the pool that it draws on; null: none */
  pool: { is: boolean; drawsOn: string | null }
  /** null: nothing but a plan ever paid for it */
  spending: FeatureSpending | null
  /** prices that sell credits of it, including archived ones */
  prices: number
  refusal: string | null
}

export async function featureUse(call: Call, id: string): Promise<FeatureUse> {
  const found = await uses(call.service.pool, call.appId, await catalogueOf(call), id)
  return { ...found, refusal: deletionRefusal('feature', id, reasons(found)) }
}

/**
 * Deletes a feature that no package grants or ever granted, that was never overridden, and of which no credit was used. So it
 * cannot have been used. Packages, overrides and pools change under the app's lock, which this holds. A credit that is
 * added at the same moment refers to the feature: one of the two fails.
 */
export function deleteFeature(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutateCatalogue(
    call,
    async (tx, { catalogue }) => {
      const check = async () => {
        const found = await uses(tx, appId, catalogue, id)
        checkDeletable('feature', id, reasons(found))
        return found
      }
      if ((await check()).spending) {
        // In the order in which a credit is added, which the second check then sees.
        await forgetSpenders(tx, appId, id)
        await store.lockFeature(tx, appId, id)
        await check()
        await deleteSpending(tx, appId, id)
      }
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
  const { overridePeriods, spends, costs = [], pool } = requireFeature(catalogue, id)
  const grants = [...catalogue.packages.values()].filter(({ features, draft }) =>
    [...features, ...(draft?.features ?? [])].some(({ featureId }) => featureId === id),
  )
  const now = new Set(grants.map((p) => p.id))
  const granted = await packagesThatGranted(db, appId, id)
  return {
    packages: now.size,
    earlier: granted.filter((packageId) => !now.has(packageId)).length,
    overridden: overridePeriods.length > 0,
    pool: { is: costs.length > 0, drawsOn: pool?.featureId ?? null },
    spending: spends ? await spendingOnFeature(db, appId, id) : null,
    prices: await countCreditPrices(db, appId, id),
  }
}

const reasons = ({ packages, earlier, overridden, pool, spending, prices }: Omit<FeatureUse, 'refusal'>) => [
  counted('is part of', packages, 'package', 'packages'),
  counted('was part of an earlier version of', earlier, 'package', 'packages'),
  overridden ? 'has or had overrides' : null,
  pool.is ? 'is a pool' : null,
  pool.drawsOn === null ? null : `draws on the pool ${quote(pool.drawsOn)}`,
  spending?.credits ? 'has credits, or had some that were used or bought' : null,
  spending?.reservations ? 'has reservations that hold units or were settled' : null,
  spending?.caps ? 'has caps of users' : null,
  spending?.used ? 'was used' : null,
  spending?.manyUsers
    ? `had credits, caps or a pool of more than ${number(MAX_FORGOTTEN_SPENDERS)} users`
    : null,
  counted('has', prices, 'price for credits', 'prices for credits'),
]
