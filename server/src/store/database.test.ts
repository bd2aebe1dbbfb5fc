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
        // Zeros at the end, and with them the point, are not written.
        expect(parseTimestamp(`${date} ${time?.replace(/\.?0+$/, '')}+00`)).toBe(ms)
      }),
    )
    for (let year = 1970; year < 2110; year++) {
      const last = Date.UTC(year, 2) - DAY_MS
      expect(parseTimestamp(`${new Date(last).toISOString().slice(0, 10)} 00:00:00+00`)).toBe(last)
    }
  })
})
