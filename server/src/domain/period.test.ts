/**
 * Invariants
 * - The periods of one anchor tile time: each ends where the next starts, none is empty, each instant is in one.
 * - Period n starts at the anchor plus n units counted from the anchor. A short month clamps the day and the next
 *   long one gives it back, so that the 31st never drifts.
 * - NEVER is one period without end, the same for every anchor.
 * - The period containing a moment never starts after it, nor as long before it as its kind's maximum.
 * - Past periods run from the current one back to the anchor, without a gap.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSame } from '../../test/harness/same.ts'
import {
  FOREVER,
  longestEnding,
  longestMs,
  type Period,
  pastPeriods,
  periodAt,
  RESET_PERIODS,
} from './period.ts'

const ENDING = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** No period of the kind is longer than this. */
const AT_MOST = { HOUR, DAY, WEEK: 7 * DAY, MONTH: 31 * DAY, YEAR: 366 * DAY }

const FIRST_DAY = Date.UTC(2024, 0, 1)
const LAST_DAY = Date.UTC(2032, 11, 31)
const DAYS = (LAST_DAY - FIRST_DAY) / DAY + 1
/** Midnight, the last millisecond of the day, and one between. */
const TIMES_OF_DAY = [0, 45_296_789, DAY - 1]

const ms = (iso: string) => Date.parse(iso.length === 10 ? `${iso}T00:00:00.000Z` : iso)
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString())
const holds = ({ start, end }: Period, time: number) => start <= time && (end === null || time < end)

const ending = fc.constantFrom(...ENDING)
const instant = fc.integer({ min: FIRST_DAY, max: LAST_DAY + DAY - 1 })

describe('gap: periods, the one that contains now', () => {
  it.each([
    ['HOUR', '2024-03-10T10:15:00Z', '2024-03-10T10:15:00Z', '2024-03-10T10:15:00Z', '2024-03-10T11:15:00Z'],
    ['HOUR', '2024-03-10T10:15:00Z', '2024-03-10T13:14:59Z', '2024-03-10T12:15:00Z', '2024-03-10T13:15:00Z'],
    ['DAY', '2024-02-28T06:00:00Z', '2024-02-29T05:00:00Z', '2024-02-28T06:00:00Z', '2024-02-29T06:00:00Z'],
    ['DAY', '2024-02-28T06:00:00Z', '2024-03-01T06:00:00Z', '2024-03-01T06:00:00Z', '2024-03-02T06:00:00Z'],
    ['WEEK', '2024-12-30', '2025-01-05', '2024-12-30', '2025-01-06'],
    ['WEEK', '2024-12-30', '2025-01-06', '2025-01-06', '2025-01-13'],
    ['MONTH', '2024-01-15', '2024-02-14', '2024-01-15', '2024-02-15'],
    ['MONTH', '2024-01-15', '2024-02-15', '2024-02-15', '2024-03-15'],
    ['MONTH', '2024-01-31', '2024-02-28', '2024-01-31', '2024-02-29'],
    ['MONTH', '2024-01-31', '2024-02-29', '2024-02-29', '2024-03-31'],
    ['MONTH', '2024-01-31', '2024-03-30', '2024-02-29', '2024-03-31'],
    ['MONTH', '2024-12-31', '2025-03-01', '2025-02-28', '2025-03-31'],
    ['YEAR', '2024-02-29', '2025-02-27', '2024-02-29', '2025-02-28'],
    ['YEAR', '2024-02-29', '2025-02-28', '2025-02-28', '2026-02-28'],
    ['YEAR', '2024-02-29', '2028-02-28', '2027-02-28', '2028-02-29'],
    ['YEAR', '2024-07-04', '2025-07-03', '2024-07-04', '2025-07-04'],
    // before the anchor: the same grid, counted backwards
    ['MONTH', '2024-03-31', '2024-03-30', '2024-02-29', '2024-03-31'],
    ['YEAR', '2024-02-29', '2024-02-28', '2023-02-28', '2024-02-29'],
  ] as const)('%s from %s at %s: %s to %s', (reset, anchor, now, start, end) => {
    const period = periodAt(reset, ms(anchor), ms(now))
    expect([iso(period.start), iso(period.end)]).toEqual([iso(ms(start)), iso(ms(end))])
  })

  it('a clock change in some time zone is no event: days are 24 hours, in UTC', () => {
    // the nights when New York and Berlin change their clocks
    for (const day of ['2024-03-10', '2024-03-31', '2024-10-27', '2024-11-03']) {
      const { start, end } = periodAt('DAY', ms(day), ms(day) + DAY - 1)
      expect([start, end]).toEqual([ms(day), ms(day) + DAY])
    }
  })
})

