import type { ResetPeriod } from './catalogue.ts'

/**
 * REPLACE: this limit instead of the packages' one. ADD: this much more. UNLIMITED: no limit. GRANT: the feature,
 * without a limit. DENY: no access. Only GRANT and DENY are for binary features.
 */
export type OverrideMode = 'REPLACE' | 'ADD' | 'UNLIMITED' | 'GRANT' | 'DENY'

/** An exception for one user and feature, which wins over their packages. */
export interface Override {
  /** The user's id. */
  userId: string
  /** The feature's id. */
  featureId: string
  /** What it does. */
  mode: OverrideMode
  /** For REPLACE and ADD. */
  limit: number | null
  /** Whether more than the limit may be used; null: as the packages say. */
  overageEnabled: boolean | null
  /** How often the usage resets where no package of the user says. */
  resetPeriod: ResetPeriod
  /** Periods are counted from here while the user has no subscription. ISO 8601, UTC. */
  startedAt: string
  /** It ends then, by itself; null: no end. ISO 8601, UTC. */
  expiresAt: string | null
  /** A note for your own people; users never see it. */
  reason: string | null
}

/** An exception to make. */
export interface OverrideInput {
  /** For whom. */
  userId: string
  /** For which feature. */
  featureId: string
  /** What it does. */
  mode: OverrideMode
  /** For REPLACE and ADD, which need it. @default null */
  limit?: number | null | undefined
  /** For REPLACE and ADD: whether more than the limit may be used. @default as the packages say */
  overageEnabled?: boolean | null | undefined
  /** How often the usage resets where no package of the user says. @default as before, or 'MONTH' */
  resetPeriod?: ResetPeriod | null | undefined
  /** When it ends; ISO 8601, in the future. @default no end */
  expiresAt?: string | null | undefined
  /** A note for your own people; users never see it. @default null */
  reason?: string | null | undefined
}
