import { checkRoomInHistory } from '../../domain/catalogue.ts'
import { checkText } from '../../domain/identifier.ts'
import { checkMetadata, type JsonObject } from '../../domain/metadata.ts'
import {
  checkArchived,
  checkPackageEdit,
  type EntitlementInput,
  entitlementFor,
  type Package,
  type PackageEdit,
} from '../../domain/package.ts'
import type { Reach } from '../../domain/package-version.ts'
import type { LoadedApp } from '../../store/catalogue/catalogue.ts'
import { setSpends } from '../../store/catalogue/features.ts'
import { addToHistory } from '../../store/catalogue/package-history.ts'
import {
  applyPackageEdit,
  publishPackage as markPublished,
  setPackageDraft,
  updatePackageMetadata,
} from '../../store/catalogue/packages.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'
import { checkVersion, packageVersion } from '../call/version.ts'
import { authorOf } from './author-of.ts'

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

/**
 * Publishes a package, or its draft as the next version: for all subscriptions, only for new ones, or for each at the
 * end of its period. Publishing again without a draft changes nothing.
 */
export function publishPackage(call: Call, id: string, reach: Reach, note: string | null): Promise<Package> {
  if (note !== null) checkText('note', note)
  const author = authorOf(call)
  return mutatePackage(call, id, async (tx, found, { catalogue }, now) => {
    await flagCapped(tx, call.appId, found.draft ?? found)
    if (found.status === 'DRAFT') await markPublished(tx, call.appId, id, now, { author, note })
    if (!found.draft) return
    if (reach !== 'ALL') checkRoomInHistory(catalogue, id)
    await addToHistory(tx, call.appId, id, {
      position: found.history + 1,
      kind: 'PUBLISHED',
      from: found.version,
      to: found.version + 1,
      reach,
      at: now,
      features: found.features,
      id: null,
      author,
      note,
    })
    await applyPackageEdit(tx, call.appId, id, found.draft, now)
  })
}

/** Makes checks and records of features with caps read the counts of those. The app is locked. */
async function flagCapped(tx: Tx, appId: string, { features }: Pick<PackageEdit, 'features'>): Promise<void> {
  const capped = features.filter(({ caps }) => caps)
  if (capped.length > 0)
    await setSpends(
      tx,
      appId,
      capped.map(({ featureId }) => featureId),
    )
}

export function discardPackageDraft(call: Call, id: string): Promise<Package> {
  return mutatePackage(call, id, async (tx, found, _app, now) => {
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

function mutatePackage(
  call: Call,
  id: string,
  change: (tx: Tx, found: Package, app: LoadedApp, now: number) => Promise<void>,
): Promise<Package> {
  return mutateCatalogue(
    call,
    (tx, before, now) => {
      const found = requirePackage(before.catalogue, id)
      checkVersion('package', packageVersion(found), call.expectedVersion)
      return change(tx, found, before, now)
    },
    (after) => requirePackage(after.catalogue, id),
  )
}
