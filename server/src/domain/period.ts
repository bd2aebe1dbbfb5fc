/**
 * Usage is counted per period. Periods are computed from their anchor whenever needed; no job resets them.
 *
 * Invariants (period.test.ts):
 * - periods of one anchor tile time: each ends exactly where the next starts, none is empty;
 * - period n starts at the anchor plus n units counted from the anchor, clamped to the month's last day, so that the
 *   31st comes back after every short month;
 * - NEVER is one period without end, the same for every anchor;
 * - the period containing `now` never starts after `now`, nor as long ago as `longestMs`, for every anchor, including
 *   one in the future, as after the clock was set back or during a trial.
 *
 * Times are milliseconds since 1970 in UTC; intervals are half-open.
 */

export const RESET_PERIODS = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER'] as const
export type ResetPeriod = (typeof RESET_PERIODS)[number]

export interface Period {
  start: number
  /** null: it never ends */
  end: number | null
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const FIXED = { HOUR, DAY, WEEK: 7 * DAY } as const
const MONTHS = { MONTH: 1, YEAR: 12 } as const

export const FOREVER: Period = { start: 0, end: null }

const LONGEST_MS = { ...FIXED, MONTH: 31 * DAY, YEAR: 366 * DAY, NEVER: null } as const

/** Maximum length of a period; null: unbounded. */
export const longestMs = (reset: ResetPeriod): number | null => LONGEST_MS[reset]

/** The period containing `now`. */
export function periodAt(reset: ResetPeriod, anchor: number, now: number): Period {
  if (reset === 'NEVER') return FOREVER
  const n = guessAt(reset, anchor, now)
  const start = startOf(reset, anchor, n)
  return start <= now
    ? { start, end: startOf(reset, anchor, n + 1) }
    : { start: startOf(reset, anchor, n - 1), end: start }
}

/** Periods from the anchor up to, but excluding, the one containing `now`: newest first, at most `most`. */
export function pastPeriods(reset: ResetPeriod, anchor: number, now: number, most: number): Period[] {
  if (reset === 'NEVER') return []
  const past: Period[] = []
  for (let n = guessAt(reset, anchor, now); n >= 0 && past.length < most; n--) {
    const period = nth(reset, anchor, n)
    if (period.end <= now) past.push(period)
  }
  return past
}

/** The longest of them other than NEVER; null if there is none. */
export function longestEnding(resets: Iterable<ResetPeriod>): Exclude<ResetPeriod, 'NEVER'> | null {
  let longest: Exclude<ResetPeriod, 'NEVER'> | null = null
  for (const reset of resets) {
    if (reset === 'NEVER') continue
    if (longest === null || RESET_PERIODS.indexOf(reset) > RESET_PERIODS.indexOf(longest)) longest = reset
  }
  return longest
}

type Ending = Exclude<ResetPeriod, 'NEVER'>

function nth(reset: Ending, anchor: number, n: number): { start: number; end: number } {
  return { start: startOf(reset, anchor, n), end: startOf(reset, anchor, n + 1) }
}

function startOf(reset: Ending, anchor: number, n: number): number {
  return reset === 'MONTH' || reset === 'YEAR'
    ? addMonths(anchor, n * MONTHS[reset])
    : anchor + n * FIXED[reset]
}

/** Number of the period containing `now`, or of the next one: computed from the month only. */
function guessAt(reset: Ending, anchor: number, now: number): number {
  if (reset !== 'MONTH' && reset !== 'YEAR') return Math.floor((now - anchor) / FIXED[reset])
  return Math.floor((monthOf(new Date(now)) - monthOf(new Date(anchor))) / MONTHS[reset])
}

function addMonths(time: number, months: number): number {
  const date = new Date(time)
  const month = monthOf(date) + months
  const first = firstOf(month)
  const days = (firstOf(month + 1) - first) / DAY
  return first + (Math.min(date.getUTCDate(), days) - 1) * DAY + (((time % DAY) + DAY) % DAY)
}

/** Months since 1970. */
const monthOf = (date: Date): number => (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()

const firstOf = (month: number): number => Date.UTC(1970, month)
