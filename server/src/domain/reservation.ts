import { capApplies, checkedEntities, type HeldCap } from './cap.ts'
import { checkAmount } from './credit.ts'
import { badUserInput } from './errors.ts'
import { checkIdentifier } from './identifier.ts'
import { MAX_RESERVATION_SECONDS } from './limits.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'
import { currentPeriod, type Purse } from './purse.ts'
import { roomOf } from './sources.ts'
import { take } from './spending.ts'
import {
  byDraw,
  type HeldPart,
  heldOf,
  leftOf,
  type Part,
  partsOn,
  sameSource,
  sum,
  type TakenPart,
} from './split.ts'

export const RESERVATION_STATES = ['HELD', 'SETTLED', 'RELEASED', 'EXPIRED'] as const
export type ReservationState = (typeof RESERVATION_STATES)[number]

export const IF_OVER = ['RECORD', 'CAP', 'REJECT'] as const
export type IfOver = (typeof IF_OVER)[number]

export const DEFAULT_RESERVATION_SECONDS = 300

/** A reservation as requested. */
export interface NewReservation {
  /** null: generated */
  id: string | null
  featureId: string
  amount: number
  /** null: all of it */
  atLeast: number | null
  ttlSeconds: number
  entities: readonly string[]
  metadata: JsonObject
}

export function checkNewReservation(asked: NewReservation): void {
  const { id, amount, atLeast, ttlSeconds, entities, metadata } = asked
  if (id !== null) checkIdentifier('id', id)
  checkAmount('amount', amount)
  if (atLeast !== null) checkAmount('atLeast', atLeast)
  if (atLeast !== null && atLeast > amount) {
    throw badUserInput('atLeast must not be greater than amount', 'atLeast')
  }
  checkTtl(ttlSeconds)
  checkedEntities(entities)
  checkMetadata(metadata)
}

export function checkTtl(ttlSeconds: number): void {
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > MAX_RESERVATION_SECONDS) {
    throw badUserInput(`ttlSeconds must be an integer from 1 to ${MAX_RESERVATION_SECONDS}`, 'ttlSeconds')
  }
}

/** A reservation as it is stored. */
export interface Reservation {
  id: string
  featureId: string
  /** as requested */
  amount: number
  atLeast: number
  ttlSeconds: number
  metadata: JsonObject
  /** HELD also after it has expired */
  state: 'HELD' | 'SETTLED' | 'RELEASED'
  parts: HeldPart[]
  settled: number
  late: boolean
  reason: string | null
  createdAt: number
  expiresAt: number
}

/** A reservation as of now. */
export interface UserReservation
  extends Pick<Reservation, 'id' | 'featureId' | 'settled' | 'createdAt' | 'expiresAt' | 'late' | 'reason'> {
  userId: string
  /** held now */
  reserved: number
  state: ReservationState
}

export function userReservation(stored: Reservation, userId: string, now: number): UserReservation {
  const { id, featureId, parts, settled, createdAt, expiresAt, late, reason } = stored
  const state = reservationState(stored, now)
  const reserved = state === 'HELD' ? heldOf(parts) : 0
  return { id, userId, featureId, reserved, settled, state, createdAt, expiresAt, late, reason }
}

/** Expiry is derived: no job ends a reservation. */
export const reservationState = (
  { state, expiresAt }: { state: 'HELD' | 'SETTLED' | 'RELEASED'; expiresAt: number },
  now: number,
): ReservationState => (state === 'HELD' && expiresAt <= now ? 'EXPIRED' : state)

/** Holds as many units as there are, up to `amount`; null: fewer than `atLeast`. */
export function reserve(
  purse: Purse,
  amount: number,
  atLeast: number,
  now: number,
  entities: readonly string[] = [],
): HeldPart[] | null {
  const granted = Math.min(amount, roomOf(purse, now, entities))
  const taken = granted < atLeast ? null : take(purse, granted, now, 'REFUSE', entities)
  return taken && held(purse, taken.parts, entities)
}

