import type { Allowance } from '../../domain/allowance.ts'
import { MAX_LOST_RACES, MAX_WRITE_CONFLICTS } from '../../domain/limits.ts'
import { applyUsage, type RecordedUsage } from '../../domain/usage.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import { TryAgain, type Tx } from '../../store/connection/database.ts'
import { lacksPartition } from '../../store/connection/refusals.ts'
import { refusesData } from '../../store/connection/refused-data.ts'
import type { CounterMove, MadeMoves } from '../../store/usage/usage-moves.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { FeatureTally, PendingUsage, Recorded } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import { confirmingBudgets } from './confirm-budgets.ts'
import { type CounterMemory, type OpenEvent, type UsageState, usageState } from './counter-memory.ts'
import { count, countRefused } from './feature-counts.ts'
import { type Answers, answerKnownKeys } from './known-keys.ts'
import { questionOf, type Reading, readEntitlements } from './read-entitlements.ts'
import { recallStates } from './recall.ts'
import { failOthers, isOvertaken, keptChanging, leaveTheGone } from './record-failures.ts'
import {
  answerSpent,
  answerWith,
  type Decision,
  planSplit,
  receiptsOf,
  rememberSpent,
  type Spent,
  spendFrom,
  strangersIn,
  toWrite,
} from './spend-batch.ts'
import { usageEvents } from './usage-events.ts'

export interface Recording extends Reading {
  /** without it, everything is read */
  memory?: CounterMemory
}

/**
 * Records events in order: reads the current state or remembers it, decides each by the rule, and writes the decisions if
 * the state has not changed. Those that lost to a concurrent writer are decided again. Events are independent: if
 * PostgreSQL refuses a batch because of one event, only that one fails.
 */
export async function recordBatch(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingUsage[],
  tally: FeatureTally,
  how: Recording = {},
): Promise<BatchResult<Recorded>[]> {
  const answers: Answers<RecordedUsage> = new Array(pending.length)
  try {
    await recordTogether(store, apps, client, pending, tally, answers, how)
  } catch (error) {
    if (how.inTransaction) throw error
    if (pending.length > 1 && refusesData(error))
      await recordOneByOne(store, apps, client, pending, tally, answers, how)
    else failOthers(answers, error)
  }
  return answers as BatchResult<Recorded>[]
}

async function recordOneByOne(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingUsage[],
  tally: FeatureTally,
  answers: Answers<RecordedUsage>,
  how: Recording,
): Promise<void> {
  for (const [index, item] of pending.entries()) {
    leaveTheGone(pending, answers)
    if (answers[index]) continue
    const alone: Answers<RecordedUsage> = new Array(1)
    try {
      await recordTogether(store, apps, client, [item], tally, alone, how)
      answers[index] = alone[0]
    } catch (error) {
      // Retrying is pointless on a lost connection or a read-only database.
      if (!refusesData(error)) return failOthers(answers, error)
      failOthers(alone, error)
      answers[index] = alone[0]
    }
  }
}

async function recordTogether(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingUsage[],
  tally: FeatureTally,
  answers: Answers<RecordedUsage>,
  how: Recording,
): Promise<void> {
  const { inTransaction = false, memory } = how
  for (let [races, conflicts, first] = [0, 0, true]; ; first = false) {
    const recalled = first
      ? recallStates(apps, openOnes(pending, answers), how)
      : new Map<number, UsageState>()
    // A key that is taken keeps a remembered event from being written.
    await answerKnownKeys(client, pending, answers, (index) => recalled.has(index))
    const open = openOnes(pending, answers)
    if (open.length === 0) return

    const states = await readStates(store, apps, client, open, recalled, how)
    const readAt = how.spenders?.now() ?? 0
    leaveTheGone(pending, answers)
    const strangers = strangersIn(open, states)
    if (strangers.length > 0) {
      await store.enrol(client, strangers, { inTransaction })
      if (++races > MAX_LOST_RACES) throw keptChanging()
      continue
    }
    const { moved, spent, unmoved } = decide(open, states, recalled, answers, apps)
    const receipts = unmoved.flatMap(receiptsOf)
    const moves = moved.map(({ move }) => move)
    const confirming = (some: readonly CounterMove[]) =>
      confirmingBudgets(
        store,
        apps,
        client,
        moved.filter(({ move }) => some.includes(move)),
      )
    const answerMade = (made: MadeMoves) => {
      for (const { item } of unmoved.filter(({ index }) => !answers[index])) countRefused(apps, tally, item)
      answerWith(unmoved, answers)
      for (const { move, state, decisions } of moved) {
        const counter = made.get(move)
        if (counter === undefined) continue
        answerWith(decisions, answers)
        count(tally, move, decisions.length)
        for (const { item } of decisions) apps.confirm(item.caller)
        if (memory && decisions[0]) memory.moved(decisions[0].item, state, move.to, counter)
      }
    }
    try {
      if (moves.length === 0 && receipts.length === 0) answerMade(new Map())
      else await store.write(client, moves, receipts, answerMade, { inTransaction, confirming })
      if (spent.length > 0) {
        const made = await store.spend(
          client,
          spent.map(({ move }) => move),
          { inTransaction },
        )
        for (const one of spent) {
          const { userId, move } = one
          if (!made.has(move)) {
            how.spenders?.forget(move.appId, userId)
            continue
          }
          answerSpent(apps, tally, one, answers)
          rememberSpent(how, one, readAt)
        }
      }
      if (open.some(({ index }) => !answers[index]) && ++races > MAX_LOST_RACES) throw keptChanging()
    } catch (error) {
      for (const { item, index } of open) {
        if (!recalled.has(index)) continue
        memory?.forget(item)
        how.spenders?.forget(item.caller.appId, item.event.userId)
      }
      const overtaken = isOvertaken(error)
      if (inTransaction) throw overtaken && !lacksPartition(error) ? new TryAgain() : error
      // A missing table may be that of a place that was removed since the read. Without several places it is a fault.
      if (!overtaken && !(await store.isOutdated(client, error))) throw error
      if (++conflicts > MAX_WRITE_CONFLICTS) throw error
    }
  }
}

