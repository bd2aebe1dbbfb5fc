import { conflict, quote } from '../../domain/errors.ts'
import { reservationState } from '../../domain/reservation.ts'
import { updateReservation } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { writeBurn } from './mutate-spender.ts'
import { mutateReservation, type UserReservation } from './reservations.ts'

/** Returns what a reservation holds. One that was released or has expired holds nothing, and stays as it is. */
export function releaseReservation(call: Call, id: string): Promise<UserReservation> {
  return mutateReservation(call, id, async (spender, row) => {
    const { tx, now } = spender
    const state = reservationState(row, now)
    if (state === 'SETTLED') throw conflict(`The reservation ${quote(id)} is ${state}`, 'id')
    if (state !== 'HELD') return row
    const after = { ...row, state: 'RELEASED' as const }
    await updateReservation(tx, call.appId, after)
    await writeBurn(spender, null)
    return after
  })
}
