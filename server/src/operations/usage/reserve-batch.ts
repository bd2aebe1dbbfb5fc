import { TollgateError } from '../../domain/errors.ts'
import { MAX_LOST_RACES, MAX_WRITE_CONFLICTS } from '../../domain/limits.ts'
import type { Purse } from '../../domain/purse.ts'
import {
  type Reservation,
  reservationState,
  type UserReservation,
  userReservation,
} from '../../domain/reservation.ts'
import {
  decideExtend,
  decideRelease,
  decideReserve,
  decideSettle,
  includesSources,
  type ReservationChange,
  unheldReservation,
} from '../../domain/reservation-calls.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { FoundReservation } from '../../store/credits/reservations.ts'
import type { Basis } from '../../store/usage/usage-moves.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { EntitlementState, FeatureTally, PendingReservation } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import { type UsageState, usageState } from './counter-memory.ts'
import { countReservation } from './feature-counts.ts'
import { type Answers, answerKnownKeys } from './known-keys.ts'
import { type Reading, readEntitlements } from './read-entitlements.ts'
import { recallCalls } from './recall.ts'
import { failOthers, isOvertaken, keptChanging, leaveTheGone } from './record-failures.ts'
import { ALONE, type Answer, type Asked, openCalls, questionsOf } from './reservation-questions.ts'
import { addBurn, counterRow, emptyMove, latest } from './spend.ts'
import { isOfMove, rememberSpent, type Spent } from './spend-batch.ts'

/**
 * Calls on reservations, decided together and written with one statement, like records of usage. What happens rarely is
 * left alone, for a transaction of its own: whatever is refused, concerns earlier periods or ended credits, or enrols the
 * user.
 */
export async function reserveBatch(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingReservation[],
  tally: FeatureTally,
  how: Reading,
): Promise<BatchResult<Answer>[]> {
  const answers: Answers<Answer> = new Array(pending.length)
  try {
    await reserveTogether(store, apps, client, pending, tally, answers, how)
  } catch (error) {
    failOthers(answers, error)
  }
  return answers.map((answer) => {
    if (!answer) return { error: new Error('a call on a reservation has no answer') }
    return 'value' in answer && answer.value === 'claimed' ? ALONE : (answer as BatchResult<Answer>)
  })
}

async function reserveTogether(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingReservation[],
  tally: FeatureTally,
  answers: Answers<Answer>,
  how: Reading,
): Promise<void> {
  for (let [races, conflicts, first] = [0, 0, true]; ; first = false) {
    const recalled = first ? recallCalls(apps, openCalls(pending, answers), how) : []
    // A key or an id that is taken keeps a remembered call from being written.
    const isRecalled = (index: number) => recalled.some((one) => one.index === index)
    await answerKnownKeys(client, pending, answers, isRecalled)
    leaveTheGone(pending, answers)
    const open = openCalls(pending, answers)
    if (open.length === 0) return
    const others = await questionsOf(
      client,
      apps,
      open.filter(({ index }) => !isRecalled(index)),
      answers,
    )
    const states = await readStates(store, apps, client, others, how)
    const readAt = how.spenders?.now() ?? 0
    const spenders = new Map<string, Reserved>()
    for (const one of recalled)
      if (!answers[one.index]) decide(apps, tally, spenders, one, one.state, one.state.basis, answers)
    for (const [i, one] of others.entries()) {
      const state = states[i]
      if (!state || 'error' in state) answers[one.index] = ALONE
      else decide(apps, tally, spenders, one, usageState(state.value), null, answers)
    }
    const asked = [...recalled, ...others]
    const written = [...spenders.values()].sort((a, b) => a.move.userUid - b.move.userUid)
    if (written.length === 0 && asked.every(({ index }) => answers[index])) continue
    const moves = written.map(({ move }) => move)
    try {
      const made = moves.length > 0 ? await store.spend(client, moves, {}) : new Set()
      for (const one of written) {
        if (!made.has(one.move)) {
          how.spenders?.forget(one.move.appId, one.userId)
          continue
        }
        for (const { index, answer, count } of one.answers) {
          answers[index] = { value: answer }
          count()
        }
        for (const { caller } of one.callers) apps.confirm(caller)
        rememberSpent(how, one, readAt)
      }
      if (asked.some(({ index }) => !answers[index]) && ++races > MAX_LOST_RACES) throw keptChanging()
    } catch (error) {
      for (const { item, question } of recalled) how.spenders?.forget(item.caller.appId, question.userId)
      if (!isOvertaken(error) || ++conflicts > MAX_WRITE_CONFLICTS) throw error
    }
  }
}

