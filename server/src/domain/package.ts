import { checkedPlanCaps, type PlanCap } from './cap.ts'
import { badUserInput, featureNotFound, quote } from './errors.ts'
import type { Feature, FeatureType } from './feature.ts'
import { checkIdentifier, checkText } from './identifier.ts'
import { MAX_COUNT, MAX_PACKAGE_FEATURES } from './limits.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'
import { RESET_PERIODS, type ResetPeriod } from './period.ts'
import type { PackagePrice } from './price.ts'
import type { ScheduledPublication } from './publication.ts'

export const PACKAGE_STATUSES = ['DRAFT', 'PUBLISHED'] as const
export type PackageStatus = (typeof PACKAGE_STATUSES)[number]

/** Grant of a package for one feature. `limit` null: unlimited, or a binary feature. */
export type Entitlement = {
  featureId: string
  limit: number | null
  resetPeriod: ResetPeriod
  overageEnabled: boolean
  /** units beyond the limit that overage allows; absent: any number */
  overageCap?: number
  /** absent: none */
  caps?: PlanCap[]
}

/** An entitlement alone, with its properties always in the same order: for storage, and for comparing. */
export function entitlementOf(grant: Entitlement): Entitlement {
  const { featureId, limit, resetPeriod, overageEnabled, overageCap, caps } = grant
  return {
    ...{ featureId, limit, resetPeriod, overageEnabled },
    ...(typeof overageCap === 'number' && { overageCap }),
    ...(caps &&
      caps.length > 0 && {
        caps: caps.map(({ period, limit, perEntity }) => ({ period, limit, perEntity })),
      }),
  }
}

export interface PackageFeature extends Entitlement {
  feature: Feature
}

export interface Package {
  id: string
  name: string
  status: PackageStatus
  isAddon: boolean
  /** An archived package accepts no new subscriptions; see archive-package.ts. */
  archived: boolean
  metadata: JsonObject
  updatedAt: number
  features: PackageFeature[]
  /** those in use, oldest first */
  prices: PackagePrice[]
  /** number of publications */
  version: number
  /** position of the last entry in its history; see package-version.ts */
  history: number
  /** Unpublished edits made in the dashboard. */
  draft: PackageEdit | null
  scheduled: ScheduledPublication | null
}

/** Fields that the dashboard may edit. The Admin API changes metadata only. */
export interface PackageEdit {
  name: string
  features: Entitlement[]
}

/** An entitlement as callers send it, before defaults. */
export interface EntitlementInput {
  limit?: number | null | undefined
  resetPeriod?: ResetPeriod | null | undefined
  overageEnabled?: boolean | null | undefined
  overageCap?: number | null | undefined
  caps?: readonly PlanCapInput[] | null | undefined
}

type PlanCapInput = Omit<PlanCap, 'perEntity'> & { perEntity?: string | null | undefined }

export function checkNewPackage(id: string, name: string, metadata: JsonObject): void {
  checkIdentifier('id', id)
  checkText('name', name)
  checkMetadata(metadata)
}

export function checkPackageEdit(edit: PackageEdit): void {
  checkText('name', edit.name)
  if (edit.features.length > MAX_PACKAGE_FEATURES) {
    throw badUserInput(`A package can have at most ${MAX_PACKAGE_FEATURES} features`, 'features')
  }
  const seen = new Set<string>()
  for (const { featureId } of edit.features) {
    if (seen.has(featureId)) throw badUserInput(`Feature ${quote(featureId)} is listed twice`, 'features')
    seen.add(featureId)
  }
}

/** Rejects archived features, except those the package already has. */
export function checkArchived(
  edit: Pick<PackageEdit, 'features'>,
  features: ReadonlyMap<string, { archived: boolean }>,
  has: readonly Entitlement[],
): void {
  for (const { featureId } of edit.features) {
    if (!features.get(featureId)?.archived || has.some((grant) => grant.featureId === featureId)) continue
    throw badUserInput(
      `The feature ${quote(featureId)} is archived. Restore it before adding it to a package.`,
      'features',
    )
  }
}

/** Fills in the defaults of an entitlement and validates it against its feature. */
export function entitlementFor(
  featureId: string,
  feature: { type: FeatureType } | undefined,
  input: EntitlementInput,
): Entitlement {
  if (!feature) throw featureNotFound(featureId)
  const { limit, resetPeriod, overageEnabled } = input
  if (feature.type === 'BINARY' && (limit ?? null) !== null) {
    throw badUserInput(`Feature ${quote(featureId)} is BINARY and does not accept a limit`, 'limit')
  }
  if (
    limit !== null &&
    limit !== undefined &&
    !(Number.isInteger(limit) && limit >= 0 && limit <= MAX_COUNT)
  ) {
    throw badUserInput(`limit must be an integer from 0 to ${MAX_COUNT}`, 'limit')
  }
  if (resetPeriod && !RESET_PERIODS.includes(resetPeriod)) {
    throw badUserInput(`resetPeriod must be one of ${RESET_PERIODS.join(', ')}`, 'resetPeriod')
  }
  return entitlementOf({
    featureId,
    limit: limit ?? null,
    resetPeriod: resetPeriod ?? 'MONTH',
    overageEnabled: overageEnabled ?? false,
    ...overageCapFrom(input, feature.type),
    ...capsFrom(input, feature.type),
  })
}

function overageCapFrom(
  { limit, overageEnabled, overageCap }: EntitlementInput,
  type: FeatureType,
): Pick<Entitlement, 'overageCap'> {
  if (overageCap === null || overageCap === undefined) return {}
  const refuse = (why: string) => badUserInput(why, 'overageCap')
  if (type === 'BINARY') throw refuse('A BINARY feature does not accept overageCap')
  if (!Number.isInteger(overageCap) || overageCap < 0 || overageCap > MAX_COUNT)
    throw refuse(`overageCap must be an integer from 0 to ${MAX_COUNT}`)
  if (!overageEnabled) throw refuse('overageCap requires overageEnabled')
  if ((limit ?? null) === null) throw refuse('overageCap requires a limit')
  return { overageCap }
}

function capsFrom({ caps }: EntitlementInput, type: FeatureType): Pick<Entitlement, 'caps'> {
  if (!caps || caps.length === 0) return {}
  if (type === 'BINARY') throw badUserInput('A BINARY feature does not accept caps', 'caps')
  return { caps: checkedPlanCaps(caps.map((cap) => ({ ...cap, perEntity: cap.perEntity ?? null }))) }
}

export function countedPeriods({ features }: Pick<Package, 'features'>): ResetPeriod[] {
  return features.filter((f) => f.feature.type === 'CONSUMABLE').map((f) => f.resetPeriod)
}
