import { randomUUID } from 'node:crypto'
import { checkedEntities } from '../../domain/cap.ts'
import { conflict, quote, rateLimited } from '../../domain/errors.ts'
import { MAX_RESERVATIONS, RESERVATION_KEPT_DAYS } from '../../domain/limits.ts'
import { checkNewReservation, entitiesOf, type NewReservation, reserve } from '../../domain/reservation.ts'
import { type Purse, roomOf } from '../../domain/spending.ts'
import { shortage } from '../../domain/spending-calls.ts'
import {
  countLiveReservations,
  deleteOldReservations,
  findReservation,
  insertReservation,
  type ReservationRow,
} from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { accessOf } from '../usage/can-use-feature.ts'
import { mutateSpender, purseWith, type Spender, writeBurn } from './mutate-spender.ts'
import { type UserReservation, userReservation } from './reservations.ts'

/** Holds units of a feature. Without room for `atLeast` nothing is held or stored, and `reason` says why. */
export function reserveUsage(
  call: Call,
  { userId, ...input }: NewReservation & { userId: string },
): Promise<UserReservation> {
  checkNewReservation(input)
  const asked = { ...input, entities: checkedEntities(input.entities) }
  const id = asked.id ?? `rsv_${randomUUID()}`
  const atLeast = asked.atLeast ?? asked.amount
  return mutateSpender(
    call,
    userId,
    asked.featureId,
    async (spender) => {
      const { tx, user, now } = spender
      const old = now - RESERVATION_KEPT_DAYS * 86_400_000
      await deleteOldReservations(tx, call.appId, user.uid, asked.featureId, old)
      const found = await findReservation(tx, call.appId, id)
      if (found) return userReservation(sameAs(found, { ...asked, atLeast }, user.uid), userId, now)
      const live = await countLiveReservations(tx, call.appId, user.uid, asked.featureId, now)
      if (live >= MAX_RESERVATIONS)
        throw rateLimited(`A user can have at most ${MAX_RESERVATIONS} live reservations of a feature.`, 1)

      const purse = await purseWith(spender, spender.spending)
      const parts = purse && reserve(purse, asked.amount, atLeast, now, asked.entities)
      const expiresAt = now + asked.ttlSeconds * 1_000
      if (!parts) {
        const reason = purse
          ? tooFew(purse, atLeast, now, asked.entities)
          : accessOf(spender.state, atLeast).reason
        return refused(id, asked.featureId, userId, reason, now)
      }
      const stored = { ...asked, id, atLeast }
      if (!(await insertReservation(tx, call.appId, user.uid, stored, parts, { now, expiresAt })))
        throw conflict(`The reservation ${quote(id)} exists`, 'id')
      await writeBurn(spender, null)
      const row = { ...stored, seq: 0, userUid: user.uid, state: 'HELD' as const, parts, settled: 0 }
      return userReservation({ ...row, late: false, reason: null, createdAt: now, expiresAt }, userId, now)
    },
    asked.entities,
  )
}

/** Why fewer units than requested can be held: the sources have too few, or a cap. */
export function tooFew(purse: Purse, atLeast: number, now: number, entities: readonly string[]): string {
  const { by, figures } = shortage(purse, atLeast, now, entities)
  const left = by === 'PLAN' ? `${roomOf(purse, now)} left in the sources of the feature` : figures
  return `Limit reached: ${left}; ${atLeast} requested.`
}

const refused = (
  id: string,
  featureId: string,
  userId: string,
  reason: string,
  now: number,
): UserReservation => ({
  id,
  userId,
  featureId,
  reserved: 0,
  settled: 0,
  state: 'RELEASED',
  createdAt: now,
  expiresAt: now,
  late: false,
  reason,
})

/** A repeated request is answered with the reservation that it made. */
function sameAs(
  found: ReservationRow,
  asked: NewReservation & { atLeast: number },
  userUid: Spender['user']['uid'],
): ReservationRow {
  const same =
    found.userUid === userUid &&
    found.featureId === asked.featureId &&
    found.amount === asked.amount &&
    found.atLeast === asked.atLeast &&
    found.ttlSeconds === asked.ttlSeconds &&
    JSON.stringify(entitiesOf(found.parts)) === JSON.stringify(asked.entities) &&
    JSON.stringify(found.metadata) === JSON.stringify(asked.metadata)
  if (!same) throw conflict(`The reservation ${quote(found.id)} exists with other content`, 'id')
  return found
}
