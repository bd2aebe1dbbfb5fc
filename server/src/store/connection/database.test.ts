import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTimestamp } from './database.ts'

const DAY_MS = 86_400_000

describe('a timestamp as PostgreSQL writes it', () => {
  const times = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') })

  it('is read to the millisecond, with as many decimals as it has', () => {
    fc.assert(
      fc.property(times, fc.nat(999), (ms, micros) => {
        const [date, time] = new Date(ms).toISOString().slice(0, -1).split('T')
        expect(parseTimestamp(`${date} ${time}+00`)).toBe(ms)
        expect(parseTimestamp(`${date} ${time}${String(micros).padStart(3, '0')}+00`)).toBe(ms)
        // Trailing zeros, and a trailing point, are omitted.
        expect(parseTimestamp(`${date} ${time?.replace(/\.?0+$/, '')}+00`)).toBe(ms)
      }),
    )
    for (let year = 1970; year < 2110; year++) {
      const last = Date.UTC(year, 2) - DAY_MS
      expect(parseTimestamp(`${new Date(last).toISOString().slice(0, 10)} 00:00:00+00`)).toBe(last)
    }
  })

  it('means the same in every time zone', () => {
    const offsets = [0, 3_600, -3_600, 19_800, 20_700, -12_600, 50_400, -43_200, 1_172]
    fc.assert(
      fc.property(times, fc.constantFrom(...offsets), (ms, seconds) => {
        const [date, time] = new Date(ms).toISOString().slice(0, -1).split('T')
        const utc = parseTimestamp(`${date} ${time}+00`)
        expect(parseTimestamp(`${date} ${time}${zone(seconds)}`)).toBe(utc - seconds * 1_000)
      }),
    )
  })

  it('is refused in any other form than ISO', () => {
    expect(() => parseTimestamp('31.01.2026 12:00:00 UTC')).toThrow('not in ISO format')
    expect(() => parseTimestamp('12026-01-31 12:00:00+00')).toThrow('not in ISO format')
  })
})

/** `+05:45`, as PostgreSQL writes it: without trailing zero parts. */
function zone(seconds: number): string {
  const two = (n: number) => String(Math.trunc(n)).padStart(2, '0')
  const size = Math.abs(seconds)
  const parts = [two(size / 3_600), two((size / 60) % 60), two(size % 60)]
  while (parts.length > 1 && parts.at(-1) === '00') parts.pop()
  return `${seconds < 0 ? '-' : '+'}${parts.join(':')}`
}