async function readStates(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  asked: readonly Asked[],
  how: Reading,
): Promise<BatchResult<EntitlementState>[]> {
  const questions = asked.map(({ question }) => question)
  return questions.length > 0 ? readEntitlements(store, apps, client, questions, how) : []
}

/** The calls of a user, as one move: all of them succeed, or none. */
interface Reserved extends Omit<Spent, 'decisions'> {
  /** live reservations after the calls so far, by feature */
  live: Map<string, number>
  answers: { index: number; answer: UserReservation; count: () => void }[]
  callers: Pick<PendingReservation, 'caller'>[]
}

/** `recalled`: the basis of a remembered state; one that would be refused by it stays open. Null: it has been read. */
function decide(
  apps: AppCache,
  tally: FeatureTally,
  spenders: Map<string, Reserved>,
  { item, index, question, found }: Asked,
  state: UsageState,
  recalled: Basis | null,
  answers: Answers<Answer>,
): void {
  const { uid, spending, counter, purse: read, pool, now, featureId } = state
  const { caller, reservation, key } = item
  const { appId } = caller
  const { userId } = question
  if (uid === null || !spending || counter === null || !read || (pool && !pool.enrolled)) {
    answers[index] = ALONE
    return
  }
  // It has changed between the two reads, or is another user's by now.
  if (found && (found.version !== spending.version || found.userUid !== uid)) return
  const { version } = spending
  const name = `${uid} ${appId}`
  const others = spenders.get(name)
  if (others && !isOfMove(others, version, recalled)) return
  const spender: Reserved = others ?? {
    move: emptyMove({ appId, userUid: uid, userId, version, at: now, basis: recalled, ref: counter }),
    userId,
    states: new Map(),
    purses: new Map(),
    live: new Map(),
    answers: [],
    callers: [],
  }
  const purse = latest(spender.purses, featureId, read)
  const live = spender.live.get(featureId) ?? spending.live
  const change = changeOf(item, found, purse, live, now)
  const isMade = change !== null && typeof change !== 'string' && change.changed && change.purse !== null
  if (recalled && !isMade) return
  const answer =
    typeof change === 'string' && reservation.kind === 'RESERVE'
      ? unheldReservation(reservation.asked, userId, change, now)
      : change && typeof change !== 'string'
        ? userReservation(change.after, userId, now)
        : null
  if (answer === null) {
    answers[index] = ALONE
    return
  }
  const { move } = spender
  const count = () => {
    if (change !== null) countReservation(tally, { appId, featureId, kind: reservation.kind }, found, change)
  }
  if (change === null || typeof change === 'string' || !change.changed || change.purse === null) {
    // With a key, the answer must be stored.
    if (key) answers[index] = ALONE
    // By what earlier calls of the move leave: it is true once they are written.
    else if (others) spender.answers.push({ index, answer, count })
    else {
      answers[index] = { value: answer }
      count()
    }
    return
  }
  spenders.set(name, spender)
  spender.states.set(featureId, spender.states.get(featureId) ?? state)
  if (change.burn) addBurn(apps, move, featureId, state, change.burn, (id) => counterRow(state, id, move))
  move.reservations.push({ isNew: found === null, row: change.after })
  if (key) {
    const results = JSON.stringify({ [key.field]: { value: answer } })
    // The answer names the user, by which it is found.
    move.receipts.push({ ...key, results, userUid: null })
  }
  const wasLive = found && reservationState(found, now) === 'HELD' ? 1 : 0
  const isLive = reservationState(change.after, now) === 'HELD' ? 1 : 0
  spender.live.set(featureId, live + isLive - wasLive)
  spender.purses.set(featureId, change.purse)
  const drawn = change.purse.pool
  if (drawn) spender.purses.set(drawn.featureId, drawn.purse)
  spender.answers.push({ index, answer, count })
  spender.callers.push(item)
}

/** Null: it cannot be decided here. A string: nothing is held, and why. */
function changeOf(
  { reservation }: PendingReservation,
  found: FoundReservation | null,
  purse: Purse,
  live: number,
  now: number,
): ReservationChange<Reservation> | string | null {
  try {
    if (reservation.kind === 'RESERVE') return decideReserve(purse, reservation.asked, live, now)
    if (!found || reservationState(found, now) !== 'HELD' || !includesSources(purse, found.parts)) return null
    if (reservation.kind === 'EXTEND') return decideExtend(purse, found, reservation.extension, now)
    if (reservation.kind === 'RELEASE') return decideRelease(purse, found, now)
    return decideSettle(purse, found, reservation.settlement, now)
  } catch (error) {
    if (error instanceof TollgateError) return null
    throw error
  }
}
