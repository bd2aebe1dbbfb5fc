import { type Allowance, allowanceOf } from './allowance.ts'
import { type Catalogue, grantsOf } from './catalogue.ts'
import { MAX_COUNT } from './limits.ts'
import { type Override, overridden, overrideAt } from './override.ts'
import type { PackageFeature } from './package.ts'
import { type Period, periodAt } from './period.ts'

/** The properties of a subscription that access depends on. */
export interface LiveSubscription {
  packageId: string
  isAddon: boolean
  startedAt: number
  anchor: number
  quantity: number
  version: number
  versionAsOf: number
}

/** The subscriptions and overrides of a user. */
export interface Holder {
  live: readonly LiveSubscription[]
  overrides: readonly Override[] | null
}

/** Rights of a user on a feature now. `canUseFeature`, `recordUsage` and `showUsage` all start from it. */
export type UserEntitlement =
  | {
      kind: 'none'
      code: 'USER_NOT_FOUND' | 'FEATURE_NOT_FOUND' | 'NO_SUBSCRIPTION' | 'NOT_IN_PACKAGE' | 'DENIED'
    }
  | { kind: 'binary'; byOverride: boolean }
  | Metered

interface Metered {
  kind: 'metered'
  allowance: Allowance
  anchor: number
  period: Period
  byOverride: boolean
}

/** `holder` is null if the user does not exist. */
export function userEntitlement(
  catalogue: Catalogue,
  featureId: string,
  holder: Holder | null,
  now: number,
): UserEntitlement {
  if (holder === null) return { kind: 'none', code: 'USER_NOT_FOUND' }
  const feature = catalogue.features.get(featureId)
  if (!feature) return { kind: 'none', code: 'FEATURE_NOT_FOUND' }
  const { live } = holder
  const override = overrideAt(holder.overrides, featureId, now)
  if (override?.mode === 'DENY') return { kind: 'none', code: 'DENIED' }
  if (live.length === 0 && !override) return { kind: 'none', code: 'NO_SUBSCRIPTION' }

  const grants: PackageFeature[] = []
  const ordered = live.length <= 1 ? live : [...live].sort(basePlanFirst)
  for (const subscription of ordered) {
    const grant = grantsOf(catalogue, subscription, now)?.get(featureId)
    if (grant) grants.push(grantTimes(grant, subscription.quantity))
  }
  const granted = allowanceOf(grants)
  const allowance = override ? overridden(granted, override) : granted
  if (!allowance) return { kind: 'none', code: 'NOT_IN_PACKAGE' }
  const byOverride = override !== null
  if (feature.type === 'BINARY') return { kind: 'binary', byOverride }
  // Without a subscription, periods are counted from the start of the override.
  const anchor = ordered[0]?.anchor ?? override?.startedAt ?? now
  return {
    kind: 'metered',
    allowance,
    anchor,
    period: periodAt(allowance.resetPeriod, anchor, now),
    byOverride,
  }
}

/**
 * Until when an entitlement with this period stays as it is if only time passes; null: not known. `liveUntil` is when time next
 * changes the holder's subscriptions.
 *
 * Invariant (user-entitlement.test.ts): at every moment from `now` until then the entitlement is the same.
 */
export function validUntil(
  catalogue: Catalogue,
  { live, overrides, liveUntil }: Holder & { liveUntil: number },
  { period }: Pick<Metered, 'period'>,
  now: number,
): number | null {
  const awaitsVersion = ({ packageId }: LiveSubscription) =>
    catalogue.histories.get(packageId)?.entries.some(({ reach }) => reach === 'AT_PERIOD_END')
  if (live.some(awaitsVersion)) return null
  const expiries = (overrides ?? []).flatMap(({ expiresAt }) =>
    expiresAt !== null && expiresAt > now ? [expiresAt] : [],
  )
  const until = Math.min(liveUntil, period.end ?? Number.POSITIVE_INFINITY, ...expiries)
  return Number.isFinite(until) ? until : NEVER
}

/** Later than any time that is stored. */
const NEVER = Date.UTC(9999, 11, 31)

/** The grant of a subscription with several units. Caps of each entity are not multiplied: more seats make no agent busier. */
export function grantTimes(grant: PackageFeature, quantity: number): PackageFeature {
  if (quantity === 1) return grant
  const multiplied = (units: number) => Math.min(units * quantity, MAX_COUNT)
  const { limit, overageCap, caps } = grant
  if (limit === null && !caps) return grant
  return {
    ...grant,
    limit: limit === null ? null : multiplied(limit),
    ...(typeof overageCap === 'number' && { overageCap: multiplied(overageCap) }),
    ...(caps && {
      caps: caps.map((cap) => (cap.perEntity === null ? { ...cap, limit: multiplied(cap.limit) } : cap)),
    }),
  }
}

export function basePlanFirst(a: LiveSubscription, b: LiveSubscription): number {
  return Number(a.isAddon) - Number(b.isAddon) || a.startedAt - b.startedAt
}
