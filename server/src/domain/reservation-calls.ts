import { conflict, quote, rateLimited } from './errors.ts'
import { MAX_RESERVATIONS } from './limits.ts'
import { isSameJson } from './metadata.ts'
import { currentPeriod, type Purse } from './purse.ts'
import {
  entitiesOf,
  extend,
  type IfOver,
  type NewReservation,
  type Reservation,
  reservationState,
  reserve,
  settle,
  type UserReservation,
  withHeld,
  withMore,
} from './reservation.ts'
import { roomOf } from './sources.ts'
import { spent, take } from './spending.ts'
import { shortage } from './spending-calls.ts'
import { type HeldPart, merged, type Part, type TakenPart, unitsOf } from './split.ts'

// Decisions of calls on reservations, from the current sources.

/** Units taken from the sources, or returned to them. */
export interface Burn {
  before: Purse
  after: Purse
  parts: readonly Part[]
  /** A credit pays for earlier usage: nothing is recorded. */
  payment?: true
  /** units of a plan that were reserved in earlier periods */
  earlier?: readonly TakenPart[]
}

/** A reservation after a call. */
export type ReservationChange<Held extends Reservation = Reservation> = Unchanged<Held> | Changed<Held>

interface Unchanged<Held> {
  after: Held
  changed: false
}

interface Changed<Held> {
  after: Held
  changed: true
  /** the sources afterwards, with what live reservations hold; null: nothing of the feature can be used */
  purse: Purse | null
  burn: Burn | null
}

/** A new reservation as requested, complete. */
export type AskedReservation = NewReservation & { id: string; atLeast: number }

/** `live`: reservations of the user and feature. A string: nothing is held, and why. */
export function decideReserve(
  purse: Purse,
  asked: AskedReservation,
  live: number,
  now: number,
): ReservationChange<Reservation> | string {
  if (live >= MAX_RESERVATIONS)
    throw rateLimited(`A user can have at most ${MAX_RESERVATIONS} live reservations of a feature.`, 1)
  const { amount, atLeast, entities, ...kept } = asked
  const parts = reserve(purse, amount, atLeast, now, entities)
  if (!parts) return tooFew(purse, atLeast, now, entities)
  const after: Reservation = {
    ...kept,
    ...{ amount, atLeast, parts, state: 'HELD', settled: 0, late: false, reason: null, createdAt: now },
    expiresAt: now + asked.ttlSeconds * 1_000,
  }
  return { after, changed: true, purse: withHeld(purse, parts), burn: null }
}

/** The answer where nothing was held. */
export const unheldReservation = (
  { id, featureId }: AskedReservation,
  userId: string,
  reason: string,
  now: number,
): UserReservation => ({
  ...{ id, userId, featureId, reserved: 0, settled: 0, state: 'RELEASED', late: false, reason },
  ...{ createdAt: now, expiresAt: now },
})

/** A repeated request is answered with the reservation that it made. */
export function sameReservation<Held extends Reservation>(
  found: Held,
  isOfUser: boolean,
  asked: AskedReservation,
): Held {
  const same =
    isOfUser &&
    found.featureId === asked.featureId &&
    found.amount === asked.amount &&
    found.atLeast === asked.atLeast &&
    found.ttlSeconds === asked.ttlSeconds &&
    isSameSet(entitiesOf(found.parts), asked.entities) &&
    isSameJson(found.metadata, asked.metadata)
  if (!same)
    throw conflict(`A reservation with the id ${quote(found.id)} already exists with different content`, 'id')
  return found
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one) => others.includes(one))

/** Why fewer units than requested can be held: the sources have too few, or a cap. */
function tooFew(purse: Purse, atLeast: number, now: number, entities: readonly string[]): string {
  const { by, figures } = shortage(purse, atLeast, now, entities)
  const left = by === 'PLAN' ? `${roomOf(purse, now)} left in the sources of the feature` : figures
  return `Limit reached: ${left}; ${atLeast} requested.`
}

export interface Extension {
  ttlSeconds: number | null
  add: number | null
}

