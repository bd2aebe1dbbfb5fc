import { describe, expect, it } from 'vitest'
import { MAX_REVENUE_DAYS } from './limits.ts'
import { churnOf, DAY_MS, daysOf, mrrPerDay, perDay, previousOf, startsOf } from './revenue-series.ts'

const days = daysOf('2027-01-30', '2027-02-01')

describe('gap: revenue by day', () => {
  it('counts whole days of UTC, both ends included', () => {
    expect(startsOf(days).map((at) => new Date(at).toISOString().slice(0, 10))).toEqual([
      '2027-01-30',
      '2027-01-31',
      '2027-02-01',
    ])
    expect(previousOf(days)).toEqual(daysOf('2027-01-27', '2027-01-29'))
    expect(daysOf('2027-01-30', '2027-01-30').to - days.from).toBe(DAY_MS)
  })

  it.each([
    ['2027-02-30x', '2027-03-01', /^from must be a date/],
    ['2027-02-02', '2027-02-01', /^to must not be before from$/],
    ['2000-01-01', '2027-01-01', new RegExp(`^The range can be at most ${MAX_REVENUE_DAYS} days$`)],
  ])('rejects %s to %s', (from, to, message) => {
    expect(() => daysOf(from, to)).toThrow(message)
  })

  it('adds up changes on one day, and leaves out those of other days', () => {
    const [first = 0] = startsOf(days)
    const rows = [
      { day: first, value: 1 },
      { day: first, value: 2 },
      { day: first + 2 * DAY_MS, value: 4 },
      { day: null, value: 8 },
      { day: first + 3 * DAY_MS, value: 16 },
    ]
    expect(perDay(rows, days, ({ value }) => value)).toEqual([3, 0, 4])
  })

  it('carries the recurring revenue over from day to day, and rounds only the result', () => {
    const [first = 0] = startsOf(days)
    const changes = [
      { day: null, yearly: 1200 },
      { day: first - DAY_MS, yearly: 1200 },
      { day: first + DAY_MS, yearly: 7 },
      { day: first + 2 * DAY_MS, yearly: -1200 },
    ]
    expect(mrrPerDay(changes, days)).toEqual([200, 201, 101])
  })

  it('has no churn without subscriptions', () => {
    expect(churnOf(0, 0)).toBe(null)
    expect(churnOf(1, 4)).toBe(0.25)
  })
})
