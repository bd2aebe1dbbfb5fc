import { type Consumption, consumptionOf, deniedReason, fitsOverage } from './access.ts'
import { beyondText } from './allowance.ts'
import { badUserInput } from './errors.ts'
import { MAX_COUNT } from './limits.ts'
import type { UserEntitlement } from './user-entitlement.ts'

export const USAGE_ACTIONS = ['ADD', 'SET'] as const
export type UsageAction = (typeof USAGE_ACTIONS)[number]

export interface UsageCall {
  action: UsageAction
  delta: number
  /** whose caps count the call; absent: none */
  entities?: readonly string[]
}

export interface RecordedUsage {
  recorded: boolean
  /** null when recorded */
  reason: string | null
  /** after the call; null where the feature is not counted for this user */
  consumption: Consumption | null
}

export function checkUsageCall(call: UsageCall): void {
  if (!USAGE_ACTIONS.includes(call.action)) {
    throw badUserInput(`action must be one of ${USAGE_ACTIONS.join(', ')}`, 'action')
  }
  if (!Number.isSafeInteger(call.delta)) {
    throw badUserInput(`delta must be an integer between -${MAX_COUNT} and ${MAX_COUNT}`, 'delta')
  }
}

/**
 * The effect of one call on a counter at `used`.
 *
 * Invariants (usage.test.ts): a refused call changes nothing; the counter stays within 0 and 2^53-1; an ADD
 * never takes it past the budget and the overage that the plan allows; the adjustments of all recorded calls add up to the counter.
 */
export function applyUsage(
  entitlement: UserEntitlement,
  used: number,
  call: UsageCall,
): RecordedUsage & { used: number } {
  if (entitlement.kind === 'none') {
    return { used, recorded: false, reason: deniedReason(entitlement.code), consumption: null }
  }
  if (entitlement.kind === 'binary') {
    return {
      used,
      recorded: false,
      reason: 'Usage cannot be recorded for a binary feature.',
      consumption: null,
    }
  }
  const { allowance } = entitlement
  const after = call.action === 'SET' ? call.delta : used + call.delta
  const refusal = refusalOf(call, after, used)
  if (refusal !== null) {
    return { used, recorded: false, reason: refusal, consumption: consumptionOf(allowance, used) }
  }
  return { used: after, recorded: true, reason: null, consumption: consumptionOf(allowance, after) }

  function refusalOf({ action, delta }: UsageCall, after: number, used: number): string | null {
    if (after < 0) {
      return action === 'SET'
        ? 'Usage cannot be set below zero.'
        : `Cannot revert ${-delta}: only ${used} used in this period.`
    }
    if (after > MAX_COUNT) return `Usage cannot exceed ${MAX_COUNT}.`
    if (action === 'ADD' && delta >= 0 && !fitsOverage(allowance, used, delta)) {
      return `Limit reached: ${used} of ${allowance.budget} used${beyondText(allowance)}; ${delta} more requested.`
    }
    return null
  }
}
