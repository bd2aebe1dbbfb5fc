import { reservationNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import {
  entitiesOf,
  poolOf,
  type ReservationState,
  type UserReservation,
  userReservation,
} from '../../domain/reservation.ts'
import type { ReservationChange } from '../../domain/reservation-calls.ts'
import { findReservation, type ReservationRow, reservationsOfUser } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import type { ReservationAction, ReservationCall } from '../call/hot-paths.ts'
import { countReservation } from '../usage/feature-counts.ts'
import { type SpendingFilter, spendingPage } from './credits.ts'
import { mutateOwned, type Spender, writeBurn } from './mutate-spender.ts'

/**
 * A call on one reservation: in a batch with others if that is possible, and otherwise in a transaction of its own, where
 * `decide` has all that it may need.
 */
export async function mutateReservation(
  call: Call,
  id: string,
  action: ReservationAction,
  decide: (spender: Spender, row: ReservationRow) => Promise<ReservationChange<ReservationRow>>,
): Promise<UserReservation> {
  const batched = isIdentifier(id) ? await inBatch(call, { ...action, id }) : null
  if (batched) return batched
  let count = () => {}
  const answer = await mutateOwned(
    call,
    async (tx) => (isIdentifier(id) ? findReservation(tx, call.appId, id) : null),
    () => reservationNotFound(id),
    async (spender, row) => {
      const change = await decide(spender, row)
      if (change.changed) await writeBurn(spender, change.burn, { isNew: false, row: change.after })
      const of = { appId: call.appId, featureId: row.featureId, kind: action.kind }
      count = () => countReservation(call.service.activity.features, of, row, change)
      return userReservation(change.after, spender.user.id, spender.now)
    },
    ({ parts }) => ({ drawnFrom: poolOf(parts), entities: entitiesOf(parts) }),
  )
  count()
  return answer
}

/** Null: it must be decided in a transaction of its own. What members do is audited there. */
export async function inBatch(call: Call, reservation: ReservationCall): Promise<UserReservation | null> {
  const { appId, actor, idempotency, service } = call
  if (actor.kind !== 'app') return null
  const key = idempotency && { appId, scope: 'request' as const, ...idempotency }
  const answer = await service.usage.reserve({ caller: call, key, reservation })
  return answer === 'alone' ? null : answer
}

/** A user's reservations, oldest first. */
export async function reservations(
  call: Call,
  userId: string,
  filter: SpendingFilter<ReservationState>,
): Promise<UserReservation[]> {
  const { uid, now, page } = await spendingPage(call, userId, filter, findReservation)
  const rows = await reservationsOfUser(call.service.pool, call.appId, uid, page, now)
  return rows.map((row) => userReservation(row, userId, now))
}
