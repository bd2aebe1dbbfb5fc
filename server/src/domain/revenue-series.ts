import { badUserInput } from './errors.ts'
import { MAX_COUNT, MAX_REVENUE_DAYS } from './limits.ts'

/**
 * Revenue day by day. Days are those of UTC.
 *
 * Invariants (revenue-series.test.ts):
 * - the monthly recurring revenue at the end of a day is that of the day before plus what began and minus what ended;
 * - the previous period is as long as the period and ends where it begins;
 * - churn is unknown, not 0, if there was nothing to lose.
 */

export const DAY_MS = 86_400_000

/** Whole days from `from` up to, not including, `to`. */
export interface Days {
  from: number
  to: number
}

/** Parses dates such as 2027-01-31; `to` is included. */
export function daysOf(from: string, to: string): Days {
  const [start, end] = [dayFrom('from', from), dayFrom('to', to) + DAY_MS]
  const count = (end - start) / DAY_MS
  if (count < 1) throw badUserInput('to must not be before from', 'to')
  if (count > MAX_REVENUE_DAYS)
    throw badUserInput(`The range can be at most ${MAX_REVENUE_DAYS} days`, 'from')
  return { from: start, to: end }
}

function dayFrom(name: string, text: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(at)) throw badUserInput(`${name} must be a date, such as 2027-01-31`, name)
  return at
}

export const previousOf = ({ from, to }: Days): Days => ({ from: 2 * from - to, to: from })

export const startsOf = ({ from, to }: Days): number[] =>
  Array.from({ length: (to - from) / DAY_MS }, (_, i) => from + i * DAY_MS)

/** A change on one day; `day` is its start, or null for all earlier days together. */
interface OnDay {
  day: number | null
}

/** The sum of a value for each day. */
export function perDay<Row extends OnDay>(
  rows: readonly Row[],
  days: Days,
  of: (row: Row) => number,
): number[] {
  const values = startsOf(days).map(() => 0)
  for (const row of rows) {
    if (row.day === null || row.day < days.from || row.day >= days.to) continue
    const index = (row.day - days.from) / DAY_MS
    values[index] = (values[index] ?? 0) + of(row)
  }
  return values
}

/** A change of the recurring revenue on a day, in minor units a year. */
export interface RecurringChange extends OnDay {
  yearly: number
}

/** The monthly recurring revenue at the end of each day. */
export function mrrPerDay(changes: readonly RecurringChange[], days: Days): number[] {
  const before = changes.filter(({ day }) => day === null || day < days.from)
  let yearly = before.reduce((sum, change) => sum + change.yearly, 0)
  return perDay(changes, days, (change) => change.yearly).map((change) => {
    yearly += change
    return Math.min(Math.round(Math.max(yearly, 0) / 12), MAX_COUNT)
  })
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Share of the subscriptions at the start that ended; null: there were none. */
export const churnOf = (ended: number, liveBefore: number): number | null =>
  liveBefore === 0 ? null : ended / liveBefore