/** `purse` null: nothing of the feature can be used any more. */
export function decideExtend<Held extends Reservation>(
  purse: Purse | null,
  before: Held,
  { ttlSeconds, add }: Extension,
  now: number,
): ReservationChange<Held> {
  const state = reservationState(before, now)
  if (state !== 'HELD') throw conflict(`The reservation ${quote(before.id)} is ${state}`, 'id')
  const refused = (reason: string): ReservationChange<Held> => ({
    after: { ...before, reason },
    changed: false,
  })
  let { parts } = before
  if (add !== null) {
    if (!purse) return refused(`Limit reached: 0 left in the sources of the feature; ${add} requested.`)
    const more = extend(purse, parts, add, now)
    if (!more) return refused(tooFew(purse, add, now, entitiesOf(parts)))
    parts = more
  }
  // Never earlier than before.
  const expiresAt = Math.max(before.expiresAt, now + (ttlSeconds ?? 0) * 1_000)
  return {
    after: { ...before, parts, expiresAt, reason: null },
    changed: true,
    purse: purse && withHeld(withHeld(purse, before.parts, -1), parts),
    burn: null,
  }
}

/** Returns the held units. A reservation that was released or has expired holds none, and stays unchanged. */
export function decideRelease<Held extends Reservation>(
  purse: Purse | null,
  before: Held,
  now: number,
): ReservationChange<Held> {
  const state = reservationState(before, now)
  if (state === 'SETTLED') throw conflict(`The reservation ${quote(before.id)} is ${state}`, 'id')
  if (state !== 'HELD') return { after: before, changed: false }
  const after: Held = { ...before, state: 'RELEASED' }
  return { after, changed: true, purse: purse && withHeld(purse, before.parts, -1), burn: null }
}

export interface Settlement {
  amount: number
  /** whether the rest is returned */
  final: boolean
  ifOver: IfOver
}

/**
 * Records usage that was reserved. What exceeds the reservation, or all of it after the reservation has expired, is decided
 * like a record of usage now.
 */
export function decideSettle<Held extends Reservation>(
  read: Purse,
  before: Held,
  { amount, final, ifOver }: Settlement,
  now: number,
): ReservationChange<Held> {
  const state = reservationState(before, now)
  if (state === 'SETTLED' || state === 'RELEASED')
    throw conflict(`The reservation ${quote(before.id)} is ${state}`, 'id')
  const isLive = state === 'HELD'
  const held = isLive ? before.parts : []
  const reserved = settle(held, amount)
  const used = unitsOf(reserved.settled)
  const purse = withHeld(withHeld(read, held, -1), final ? [] : reserved.parts)
  const entities = entitiesOf(before.parts)
  const withUsed = spent(purse, reserved.settled, entities)
  const wanted = amount - used
  const most = ifOver === 'CAP' ? Math.min(wanted, roomOf(withUsed, now, entities)) : wanted
  const over = take(withUsed, most, now, ifOver === 'RECORD' ? 'RECORD' : 'REFUSE', entities)
  if (!over) {
    const reason = `Limit reached: ${wanted} more than reserved were requested. Nothing was recorded.`
    return { after: { ...before, reason }, changed: false }
  }
  const after: Held = {
    ...before,
    state: final ? 'SETTLED' : 'HELD',
    parts: withMore(purse, isLive ? reserved.parts : before.parts, over.parts),
    settled: before.settled + used + most,
    late: before.late || !isLive,
    reason: reasonOf(wanted, most, isLive),
  }
  const isCurrent = inCurrentPeriods(purse)
  const burn: Burn = {
    before: purse,
    after: over.purse,
    parts: merged([...reserved.settled.filter(isCurrent).map(({ period, ...part }) => part), ...over.parts]),
    earlier: reserved.settled.filter((part) => !isCurrent(part)),
  }
  return { after, changed: true, purse: over.purse, burn }
}

/** Whether a part is of a credit, or of a plan's current period. */
function inCurrentPeriods(purse: Purse): (part: TakenPart) => boolean {
  const own = currentPeriod(purse)
  const ofPool = purse.pool && currentPeriod(purse.pool.purse)
  return ({ credit, period, pool }) => credit !== null || period === (pool ? ofPool : own)
}

/** Whether these sources include all that the parts were taken from. */
export function includesSources(purse: Purse, parts: readonly HeldPart[]): boolean {
  const isCurrent = inCurrentPeriods(purse)
  return parts.every((part) => {
    const { credit, pool } = part
    if (pool && pool.featureId !== purse.pool?.featureId) return false
    const credits = pool ? purse.pool?.purse.credits : purse.credits
    return isCurrent(part) && (credit === null || credits?.some(({ id }) => id === credit))
  })
}

function reasonOf(wanted: number, most: number, isLive: boolean): string | null {
  if (wanted === 0) return null
  const what = isLive ? 'more than reserved' : 'after the reservation expired'
  return most < wanted
    ? `${most} of ${wanted} units ${what} were recorded: no more are left.`
    : `${wanted} units were recorded ${what}.`
}
