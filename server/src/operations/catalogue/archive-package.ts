import type { Package } from '../../domain/package.ts'
import { setArchived } from '../../store/catalogue/catalogue.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'

/**
 * An archived package accepts no new subscriptions: no subscribing, changing, trials or payment links. Existing
 * subscriptions continue, and so do scheduled changes and payments in progress.
 */
export function archivePackage(call: Call, id: string, archived: boolean): Promise<Package> {
  return mutateCatalogue(
    call,
    (tx, { catalogue }) => {
      requirePackage(catalogue, id)
      return setArchived(tx, 'package', call.appId, id, archived)
    },
    (after) => requirePackage(after.catalogue, id),
  )
}
