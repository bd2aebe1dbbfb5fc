import { checkMetadata, type JsonObject } from '../../domain/metadata.ts'
import type { Package } from '../../domain/package.ts'
import { updatePackageMetadata } from '../../store/packages.ts'
import { type Call, mutateCatalogue } from '../call/call.ts'
import { foundPackage } from '../call/found.ts'

/** The Admin API changes metadata only; without any, nothing changes. */
export async function updatePackage(
  call: Call,
  id: string,
  change: { metadata?: JsonObject },
): Promise<Package> {
  const { metadata } = change
  if (metadata) checkMetadata(metadata)
  return mutateCatalogue(
    call,
    async (tx, before, now) => {
      foundPackage(before.catalogue, id)
      if (metadata) await updatePackageMetadata(tx, call.appId, id, metadata, now)
    },
    (after) => foundPackage(after.catalogue, id),
  )
}
