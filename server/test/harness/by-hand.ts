import type { ResetPeriod } from '../../src/domain/period.ts'

// Periods counted step by step, and without Date's arithmetic of months, so that they share no mistake with the rule.

const HOUR = 3_600_000
const HOURS: Partial<Record<ResetPeriod, number>> = { HOUR: 1, DAY: 24, WEEK: 168 }

/** The period that contains `now`: its start, and its end if it has one. */
export function periodByHand(
  reset: ResetPeriod,
  anchor: number,
  now: number,
): { start: number; end: number } {
  if (reset === 'NEVER') return { start: 0, end: Number.POSITIVE_INFINITY }
  let n = 0
  while (startByHand(reset, anchor, n) > now) n--
  while (startByHand(reset, anchor, n + 1) <= now) n++
  return { start: startByHand(reset, anchor, n), end: startByHand(reset, anchor, n + 1) }
}

function startByHand(reset: ResetPeriod, anchor: number, n: number): number {
  const hours = HOURS[reset]
  if (hours !== undefined) return anchor + n * hours * HOUR
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)(T.*)$/.exec(new Date(anchor).toISOString()) ?? []
  const months = Number(year) * 12 + Number(month) - 1 + n * (reset === 'YEAR' ? 12 : 1)
  const [y, m] = [Math.floor(months / 12), (months % 12) + 1]
  const two = (number: number) => String(number).padStart(2, '0')
  return Date.parse(`${y}-${two(m)}-${two(Math.min(Number(day), daysIn(y, m)))}${time}`)
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}
