import type { Allowance } from './allowance.ts'
import { badUserInput } from './errors.ts'
import type { FeatureType } from './feature.ts'
import { checkText } from './identifier.ts'
import { LATEST_TEST_CLOCK, MAX_COUNT, MAX_OVERRIDES } from './limits.ts'
import type { ResetPeriod } from './period.ts'

/**
 * An exception for one user and feature that takes precedence over packages. GRANT and DENY apply to any feature, the
 * others to consumable ones. GRANT makes a consumable feature unlimited.
 */
export const OVERRIDE_MODES = ['REPLACE', 'ADD', 'UNLIMITED', 'GRANT', 'DENY'] as const
export type OverrideMode = (typeof OVERRIDE_MODES)[number]

export interface Override {
  featureId: string
  mode: OverrideMode
  /** for REPLACE and ADD */
  limit: number | null
  /** null: as in the packages */
  overageEnabled: boolean | null
  /** reset period if no package has one */
  resetPeriod: ResetPeriod
  /** anchor of the periods of a user without a subscription */
  startedAt: number
  expiresAt: number | null
  /** internal note, never shown to the user */
  reason: string | null
}

/** An override as requested. */
export interface NewOverride extends Omit<Override, 'resetPeriod' | 'startedAt'> {
  /** null: unchanged, or MONTH for a new one */
  resetPeriod: ResetPeriod | null
}

export const DEFAULT_RESET_PERIOD: ResetPeriod = 'MONTH'

/**
 * All overrides of a user after this one is set. It replaces the one in force, and keeps its start and, unless another
 * is requested, its reset period, so that a higher limit does not start a new count. Expired overrides are dropped.
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

/** Overrides in force, except that of this feature. */
export function withoutOverride(
  overrides: readonly Override[] | null,
  featureId: string,
  now: number,
): Override[] {
  return overridesAt(overrides, now).filter((override) => override.featureId !== featureId)
}

/** Overrides in force, in the order in which they were last set. */
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

/** The override that applies to a feature now. No job removes expired ones. */
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

/** The allowance of the packages, if any, changed by an override other than DENY. */
export function overridden(
  allowance: Allowance | null,
  { mode, limit, overageEnabled, resetPeriod }: Override,
): Allowance {
  const granted: Allowance = allowance ?? { budget: 0, overageEnabled: false, resetPeriod }
  const changed: Allowance = {
    budget: budgetOf(mode, limit ?? 0, granted.budget),
    overageEnabled: overageEnabled ?? granted.overageEnabled,
    resetPeriod: granted.resetPeriod,
  }
  // An override that allows overage itself sets no bound to it.
  if (overageEnabled === null && granted.overageCap !== undefined) changed.overageCap = granted.overageCap
  if (granted.caps) changed.caps = granted.caps
  return changed
}

function budgetOf(mode: OverrideMode, limit: number, granted: number | null): number | null {
  if (mode === 'REPLACE') return limit
  if (mode === 'ADD') return granted === null ? null : Math.min(granted + limit, MAX_COUNT)
  return null
}
