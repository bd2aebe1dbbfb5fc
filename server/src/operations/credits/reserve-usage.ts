import { randomUUID } from 'node:crypto'
import { checkedEntities } from '../../domain/cap.ts'
import {
  checkNewReservation,
  type NewReservation,
  type UserReservation,
  userReservation,
} from '../../domain/reservation.ts'
import { decideReserve, sameReservation, unheldReservation } from '../../domain/reservation-calls.ts'
import { findReservation } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { accessOf } from '../usage/can-use-feature.ts'
import { countReservation } from '../usage/feature-counts.ts'
import { mutateSpender, purseWith, writeBurn } from './mutate-spender.ts'
import { inBatch } from './reservations.ts'

/** Holds units of a feature. Without room for `atLeast` nothing is held or stored, and `reason` says why. */
export async function reserveUsage(
  call: Call,
  { userId, ...input }: NewReservation & { userId: string },
): Promise<UserReservation> {
  checkNewReservation(input)
  const { featureId } = input
  const asked = {
    ...input,
    entities: checkedEntities(input.entities),
    id: input.id ?? `rsv_${randomUUID()}`,
    atLeast: input.atLeast ?? input.amount,
  }
  const isNew = input.id === null
  const batched = await inBatch(call, { kind: 'RESERVE', id: asked.id, isNew, userId, asked })
  if (batched) return batched
  let count = () => {}
  const answer = await mutateSpender(
    call,
    userId,
    featureId,
    async (spender) => {
      const { tx, user, now, state } = spender
      const found = isNew ? null : await findReservation(tx, call.appId, asked.id)
      if (found)
        return userReservation(sameReservation(found, found.userUid === user.uid, asked), userId, now)
      const purse = await purseWith(spender, spender.spending)
      const change = purse
        ? decideReserve(purse, asked, state.spending?.live ?? 0, now)
        : accessOf(state, asked.atLeast).reason
      const of = { appId: call.appId, featureId, kind: 'RESERVE' as const }
      count = () => countReservation(call.service.activity.features, of, null, change)
      if (typeof change === 'string') return unheldReservation(asked, userId, change, now)
      if (change.changed) await writeBurn(spender, null, { isNew: true, row: change.after })
      return userReservation(change.after, userId, now)
    },
    { entities: asked.entities },
  )
  count()
  return answer
}
