import { TollgateError } from '../../domain/errors.ts'
import { MAX_LOST_RACES, MAX_WRITE_CONFLICTS } from '../../domain/limits.ts'
import {
  entitiesOf,
  type Reservation,
  reservationState,
  type UserReservation,
  userReservation,
} from '../../domain/reservation.ts'
import {
  type Change,
  decideExtend,
  decideRelease,
  decideReserve,
  decideSettle,
  includesSources,
  unheldReservation,
} from '../../domain/reservation-calls.ts'
import type { Purse } from '../../domain/spending.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Tx } from '../../store/connection/database.ts'
import { type FoundReservation, findReservations } from '../../store/credits/reservations.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { EntitlementQuestion, EntitlementState, PendingReservation } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import { type Answers, answerKnownKeys } from './known-keys.ts'
import { type Reading, readEntitlements } from './read-entitlements.ts'
import { failOthers, isOvertaken, keptChanging, leaveTheGone } from './record-failures.ts'
import { addBurn, emptyMove } from './spend.ts'
import { counterRow, latest, rememberSpent, type Spent } from './spend-batch.ts'

type Answer = UserReservation | 'alone'

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
  how: Reading,
): Promise<BatchResult<Answer>[]> {
  const answers: Answers<Answer> = new Array(pending.length)
  try {
    await reserveTogether(store, apps, client, pending, answers, how)
  } catch (error) {
    failOthers(answers, error)
  }
  return answers.map((answer) => {
    if (!answer) return { error: new Error('a call on a reservation has no answer') }
    return 'value' in answer && answer.value === 'claimed' ? ALONE : (answer as BatchResult<Answer>)
  })
}

const ALONE: BatchResult<Answer> = { value: 'alone' }

async function reserveTogether(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  pending: readonly PendingReservation[],
  answers: Answers<Answer>,
  how: Reading,
): Promise<void> {
  for (let [races, conflicts] = [0, 0]; ; ) {
    await answerKnownKeys(client, pending, answers)
    leaveTheGone(pending, answers)
    const open = openOnes(pending, answers)
    if (open.length === 0) return
    const asked = await questionsOf(client, apps, open, answers)
    const states = await readEntitlements(
      store,
      apps,
      client,
      asked.map(({ question }) => question),
      how,
    )
    const spenders = new Map<string, Reserved>()
    for (const [i, one] of asked.entries()) {
      const state = states[i]
      if (!state || 'error' in state) answers[one.index] = ALONE
      else decide(apps, spenders, one, state.value, answers)
    }
    const written = [...spenders.values()].sort((a, b) => a.move.userUid - b.move.userUid)
    if (written.length === 0 && asked.every(({ index }) => answers[index])) continue
    const moves = written.map(({ move }) => move)
    try {
      const made = moves.length > 0 ? await store.spend(client, moves, {}) : new Set()
      for (const one of written.filter(({ move }) => made.has(move))) {
        for (const { index, answer } of one.answers) answers[index] = { value: answer }
        for (const { caller } of one.callers) apps.confirm(caller)
        if (how.credits) rememberSpent(how.credits, one.userId, one)
      }
      if (asked.some(({ index }) => !answers[index]) && ++races > MAX_LOST_RACES) throw keptChanging()
    } catch (error) {
      if (!isOvertaken(error) || ++conflicts > MAX_WRITE_CONFLICTS) throw error
    }
  }
}

interface Open {
  item: PendingReservation
  index: number
}

/** Calls still to be answered; of several that share a key or a reservation, only the first. */
function openOnes(pending: readonly PendingReservation[], answers: Answers<Answer>): Open[] {
  const open: Open[] = []
  const seen = new Set<string>()
  for (const [index, item] of pending.entries()) {
    if (answers[index]) continue
    const { caller, reservation, key } = item
    const names = [JSON.stringify([caller.appId, reservation.id])]
    if (key) names.push(JSON.stringify([caller.appId, key.scope, key.key]))
    const isFirst = !names.some((name) => seen.has(name))
    for (const name of names) seen.add(name)
    if (isFirst) open.push({ item, index })
  }
  return open
}

