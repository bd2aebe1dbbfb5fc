import { entitiesOf, type UserReservation } from '../../domain/reservation.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Tx } from '../../store/connection/database.ts'
import { type FoundReservation, findReservations } from '../../store/credits/reservations.ts'
import type { EntitlementQuestion, PendingReservation, ReservationCall } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import type { Answers } from './known-keys.ts'

// Questions that calls on reservations ask the database.

/** `alone`: it must be decided in a transaction of its own. */
export type Answer = UserReservation | 'alone'

export const ALONE: BatchResult<Answer> = { value: 'alone' }

export interface Open {
  item: PendingReservation
  index: number
}

/** Calls still to be answered; of several that share a key or a reservation, only the first. */
export function openCalls(pending: readonly PendingReservation[], answers: Answers<Answer>): Open[] {
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

export interface Asked extends Open {
  question: EntitlementQuestion
  /** null: a new one */
  found: FoundReservation | null
}

export function askedOf(reservation: ReservationCall, found: FoundReservation | null, userId: string) {
  if (reservation.kind === 'RESERVE') {
    const { featureId, entities } = reservation.asked
    return { userId, featureId, entities }
  }
  if (!found) throw new Error('a reservation was not found')
  return { userId, featureId: found.featureId, entities: entitiesOf(found.parts) }
}

/** Question of each call. Calls on unknown reservations and repeated calls are left out. */
export async function questionsOf(
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
    const userId = isNew ? reservation.userId : (row?.userId ?? '')
    asked.push({ ...one, question: { caller, ...askedOf(reservation, row, userId) }, found: row })
  }
  return asked
}
