/**
 * Invariants
 * - `displayAmount` is the amount in major units by the currency's own exponent (ISO 4217), with two decimals.
 * - It is reckoned in whole numbers: no amount, however large, is off by a cent.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_COUNT } from './limits.ts'
import { displayAmount, priceOf } from './price.ts'

describe('spec §2 Price: displayAmount, a decimal with two places', () => {
  it.each([
    // two decimals
    [0, 'usd', '0.00'],
    [1, 'usd', '0.01'],
    [10, 'usd', '0.10'],
    [999, 'usd', '9.99'],
    [100_000, 'eur', '1000.00'],
    [9_007_199_254_740_991, 'usd', '90071992547409.91'],
    [9_007_199_254_740_990, 'usd', '90071992547409.90'],
    // two decimals, though people write them without
    [199_000, 'huf', '1990.00'],
    [50_000, 'pkr', '500.00'],
    [1_000_000, 'cop', '10000.00'],
    [12_345, 'all', '123.45'],
    // none
    [500, 'jpy', '500.00'],
    [1, 'krw', '1.00'],
    [0, 'clp', '0.00'],
    [9_007_199_254_740_991, 'vnd', '9007199254740991.00'],
    // three: the third is rounded, half up
    [1_500, 'kwd', '1.50'],
    [1_004, 'kwd', '1.00'],
    [1_005, 'kwd', '1.01'],
    [1_015, 'bhd', '1.02'],
    [9_994, 'jod', '9.99'],
    [9_995, 'jod', '10.00'],
    [4, 'tnd', '0.00'],
    [5_000, 'iqd', '5.00'],
    // four
    [12_345, 'clf', '1.23'],
    [12_350, 'clf', '1.24'],
    // a currency that the table does not know has two
    [1_234, 'zzz', '12.34'],
  ])('%i %s: %s', (amount, currency, display) => {
    expect(displayAmount({ amount, currency })).toBe(display)
  })

  const digits = (display: string) => BigInt(display.replace('.', ''))

  it('has two decimals, always', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom('usd', 'jpy', 'kwd', 'clf'), (amount, currency) => {
        expect(displayAmount({ amount, currency })).toMatch(/^(0|[1-9]\d*)\.\d\d$/)
      }),
    )
  })

  it('is exact where the currency has two decimals or none, and within half a hundredth where it has three', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (amount) => {
        expect(digits(displayAmount({ amount, currency: 'usd' }))).toBe(BigInt(amount))
        expect(digits(displayAmount({ amount, currency: 'jpy' }))).toBe(BigInt(amount) * 100n)
        const off = digits(displayAmount({ amount, currency: 'kwd' })) * 10n - BigInt(amount)
        expect(off > -5n && off <= 5n).toBe(true)
      }),
    )
  })
})

describe('gap: billing, prices as they are entered', () => {
  const GOOD = { id: 'price_1', provider: 'sandbox', amount: 1200, currency: 'usd', interval: 'month' }
  const TAKEN = [
    {},
    { amount: 0 },
    { amount: MAX_COUNT },
    { interval: null },
    { interval: 'year' },
    { currency: 'JPY' },
  ]
  it.each(TAKEN)('%j is taken', (change) => {
    const made = priceOf({ ...GOOD, ...change })
    expect(made.currency).toBe((change.currency ?? 'usd').toLowerCase())
  })

  const REFUSED: [object, RegExp][] = [
    [{ amount: -1 }, /^amount must be/],
    [{ amount: 1.5 }, /^amount must be/],
    [{ amount: MAX_COUNT + 1 }, /^amount must be/],
    [{ currency: '' }, /^currency must be/],
    [{ currency: 'dollar' }, /^currency must be/],
    [{ currency: 'u$d' }, /^currency must be/],
    [{ interval: 'fortnight' }, /^interval must be/],
    [{ interval: '' }, /^interval must be/],
    [{ id: '' }, /^id must be/],
  ]
  it.each(REFUSED)('%j is refused', (change, says) => {
    expect(() => priceOf({ ...GOOD, ...change })).toThrow(says)
  })
})
