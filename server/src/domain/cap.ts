import { badUserInput, quote } from './errors.ts'
import { isIdentifier } from './identifier.ts'
import { MAX_COUNT, MAX_ENTITIES } from './limits.ts'
import type { ResetPeriod } from './period.ts'

/**
 * A cap refuses usage of a feature and pays for none of it.
 *
 * Invariants (cap.test.ts):
 * - windows are those of the UTC calendar: every moment is in exactly one, and a plan change never begins another;
 * - a cap counts all usage of its user and entity while it exists, whoever pays;
 * - ADD and reservations never take used and reserved units past the limit; a settlement of reserved units always fits.
 */
export interface Cap {
  /** `type:id`; null: all usage of the user */
  entity: string | null
  limit: number
  period: ResetPeriod
}

/** With the usage of the window that started then. */
export interface CountedCap extends Cap {
  windowStart: number
  used: number
}

/** In the current window, with the units that live reservations hold. */
export interface HeldCap extends CountedCap {
  reserved: number
}

export function checkCap({ entity, limit }: Cap): void {
  if (entity !== null) checkEntity('entity', entity)
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_COUNT)
    throw badUserInput(`limit must be an integer from 0 to ${MAX_COUNT}`, 'limit')
}

/** The entities of a call, each once. */
export function checkedEntities(entities: readonly string[]): string[] {
  if (entities.length > MAX_ENTITIES)
    throw badUserInput(`entities must contain at most ${MAX_ENTITIES} entities`, 'entities')
  for (const entity of entities) checkEntity('entities', entity)
  return [...new Set(entities)]
}

export function checkEntity(field: string, entity: string): void {
  if (!isIdentifier(entity) || !/^[^:]+:./.test(entity))
    throw badUserInput(`${field} must have the form type:id, for example "team:7": ${quote(entity)}`, field)
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** 1970 began on a Thursday; weeks begin on Monday. */
const FIRST_MONDAY = 4 * DAY

/** Start of the window that contains this moment. */
export function windowStart(period: ResetPeriod, at: number): number {
  const date = new Date(at)
  switch (period) {
    case 'NEVER':
      return 0
    case 'HOUR':
      return Math.floor(at / HOUR) * HOUR
    case 'DAY':
      return Math.floor(at / DAY) * DAY
    case 'WEEK':
      return Math.floor((at - FIRST_MONDAY) / (7 * DAY)) * 7 * DAY + FIRST_MONDAY
    case 'MONTH':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    case 'YEAR':
      return Date.UTC(date.getUTCFullYear(), 0)
  }
}

/** Start of the next window; null: there is none. */
export function windowEnd(period: ResetPeriod, at: number): number | null {
  const start = windowStart(period, at)
  const date = new Date(start)
  switch (period) {
    case 'NEVER':
      return null
    case 'HOUR':
      return start + HOUR
    case 'DAY':
      return start + DAY
    case 'WEEK':
      return start + 7 * DAY
    case 'MONTH':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    case 'YEAR':
      return Date.UTC(date.getUTCFullYear() + 1, 0)
  }
}

/** Usage of a window that has ended no longer counts. */
export function capAt(cap: CountedCap, reserved: number, now: number): HeldCap {
  const start = windowStart(cap.period, now)
  return { ...cap, windowStart: start, used: cap.windowStart === start ? cap.used : 0, reserved }
}

export const capApplies = ({ entity }: Cap, entities: readonly string[]): boolean =>
  entity === null || entities.includes(entity)

export const capLeft = ({ limit, used, reserved }: HeldCap): number => Math.max(0, limit - used - reserved)

/** Of the caps that apply, the one with the fewest units left; null: none applies. */
export function tightestCap(caps: readonly HeldCap[], entities: readonly string[]): HeldCap | null {
  let tightest: HeldCap | null = null
  for (const cap of caps) {
    if (capApplies(cap, entities) && (tightest === null || capLeft(cap) < capLeft(tightest))) tightest = cap
  }
  return tightest
}

/** Counts usage, or takes it back: a cap counts only what it has seen, so it never falls below zero. */
export const countInCaps = (
  caps: readonly HeldCap[],
  entities: readonly string[],
  amount: number,
): readonly HeldCap[] =>
  caps.length === 0 || amount === 0
    ? caps
    : caps.map((cap) =>
        capApplies(cap, entities)
          ? { ...cap, used: Math.min(Math.max(0, cap.used + amount), MAX_COUNT) }
          : cap,
      )

/** As `deniedBy` says it: `CAP DAY`, or `CAP HOUR agent:42`. */
export const capName = ({ period, entity }: Cap): string =>
  entity === null ? `CAP ${period}` : `CAP ${period} ${entity}`

/** The figures of a cap in a sentence. */
export function capFigures({ period, entity, limit, used, reserved }: HeldCap): string {
  const window = period === 'NEVER' ? 'in total' : period === 'DAY' ? 'today' : `this ${period.toLowerCase()}`
  const held = reserved > 0 ? `, ${reserved} reserved` : ''
  return `${used} of ${limit} used ${window}${entity === null ? '' : ` by ${quote(entity)}`}${held}`
}
