import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { checkFeatureChange, type FeatureChange } from '../../domain/feature.ts'
import * as store from '../../store/features.ts'
import { type Call, mutateCatalogue } from '../call/call.ts'
import { foundFeature } from '../call/found.ts'

export async function updateFeature(
  call: Call,
  id: string,
  change: FeatureChange,
): Promise<CataloguedFeature> {
  checkFeatureChange(change)
  return mutateCatalogue(
    call,
    (tx, before) => store.updateFeature(tx, call.appId, { ...foundFeature(before.catalogue, id), ...change }),
    (after) => foundFeature(after.catalogue, id),
  )
}
