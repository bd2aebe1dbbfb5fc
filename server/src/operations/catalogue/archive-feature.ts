import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { setArchived } from '../../store/catalogue/catalogue.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature } from '../call/require.ts'

/** An archived feature cannot be added to packages or overridden. Existing grants and checks continue. */
export function archiveFeature(call: Call, id: string, archived: boolean): Promise<CataloguedFeature> {
  return mutateCatalogue(
    call,
    (tx, { catalogue }) => {
      requireFeature(catalogue, id)
      return setArchived(tx, 'feature', call.appId, id, archived)
    },
    (after) => requireFeature(after.catalogue, id),
  )
}
