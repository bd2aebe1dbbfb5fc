import type { ResetPeriod } from './catalogue.ts'

/**
 * Effect of an override. REPLACE: replaces the limit of the packages. ADD: adds to that limit. UNLIMITED: removes the
 * limit. GRANT: grants the feature without a limit. DENY: denies access. Binary features only support GRANT and DENY.
 */
export type OverrideMode = 'REPLACE' | 'ADD' | 'UNLIMITED' | 'GRANT' | 'DENY'

/** An exception for one user and feature that takes precedence over the user's packages. */
export interface Override {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Effect of the override. */
  mode: OverrideMode
  /** Limit of the override, for the modes REPLACE and ADD. */
  limit: number | null
  /** Whether overage is allowed; null if the packages determine it. */
  overageEnabled: boolean | null
  /** Reset period used if none of the user's packages defines one. */
  resetPeriod: ResetPeriod
  /** Start of the override (ISO 8601, UTC). Periods are counted from this time while the user has no subscription. */
  startedAt: string
  /** Time at which the override expires (ISO 8601, UTC); null if it does not expire. */
  expiresAt: string | null
  /** Internal note, not visible to users. */
  reason: string | null
}

/** Input of `setOverride`. */
export interface OverrideInput {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Effect of the override. */
  mode: OverrideMode
  /** Limit of the override. Required for the modes REPLACE and ADD. @default null */
  limit?: number | null | undefined
  /** Whether overage is allowed, for the modes REPLACE and ADD. @default determined by the packages */
  overageEnabled?: boolean | null | undefined
  /** Reset period used if none of the user's packages defines one. @default that of the existing override, or 'MONTH' */
  resetPeriod?: ResetPeriod | null | undefined
  /** Expiry time (ISO 8601), in the future. @default no expiry */
  expiresAt?: string | null | undefined
  /** Internal note, not visible to users. @default null */
  reason?: string | null | undefined
}