describe('gap: periods, the 31st never drifts', () => {
  it.each([
    [
      'MONTH',
      '2024-01-31',
      ['02-29', '03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31'],
    ],
    ['MONTH', '2024-10-31', ['11-30', '12-31', '01-31', '02-28', '03-31', '04-30', '05-31']],
    ['MONTH', '2025-01-30', ['02-28', '03-30', '04-30', '05-30']],
    ['MONTH', '2025-01-29', ['02-28', '03-29', '04-29', '05-29']],
    ['MONTH', '2025-01-28', ['02-28', '03-28', '04-28', '05-28']],
    ['YEAR', '2024-02-29', ['02-28', '02-28', '02-28', '02-29', '02-28', '02-28', '02-28', '02-29', '02-28']],
    ['YEAR', '2023-02-28', ['02-28', '02-28', '02-28', '02-28', '02-28']],
    ['YEAR', '2024-12-31', ['12-31', '12-31', '12-31']],
  ] as const)('%s from %s: %j', (reset, anchor, days) => {
    const starts: (string | undefined)[] = []
    let now = ms(anchor)
    for (const _ of days) {
      now = periodAt(reset, ms(anchor), now).end ?? now
      starts.push(iso(now)?.slice(5, 10))
    }
    expect(starts).toEqual(days)
  })

  it('29 Feb, yearly, over the century that is no leap year', () => {
    const at = (now: string) => iso(periodAt('YEAR', ms('2096-02-29'), ms(now)).start)?.slice(0, 10)
    expect([at('2100-12-01'), at('2104-12-01')]).toEqual(['2100-02-28', '2104-02-29'])
  })
})

/** Written without Date, so that it shares no mistake with the rule. */
function daysIn(year: number, month: number): number {
  if (month !== 1) return [3, 5, 8, 10].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

describe('gap: periods tile time, for every anchor day 2024-01-01 to 2032-12-31', () => {
  const STEPS = { HOUR: 8, DAY: 8, WEEK: 6, MONTH: 13, YEAR: 5 }

  /** Each anchor: every day of the nine years, at three times of day. */
  function* anchors() {
    for (let day = 0; day < DAYS; day++) {
      for (const time of TIMES_OF_DAY) yield FIRST_DAY + day * DAY + time
    }
  }

  it('covers the nine years', () => {
    const all = [...anchors()]
    expect(all.length).toBe(3_288 * 3)
    expect([iso(all[0] ?? 0), iso(all.at(-1) ?? 0)]).toEqual([
      '2024-01-01T00:00:00.000Z',
      '2032-12-31T23:59:59.999Z',
    ])
  })

  it.each(ENDING)('%s: no gap, no overlap, none empty', (reset) => {
    const faults: string[] = []
    for (const anchor of anchors()) {
      const fault = (what: string, at: number) => faults.push(`${iso(anchor)} ${what} ${iso(at)}`)
      if (periodAt(reset, anchor, anchor - 1).end !== anchor)
        fault('is not where the one before ends', anchor)
      let start = anchor
      for (let n = 0; n < STEPS[reset]; n++) {
        const period = periodAt(reset, anchor, start)
        const end = period.end ?? Number.NaN
        if (period.start !== start) fault('leaves a gap or an overlap at', start)
        if (!(end > start && end - start <= AT_MOST[reset]))
          fault('has an empty or overlong period at', start)
        const last = periodAt(reset, anchor, end - 1)
        if (last.start !== start || last.end !== end) fault('loses the last millisecond before', end)
        start = end
      }
    }
    expect(faults.slice(0, 5)).toEqual([])
  })

  it.each([
    ['MONTH', 1],
    ['YEAR', 12],
  ] as const)('%s: the day of the anchor, or the last of a month that lacks it, at the same time of day', (reset, months) => {
    const faults: string[] = []
    for (const anchor of anchors()) {
      const from = new Date(anchor)
      let start = anchor
      for (let n = 1; n <= STEPS[reset]; n++) {
        start = periodAt(reset, anchor, start).end ?? Number.NaN
        const month = from.getUTCFullYear() * 12 + from.getUTCMonth() + n * months
        const day = Math.min(from.getUTCDate(), daysIn(Math.floor(month / 12), month % 12))
        const due = [Math.floor(month / 12), month % 12, day, from.getTime() % DAY].join()
        const at = new Date(start)
        const is = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), start % DAY].join()
        if (is !== due) faults.push(`${iso(anchor)} + ${n}: ${is}, not ${due}`)
      }
    }
    expect(faults.slice(0, 5)).toEqual([])
  })

  it('any instant is in the period returned for it, and that period has its neighbours', () => {
    fc.assert(
      fc.property(ending, instant, instant, (reset, anchor, now) => {
        const period = periodAt(reset, anchor, now)
        const { start } = period
        const end = period.end ?? Number.NaN
        expectSame(holds(period, now), true)
        expectSame(periodAt(reset, anchor, start), period)
        expectSame(periodAt(reset, anchor, end - 1), period)
        expectSame(periodAt(reset, anchor, end).start, end)
        expectSame(periodAt(reset, anchor, start - 1).end, start)
      }),
      { numRuns: 2_000 },
    )
  })

  it('none starts later than now, or longer ago than its kind lasts, wherever the anchor lies', () => {
    const anywhere = fc.integer({ min: 0, max: Date.UTC(9_000, 0) })
    fc.assert(
      fc.property(ending, anywhere, anywhere, (reset, anchor, now) => {
        const { start } = periodAt(reset, anchor, now)
        expect(start).toBeLessThanOrEqual(now)
        expect(now - start).toBeLessThan(AT_MOST[reset])
      }),
      { numRuns: 2_000 },
    )
  })

  it('the longest of each kind', () => {
    const longest = RESET_PERIODS.map((reset) => [reset, longestMs(reset)])
    expect(Object.fromEntries(longest)).toEqual({ ...AT_MOST, NEVER: null })
  })

  it('every boundary is an anchor of the shorter kinds too: hours and days stay aligned in months and years', () => {
    fc.assert(
      fc.property(fc.constantFrom('MONTH', 'YEAR'), instant, instant, (reset, anchor, now) => {
        const { start } = periodAt(reset, anchor, now)
        expect(periodAt('HOUR', anchor, start).start).toBe(start)
        expect(periodAt('DAY', anchor, start).start).toBe(start)
      }),
    )
  })
})

