import { decideAccess } from './access.ts'
import type { Catalogue } from './catalogue.ts'
import { grantsOf } from './catalogue.ts'
import { type EventData, eventData, MAX_EVENT_DATA_BYTES } from './event.ts'
import type { JsonObject } from './metadata.ts'
import { isoOrNull } from './time.ts'
import { type Holder, type UserEntitlement, userEntitlement } from './user-entitlement.ts'

/** The features that a user is entitled to now, in the order of the catalogue. */
export function entitlementsOf(
  catalogue: Catalogue,
  holder: Holder,
  now: number,
): { featureId: string; entitlement: Exclude<UserEntitlement, { kind: 'none' }> }[] {
  const granted = new Set((holder.overrides ?? []).map(({ featureId }) => featureId))
  for (const subscription of holder.live)
    for (const featureId of grantsOf(catalogue, subscription, now)?.keys() ?? []) granted.add(featureId)
  const found = []
  for (const featureId of catalogue.features.keys()) {
    if (!granted.has(featureId)) continue
    const entitlement = userEntitlement(catalogue, featureId, holder, now)
    if (entitlement.kind !== 'none') found.push({ featureId, entitlement })
  }
  return found
}

/** One feature in the payload. */
export function entitlementObject(
  featureId: string,
  entitlement: Exclude<UserEntitlement, { kind: 'none' }>,
  used: number,
): JsonObject {
  const { access, consumption } = decideAccess(entitlement, used, 1)
  if (entitlement.kind === 'binary' || !consumption) return { featureId, access }
  const { allowance, period } = entitlement as Extract<UserEntitlement, { kind: 'metered' }>
  return {
    featureId,
    access,
    budget: consumption.budget,
    used: consumption.used,
    overageEnabled: consumption.overageEnabled,
    resetPeriod: allowance.resetPeriod,
    periodStart: isoOrNull(period.start),
    resetsAt: isoOrNull(period.end),
  }
}

/**
 * The payload of `entitlements.changed`: all entitlements of the user, so that a receiver replaces what it has. If there are
 * too many for one event it has the first of them and says so.
 */
export function entitlementsData(userId: string, entitlements: readonly JsonObject[]): EventData {
  const data = (some: readonly JsonObject[]): EventData =>
    eventData({ userId, count: entitlements.length, entitlements: [...some] })
  let bytes = Buffer.byteLength(JSON.stringify(data([]))) + TRUNCATED_BYTES
  let fitting = 0
  for (const entitlement of entitlements) {
    bytes += Buffer.byteLength(JSON.stringify(entitlement)) + 1
    if (bytes > MAX_EVENT_DATA_BYTES) break
    fitting++
  }
  const whole = fitting === entitlements.length
  return whole ? data(entitlements) : { ...data(entitlements.slice(0, fitting)), truncated: true }
}

/** Of the field that says so. */
const TRUNCATED_BYTES = 20
