import type { Catalogue } from './catalogue.ts'
import { grantsOf } from './catalogue.ts'
import { type Override, overrideAt } from './override.ts'
import { basePlanFirst, grantTimes, type Holder } from './user-entitlement.ts'

/** Contribution of one subscription to the limit of a feature. */
export interface LimitSource {
  packageId: string
  quantity: number
  /** of all units; null: unlimited, or a binary feature */
  limit: number | null
}

/** Where the limit of a user comes from: `userEntitlement` adds up the same grants. */
export interface LimitSources {
  /** the base plan first */
  grants: LimitSource[]
  override: Override | null
}

export function limitSources(
  catalogue: Catalogue,
  featureId: string,
  { live, overrides }: Holder,
  now: number,
): LimitSources {
  const grants = [...live].sort(basePlanFirst).flatMap((subscription) => {
    const grant = grantsOf(catalogue, subscription, now)?.get(featureId)
    if (!grant) return []
    const { packageId, quantity } = subscription
    return [{ packageId, quantity, limit: grantTimes(grant, quantity).limit }]
  })
  return { grants, override: overrideAt(overrides, featureId, now) }
}
