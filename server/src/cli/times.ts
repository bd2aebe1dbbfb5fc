import { StartError, TollgateError } from '../domain/errors.ts'
import { timeOf } from '../domain/time.ts'

const UNIT_MS: Record<string, number> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** Milliseconds of a duration such as `90m` or `30d`; null: not a duration. */
function lengthOf(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  return count === undefined ? null : Number(count) * (UNIT_MS[unit] ?? 0)
}

/** A time as ISO 8601 from an ISO 8601 time, a date, or a length of time before `now`. */
export function timeBefore(name: string, text: string, now: number): string {
  const ago = lengthOf(text)
  return isoOf(name, ago === null ? absolute(name, text) : now - ago)
}

/** The same, with a length of time after `now`. */
export function timeAfter(name: string, text: string, now: number): string {
  const ahead = lengthOf(text.replace(/^\+/, ''))
  return isoOf(name, ahead === null ? absolute(name, text) : now + ahead)
}

function absolute(name: string, text: string): number {
  try {
    return timeOf(name, /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error
    throw new StartError(
      `${name} must be an ISO 8601 time, such as 2027-01-31T00:00:00Z, or a length of time, such as 12h or 30d.`,
    )
  }
}

function isoOf(name: string, time: number): string {
  if (Math.abs(time) > 8.64e15) throw new StartError(`${name} is too far away.`)
  return new Date(time).toISOString()
}
