import { badUserInput, conflict, quote } from '../../domain/errors.ts'
import { MAX_COUNT } from '../../domain/limits.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { entitiesOf, type IfOver, reservationState, settle, withMore } from '../../domain/reservation.ts'
import {
  currentPeriod,
  type Purse,
  roomOf,
  type Spending,
  spendable,
  spent,
  take,
  WITHOUT_PLAN,
} from '../../domain/spending.ts'
import { type HeldPart, merged, partsOn, type TakenPart, unitsOf } from '../../domain/split.ts'
import { type ReservationRow, updateReservation } from '../../store/credits/reservations.ts'
import type { Call } from '../call/call.ts'
import { type Burn, purseIn, type Spender, withCredits, writeBurn } from './mutate-spender.ts'
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
    const used = unitsOf(reserved.settled)
    const purse = await purseAfter(spender, row, final ? [] : reserved.parts, isLive)
    const periods = { own: currentPeriod(purse), pool: purse.pool && currentPeriod(purse.pool.purse) }
    const current = reserved.settled.filter(
      ({ credit, period, pool }) => credit !== null || period === (pool ? periods.pool : periods.own),
    )
    const entities = entitiesOf(row.parts)
    const before = spent(purse, reserved.settled, entities)
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
      parts: withMore(purse, isLive ? reserved.parts : row.parts, over.parts),
      settled: row.settled + used + most,
      late: row.late || !isLive,
      reason: reasonOf(wanted, most, isLive),
    }
    await updateReservation(tx, call.appId, after)
    const burn: Burn = {
      before: purse,
      after: over.purse,
      parts: merged([...current.map(({ period, ...part }) => part), ...over.parts]),
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
  const mine = row.parts.filter(({ pool }) => !pool)
  const without = await withCredits(spender, { ...spending, held }, mine)
  return purseIn(
    spender,
    spendable(state.entitlement, without, now, state.pool?.open) ?? WITHOUT_PLAN,
    without,
    await poolAfter(spender, [...own, ...(isLive ? parts : [])]),
  )
}

/** The spending on the pool, if there is one, with these parts held beside what was read. */
async function poolAfter(spender: Spender, parts: readonly HeldPart[]): Promise<Spending | undefined> {
  const { pool } = spender.state
  if (!pool) return undefined
  const own = partsOn(pool.featureId, parts)
  return withCredits(spender, { ...pool.spending, held: [...pool.spending.held, ...own] }, own)
}

function earlier({ feature }: Spender, { period, amount, pool }: TakenPart) {
  const [resetPeriod, start] = (period ?? '').split(' ') as [ResetPeriod, string]
  const featureId = pool?.featureId ?? feature.id
  return { key: { featureId, resetPeriod, periodStart: Number(start) }, amount }
}

function reasonOf(wanted: number, most: number, isLive: boolean): string | null {
  if (wanted === 0) return null
  const what = isLive ? 'more than reserved' : 'after the reservation expired'
  return most < wanted
    ? `${most} of ${wanted} units ${what} were recorded: no more are left.`
    : `${wanted} units were recorded ${what}.`
}
