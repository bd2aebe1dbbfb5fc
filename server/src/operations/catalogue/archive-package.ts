import type { Package } from '../../domain/package.ts'
import * as store from '../../store/catalogue/packages.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'

/**
 * An archived package takes no new subscribers: it cannot be subscribed to, changed to, tried, or sold. Those who have it
 * keep it, and what was agreed before (a scheduled change, a payment under way) still happens.
 */
export function archivePackage(call: Call, id: string, archived: boolean): Promise<Package> {
  return mutateCatalogue(
    call,
    (tx, { catalogue }) => {
      requirePackage(catalogue, id)
      return store.archivePackage(tx, call.appId, id, archived)
    },
    (after) => requirePackage(after.catalogue, id),
  )
}
