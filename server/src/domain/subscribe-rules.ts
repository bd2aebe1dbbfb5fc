import { SUBSCRIBE_REFUSALS, subscriptionError } from './errors.ts'
import { MAX_SUBSCRIBE_PACKAGES } from './limits.ts'
import type { PackageStatus } from './package.ts'

interface RequestedPackage {
  id: string
  status: PackageStatus
  isAddon: boolean
  archived: boolean
}

interface HeldPackage {
  packageId: string
  isAddon: boolean
}

/**
 * Whether a user who holds `live` may subscribe to `requested`, all or nothing. `undefined` stands for an unknown
 * package id. Returns what was requested. The order of the checks determines which error callers see.
 */
export function checkSubscribe<P extends RequestedPackage>(
  requested: readonly (P | undefined)[],
  live: readonly HeldPackage[],
): P[] {
  if (requested.length === 0) throw subscriptionError('packageIds must contain at least one package')
  if (requested.length > MAX_SUBSCRIBE_PACKAGES) {
    throw subscriptionError(`packageIds must contain at most ${MAX_SUBSCRIBE_PACKAGES} packages`)
  }
  const packages = requested.filter((found) => found !== undefined)
  if (packages.length < requested.length) throw subscriptionError(SUBSCRIBE_REFUSALS.unknownPackage)
  if (packages.some((p) => p.status !== 'PUBLISHED')) throw subscriptionError(SUBSCRIBE_REFUSALS.notPublished)
  if (packages.some((p) => p.archived)) throw subscriptionError(SUBSCRIBE_REFUSALS.archived)

  const tiers = packages.filter((p) => !p.isAddon).length
  const liveTiers = live.filter((s) => !s.isAddon).length
  if (tiers > 1 || (tiers === 1 && liveTiers > 0)) throw subscriptionError(SUBSCRIBE_REFUSALS.severalTiers)
  if (tiers + liveTiers === 0) throw subscriptionError(SUBSCRIBE_REFUSALS.missingTier)

  const held = new Set(live.map((s) => s.packageId))
  for (const { id } of packages) {
    if (held.has(id)) throw subscriptionError(SUBSCRIBE_REFUSALS.alreadySubscribed)
    held.add(id)
  }
  return packages
}
