import type { Allowance } from './allowance.ts'
import { MAX_COUNT } from './limits.ts'
import type { ResetPeriod } from './period.ts'

/**
 * An exception for one user and feature, whatever their packages say. GRANT and DENY are for any feature, the others
 * for consumable ones. Granting a consumable feature means without a limit.
 */
const OVERRIDE_MODES = ['REPLACE', 'ADD', 'UNLIMITED', 'GRANT', 'DENY'] as const
type OverrideMode = (typeof OVERRIDE_MODES)[number]

export interface Override {
  featureId: string
  mode: OverrideMode
  /** for REPLACE and ADD */
  limit: number | null
  /** null: as the packages say */
  overageEnabled: boolean | null
  /** how often the count starts again where no package says */
  resetPeriod: ResetPeriod
  /** where periods are counted from for a user without a subscription */
  startedAt: number
  expiresAt: number | null
  /** for whoever reads about it later; never shown to the user */
  reason: string | null
}

/** The override that applies to a feature now: an expired one is over by the clock alone. */
export function overrideAt(
  overrides: readonly Override[] | null,
  featureId: string,
  now: number,
): Override | null {
  if (overrides === null) return null
  const found = overrides.find((override) => override.featureId === featureId)
  return found && isInForce(found, now) ? found : null
}

const isInForce = ({ expiresAt }: Override, now: number): boolean => expiresAt === null || now < expiresAt

/** What the packages allow, if anything, changed by an override other than DENY. */
export function overridden(
  allowance: Allowance | null,
  { mode, limit, overageEnabled, resetPeriod }: Override,
): Allowance {
  const granted = allowance ?? { budget: 0, overageEnabled: false, resetPeriod }
  return {
    budget: budgetOf(mode, limit ?? 0, granted.budget),
    overageEnabled: overageEnabled ?? granted.overageEnabled,
    resetPeriod: granted.resetPeriod,
  }
}

function budgetOf(mode: OverrideMode, limit: number, granted: number | null): number | null {
  if (mode === 'REPLACE') return limit
  if (mode === 'ADD') return granted === null ? null : Math.min(granted + limit, MAX_COUNT)
  return null
}
