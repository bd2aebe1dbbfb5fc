import type { Access, Consumption } from './access.ts'
import { MAX_COUNT } from './limits.ts'
import {
  creditLeft,
  giveBack,
  isLive,
  type Part,
  type Purse,
  remaining,
  roomOf,
  type Source,
  sourcesOf,
  spent,
  sum,
  type Taken,
  take,
  usedInPeriod,
} from './spending.ts'
import type { RecordedUsage, UsageCall } from './usage.ts'
import type { UserEntitlement } from './user-entitlement.ts'

// Checks, records and payments of a feature that more than the plan may pay for.

/** A new credit pays first for what is owed in this period. */
export function payOwed(purse: Purse, creditId: string, now: number): Taken {
  const credit = purse.credits.find(({ id }) => id === creditId)
  const amount = credit && isLive(credit, now) ? Math.min(purse.owed, creditLeft(credit)) : 0
  if (amount === 0) return { purse, parts: [] }
  const parts = [
    { credit: creditId, amount },
    { credit: null, amount: -amount },
  ]
  return { purse: { ...spent(purse, parts), owed: purse.owed - amount }, parts }
}

/** The effect of a call; `parts` is empty if it is refused. */
export function applySpending(
  purse: Purse,
  call: UsageCall,
  now: number,
): RecordedUsage & { purse: Purse; parts: Part[] } {
  const used = usedInPeriod(purse)
  const change = call.action === 'SET' ? call.delta - used : call.delta
  const taken =
    call.action === 'SET' && call.delta < 0
      ? null
      : change < 0
        ? giveBack(purse, -change)
        : take(purse, change, now, call.action === 'SET' ? 'RECORD' : 'REFUSE')
  const after = taken?.purse ?? purse
  const consumption = consumptionFrom(after, now)
  if (taken) return { purse: after, parts: taken.parts, recorded: true, reason: null, consumption }
  return { purse, parts: [], recorded: false, reason: refusal(), consumption }

  function refusal(): string {
    if (call.action === 'SET' && call.delta < 0) return 'Usage cannot be set below zero.'
    if (change < 0) return `Cannot revert ${-change}: only ${used} used in this period.`
    if (call.action === 'SET' || change <= roomOf(purse, now)) return `Usage cannot exceed ${MAX_COUNT}.`
    return `Limit reached: ${figures(purse, now)}; ${change} more requested.`
  }
}

/** The answer to a check of `delta` units, from the same sources as a record. */
export function decideSpending(
  entitlement: UserEntitlement,
  purse: Purse,
  delta: number,
  now: number,
): Access & { sources: Source[]; deniedBy: string | null } {
  const byOverride = entitlement.kind === 'metered' && entitlement.byOverride ? ' (override)' : ''
  const consumption = consumptionFrom(purse, now)
  const sources = sourcesOf(purse, now)
  const answer = { consumption, sources, deniedBy: null }
  const left = remaining(purse, now)
  if (left === null) {
    return {
      ...answer,
      access: true,
      reason: `The feature is unlimited${byOverride}.`,
      reasonCode: 'UNLIMITED',
    }
  }
  const known = `${figures(purse, now)}${byOverride}`
  if (delta <= left)
    return { ...answer, access: true, reason: `Within budget: ${known}.`, reasonCode: 'WITHIN_BUDGET' }
  if (purse.allowance.overageEnabled) {
    const reason = `${known}, ${delta} requested; overage is enabled.`
    return { ...answer, access: true, reason, reasonCode: 'OVERAGE' }
  }
  const reason = `Limit reached: ${known}; ${delta} more requested.`
  return { ...answer, access: false, reason, reasonCode: 'LIMIT_EXCEEDED', deniedBy: 'PLAN' }
}

/** Budget and `used` are the plan's. */
export function consumptionFrom(purse: Purse, now: number): Consumption {
  const { budget, overageEnabled } = purse.allowance
  const reserved = purse.planReserved + sum(purse.credits.map((credit) => credit.reserved))
  return { budget, used: purse.used, overageEnabled, reserved, remaining: remaining(purse, now) }
}

function figures(purse: Purse, now: number): string {
  const { budget } = purse.allowance
  const credits = purse.credits.filter((credit) => isLive(credit, now))
  const left = credits.length > 0 ? `, ${sum(credits.map(creditLeft))} left in credits` : ''
  const { reserved } = consumptionFrom(purse, now)
  return `${purse.used} of ${budget ?? 'unlimited'} used${left}${reserved ? `, ${reserved} reserved` : ''}`
}
