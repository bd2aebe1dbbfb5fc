import { checkMetadata, type JsonObject } from '../../domain/metadata.ts'
import {
  checkPackageEdit,
  type EntitlementInput,
  entitlementFor,
  type Package,
  type PackageEdit,
} from '../../domain/package.ts'
import type { LoadedApp } from '../../store/catalogue.ts'
import type { Tx } from '../../store/database.ts'
import {
  applyPackageEdit,
  publishPackage as markPublished,
  setPackageDraft,
  updatePackageMetadata,
} from '../../store/packages.ts'
import { changeCatalogue } from '../call/call.ts'
import { foundPackage } from '../call/found.ts'
import { changeApp, type MemberCall } from '../call/member-call.ts'
import { checkVersion, packageVersion } from '../call/version.ts'

/** What a caller takes the package to be: see version.ts. */
type Expected = string | null | undefined

interface EditInput {
  name?: string
  features?: { id: string; entitlement: EntitlementInput }[]
}

/**
 * A package that is not published yet is changed at once. The content of a published one is what people have
 * subscribed to: an edit waits beside it as a draft until the package is published again.
 */
export function editPackage(
  call: MemberCall,
  appId: string,
  id: string,
  input: EditInput,
  expected?: Expected,
): Promise<Package> {
  return changePackage(call, appId, id, expected, async (tx, found, { catalogue }, now) => {
    const current = found.draft ?? found
    const edit: PackageEdit = {
      name: input.name ?? current.name,
      features:
        input.features?.map(({ id, entitlement }) =>
          entitlementFor(id, catalogue.features.get(id), entitlement),
        ) ?? current.features,
    }
    checkPackageEdit(edit)
    if (found.status === 'DRAFT') await applyPackageEdit(tx, appId, id, edit, now)
    else await setPackageDraft(tx, appId, id, edit, now)
  })
}

/** Publishes a package, or the edits made since it was. Publishing what is published changes nothing. */
export function publishPackage(
  call: MemberCall,
  appId: string,
  id: string,
  expected?: Expected,
): Promise<Package> {
  return changePackage(call, appId, id, expected, async (tx, found, _app, now) => {
    if (found.draft) await applyPackageEdit(tx, appId, id, found.draft, now)
    if (found.status === 'DRAFT') await markPublished(tx, appId, id, now)
  })
}

export function discardPackageDraft(
  call: MemberCall,
  appId: string,
  id: string,
  expected?: Expected,
): Promise<Package> {
  return changePackage(call, appId, id, expected, async (tx, found, _app, now) => {
    if (found.draft) await setPackageDraft(tx, appId, id, null, now)
  })
}

/** Metadata is no part of what people subscribe to: it changes at once, published or not. */
export function updatePackage(
  call: MemberCall,
  appId: string,
  id: string,
  { metadata }: { metadata?: JsonObject },
  expected?: Expected,
): Promise<Package> {
  if (metadata) checkMetadata(metadata)
  return changePackage(call, appId, id, expected, async (tx, _found, _app, now) => {
    if (metadata) await updatePackageMetadata(tx, appId, id, metadata, now)
  })
}

function changePackage(
  call: MemberCall,
  appId: string,
  id: string,
  expected: Expected,
  change: (tx: Tx, found: Package, app: LoadedApp, now: number) => Promise<void>,
): Promise<Package> {
  return changeApp(call, appId, (tx) =>
    changeCatalogue(
      tx,
      appId,
      (tx, before, now) => {
        const found = foundPackage(before.catalogue, id)
        checkVersion('package', packageVersion(found), expected)
        return change(tx, found, before, now)
      },
      (after) => foundPackage(after.catalogue, id),
    ),
  )
}
