import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { checkFeatureChange, type FeatureChange } from '../../domain/feature.ts'
import { checkCosts } from '../../domain/pool.ts'
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
    async (tx, before) => {
      const found = requireFeature(before.catalogue, id)
      checkVersion('feature', featureVersion(found), call.expectedVersion)
      const after = { ...found, ...change }
      checkCosts(after, before.catalogue.features)
      await store.updateFeature(tx, call.appId, after)
      await store.flagPools(tx, call.appId, [after])
    },
    (after) => requireFeature(after.catalogue, id),
  )
}
