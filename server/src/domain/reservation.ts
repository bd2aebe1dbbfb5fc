import { checkedEntities } from './cap.ts'
import { checkAmount } from './credit.ts'
import { badUserInput } from './errors.ts'
import { checkIdentifier } from './identifier.ts'
import { MAX_RESERVATION_SECONDS } from './limits.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'
import { currentPeriod, type Purse, roomOf, take } from './spending.ts'
import { byDraw, type HeldPart, heldOf, leftOf, type Part, sameSource, sum, type TakenPart } from './split.ts'

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
