import { checkedEntities } from './cap.ts'
import { checkAmount } from './credit.ts'
import { badUserInput } from './errors.ts'
import { checkIdentifier } from './identifier.ts'
import { MAX_RESERVATION_SECONDS } from './limits.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'
import { currentPeriod, type HeldPart, heldOf, type Part, type Purse, roomOf, take } from './spending.ts'

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
    const same = all.find(({ credit, period }) => credit === part.credit && period === part.period)
    if (same) same.amount += part.amount
    else all.push(part)
  }
  return all
}

/** Uses up to `amount` of the reserved units, in their order. */
export function settle(
  parts: readonly HeldPart[],
  amount: number,
): { parts: HeldPart[]; settled: (Part & { period: string | null })[] } {
  let missing = Math.min(amount, heldOf(parts))
  const settled: (Part & { period: string | null })[] = []
  const after = parts.map((part) => {
    const taken = Math.min(missing, part.amount - part.settled)
    missing -= taken
    if (taken > 0) settled.push({ credit: part.credit, period: part.period, amount: taken })
    return { ...part, settled: part.settled + taken }
  })
  return { parts: after, settled }
}

/** The entities that a reservation names. */
export const entitiesOf = (parts: readonly HeldPart[]): readonly string[] => parts[0]?.entities ?? []

const held = (purse: Purse, parts: readonly Part[], entities: readonly string[]): HeldPart[] =>
  parts.map(({ credit, amount }) => ({
    credit,
    amount,
    period: credit === null ? currentPeriod(purse) : null,
    settled: 0,
    ...(entities.length > 0 && { entities }),
  }))