/** Adds units to a reservation's parts; null: there are too few. */
export function extend(
  purse: Purse,
  parts: readonly HeldPart[],
  amount: number,
  now: number,
): HeldPart[] | null {
  const more = reserve(purse, amount, amount, now, entitiesOf(parts))
  if (!more) return null
  const all = parts.map((part) => ({ ...part }))
  for (const part of more) {
    const same = all.find((one) => sameSource(one, part))
    if (same) same.amount += part.amount
    else all.push(part)
  }
  return all
}

/** Uses up to `amount` of the reserved units, in their order: those of a pool last. */
export function settle(
  parts: readonly HeldPart[],
  amount: number,
): { parts: HeldPart[]; settled: TakenPart[] } {
  let missing = Math.min(amount, heldOf(parts))
  const used = new Map<HeldPart, number>()
  for (const { cost, parts: group } of byDraw(parts)) {
    const units = Math.min(missing, Math.floor(sum(group.map(leftOf)) / cost))
    let open = units * cost
    for (const part of group) {
      const taken = Math.min(open, leftOf(part))
      if (taken > 0) used.set(part, taken)
      open -= taken
    }
    missing -= units
  }
  const settled = parts.flatMap((part) => {
    const { credit, period, pool } = part
    const taken = used.get(part)
    return taken === undefined ? [] : [{ credit, period, amount: taken, ...(pool && { pool }) }]
  })
  return { parts: parts.map((part) => ({ ...part, settled: part.settled + (used.get(part) ?? 0) })), settled }
}

/** With units that were used beyond those reserved, so that they can be reverted too. */
export function withMore(purse: Purse, parts: readonly HeldPart[], over: readonly Part[]): HeldPart[] {
  const all = parts.map((part) => ({ ...part }))
  for (const { amount, ...part } of held(purse, over, entitiesOf(parts))) {
    const same = all.find((one) => sameSource(one, part as HeldPart))
    if (same) {
      same.amount += amount
      same.settled += amount
    } else all.push({ ...part, amount, settled: amount })
  }
  return all
}

/** A purse when these parts are held too; with the sign -1, when they no longer are. */
export function withHeld(purse: Purse, parts: readonly HeldPart[], sign: 1 | -1 = 1): Purse {
  if (parts.length === 0) return purse
  const current = currentPeriod(purse)
  const more = new Map<string | null, number>()
  for (const part of parts) {
    if (part.pool || (part.credit === null && part.period !== current)) continue
    more.set(part.credit, (more.get(part.credit) ?? 0) + sign * leftOf(part))
  }
  const { pool } = purse
  return {
    ...purse,
    planReserved: purse.planReserved + (more.get(null) ?? 0),
    credits: purse.credits.map((credit) => {
      const units = more.get(credit.id)
      return units === undefined ? credit : { ...credit, reserved: credit.reserved + units }
    }),
    drawnReserved: purse.drawnReserved + sign * heldOf(parts.filter((part) => part.pool)),
    caps: purse.caps.map((cap) => ({ ...cap, reserved: cap.reserved + sign * heldUnder(cap, parts) })),
    pool: pool && { ...pool, purse: withHeld(pool.purse, partsOn(pool.featureId, parts), sign) },
  }
}

const heldUnder = (cap: HeldCap, parts: readonly HeldPart[]): number =>
  heldOf(parts.filter(({ entities = [] }) => capApplies(cap, entities)))

/** The entities that a reservation names. */
export const entitiesOf = (parts: readonly HeldPart[]): readonly string[] => parts[0]?.entities ?? []

/** The pool whose units a reservation holds; null: none. There is at most one. */
export const poolOf = (parts: readonly HeldPart[]): string | null =>
  parts.find(({ pool }) => pool)?.pool?.featureId ?? null

const held = (purse: Purse, parts: readonly Part[], entities: readonly string[]): HeldPart[] =>
  parts.map(({ credit, amount, pool }) => ({
    credit,
    amount,
    period: credit === null ? currentPeriod(pool && purse.pool ? purse.pool.purse : purse) : null,
    settled: 0,
    ...(pool && { pool }),
    ...(entities.length > 0 && { entities }),
  }))
