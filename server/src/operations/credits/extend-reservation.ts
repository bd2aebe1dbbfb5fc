import { checkAmount } from '../../domain/credit.ts'
import { badUserInput, conflict, quote } from '../../domain/errors.ts'
import { checkTtl, entitiesOf, extend, reservationState } from '../../domain/reservation.ts'
import { type ReservationRow, updateReservation } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { purseWith, type Spender, writeBurn } from './mutate-spender.ts'
import { mutateReservation, type UserReservation } from './reservations.ts'
import { tooFew } from './reserve-usage.ts'

/** Postpones the end of a live reservation, adds units to it, or both. If the units do not fit, nothing is changed. */
export function extendReservation(
  call: Call,
  id: string,
  { ttlSeconds, add }: { ttlSeconds: number | null; add: number | null },
): Promise<UserReservation> {
  if (ttlSeconds === null && add === null) throw badUserInput('ttlSeconds or add is required', 'ttlSeconds')
  if (ttlSeconds !== null) checkTtl(ttlSeconds)
  if (add !== null) checkAmount('add', add)
  return mutateReservation(call, id, async (spender, row) => {
    const { tx, now } = spender
    const state = reservationState(row, now)
    if (state !== 'HELD') throw conflict(`The reservation ${quote(id)} is ${state}`, 'id')
    const parts = add === null ? row.parts : await withMore(spender, row, add)
    if (typeof parts === 'string') return { ...row, reason: parts }
    // Never earlier than before.
    const expiresAt = Math.max(row.expiresAt, now + (ttlSeconds ?? 0) * 1_000)
    const after = { ...row, parts, expiresAt, reason: null }
    await updateReservation(tx, call.appId, after)
    await writeBurn(spender, null)
    return after
  })
}

/** The parts with further units, or why there are none. */
async function withMore(spender: Spender, { parts }: ReservationRow, add: number) {
  const purse = await purseWith(spender, spender.spending)
  if (!purse) return `Limit reached: 0 left in the sources of the feature; ${add} requested.`
  return extend(purse, parts, add, spender.now) ?? tooFew(purse, add, spender.now, entitiesOf(parts))
}
