import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { checkFeatureChange, type FeatureChange } from '../../domain/feature.ts'
import * as store from '../../store/catalogue/features.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature } from '../call/require.ts'
import { checkVersion, featureVersion } from '../call/version.ts'

export async function updateFeature(
  call: Call,
  id: string,
  change: FeatureChange,
): Promise<CataloguedFeature> {
  checkFeatureChange(change)
  return mutateCatalogue(
    call,
    (tx, before) => {
      const found = requireFeature(before.catalogue, id)
      checkVersion('feature', featureVersion(found), call.expectedVersion)
      return store.updateFeature(tx, call.appId, { ...found, ...change })
    },
    (after) => requireFeature(after.catalogue, id),
  )
}
