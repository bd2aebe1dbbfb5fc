import { badUserInput } from './errors.ts'

export const isoOrNull = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString()

/**
 * Parses an ISO 8601 time to milliseconds. Without a zone, it is UTC. `Date.parse` alone accepts 30 February as 2
 * March.
 */
export function timeOf(field: string, text: string): number {
  const [, year, month, day, zone] = /^(\d{4})-(\d\d)-(\d\d)T[\d:.]+(Z|[+-]\d\d:?\d\d)?$/i.exec(text) ?? []
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  const time = Number(day) <= lastDay ? Date.parse(zone ? text : `${text}Z`) : Number.NaN
  if (Number.isNaN(time)) {
    throw badUserInput(`${field} must be an ISO 8601 time, such as 2027-01-31T00:00:00Z`, field)
  }
  return time
}