describe('gap: periods, NEVER', () => {
  it('is one period without end, whatever the anchor', () => {
    fc.assert(
      fc.property(instant, instant, (anchor, now) => {
        expect(periodAt('NEVER', anchor, now)).toEqual({ start: 0, end: null })
        expect(pastPeriods('NEVER', anchor, now, 24)).toEqual([])
      }),
    )
    expect(FOREVER).toEqual({ start: 0, end: null })
  })
})

describe('spec §4 queries rule 3: past periods', () => {
  it.each([
    ['MONTH', '2024-01-31', '2024-02-28', 24, []],
    ['MONTH', '2024-01-31', '2024-02-29', 24, ['2024-01-31']],
    ['MONTH', '2024-01-31', '2024-05-01', 24, ['2024-03-31', '2024-02-29', '2024-01-31']],
    ['MONTH', '2024-01-31', '2024-05-01', 2, ['2024-03-31', '2024-02-29']],
    ['MONTH', '2024-01-31', '2024-05-01', 0, []],
    ['YEAR', '2024-02-29', '2026-03-01', 24, ['2025-02-28', '2024-02-29']],
    ['WEEK', '2024-12-30', '2025-01-13', 24, ['2025-01-06', '2024-12-30']],
    ['DAY', '2024-02-28', '2024-03-01', 24, ['2024-02-29', '2024-02-28']],
    ['DAY', '2024-02-28', '2024-02-01', 24, []],
    ['NEVER', '2024-02-28', '2030-01-01', 24, []],
  ] as const)('%s from %s at %s, at most %i: %j', (reset, anchor, now, most, starts) => {
    const past = pastPeriods(reset, ms(anchor), ms(now), most)
    expect(past.map((p) => iso(p.start)?.slice(0, 10))).toEqual(starts)
  })

  it('go from the current one back to the anchor, newest first, without a gap, and are no more than asked for', () => {
    const lived = fc.record({
      reset: ending,
      anchor: instant,
      units: fc.double({ min: 0, max: 40, noNaN: true }),
    })
    fc.assert(
      fc.property(lived, fc.integer({ min: 0, max: 30 }), ({ reset, anchor, units }, most) => {
        const now = anchor + Math.floor(units * AT_MOST[reset])
        const past = pastPeriods(reset, anchor, now, most)
        const line = [periodAt(reset, anchor, now), ...past]
        expect(past.map((p) => p.end)).toEqual(line.slice(0, -1).map((p) => p.start))
        expect(past.length).toBeLessThanOrEqual(most)
        const oldest = line.at(-1)?.start ?? Number.NaN
        expect(oldest).toBeGreaterThanOrEqual(anchor)
        if (past.length < most) expect(oldest).toBe(anchor)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('gap: periods, the longest one decides', () => {
  it.each([
    [[], null],
    [['NEVER'], null],
    [['HOUR'], 'HOUR'],
    [['MONTH', 'NEVER'], 'MONTH'],
    [['NEVER', 'DAY', 'WEEK'], 'WEEK'],
    [['WEEK', 'DAY', 'HOUR'], 'WEEK'],
    [['MONTH', 'YEAR', 'MONTH'], 'YEAR'],
    [['HOUR', 'DAY'], 'DAY'],
  ] as const)('%j: %s', (resets, longest) => {
    expect(longestEnding(resets)).toBe(longest)
  })

  it('spec §2 Entitlement, gap: the six reset periods', () => {
    expect([...RESET_PERIODS].sort()).toEqual(['DAY', 'HOUR', 'MONTH', 'NEVER', 'WEEK', 'YEAR'])
  })
})
