import { badUserInput } from '../../domain/errors.ts'
import { MAX_COUNT } from '../../domain/limits.ts'
import { spendable, WITHOUT_PLAN } from '../../domain/purse.ts'
import type { UserReservation } from '../../domain/reservation.ts'
import { decideSettle, type Settlement } from '../../domain/reservation-calls.ts'
import { type HeldPart, partsOn } from '../../domain/split.ts'
import type { Call } from '../call/call.ts'
import { purseIn, type Spender, withCredits } from './mutate-spender.ts'
import { mutateReservation } from './reservations.ts'

export function settleReservation(call: Call, id: string, settlement: Settlement): Promise<UserReservation> {
  const { amount } = settlement
  if (!Number.isInteger(amount) || amount < 0 || amount > MAX_COUNT)
    throw badUserInput(`amount must be an integer from 0 to ${MAX_COUNT}`, 'amount')
  return mutateReservation(call, id, { kind: 'SETTLE', settlement }, async (spender, row) =>
    decideSettle(await sourcesOf(spender, row.parts), row, settlement, spender.now),
  )
}

/** The user's sources, with all that these parts were taken from. Without any, usage is counted anyway. */
async function sourcesOf(spender: Spender, parts: readonly HeldPart[]) {
  const { spending, state, now } = spender
  const { pool } = state
  const own = await withCredits(
    spender,
    spending,
    parts.filter(({ pool }) => !pool),
  )
  const basis = spendable(state.entitlement, own, now, pool?.open) ?? WITHOUT_PLAN
  const drawn = pool && (await withCredits(spender, pool.spending, partsOn(pool.featureId, parts)))
  return purseIn(spender, basis, own, drawn ?? undefined)
}
