import type { Allowance } from './allowance.ts'
import { badUserInput } from './errors.ts'
import type { FeatureType } from './feature.ts'
import { checkText } from './identifier.ts'
import { LATEST_TEST_CLOCK, MAX_COUNT, MAX_OVERRIDES } from './limits.ts'
import type { ResetPeriod } from './period.ts'

/**
 * An exception for one user and feature, whatever their packages say. GRANT and DENY are for any feature, the others
 * for consumable ones. Granting a consumable feature means without a limit.
 */
export const OVERRIDE_MODES = ['REPLACE', 'ADD', 'UNLIMITED', 'GRANT', 'DENY'] as const
export type OverrideMode = (typeof OVERRIDE_MODES)[number]

export interface Override {
  featureId: string
  mode: OverrideMode
  /** for REPLACE and ADD */
  limit: number | null
  /** null: as the packages say */
  overageEnabled: boolean | null
  /** how often the count resets where no package says */
  resetPeriod: ResetPeriod
  /** where periods are counted from for a user without a subscription */
  startedAt: number
  expiresAt: number | null
  /** a note for the application's own people; never shown to the user */
  reason: string | null
}

/** An override as a caller asks for it. */
export interface NewOverride extends Omit<Override, 'resetPeriod' | 'startedAt'> {
  /** null: as before, or MONTH */
  resetPeriod: ResetPeriod | null
}

export const DEFAULT_RESET_PERIOD: ResetPeriod = 'MONTH'

/**
 * All overrides of a user once this one is set. It replaces the one in force, whose start and, unless another is asked
 * for, reset period it keeps: a higher limit must not begin a new count. Expired ones are dropped.
 */
export function withOverride(
  overrides: readonly Override[] | null,
  { resetPeriod, ...asked }: NewOverride,
  type: FeatureType,
  now: number,
): { set: Override; all: Override[] } {
  const earlier = overrideAt(overrides, asked.featureId, now)
  const set: Override = {
    ...asked,
    resetPeriod: resetPeriod ?? earlier?.resetPeriod ?? DEFAULT_RESET_PERIOD,
    startedAt: earlier?.startedAt ?? now,
  }
  checkOverride(set, type, now)
  const all = [...withoutOverride(overrides, asked.featureId, now), set]
  if (all.length > MAX_OVERRIDES) {
    throw badUserInput(`A user can have at most ${MAX_OVERRIDES} overrides. Remove one first.`, 'userId')
  }
  return { set, all }
}

/** Those in force, except the one of this feature. */
export function withoutOverride(
  overrides: readonly Override[] | null,
  featureId: string,
  now: number,
): Override[] {
  return overridesAt(overrides, now).filter((override) => override.featureId !== featureId)
}

/** Those in force, in the order in which they were last set. */
export function overridesAt(overrides: readonly Override[] | null, now: number): Override[] {
  return (overrides ?? []).filter((override) => isInForce(override, now))
}

function checkOverride(override: Override, type: FeatureType, now: number): void {
  const { mode, limit, overageEnabled, expiresAt, reason } = override
  const counts = mode === 'REPLACE' || mode === 'ADD'
  if (type === 'BINARY' && mode !== 'GRANT' && mode !== 'DENY') {
    throw badUserInput(
      `The mode ${mode} requires a CONSUMABLE feature. BINARY features support GRANT and DENY.`,
      'mode',
    )
  }
  if (counts && limit === null) throw badUserInput(`The mode ${mode} requires a limit`, 'limit')
  if (!counts && limit !== null) throw badUserInput(`The mode ${mode} does not accept a limit`, 'limit')
  if (limit !== null && !(Number.isInteger(limit) && limit >= 0 && limit <= MAX_COUNT)) {
    throw badUserInput(`limit must be an integer from 0 to ${MAX_COUNT}`, 'limit')
  }
  if (!counts && overageEnabled !== null) {
    throw badUserInput(`The mode ${mode} does not accept overageEnabled`, 'overageEnabled')
  }
  if (expiresAt !== null && expiresAt <= now) {
    throw badUserInput('expiresAt must be in the future', 'expiresAt')
  }
  if (expiresAt !== null && expiresAt > LATEST_TEST_CLOCK) {
    const latest = new Date(LATEST_TEST_CLOCK).toISOString()
    throw badUserInput(
      `expiresAt must not be after ${latest}. Omit it if the override does not expire.`,
      'expiresAt',
    )
  }
  checkText('reason', reason)
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
