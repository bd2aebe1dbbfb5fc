import { MAX_COUNT } from './limits.ts'
import type { Entitlement } from './package.ts'
import type { ResetPeriod } from './period.ts'

/** What all live packages of a user together allow of one consumable feature. */
export interface Allowance {
  /** null: unlimited */
  budget: number | null
  overageEnabled: boolean
  resetPeriod: ResetPeriod
}

/**
 * Combines several grants of one feature: budgets add up, one unlimited grant makes it unlimited, one grant with
 * overage allows it. The first grant determines the reset period, so callers pass the base plan's first.
 */
export function allowanceOf(grants: readonly Omit<Entitlement, 'featureId'>[]): Allowance | null {
  const [first] = grants
  if (!first) return null
  let budget: number | null = 0
  let overageEnabled = false
  for (const grant of grants) {
    budget = budget === null || grant.limit === null ? null : Math.min(budget + grant.limit, MAX_COUNT)
    overageEnabled ||= grant.overageEnabled
  }
  return { budget, overageEnabled, resetPeriod: first.resetPeriod }
}
