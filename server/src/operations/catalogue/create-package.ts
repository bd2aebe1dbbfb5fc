import { checkSize } from '../../domain/catalogue.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import {
  checkArchived,
  checkNewPackage,
  checkPackageEdit,
  type EntitlementInput,
  entitlementFor,
  type Package,
} from '../../domain/package.ts'
import { insertPackage, insertPackageFeatures } from '../../store/catalogue/packages.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'

export interface NewPackage {
  id: string
  name: string
  isAddon: boolean
  metadata: JsonObject
  features: { id: string; entitlement: EntitlementInput }[]
}

export async function createPackage(call: Call, input: NewPackage): Promise<Package> {
  checkNewPackage(input.id, input.name, input.metadata)
  return mutateCatalogue(
    call,
    async (tx, before, now) => {
      const features = input.features.map(({ id, entitlement }) =>
        entitlementFor(id, before.catalogue.features.get(id), entitlement),
      )
      checkPackageEdit({ name: input.name, features })
      checkArchived({ features }, before.catalogue.features, [])
      if (!(await insertPackage(tx, call.appId, { ...input, updatedAt: now }))) {
        throw badUserInput(`A package with the id ${quote(input.id)} already exists`, 'id')
      }
      const size = { features: before.catalogue.features.size, packages: before.catalogue.packages.size + 1 }
      checkSize(size)
      await insertPackageFeatures(tx, call.appId, input.id, features)
    },
    (after) => requirePackage(after.catalogue, input.id),
  )
}