/** The events still to be answered; of several that share a key, only the first. */
function openOnes(pending: readonly PendingUsage[], answers: Answers<RecordedUsage>): OpenEvent[] {
  const open: OpenEvent[] = []
  const seen = new Set<string>()
  for (const [index, item] of pending.entries()) {
    if (answers[index]) continue
    if (item.key) {
      const { appId, scope, key } = item.key
      const name = JSON.stringify([appId, scope, key])
      if (seen.has(name)) continue
      seen.add(name)
    }
    open.push({ item, index })
  }
  return open
}

/** All calls on one counter, folded into one move: all of them succeed, or none. */
interface Moved {
  move: CounterMove
  state: UsageState
  decisions: Decision[]
  allowance: Allowance
}

/** The state of each event, remembered or read. */
async function readStates(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  open: readonly OpenEvent[],
  recalled: ReadonlyMap<number, UsageState>,
  how: Reading,
): Promise<BatchResult<UsageState>[]> {
  const asked = open.filter(({ index }) => !recalled.has(index))
  const questions = asked.map(({ item }) => questionOf(item))
  const read = questions.length > 0 ? await readEntitlements(store, apps, client, questions, how) : []
  const found = new Map(asked.map(({ index }, i) => [index, read[i]]))
  return open.map(({ index }) => {
    const state = recalled.get(index)
    if (state) return { value: state }
    const result = found.get(index) ?? { error: new Error('an event has no state') }
    return 'error' in result ? result : { value: usageState(result.value) }
  })
}

function decide(
  open: readonly OpenEvent[],
  states: readonly BatchResult<UsageState>[],
  recalled: ReadonlyMap<number, UsageState>,
  answers: Answers<RecordedUsage>,
  apps: AppCache,
) {
  const counters = new Map<string, Moved>()
  const spenders = new Map<string, Spent>()
  const unmoved: Decision[] = []
  for (const [i, { item, index }] of open.entries()) {
    if (answers[index]) continue
    const result = states[i]
    if (!result || 'error' in result) {
      answers[index] = { error: result?.error ?? new Error('an event has no access state') }
      continue
    }
    if (result.value.purse) {
      spendFrom(apps, spenders, { item, index }, result.value, result.value.purse, recalled.has(index))
      continue
    }
    const counter = moveOf(counters, item.caller.appId, result.value, recalled.has(index))
    const before = counter?.move.to ?? 0
    const { used, ...answer } = applyUsage(result.value.entitlement, before, item.event)
    const split = answer.recorded ? planSplit(item, result.value.entitlement, used - before) : null
    const decision = { item, index, answer, uid: result.value.uid, ...(split && { split }) }
    if (counter) counter.decisions.push(decision)
    else unmoved.push(decision)
    if (counter && answer.recorded) {
      const { action } = item.event
      counter.move.entries.push({ action, delta: used - before, used, recordedAt: result.value.now })
      counter.move.to = used
    }
  }
  const moved: Moved[] = []
  for (const counter of counters.values()) {
    if (counter.move.entries.length > 0) moved.push(counter)
    // All refused: there is nothing to move, and the refusals are valid as of the moment of reading.
    else unmoved.push(...counter.decisions)
  }
  for (const counter of moved) {
    counter.move.receipts = counter.decisions.flatMap(receiptsOf)
    counter.move.events = usageEvents(counter, apps)
  }
  const { spent, unspent } = toWrite(spenders)
  unmoved.push(...unspent)
  return { moved: moved.sort(byCounter), spent, unmoved }
}

function moveOf(
  counters: Map<string, Moved>,
  appId: string,
  state: UsageState,
  recalled: boolean,
): Moved | null {
  const { entitlement, uid, counter: ref, featureId, basis } = state
  if (entitlement.kind !== 'metered' || uid === null || ref === null) return null
  const { resetPeriod } = entitlement.allowance
  const periodStart = entitlement.period.start
  const name = `${uid} ${periodStart} ${resetPeriod} ${featureId}`
  let counter = counters.get(name)
  if (!counter) {
    const key = { appId, userUid: uid, featureId, resetPeriod, periodStart }
    const from = state.counted ? state.used : null
    const move = { key, ref, basis, recalled, from, to: state.used, entries: [], receipts: [], events: [] }
    counter = { move, state, decisions: [], allowance: entitlement.allowance }
    counters.set(name, counter)
  }
  return counter
}

/** All writers take counters in the same order, so that no two wait for each other. */
function byCounter({ move: { key: a } }: Moved, { move: { key: b } }: Moved): number {
  return a.userUid - b.userUid || (a.featureId < b.featureId ? -1 : a.featureId > b.featureId ? 1 : 0)
}
