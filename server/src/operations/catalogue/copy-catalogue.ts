import { type Catalogue, checkSize } from '../../domain/catalogue.ts'
import { type CatalogueDiff, catalogueDiff as diffOf } from '../../domain/catalogue-diff.ts'
import { badUserInput } from '../../domain/errors.ts'
import { entitlementOf, type Package, type PackageEdit } from '../../domain/package.ts'
import { checkCosts } from '../../domain/pool.ts'
import { flagPools, insertFeatures, updateFeature } from '../../store/catalogue/features.ts'
import {
  applyPackageEdit,
  insertFeaturesOfPackages,
  insertPackages,
  setPackageDraft,
} from '../../store/catalogue/packages.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature, requirePackage } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'
import { checkNotScheduled } from './mutate-package.ts'

export async function catalogueDiff(call: Call, fromAppId: string): Promise<CatalogueDiff> {
  const to = await catalogueOf(call)
  return diffOf(await catalogueOf({ ...call, appId: fromAppId }), to)
}

/**
 * Copies another app's catalogue. New packages and changes to published ones become drafts: nothing takes effect until
 * it is published.
 */
export async function copyCatalogue(call: Call, fromAppId: string): Promise<CatalogueDiff> {
  const { appId } = call
  let diff: CatalogueDiff = { features: [], packages: [] }
  return mutateCatalogue(
    call,
    async (tx, { catalogue }, now) => {
      if (appId === fromAppId) throw badUserInput('fromAppId must be a different app', 'fromAppId')
      const from = await catalogueOf({ ...call, appId: fromAppId })
      diff = diffOf(from, catalogue)
      checkSize({
        features: catalogue.features.size + added(diff.features),
        packages: catalogue.packages.size + added(diff.packages),
      })
      await copyFeatures(tx, appId, from, diff)
      await copyPackages(tx, appId, from, catalogue, diff, now)
    },
    ({ catalogue: { features } }) => {
      for (const feature of features.values()) checkCosts(feature, features)
      return diff
    },
  )
}

const added = (entries: readonly { change: string }[]): number =>
  entries.filter(({ change }) => change === 'ADD').length

async function copyFeatures(tx: Tx, appId: string, from: Catalogue, diff: CatalogueDiff): Promise<void> {
  const copied = (change: string) =>
    diff.features.filter((f) => f.change === change).map(({ id }) => requireFeature(from, id))
  await insertFeatures(tx, appId, copied('ADD'))
  for (const feature of copied('CHANGE')) await updateFeature(tx, appId, feature)
  await flagPools(tx, appId, [...copied('ADD'), ...copied('CHANGE')])
}

async function copyPackages(
  tx: Tx,
  appId: string,
  from: Catalogue,
  to: Catalogue,
  diff: CatalogueDiff,
  now: number,
): Promise<void> {
  const made: (Omit<Package, 'features'> & PackageEdit)[] = []
  for (const { id, change } of diff.packages) {
    const source = requirePackage(from, id)
    const { name, features } = source.draft ?? source
    const edit = {
      name,
      features: features.map(entitlementOf),
    }
    if (change === 'ADD') {
      made.push({ ...source, ...edit, updatedAt: now })
    } else if (change === 'CHANGE') {
      const present = requirePackage(to, id)
      checkNotScheduled(present)
      if (present.status === 'PUBLISHED') await setPackageDraft(tx, appId, id, edit, now)
      else await applyPackageEdit(tx, appId, id, edit, now)
    }
  }
  await insertPackages(tx, appId, made)
  await insertFeaturesOfPackages(tx, appId, made)
}
