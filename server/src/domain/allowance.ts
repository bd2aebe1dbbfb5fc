import { highestCaps, type PlanCap } from './cap.ts'
import { MAX_COUNT } from './limits.ts'
import type { Entitlement } from './package.ts'
import type { ResetPeriod } from './period.ts'

/** Sum of the grants of all live packages of a user for one consumable feature. */
export interface Allowance {
  /** null: unlimited */
  budget: number | null
  overageEnabled: boolean
  resetPeriod: ResetPeriod
  /** units beyond the budget that overage allows; absent: any number */
  overageCap?: number
  /** absent: none */
  caps?: readonly PlanCap[]
}

/**
 * Combines several grants of one feature: budgets add up, one unlimited grant makes it unlimited, one grant with
 * overage allows it. Their overage caps add up too; one without such a cap lifts it. Of caps of the same kind the highest
 * counts; a grant without one lifts none. The first grant determines the reset period, so callers pass the base plan's first.
 */
export function allowanceOf(grants: readonly Omit<Entitlement, 'featureId'>[]): Allowance | null {
  const [first] = grants
  if (!first) return null
  let budget: number | null = 0
  let overageEnabled = false
  let overage: number | null = 0
  let caps: readonly PlanCap[] | undefined
  for (const grant of grants) {
    budget = added(budget, grant.limit)
    overageEnabled ||= grant.overageEnabled
    if (grant.overageEnabled) overage = added(overage, grant.overageCap ?? null)
    if (grant.caps) caps = caps ? highestCaps(caps, grant.caps) : grant.caps
  }
  const allowance: Allowance = { budget, overageEnabled, resetPeriod: first.resetPeriod }
  if (overageEnabled && overage !== null) allowance.overageCap = overage
  if (caps) allowance.caps = caps
  return allowance
}

/** Null: any number. */
const added = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.min(a + b, MAX_COUNT)

/** Units that overage allows beyond the budget; Infinity: any number. */
export const overageOf = ({ overageEnabled, overageCap }: Allowance): number =>
  overageEnabled ? (overageCap ?? Number.POSITIVE_INFINITY) : 0

/** Words about a limited overage in a sentence about the budget. */
export const beyondText = ({ overageCap }: Allowance): string =>
  overageCap === undefined ? '' : `, at most ${overageCap} beyond`
