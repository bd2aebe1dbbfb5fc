import { checkAmount } from '../../domain/credit.ts'
import { badUserInput } from '../../domain/errors.ts'
import { checkTtl, type UserReservation } from '../../domain/reservation.ts'
import { decideExtend, type Extension } from '../../domain/reservation-calls.ts'
import type { Call } from '../call/call.ts'
import { purseWith } from './mutate-spender.ts'
import { mutateReservation } from './reservations.ts'

/** Postpones the end of a live reservation, adds units to it, or both. If the units do not fit, nothing is changed. */
export function extendReservation(call: Call, id: string, extension: Extension): Promise<UserReservation> {
  const { ttlSeconds, add } = extension
  if (ttlSeconds === null && add === null) throw badUserInput('ttlSeconds or add is required', 'ttlSeconds')
  if (ttlSeconds !== null) checkTtl(ttlSeconds)
  if (add !== null) checkAmount('add', add)
  return mutateReservation(call, id, { kind: 'EXTEND', extension }, async (spender, row) =>
    decideExtend(await purseWith(spender, spender.spending), row, extension, spender.now),
  )
}