interface Asked extends Open {
  question: EntitlementQuestion
  /** null: a new one */
  found: FoundReservation | null
}

/** What to read for each call. One on a reservation that does not exist, or is repeated, is left alone. */
async function questionsOf(
  client: Tx,
  apps: AppCache,
  open: readonly Open[],
  answers: Answers<Answer>,
): Promise<Asked[]> {
  const named = open.filter(
    ({ item: { reservation } }) => reservation.kind !== 'RESERVE' || !reservation.isNew,
  )
  const ids = named.map(({ item: { caller, reservation } }) => ({ appId: caller.appId, id: reservation.id }))
  const rows = ids.length > 0 ? await findReservations(client, ids) : []
  const found = new Map(named.map(({ index }, i) => [index, rows[i] ?? null]))
  const asked: Asked[] = []
  for (const one of open) {
    const { caller, reservation } = one.item
    const row = found.get(one.index) ?? null
    const isNew = reservation.kind === 'RESERVE'
    // Where users are in several places, each has its own connection.
    if (apps.known(caller.appId)?.layout || isNew !== (row === null)) {
      answers[one.index] = ALONE
      continue
    }
    const of = isNew
      ? {
          userId: reservation.userId,
          featureId: reservation.asked.featureId,
          entities: reservation.asked.entities,
        }
      : row && { userId: row.userId, featureId: row.featureId, entities: entitiesOf(row.parts) }
    if (of) asked.push({ ...one, question: { caller, ...of }, found: row })
  }
  return asked
}

/** The calls of a user, as one move: all of them succeed, or none. */
interface Reserved extends Pick<Spent, 'move' | 'purses'> {
  userId: string
  /** live reservations after the calls so far, by feature */
  live: Map<string, number>
  answers: { index: number; answer: UserReservation }[]
  callers: Pick<PendingReservation, 'caller'>[]
}

function decide(
  apps: AppCache,
  spenders: Map<string, Reserved>,
  { item, index, question, found }: Asked,
  state: EntitlementState,
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
  const name = `${uid} ${version} ${appId}`
  const spender: Reserved = spenders.get(name) ?? {
    move: emptyMove({ appId, userUid: uid, version, at: now, ref: counter }),
    purses: new Map(),
    userId,
    live: new Map(),
    answers: [],
    callers: [],
  }
  const purse = latest(spender.purses, featureId, read)
  const live = spender.live.get(featureId) ?? spending.live
  const change = changeOf(item, found, purse, live, now)
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
  if (change === null || typeof change === 'string' || !change.changed || change.purse === null) {
    // With a key, the answer must be stored.
    answers[index] = key ? ALONE : { value: answer }
    return
  }
  const { move } = spender
  spenders.set(name, spender)
  const of = { appId, userUid: uid, userId, featureId }
  if (change.burn) addBurn(apps, move, of, state, change.burn, (id) => counterRow(state, id))
  move.reservations.push({ isNew: found === null, row: change.after })
  if (key) {
    const results = JSON.stringify({ [key.field]: { value: answer } })
    move.receipts.push({ ...key, results, userUid: uid })
  }
  const wasLive = found && reservationState(found, now) === 'HELD' ? 1 : 0
  const isLive = reservationState(change.after, now) === 'HELD' ? 1 : 0
  spender.live.set(featureId, live + isLive - wasLive)
  spender.purses.set(featureId, change.purse)
  const drawn = change.purse.pool
  if (drawn) spender.purses.set(drawn.featureId, drawn.purse)
  spender.answers.push({ index, answer })
  spender.callers.push(item)
}

/** Null: it cannot be decided here. A string: nothing is held, and why. */
function changeOf(
  { reservation }: PendingReservation,
  found: FoundReservation | null,
  purse: Purse,
  live: number,
  now: number,
): Change<Reservation> | string | null {
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
