import { currentPeriod, type Purse } from '../../domain/purse.ts'
import { type Split, toStored } from '../../domain/revert.ts'
import { applySpending } from '../../domain/spending-calls.ts'
import { type Part, unitsOf } from '../../domain/split.ts'
import type { RecordedUsage } from '../../domain/usage.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Stranger } from '../../store/usage/enrol.ts'
import type { SpendingMove } from '../../store/usage/spending-move.ts'
import type { Basis, Receipt } from '../../store/usage/usage-moves.ts'
import type { FeatureTally, PendingUsage } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import type { OpenEvent, UsageState } from './counter-memory.ts'
import { isCapped } from './entitlement-state.ts'
import { countRefused } from './feature-counts.ts'
import type { Answers } from './known-keys.ts'
import type { Reading } from './read-entitlements.ts'
import { addParts, counterRow, emptyMove, latest, poolChange } from './spend.ts'
import type { Written } from './spender-memory.ts'
import { spendingEvents } from './usage-events.ts'

export interface Decision extends OpenEvent {
  answer: RecordedUsage
  uid: number | null
  /** what it took; absent: nothing */
  split?: Split
}

/** All calls of one user on features that credits may pay for, as one move: all of them succeed, or none. */
export interface Spent {
  move: SpendingMove
  userId: string
  /** before it, by feature */
  states: Map<string, UsageState>
  /** what is left after the calls so far, by feature */
  purses: Map<string, Purse>
  decisions: (Decision & {
    /** what was taken from all sources */
    units: number
  })[]
}

/** Users who draw on a pool, or whose plan has caps, and have no row that guards it: each once. */
export function strangersIn(
  open: readonly OpenEvent[],
  states: readonly BatchResult<UsageState>[],
): Stranger[] {
  const found = new Map<string, Stranger>()
  for (const [i, { item }] of open.entries()) {
    const result = states[i]
    if (!result || 'error' in result) continue
    const { purse, spending, uid, counter, featureId, pool } = result.value
    if (!purse || uid === null || counter === null) continue
    const { appId } = item.caller
    const add = (featureId: string) =>
      found.set(`${uid} ${appId} ${featureId}`, { appId, userUid: uid, featureId, ref: counter })
    if (!spending) add(featureId)
    if (pool && !pool.enrolled && isCapped(pool.entitlement)) add(pool.featureId)
  }
  return [...found.values()]
}

/** Decides a call by all sources of the user. One that would be refused from memory stays open, to be decided by what is read. */
export function spendFrom(
  apps: AppCache,
  spenders: Map<string, Spent>,
  { item, index }: OpenEvent,
  state: UsageState,
  read: Purse,
  recalled: boolean,
): void {
  const { uid, spending, counter, now, featureId } = state
  const { appId } = item.caller
  if (uid === null || spending === null || counter === null) throw new Error('a purse has no spender')
  const { version } = spending
  const { userId, action } = item.event
  const name = `${uid} ${appId}`
  const basis = recalled ? state.basis : null
  const found = spenders.get(name)
  if (found && !isOfMove(found, version, basis)) return
  const spender: Spent = found ?? {
    move: emptyMove({ appId, userUid: uid, userId, version, at: now, basis, ref: counter }),
    userId,
    states: new Map(),
    purses: new Map(),
    decisions: [],
  }
  const before = latest(spender.purses, featureId, read)
  const { purse: after, parts, ...answer } = applySpending(before, item.event, now)
  if (recalled && !answer.recorded) return
  spenders.set(name, spender)
  spender.states.set(featureId, spender.states.get(featureId) ?? state)
  const units = unitsOf(parts)
  const split = splitOf(item, before, parts)
  spender.decisions.push({ item, index, answer, uid, units, ...(split && { split }) })
  if (!answer.recorded) return
  const change = { before, after }
  const rowOf = (id: string) => counterRow(state, id, spender.move)
  addParts(spender.move, featureId, change, parts, rowOf, action)
  spender.purses.set(featureId, after)
  const of = { appId, userUid: uid, userId, featureId }
  spender.move.events.push(...spendingEvents(apps, of, state.entitlement, change, action))
  const pool = poolChange(change)
  if (!pool || !state.pool) return
  spender.purses.set(pool.featureId, pool.after)
  const ofPool = { ...of, featureId: pool.featureId }
  spender.move.events.push(...spendingEvents(apps, ofPool, state.pool.entitlement, pool, 'ADD'))
}

/** A user has one move in a statement. What was decided by another state than the others of the batch stays open. */
export const isOfMove = ({ move }: Pick<Spent, 'move'>, version: number, basis: Basis | null): boolean =>
  move.version === version && (move.basis === null) === (basis === null)

/** The decisions that change something, in the order in which their users are locked, and the others. */
export function toWrite(spenders: ReadonlyMap<string, Spent>): { spent: Spent[]; unspent: Decision[] } {
  const spent: Spent[] = []
  const unspent: Decision[] = []
  for (const spender of spenders.values()) {
    if (spender.move.entries.length > 0) spent.push(spender)
    else unspent.push(...spender.decisions)
  }
  for (const { move, decisions } of spent) move.receipts = decisions.flatMap(receiptsOf)
  return { spent: spent.sort((a, b) => a.move.userUid - b.move.userUid), unspent }
}

/** Units that a call took, if it has a key by which it can be reverted. */
function splitOf({ event, key }: PendingUsage, before: Purse, parts: readonly Part[]): Split | null {
  if (key?.scope !== 'usage' || parts.length === 0) return null
  const during = currentPeriod(before)
  const ofPool = before.pool && currentPeriod(before.pool.purse)
  return {
    featureId: event.featureId,
    during,
    parts: parts.map((part) => ({
      ...part,
      period: part.credit === null ? (part.pool ? ofPool : during) : null,
    })),
    entities: event.entities ?? [],
  }
}

/** Units that a call took from the plan, if it has a key by which it can be reverted. */
export function planSplit(
  { event: { featureId }, key }: PendingUsage,
  entitlement: UserEntitlement,
  amount: number,
): Split | null {
  if (key?.scope !== 'usage' || amount === 0 || entitlement.kind !== 'metered') return null
  const during = currentPeriod(entitlement)
  return { featureId, during, parts: [{ credit: null, amount, period: during }], entities: [] }
}

export function receiptsOf({ item: { key }, answer, uid, split }: Decision): Receipt[] {
  if (!key) return []
  const results = JSON.stringify({
    [key.field]: { value: answer, ...(split && { split: toStored(split) }) },
  })
  return [{ ...key, results, userUid: uid }]
}

export function answerSpent(
  apps: AppCache,
  tally: FeatureTally,
  { decisions }: Spent,
  answers: Answers<RecordedUsage>,
): void {
  answerWith(decisions, answers)
  for (const { item, answer, units } of decisions) {
    if (answer.recorded) tally.recorded(item.caller.appId, item.event.featureId, 1, units)
    else countRefused(apps, tally, item)
    apps.confirm(item.caller)
  }
}

/** Nobody else has changed anything: the version was that of the decisions. */
export function rememberSpent({ credits, spenders }: Reading, written: Written, readAt: number): void {
  const { userId, move, purses } = written
  const { appId, userUid, version } = move
  for (const [featureId, purse] of purses)
    credits?.changed({ appId, userId, featureId }, userUid, version + 1, purse.credits)
  spenders?.moved(written, readAt)
}

export function answerWith(decisions: readonly Decision[], answers: Answers<RecordedUsage>): void {
  for (const { index, answer } of decisions) answers[index] = { value: answer }
}
