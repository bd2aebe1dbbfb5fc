import { type Access, decideAccess } from './access.ts'
import type { Catalogue } from './catalogue.ts'
import { type Entitlement, entitlementOf } from './package.ts'
import type { ResetPeriod } from './period.ts'
import { type Holder, type UserEntitlement, userEntitlement } from './user-entitlement.ts'

/** A feature whose entitlement an edit changes. */
export interface TouchedFeature {
  featureId: string
  /** null: not granted */
  before: Entitlement | null
  after: Entitlement | null
}

export function touchedFeatures(
  before: readonly Entitlement[],
  after: readonly Entitlement[],
): TouchedFeature[] {
  const ids = new Set([...before, ...after].map((grant) => grant.featureId))
  const touched = [...ids].map((featureId) => ({
    featureId,
    before: before.find((grant) => grant.featureId === featureId) ?? null,
    after: after.find((grant) => grant.featureId === featureId) ?? null,
  }))
  return touched.filter((t) => !sameGrant(t.before, t.after))
}

function sameGrant(a: Entitlement | null, b: Entitlement | null): boolean {
  if (a === null || b === null) return a === b
  return JSON.stringify(entitlementOf(a)) === JSON.stringify(entitlementOf(b))
}

/** A subscriber's entitlement to a feature, under the current catalogue and under the edited one. */
export interface EntitlementChange {
  featureId: string
  before: UserEntitlement
  after: UserEntitlement
}

export function entitlementChanges(
  catalogues: { before: Catalogue; after: Catalogue },
  featureIds: readonly string[],
  holder: Holder,
  now: number,
): EntitlementChange[] {
  return featureIds.map((featureId) => ({
    featureId,
    before: userEntitlement(catalogues.before, featureId, holder, now),
    after: userEntitlement(catalogues.after, featureId, holder, now),
  }))
}

/** The counter that an entitlement depends on; null: none. */
export function counterOf(
  entitlement: UserEntitlement,
): { resetPeriod: ResetPeriod; periodStart: number } | null {
  if (entitlement.kind !== 'metered') return null
  return { resetPeriod: entitlement.allowance.resetPeriod, periodStart: entitlement.period.start }
}

/** The most serious first. */
export const ACCESS_CHANGES = ['LOSES', 'MORE_OVERAGE', 'GAINS', 'LESS_OVERAGE'] as const
export type AccessChange = (typeof ACCESS_CHANGES)[number]

export interface AccessChanged {
  change: AccessChange
  /** How the overage of the next use changes, if the feature can be used after the edit: a gain may cost. */
  overage: 'MORE' | 'LESS' | null
  before: Access
  after: Access
}

/** The effect of the edit on the next use of the feature: possible, impossible, or a change of overage. Null: none. */
export function accessChange(
  change: EntitlementChange,
  used: { before: number; after: number },
): AccessChanged | null {
  const before = decideAccess(change.before, used.before, 1)
  const after = decideAccess(change.after, used.after, 1)
  if (before.access && !after.access) return { change: 'LOSES', overage: null, before, after }
  const more = overageOf(after) - overageOf(before)
  const overage = more > 0 ? 'MORE' : more < 0 ? 'LESS' : null
  if (before.access !== after.access) return { change: 'GAINS', overage, before, after }
  return overage && { change: `${overage}_OVERAGE`, overage, before, after }
}

/** Overage of the next use; 0 if it is denied or within budget. */
function overageOf({ reasonCode, consumption }: Access): number {
  if (reasonCode !== 'OVERAGE' || !consumption) return 0
  return consumption.used + 1 - (consumption.budget ?? Number.POSITIVE_INFINITY)
}
