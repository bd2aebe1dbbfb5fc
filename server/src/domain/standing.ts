import { type Allowance, allowanceOf } from './allowance.ts'
import type { Catalogue } from './catalogue.ts'
import type { PackageFeature } from './package.ts'
import { type Period, periodAt } from './period.ts'

/** What access depends on of a subscription. */
export interface LiveSubscription {
  packageId: string
  isAddon: boolean
  startedAt: number
  anchor: number
}

/** How a user stands towards a feature: what `canUseFeature`, `recordUsage` and `showUsage` all start from. */
export type Standing =
  | { kind: 'none'; code: 'USER_NOT_FOUND' | 'FEATURE_NOT_FOUND' | 'NO_SUBSCRIPTION' | 'NOT_IN_PACKAGE' }
  | { kind: 'binary' }
  | { kind: 'metered'; allowance: Allowance; anchor: number; period: Period }

/** `live` is null for a user who does not exist. */
export function standingOf(
  catalogue: Catalogue,
  featureId: string,
  live: readonly LiveSubscription[] | null,
  now: number,
): Standing {
  if (live === null) return { kind: 'none', code: 'USER_NOT_FOUND' }
  const feature = catalogue.features.get(featureId)
  if (!feature) return { kind: 'none', code: 'FEATURE_NOT_FOUND' }
  if (live.length === 0) return { kind: 'none', code: 'NO_SUBSCRIPTION' }

  const grants: PackageFeature[] = []
  const ordered = live.length === 1 ? live : [...live].sort(basePlanFirst)
  for (const { packageId } of ordered) {
    const grant = catalogue.grants.get(packageId)?.get(featureId)
    if (grant) grants.push(grant)
  }
  const allowance = allowanceOf(grants)
  const anchor = ordered[0]?.anchor
  if (!allowance || anchor === undefined) return { kind: 'none', code: 'NOT_IN_PACKAGE' }
  if (feature.type === 'BINARY') return { kind: 'binary' }
  return { kind: 'metered', allowance, anchor, period: periodAt(allowance.resetPeriod, anchor, now) }
}

function basePlanFirst(a: LiveSubscription, b: LiveSubscription): number {
  return Number(a.isAddon) - Number(b.isAddon) || a.startedAt - b.startedAt
}
