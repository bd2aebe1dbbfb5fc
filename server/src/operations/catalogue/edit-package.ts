import { checkMetadata, type JsonObject } from '../../domain/metadata.ts'
import {
  checkArchived,
  checkPackageEdit,
  type EntitlementInput,
  entitlementFor,
  type Package,
  type PackageEdit,
} from '../../domain/package.ts'
import { applyPackageEdit, setPackageDraft, updatePackageMetadata } from '../../store/catalogue/packages.ts'
import type { Call } from '../call/call.ts'
import { checkNotScheduled, mutatePackage } from './mutate-package.ts'

interface EditInput {
  name?: string
  features?: { id: string; entitlement: EntitlementInput }[]
}

/**
 * An unpublished package is changed immediately. An edit of a published one is stored as a draft until it is published
 * again.
 */
export function editPackage(call: Call, id: string, input: EditInput): Promise<Package> {
  return mutatePackage(call, id, async (tx, found, { catalogue }, now) => {
    checkNotScheduled(found)
    const current = found.draft ?? found
    const edit: PackageEdit = {
      name: input.name ?? current.name,
      features:
        input.features?.map(({ id, entitlement }) =>
          entitlementFor(id, catalogue.features.get(id), entitlement),
        ) ?? current.features,
    }
    checkPackageEdit(edit)
    checkArchived(edit, catalogue.features, [...found.features, ...current.features])
    if (found.status === 'DRAFT') await applyPackageEdit(tx, call.appId, id, edit, now)
    else await setPackageDraft(tx, call.appId, id, edit, now)
  })
}

export function discardPackageDraft(call: Call, id: string): Promise<Package> {
  return mutatePackage(call, id, async (tx, found, _app, now) => {
    checkNotScheduled(found)
    if (found.draft) await setPackageDraft(tx, call.appId, id, null, now)
  })
}

/** Metadata is not part of a version, so it changes immediately. Without any fields, nothing changes. */
export async function updatePackage(
  call: Call,
  id: string,
  { metadata }: { metadata?: JsonObject },
): Promise<Package> {
  if (metadata) checkMetadata(metadata)
  return mutatePackage(call, id, async (tx, _found, _app, now) => {
    if (metadata) await updatePackageMetadata(tx, call.appId, id, metadata, now)
  })
}
