import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_FAILING_MS, nextAttemptIn, RETRY_SECONDS, retryAfterOf } from './webhook-retry.ts'

// A delivery is tried ten times, with growing pauses, and never sooner than its receiver asked for.

const NOW = Date.parse('2027-01-31T12:00:00Z')

describe('gap: retries of webhook deliveries', () => {
  it('wait about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
    const waits = Array.from({ length: 10 }, (_, made) => nextAttemptIn(made + 1, 0.5, null))
    expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, null])
  })

  it('end before an endpoint is disabled for failing', () => {
    const longest = RETRY_SECONDS.reduce((sum, seconds) => sum + seconds * 1.1, 0)
    expect(longest * 1000).toBeLessThan(MAX_FAILING_MS)
    expect(MAX_FAILING_MS).toBe(5 * 86_400_000)
  })

  it('vary by a tenth around the usual wait', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: RETRY_SECONDS.length }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (made, random) => {
          const usual = RETRY_SECONDS[made - 1] ?? 0
          const wait = nextAttemptIn(made, random, null) ?? 0
          expect(wait).toBeGreaterThanOrEqual(0.9 * usual)
          expect(wait).toBeLessThanOrEqual(1.1 * usual)
        },
      ),
    )
    expect(nextAttemptIn(2, 0, null)).not.toBe(nextAttemptIn(2, 0.99, null))
  })

  it.each([
    [60, 60],
    [1, 5],
    [86_400, 86_400],
    [999_999_999, 86_400],
  ])('after Retry-After: %i, the second attempt follows in %i s', (retryAfter, seconds) => {
    expect(nextAttemptIn(1, 0.5, retryAfter)).toBe(seconds)
  })

  it('do not go on for a Retry-After', () => {
    expect(nextAttemptIn(10, 0.5, 60)).toBeNull()
  })

  it.each([
    ['120', 120],
    [' 7 ', 7],
    ['0', 0],
    ['Sun, 31 Jan 2027 12:01:00 GMT', 60],
    ['Sun, 31 Jan 2027 11:00:00 GMT', 0],
    ['', null],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2027-01-31', null],
    ['99999999999', null],
  ])('read the header %j as %j', (header, seconds) => {
    expect(retryAfterOf(header, NOW)).toBe(seconds)
  })

  it('take no header for none', () => {
    expect(retryAfterOf(undefined, NOW)).toBeNull()
  })
})
