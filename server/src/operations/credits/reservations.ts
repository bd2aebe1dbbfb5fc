import { reservationNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_PAGE } from '../../domain/limits.ts'
import { entitiesOf, poolOf, type ReservationState, reservationState } from '../../domain/reservation.ts'
import { heldOf } from '../../domain/split.ts'
import { findReservation, type ReservationRow, reservationsOfUser } from '../../store/credits/reservations.ts'
import { type Call, momentOf } from '../call/call.ts'
import { checkFirst, unknownAfter } from '../call/paging.ts'
import { requireFeature, requireUser } from '../call/require.ts'
import type { SpendingFilter } from './credits.ts'
import { mutateOwned, type Spender } from './mutate-spender.ts'

/** A reservation as of now. */
export interface UserReservation {
  id: string
  userId: string
  featureId: string
  /** held now */
  reserved: number
  settled: number
  state: ReservationState
  createdAt: number
  expiresAt: number
  late: boolean
  reason: string | null
}

export function userReservation(row: ReservationRow, userId: string, now: number): UserReservation {
  const { id, featureId, parts, settled, createdAt, expiresAt, late, reason } = row
  const state = reservationState(row, now)
  const reserved = state === 'HELD' ? heldOf(parts) : 0
  return { id, userId, featureId, reserved, settled, state, createdAt, expiresAt, late, reason }
}

/** A mutation of one reservation. */
export function mutateReservation(
  call: Call,
  id: string,
  effect: (spender: Spender, row: ReservationRow) => Promise<ReservationRow>,
): Promise<UserReservation> {
  return mutateOwned(
    call,
    async (tx) => (isIdentifier(id) ? findReservation(tx, call.appId, id) : null),
    () => reservationNotFound(id),
    async (spender, row) => userReservation(await effect(spender, row), spender.user.id, spender.now),
    ({ parts }) => ({ drawnFrom: poolOf(parts), entities: entitiesOf(parts) }),
  )
}

/** A user's reservations, oldest first. */
export async function reservations(
  call: Call,
  userId: string,
  { featureId, state, first, after }: SpendingFilter<ReservationState>,
): Promise<UserReservation[]> {
  const { appId } = call
  const { pool } = call.service
  const { app, now } = await momentOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  if (featureId !== null) requireFeature(app.catalogue, featureId)
  checkFirst(first)
  // One more than a page, so that a caller can find out whether it is the last.
  const limit = Math.min(first ?? MAX_PAGE, MAX_PAGE + 1)
  const last = after ? (isIdentifier(after) ? await findReservation(pool, appId, after) : null) : undefined
  if (last === null || (last && last.userUid !== uid)) throw unknownAfter()
  const filter = { featureId, state, after: last?.seq ?? 0, limit }
  const rows = await reservationsOfUser(pool, appId, uid, filter, now)
  return rows.map((row) => userReservation(row, userId, now))
}
