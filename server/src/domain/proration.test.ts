import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Charged, prorate } from './proration.ts'

const monthly = (amount: number, quantity = 1): Charged => ({ amount, quantity, interval: 'month' })
const yearly = (amount: number, quantity = 1): Charged => ({ amount, quantity, interval: 'year' })
const PERIOD = { start: 1_000, end: 2_000 }

const ROWS: [string, Charged, Charged, { start: number; end: number }, number, number, number][] = [
  ['half of a period', monthly(1_200), monthly(3_000), PERIOD, 1_500, 600, 1_500],
  ['three quarters', monthly(1_000), monthly(2_000), PERIOD, 1_250, 750, 1_500],
  ['several of each', monthly(100, 3), monthly(100, 5), PERIOD, 1_500, 150, 250],
  ['halves are rounded up', monthly(1), monthly(3), PERIOD, 1_500, 1, 2],
  ['less than half is nothing', monthly(1), monthly(1), PERIOD, 1_501, 0, 0],
  ['at the start', monthly(1_200), monthly(3_000), PERIOD, 1_000, 1_200, 3_000],
  ['before the start', monthly(1_200), monthly(3_000), PERIOD, 10, 1_200, 3_000],
  ['at the end', monthly(1_200), monthly(3_000), PERIOD, 2_000, 0, 0],
  ['after the end', monthly(1_200), monthly(3_000), PERIOD, 9_000, 0, 0],
  ['a period without length', monthly(1_200), monthly(3_000), { start: 5, end: 5 }, 5, 0, 0],
  ['before a period without length', monthly(1_200), monthly(3_000), { start: 5, end: 5 }, 3, 0, 0],
  ['a period that ends before it starts', monthly(1_200), monthly(3_000), { start: 9, end: 5 }, 7, 0, 0],
  ['another interval', monthly(1_200), yearly(9_900, 2), PERIOD, 1_500, 600, 19_800],
  ['another interval, at the end', yearly(9_900), monthly(1_200), PERIOD, 2_000, 0, 1_200],
  [
    'more than a double has digits for',
    monthly(9_007_199_254_740_991),
    monthly(9_007_199_254_740_991),
    { start: 0, end: 3 },
    1,
    6_004_799_503_160_661,
    6_004_799_503_160_661,
  ],
]

describe('proration', () => {
  it.each(ROWS)('%s', (_, from, to, period, now, credit, charge) => {
    expect(prorate(from, to, period, now)).toEqual({ credit, charge })
  })

  const amount = fc.integer({ min: 0, max: 1_000_000 })
  const quantity = fc.integer({ min: 1, max: 500 })
  const length = fc.integer({ min: 1, max: 400 * 86_400_000 })

  it('never gives back more than was paid, and what is used and unused make a whole', () => {
    fc.assert(
      fc.property(amount, quantity, length, fc.double({ min: 0, max: 1, noNaN: true }), (a, q, whole, at) => {
        const [paid, now] = [monthly(a, q), Math.floor(whole * at)]
        const { credit } = prorate(paid, monthly(0), { start: 0, end: whole }, now)
        expect(credit).toBeGreaterThanOrEqual(0)
        expect(credit).toBeLessThanOrEqual(a * q)
        const used = (a * q * now) / whole
        expect(Math.abs(credit + used - a * q)).toBeLessThanOrEqual(0.5 + 1e-6 * a * q)
      }),
    )
  })

  it('a change to the same charges what it gives back', () => {
    fc.assert(
      fc.property(amount, quantity, length, length, (a, q, whole, now) => {
        const { credit, charge } = prorate(monthly(a, q), monthly(a, q), { start: 0, end: whole }, now)
        expect(charge).toBe(credit)
      }),
    )
  })

  it('later in the period, neither is more', () => {
    fc.assert(
      fc.property(amount, amount, length, length, length, (a, b, whole, one, other) => {
        const [sooner, later] = [Math.min(one, other), Math.max(one, other)]
        const at = (now: number) => prorate(monthly(a), monthly(b), { start: 0, end: whole }, now)
        expect(at(later).credit).toBeLessThanOrEqual(at(sooner).credit)
        expect(at(later).charge).toBeLessThanOrEqual(at(sooner).charge)
      }),
    )
  })
})
