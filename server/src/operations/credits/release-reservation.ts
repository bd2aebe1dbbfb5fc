import type { UserReservation } from '../../domain/reservation.ts'
import { decideRelease } from '../../domain/reservation-calls.ts'
import type { Call } from '../call/call.ts'
import { mutateReservation } from './reservations.ts'

export function releaseReservation(call: Call, id: string): Promise<UserReservation> {
  return mutateReservation(call, id, { kind: 'RELEASE' }, async ({ state, now }, row) =>
    decideRelease(state.purse, row, now),
  )
}
