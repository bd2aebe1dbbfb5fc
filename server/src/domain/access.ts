import { type Allowance, beyondText, overageOf } from './allowance.ts'
import { badUserInput } from './errors.ts'
import type { UserEntitlement } from './user-entitlement.ts'

export const REASON_CODES = [
  'USER_NOT_FOUND',
  'FEATURE_NOT_FOUND',
  'NO_SUBSCRIPTION',
  'NOT_IN_PACKAGE',
  'DENIED',
  'LIMIT_EXCEEDED',
  'GRANTED',
  'WITHIN_BUDGET',
  'OVERAGE',
  'UNLIMITED',
] as const
type ReasonCode = (typeof REASON_CODES)[number]

export interface Consumption {
  /** null: unlimited */
  budget: number | null
  used: number
  overageEnabled: boolean
  /** units beyond the budget that overage allows; absent: any number, or none */
  overageCap?: number
  /** what reservations hold; absent: nothing */
  reserved?: number
  /** units left in all sources, overage aside; null: unlimited; absent: those of the budget */
  remaining?: number | null
}

export interface Access {
  access: boolean
  reason: string
  reasonCode: ReasonCode
  /** null for a binary feature, and without a grant */
  consumption: Consumption | null
}

const DENIED = {
  USER_NOT_FOUND: 'The user does not exist.',
  FEATURE_NOT_FOUND: 'The feature does not exist.',
  NO_SUBSCRIPTION: 'The user has no active subscription.',
  NOT_IN_PACKAGE: "None of the user's packages includes this feature.",
  DENIED: 'An override denies this feature to the user.',
} as const

export const deniedReason = (code: keyof typeof DENIED): string => DENIED[code]

export function checkDelta(delta: number): void {
  if (delta < 0) throw badUserInput('delta must not be negative', 'delta')
}

/** May the user take `delta` of the feature, having used `used` in this period? */
export function decideAccess(entitlement: UserEntitlement, used: number, delta: number): Access {
  if (entitlement.kind === 'none') {
    return {
      access: false,
      reason: DENIED[entitlement.code],
      reasonCode: entitlement.code,
      consumption: null,
    }
  }
  if (entitlement.kind === 'binary') {
    return {
      access: true,
      reason: entitlement.byOverride
        ? 'An override grants this feature to the user.'
        : "The user's package includes this feature.",
      reasonCode: 'GRANTED',
      consumption: null,
    }
  }
  const { allowance, byOverride } = entitlement
  const consumption = consumptionOf(allowance, used)
  const { budget } = allowance
  if (budget === null) {
    const reason = `The feature is unlimited${byOverride ? ' (override)' : ''}.`
    return { access: true, reason, reasonCode: 'UNLIMITED', consumption }
  }
  if (fits(allowance, used, delta)) {
    return {
      access: true,
      reason: `Within budget: ${used} of ${budget} used${byOverride ? ' (override)' : ''}.`,
      reasonCode: 'WITHIN_BUDGET',
      consumption,
    }
  }
  const over = `${used} of ${budget} used${beyondText(allowance)}${byOverride ? ' (override)' : ''}`
  if (allowance.overageEnabled && fitsOverage(allowance, used, delta)) {
    const reason = `${over}, ${delta} requested; overage is enabled.`
    return { access: true, reason, reasonCode: 'OVERAGE', consumption }
  }
  const reason = `Limit reached: ${over}; ${delta} more requested.`
  return { access: false, reason, reasonCode: 'LIMIT_EXCEEDED', consumption }
}

function fits(allowance: Allowance, used: number, delta: number): boolean {
  return allowance.budget === null || used + delta <= allowance.budget
}

/** Whether it fits with overage. */
export function fitsOverage(allowance: Allowance, used: number, delta: number): boolean {
  return allowance.budget === null || used + delta <= allowance.budget + overageOf(allowance)
}

export function consumptionOf(allowance: Allowance, used: number): Consumption {
  const { budget, overageEnabled, overageCap } = allowance
  return overageCap === undefined
    ? { budget, used, overageEnabled }
    : { budget, used, overageEnabled, overageCap }
}
