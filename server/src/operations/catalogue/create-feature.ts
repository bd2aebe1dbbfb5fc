import { type CataloguedFeature, checkSize } from '../../domain/catalogue.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { checkNewFeature, type Feature } from '../../domain/feature.ts'
import { checkCosts } from '../../domain/pool.ts'
import { flagPools, insertFeature } from '../../store/catalogue/features.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature } from '../call/require.ts'

export async function createFeature(call: Call, feature: Feature): Promise<CataloguedFeature> {
  checkNewFeature(feature)
  return mutateCatalogue(
    call,
    async (tx, { catalogue: { features, packages } }) => {
      checkCosts(feature, features)
      if (!(await insertFeature(tx, call.appId, feature))) {
        throw badUserInput(`A feature with the id ${quote(feature.id)} already exists`, 'id')
      }
      checkSize({ features: features.size + 1, packages: packages.size })
      await flagPools(tx, call.appId, [feature])
    },
    (app) => requireFeature(app.catalogue, feature.id),
  )
}
