import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { checkFeatureChange, type FeatureChange } from '../../domain/feature.ts'
import * as store from '../../store/features.ts'
import { changeCatalogue } from '../call/call.ts'
import { foundFeature } from '../call/found.ts'
import { changeApp, type MemberCall } from '../call/member-call.ts'
import { checkVersion, featureVersion } from '../call/version.ts'

export async function updateFeature(
  call: MemberCall,
  appId: string,
  id: string,
  change: FeatureChange,
  expected?: string | null,
): Promise<CataloguedFeature> {
  checkFeatureChange(change)
  return changeApp(call, appId, (tx) =>
    changeCatalogue(
      tx,
      appId,
      (tx, before) => {
        const found = foundFeature(before.catalogue, id)
        checkVersion('feature', featureVersion(found), expected)
        return store.updateFeature(tx, appId, { ...found, ...change })
      },
      (after) => foundFeature(after.catalogue, id),
    ),
  )
}
