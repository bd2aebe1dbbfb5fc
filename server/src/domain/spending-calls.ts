import { type Access, type Consumption, consumptionOf } from './access.ts'
import { beyondText } from './allowance.ts'
import { capFigures, capLeft, capName, tightestCap } from './cap.ts'
import { quote } from './errors.ts'
import { giveBack, withinDebt } from './give-back.ts'
import { MAX_COUNT } from './limits.ts'
import type { PoolSource, Purse } from './purse.ts'
import { creditLeft, creditTotals, isLive, leftInSources, remaining, roomOf } from './sources.ts'
import { spent, type Taken, take, usedInPeriod } from './spending.ts'
import type { Part } from './split.ts'
import type { RecordedUsage, UsageCall } from './usage.ts'
import type { UserEntitlement } from './user-entitlement.ts'

// Checks, records and payments of a feature that more than the plan may pay for.

/** A new credit first pays the units owed in this period, unless the plan covers them by now. */
export function payOwed(purse: Purse, creditId: string, now: number): Taken {
  const credit = purse.credits.find(({ id }) => id === creditId)
  const { owed } = withinDebt(purse)
  const amount = credit && isLive(credit, now) ? Math.min(owed, creditLeft(credit)) : 0
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
  const { entities = [] } = call
  const change = call.action === 'SET' ? call.delta - used : call.delta
  const taken =
    call.action === 'SET' && call.delta < 0
      ? null
      : change < 0
        ? giveBack(purse, -change, entities)
        : take(purse, change, now, call.action === 'SET' ? 'RECORD' : 'REFUSE', entities)
  const after = taken?.purse ?? purse
  const consumption = consumptionFrom(after, now, entities)
  if (taken) return { purse: after, parts: taken.parts, recorded: true, reason: null, consumption }
  return { purse, parts: [], recorded: false, reason: refusal(), consumption }

  function refusal(): string {
    if (call.action === 'SET' && call.delta < 0) return 'Usage cannot be set below zero.'
    if (change < 0 && -change <= used)
      return `Cannot revert ${-change}: the sources that paid for some of the ${used} used in this period have ended.`
    if (change < 0) return `Cannot revert ${-change}: only ${used} used in this period.`
    if (call.action === 'SET' || change <= roomOf(purse, now, entities))
      return `Usage cannot exceed ${MAX_COUNT}.`
    return `Limit reached: ${shortage(purse, change, now, entities).figures}; ${change} more requested.`
  }
}

/** The answer to a check of `delta` units, from the same sources as a record. */
export function decideSpending(
  entitlement: UserEntitlement,
  purse: Purse,
  delta: number,
  now: number,
  entities: readonly string[] = [],
): Access & { deniedBy: string | null } {
  const byOverride = entitlement.kind === 'metered' && entitlement.byOverride ? ' (override)' : ''
  const consumption = consumptionFrom(purse, now, entities)
  const answer = { consumption, deniedBy: null }
  if (delta > roomOf(purse, now, entities)) {
    const { figures, by } = shortage(purse, delta, now, entities)
    const reason = `Limit reached: ${figures}${by === 'PLAN' ? byOverride : ''}; ${delta} more requested.`
    return { ...answer, access: false, reason, reasonCode: 'LIMIT_EXCEEDED', deniedBy: by }
  }
  const left = leftInSources(purse, now, entities)
  if (left === null) {
    return {
      ...answer,
      access: true,
      reason: `The feature is unlimited${byOverride}.`,
      reasonCode: 'UNLIMITED',
    }
  }
  const known = `${figures(purse, now, entities)}${byOverride}`
  if (delta <= left)
    return { ...answer, access: true, reason: `Within budget: ${known}.`, reasonCode: 'WITHIN_BUDGET' }
  const reason = `${known}${beyondText(purse.allowance)}, ${delta} requested; overage is enabled.`
  return { ...answer, access: true, reason, reasonCode: 'OVERAGE' }
}

/** The limit that leaves no room for `amount`: that of all sources, or else the tightest cap. */
export function shortage(
  purse: Purse,
  amount: number,
  now: number,
  entities: readonly string[],
): { by: string; figures: string } {
  const cap = tightestCap(purse.caps, entities)
  if (cap && capLeft(cap) < amount && amount <= roomOf({ ...purse, caps: [] }, now, entities))
    return { by: capName(cap), figures: capFigures(cap) }
  const ofPool = purse.pool?.open ? tightestCap(purse.pool.purse.caps, entities) : null
  if (ofPool && purse.pool && amount <= roomOf(withoutPoolCaps(purse, purse.pool), now, entities))
    return {
      by: `POOL ${capName(ofPool)}`,
      figures: `${figures(purse, now, entities)}: ${capFigures(ofPool)}`,
    }
  return { by: 'PLAN', figures: `${figures(purse, now, entities)}${beyondText(purse.allowance)}` }
}

const withoutPoolCaps = (purse: Purse, pool: PoolSource): Purse => ({
  ...purse,
  caps: [],
  pool: { ...pool, purse: { ...pool.purse, caps: [] } },
})

/** Budget and `used` are the plan's. */
export function consumptionFrom(purse: Purse, now: number, entities: readonly string[] = []): Consumption {
  const reserved = purse.planReserved + creditTotals(purse, now).reserved + purse.drawnReserved
  return {
    ...consumptionOf(purse.allowance, purse.used),
    reserved,
    remaining: remaining(purse, now, entities),
  }
}

function figures(purse: Purse, now: number, entities: readonly string[] = []): string {
  const { allowance, used, pool } = purse
  const credits = creditTotals(purse, now)
  const left = credits.live > 0 ? `, ${credits.left} left in credits` : ''
  const ofPool = pool?.open ? (remaining(pool.purse, now, entities) ?? 'unlimited') : null
  const drawable =
    pool && ofPool !== null ? `, ${ofPool} of ${quote(pool.featureId)} left at ${pool.cost} each` : ''
  const { reserved } = consumptionFrom(purse, now)
  return `${used} of ${allowance.budget ?? 'unlimited'} used${left}${drawable}${reserved ? `, ${reserved} reserved` : ''}`
}
