import { creditUsedEvent } from '../../domain/credit-events.ts'
import { currentPeriod, type Purse, type Spending } from '../../domain/purse.ts'
import type { Burn } from '../../domain/reservation-calls.ts'
import { type Part, partsOn } from '../../domain/split.ts'
import type { UsageAction } from '../../domain/usage.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import { packedEvent } from '../../store/usage/packed-events.ts'
import type { LedgerKey, SpendingMove } from '../../store/usage/spending-move.ts'
import type { Basis, CounterRef } from '../../store/usage/usage-moves.ts'
import type { EntitlementState } from '../call/hot-paths.ts'
import { spendingEvents } from './usage-events.ts'

// Builds the writes of one user's decisions about spending.

interface MoveOf {
  appId: string
  userUid: number
  userId: string
  version: number
  at: number
  basis: Basis | null
  ref: CounterRef
}

export const emptyMove = (of: MoveOf): SpendingMove => ({
  ...of,
  features: new Map(),
  counters: new Map(),
  credits: new Map(),
  caps: new Map(),
  reservations: [],
  entries: [],
  receipts: [],
  events: [],
})

/** The row of a counter as it was read. */
export interface CounterRow {
  /** null: found by its key */
  ref: CounterRef | null
  /** null: it does not exist yet */
  used: number | null
}

/** Units left after earlier calls of the batch, including calls on the pool or on other features that draw on it. */
export function latest(purses: ReadonlyMap<string, Purse>, featureId: string, read: Purse): Purse {
  const purse = purses.get(featureId) ?? read
  const { pool } = read
  return { ...purse, pool: pool && { ...pool, purse: purses.get(pool.featureId) ?? pool.purse } }
}

export function counterRow(
  { featureId, counter, counted, used, pool }: Counters,
  id: string,
  { basis }: Pick<SpendingMove, 'basis'>,
): CounterRow {
  // Where a remembered row is now is not known.
  if (id === featureId) return { ref: basis ? null : counter, used: counted ? used : null }
  return { ref: basis ? null : (pool?.counter ?? null), used: pool?.counted ? pool.used : null }
}

type Counters = Pick<EntitlementState, 'featureId' | 'counter' | 'counted' | 'used' | 'pool'>

/** A purse before and after a decision. */
interface PurseChange {
  before: Purse
  after: Purse
}

/** The change of the pool; null: nothing of it was taken or returned. */
export function poolChange({ before, after }: PurseChange): (PurseChange & { featureId: string }) | null {
  if (!before.pool || !after.pool || before.pool.purse === after.pool.purse) return null
  return { featureId: after.pool.featureId, before: before.pool.purse, after: after.pool.purse }
}

/**
 * Adds what a decision took from each source, or returned to it. `counterOf` finds the counter of the purse's period, by
 * feature.
 */
export function addParts(
  move: SpendingMove,
  featureId: string,
  change: PurseChange,
  parts: readonly Part[],
  counterOf: (featureId: string) => CounterRow,
  action: UsageAction,
): void {
  const own = parts.filter(({ pool }) => !pool)
  // A call that changes nothing has an entry too.
  addOwn(move, featureId, change, parts.length > 0 ? own : [NOTHING], counterOf(featureId), action)
  const pool = poolChange(change)
  if (!pool) return
  const drawn = partsOn(pool.featureId, parts)
  addOwn(move, pool.featureId, pool, drawn, counterOf(pool.featureId), 'ADD')
}

/** Adds what a call on a reservation or a credit took, if anything, and the events of it. */
export function addBurn(
  apps: AppCache,
  move: SpendingMove,
  featureId: string,
  { entitlement, pool: ofPool }: Pick<EntitlementState, 'entitlement' | 'pool'>,
  burn: Burn,
  counterOf: (featureId: string) => CounterRow,
): void {
  const { parts, payment } = burn
  const pool = poolChange(burn)
  addCaps(move, featureId, burn)
  if (pool) addCaps(move, pool.featureId, pool)
  if (changesNothing(burn)) return
  addParts(move, featureId, burn, parts, counterOf, 'ADD')
  if (payment) return
  const { appId, userUid, userId } = move
  const of = { appId, userUid, userId, featureId }
  move.events.push(...spendingEvents(apps, of, entitlement, burn, 'ADD'))
  if (!pool || !ofPool) return
  move.events.push(
    ...spendingEvents(apps, { ...of, featureId: pool.featureId }, ofPool.entitlement, pool, 'ADD'),
  )
}

export const changesNothing = ({ before, after, parts }: Burn): boolean =>
  parts.length === 0 && after.owed === before.owed && after.drawn === before.drawn

const NOTHING: Part = { credit: null, amount: 0 }

function addOwn(
  move: SpendingMove,
  featureId: string,
  { before, after }: PurseChange,
  parts: readonly Part[],
  counter: CounterRow,
  action: UsageAction,
): void {
  for (const { credit, amount } of parts) {
    if (credit === null) addCounter(move, planKey(featureId, after), counter, amount, action)
    else addCredit(move, featureId, after, credit, amount, action)
  }
  if (after.owed !== before.owed || after.drawn !== before.drawn) move.features.set(featureId, keptOf(after))
  addCaps(move, featureId, { before, after })
}

/** Adds the counts of caps that have changed. */
function addCaps(move: SpendingMove, featureId: string, { before, after }: PurseChange): void {
  for (const [i, { reserved, ...cap }] of after.caps.entries()) {
    if (cap.used === before.caps[i]?.used) continue
    move.caps.set(`${featureId} ${cap.period} ${cap.entity}`, { ...cap, featureId })
  }
}

/** Adds units of a counter, perhaps of an earlier period. */
export function addCounter(
  move: SpendingMove,
  key: LedgerKey,
  counter: CounterRow,
  amount: number,
  action: UsageAction,
): void {
  const name = `${key.resetPeriod} ${key.periodStart} ${key.featureId}`
  const found = move.counters.get(name) ?? {
    key,
    ref: counter.ref,
    from: counter.used,
    to: counter.used ?? 0,
  }
  found.to += amount
  move.counters.set(name, found)
  move.entries.push({ key, action, delta: amount, used: found.to })
}

function addCredit(
  move: SpendingMove,
  featureId: string,
  after: Purse,
  creditId: string,
  amount: number,
  action: UsageAction,
): void {
  const credit = after.credits.find(({ id }) => id === creditId)
  if (!credit) throw new Error(`the credit ${creditId} was not read`)
  const { used, period, periodUsed } = credit
  move.credits.set(creditId, { used, period, periodUsed })
  move.entries.push({ key: creditKey(featureId, creditId), action, delta: amount, used })
  const { userUid, userId, at } = move
  const event = creditUsedEvent({ ...credit, featureId }, used - amount, userId, at)
  if (event) move.events.push(packedEvent({ ...event, userUid, userId }))
}

export const planKey = (
  featureId: string,
  { allowance, period }: Pick<Purse, 'allowance' | 'period'>,
): LedgerKey => ({
  featureId,
  resetPeriod: allowance.resetPeriod,
  periodStart: period.start,
})

/** A credit has entries in the ledger like a counter that never resets. */
const creditKey = (featureId: string, creditId: string): LedgerKey => ({
  featureId,
  resetPeriod: `CREDIT:${creditId}`,
  periodStart: 0,
})

const keptOf = (purse: Purse): Pick<Spending, 'owed' | 'drawn'> => {
  const { owed, drawn } = purse
  const period = currentPeriod(purse)
  return {
    owed: owed > 0 ? { amount: owed, period } : null,
    drawn: drawn.units > 0 ? { ...drawn, period } : null,
  }
}
