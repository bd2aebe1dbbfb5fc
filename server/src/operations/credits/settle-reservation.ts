import { countInCaps } from '../../domain/cap.ts'
import { badUserInput, conflict, quote } from '../../domain/errors.ts'
import { MAX_COUNT } from '../../domain/limits.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { entitiesOf, type IfOver, reservationState, settle } from '../../domain/reservation.ts'
import {
  currentPeriod,
  type HeldPart,
  merged,
  type Purse,
  roomOf,
  type Spending,
  spendable,
  spent,
  take,
  WITHOUT_PLAN,
} from '../../domain/spending.ts'
import { heldCredits } from '../../store/credits/credits.ts'
import { type ReservationRow, updateReservation } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { type Burn, purseIn, type Spender, writeBurn } from './mutate-spender.ts'
import { mutateReservation, type UserReservation } from './reservations.ts'

interface Settlement {
  amount: number
  /** whether the rest is returned */
  final: boolean
  ifOver: IfOver
}

/**
 * Records usage that was reserved. What exceeds the reservation, or all of it after the reservation has expired, is decided
 * like a record of usage now.
 */
export function settleReservation(
  call: Call,
  id: string,
  { amount, final, ifOver }: Settlement,
): Promise<UserReservation> {
  if (!Number.isInteger(amount) || amount < 0 || amount > MAX_COUNT)
    throw badUserInput(`amount must be an integer from 0 to ${MAX_COUNT}`, 'amount')
  return mutateReservation(call, id, async (spender, row) => {
    const { tx, now } = spender
    const state = reservationState(row, now)
    if (state === 'SETTLED' || state === 'RELEASED')
      throw conflict(`The reservation ${quote(id)} is ${state}`, 'id')
    const isLive = state === 'HELD'
    const reserved = settle(isLive ? row.parts : [], amount)
    const used = reserved.settled.reduce((sum, part) => sum + part.amount, 0)
    const purse = await purseAfter(spender, row, final ? [] : reserved.parts, isLive)
    const current = reserved.settled.filter(
      (part) => part.credit !== null || part.period === currentPeriod(purse),
    )
    const entities = entitiesOf(row.parts)
    const before = { ...spent(purse, current), caps: countInCaps(purse.caps, entities, used) }
    const wanted = amount - used
    const most = ifOver === 'CAP' ? Math.min(wanted, roomOf(before, now, entities)) : wanted
    const over = take(before, most, now, ifOver === 'RECORD' ? 'RECORD' : 'REFUSE', entities)
    if (!over)
      return {
        ...row,
        reason: `Limit reached: ${wanted} more than reserved were requested. Nothing was recorded.`,
      }
    const after: ReservationRow = {
      ...row,
      state: final ? 'SETTLED' : 'HELD',
      parts: isLive ? reserved.parts : row.parts,
      settled: row.settled + used + most,
      late: row.late || !isLive,
      reason: reasonOf(wanted, most, isLive),
    }
    await updateReservation(tx, call.appId, after)
    const burn: Burn = {
      before: purse,
      after: over.purse,
      parts: merged([...current, ...over.parts]),
      earlier: reserved.settled
        .filter((part) => !current.includes(part))
        .map((part) => earlier(spender, part)),
    }
    await writeBurn(spender, burn)
    return after
  })
}

/** The user's sources, with what this reservation holds afterwards. Without any, usage is counted anyway. */
async function purseAfter(
  spender: Spender,
  row: ReservationRow,
  parts: readonly HeldPart[],
  isLive: boolean,
): Promise<Purse> {
  const { spending, state, now } = spender
  const own = isLive ? row.parts.map((part) => ({ ...part, amount: part.settled, settled: part.amount })) : []
  const held = isLive ? [...spending.held, ...own, ...parts] : spending.held
  const known = new Set(spending.credits.map(({ id }) => id))
  const ended = row.parts.flatMap(({ credit }) => (credit !== null && !known.has(credit) ? [credit] : []))
  const more = ended.length > 0 ? await heldCredits(spender.tx, spender.call.appId, ended) : []
  const without: Spending = { ...spending, credits: [...spending.credits, ...more], held }
  return purseIn(spender, spendable(state.entitlement, without, now) ?? WITHOUT_PLAN, without)
}

function earlier({ feature }: Spender, { period, amount }: { period: string | null; amount: number }) {
  const [resetPeriod, start] = (period ?? '').split(' ') as [ResetPeriod, string]
  return { key: { featureId: feature.id, resetPeriod, periodStart: Number(start) }, amount }
}

function reasonOf(wanted: number, most: number, isLive: boolean): string | null {
  if (wanted === 0) return null
  const what = isLive ? 'more than reserved' : 'after the reservation expired'
  return most < wanted
    ? `${most} of ${wanted} units ${what} were recorded: no more are left.`
    : `${wanted} units were recorded ${what}.`
}
