/**
 * Invariants
 * - `displayAmount` is the amount in major units by the currency's exponent at its provider (ISO 4217 unless the provider
 *   has its own), with two decimals.
 * - It is computed in whole numbers: no amount, however large, is off by a cent.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_QUANTITY } from './limits.ts'
import { amountText, costOf, displayAmount, PER_YEAR, priceOf, totalOf } from './price.ts'

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
    expect(displayAmount({ provider: 'sandbox', amount, currency })).toBe(display)
  })

  it.each([
    // in hundredths at Stripe, though ISO 4217 has no minor unit for them
    [50_000, 'isk', '500.00', 'ISK\u00a0500', '50000.00', 'ISK\u00a050,000'],
    [50_000, 'ugx', '500.00', 'UGX\u00a0500', '50000.00', 'UGX\u00a050,000'],
    // without a minor unit at Stripe, though ISO 4217 has hundredths
    [50_000, 'mga', '50000.00', 'MGA\u00a050,000', '500.00', 'MGA\u00a0500'],
    // three decimals at both
    [1_500, 'kwd', '1.50', 'KWD\u00a01.500', '1.50', 'KWD\u00a01.500'],
    [12_340, 'bhd', '12.34', 'BHD\u00a012.340', '12.34', 'BHD\u00a012.340'],
    [5_120, 'jod', '5.12', 'JOD\u00a05.120', '5.12', 'JOD\u00a05.120'],
    [5_120, 'omr', '5.12', 'OMR\u00a05.120', '5.12', 'OMR\u00a05.120'],
    [5_120, 'tnd', '5.12', 'TND\u00a05.120', '5.12', 'TND\u00a05.120'],
    // none at both
    [1_500, 'bif', '1500.00', 'BIF\u00a01,500', '1500.00', 'BIF\u00a01,500'],
    [1_500, 'clp', '1500.00', 'CLP\u00a01,500', '1500.00', 'CLP\u00a01,500'],
    [1_500, 'djf', '1500.00', 'DJF\u00a01,500', '1500.00', 'DJF\u00a01,500'],
    [1_500, 'gnf', '1500.00', 'GNF\u00a01,500', '1500.00', 'GNF\u00a01,500'],
    [1_500, 'jpy', '1500.00', '¥1,500', '1500.00', '¥1,500'],
    [1_500, 'kmf', '1500.00', 'KMF\u00a01,500', '1500.00', 'KMF\u00a01,500'],
    [1_500, 'krw', '1500.00', '₩1,500', '1500.00', '₩1,500'],
    [1_500, 'pyg', '1500.00', 'PYG\u00a01,500', '1500.00', 'PYG\u00a01,500'],
    [1_500, 'rwf', '1500.00', 'RWF\u00a01,500', '1500.00', 'RWF\u00a01,500'],
    [1_500, 'vnd', '1500.00', '₫1,500', '1500.00', '₫1,500'],
    [1_500, 'vuv', '1500.00', 'VUV\u00a01,500', '1500.00', 'VUV\u00a01,500'],
    [1_500, 'xaf', '1500.00', 'FCFA\u00a01,500', '1500.00', 'FCFA\u00a01,500'],
    [1_500, 'xof', '1500.00', 'F\u202fCFA\u00a01,500', '1500.00', 'F\u202fCFA\u00a01,500'],
    [1_500, 'xpf', '1500.00', 'CFPF\u00a01,500', '1500.00', 'CFPF\u00a01,500'],
    // two at both
    [123_456_789, 'usd', '1234567.89', '$1,234,567.89', '1234567.89', '$1,234,567.89'],
    [0, 'eur', '0.00', '€0.00', '0.00', '€0.00'],
    [5, 'eur', '0.05', '€0.05', '0.05', '€0.05'],
    [50_000, 'twd', '500.00', 'NT$500.00', '500.00', 'NT$500.00'],
    [
      9_007_199_254_740_991,
      'usd',
      '90071992547409.91',
      '$90,071,992,547,409.91',
      '90071992547409.91',
      '$90,071,992,547,409.91',
    ],
  ])('%i %s: %s (%s) at Stripe, %s (%s) in the sandbox', (amount, currency, display, text, ours, oursText) => {
    const [stripe, sandbox] = ['stripe', 'sandbox'].map((provider) => ({ provider, amount, currency }))
    if (!stripe || !sandbox) throw new Error('unreachable')
    expect([displayAmount(stripe), amountText(stripe)]).toEqual([display, text])
    expect([displayAmount(sandbox), amountText(sandbox)]).toEqual([ours, oursText])
  })

  it('hides no part of an amount, however a currency is usually written', () => {
    expect(amountText({ provider: 'stripe', amount: 50_050, currency: 'isk' })).toBe('ISK\u00a0500.50')
    expect(amountText({ provider: 'sandbox', amount: 199_050, currency: 'huf' })).toBe('HUF\u00a01,990.50')
  })

  const digits = (display: string) => BigInt(display.replace('.', ''))

  it('has two decimals, always', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom('usd', 'jpy', 'kwd', 'clf'), (amount, currency) => {
        expect(displayAmount({ provider: 'sandbox', amount, currency })).toMatch(/^(0|[1-9]\d*)\.\d\d$/)
      }),
    )
  })

  it('is exact where the currency has two decimals or none, and within half a hundredth where it has three', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (amount) => {
        expect(digits(displayAmount({ provider: 'stripe', amount, currency: 'usd' }))).toBe(BigInt(amount))
        expect(digits(displayAmount({ provider: 'stripe', amount, currency: 'jpy' }))).toBe(
          BigInt(amount) * 100n,
        )
        const off =
          digits(displayAmount({ provider: 'stripe', amount, currency: 'kwd' })) * 10n - BigInt(amount)
        expect(off > -5n && off <= 5n).toBe(true)
      }),
    )
  })
})

describe('gap: monthly recurring revenue, how often a price is charged in a year', () => {
  it('every day, week, month, or once, leap years aside', () => {
    expect(PER_YEAR).toEqual({ day: 365, week: 52, month: 12, year: 1 })
  })
})

describe('gap: billing, prices as they are entered', () => {
  const GOOD = { id: 'price_1', provider: 'sandbox', amount: 1200, currency: 'usd', interval: 'month' }
  const TAKEN = [
    {},
    { amount: 0 },
    { amount: 999_999_999_999 },
    { interval: null },
    { interval: 'year' },
    { currency: 'JPY' },
    { provider: 'stripe', currency: 'isk', amount: 500 },
    { provider: 'stripe', currency: 'kwd', amount: 5_120 },
    { provider: 'sandbox', currency: 'isk', amount: 5 },
    { provider: 'stripe', currency: 'usd', amount: 901 },
    { provider: 'stripe', currency: 'jpy', amount: 901 },
    { provider: 'sandbox', currency: 'kwd', amount: 5_121 },
  ]
  it.each(TAKEN)('%j is taken', (change) => {
    const made = priceOf({ ...GOOD, ...change })
    expect(made.currency).toBe((change.currency ?? 'usd').toLowerCase())
  })

  const REFUSED: [object, RegExp][] = [
    [{ amount: -1 }, /^amount must be/],
    [{ amount: 9.5 }, /^amount must be an integer/],
    [{ amount: Number.NaN }, /^amount must be an integer/],
    [
      { amount: 1_000_000_000_000 },
      /^amount must be an integer number of minor units from 0 to 999999999999$/,
    ],
    [
      { provider: 'stripe', currency: 'isk', amount: 550 },
      /^amount must be a multiple of 100, the smallest ISK amount Stripe supports/,
    ],
    [{ provider: 'stripe', currency: 'ugx', amount: 1 }, /^amount must be a multiple of 100/],
    [
      { provider: 'stripe', currency: 'KWD', amount: 5_124 },
      /^amount must be a multiple of 10, the smallest KWD amount Stripe supports/,
    ],
    [{ amount: 1.5 }, /^amount must be/],
    [{ amount: 9_007_199_254_740_991 }, /^amount must be/],
    [{ currency: '' }, /^currency must be/],
    [{ currency: 'dollar' }, /^currency must be/],
    [{ currency: 'u$d' }, /^currency must be/],
    [{ currency: 'zzz' }, /^currency must be a current ISO 4217 code.*"zzz"/],
    // withdrawn: Croatia and Bulgaria pay in euro
    [{ currency: 'hrk' }, /^currency must be/],
    [{ currency: 'BGN' }, /it is "BGN"/],
    // gold, and the code for tests
    [{ currency: 'xau' }, /^currency must be/],
    [{ currency: 'xts' }, /^currency must be/],
    [{ interval: 'fortnight' }, /^interval must be/],
    [{ interval: '' }, /^interval must be/],
    [{ id: '' }, /^id must be/],
  ]
  it.each(REFUSED)('%j is refused', (change, says) => {
    expect(() => priceOf({ ...GOOD, ...change })).toThrow(says)
  })
})

describe('gap: billing, what can be charged at once', () => {
  // Prices from before there was a bound may be larger.
  const amount = fc.oneof(fc.nat(2_000_000), fc.maxSafeNat())
  const MOST = 999_999_999_999n
  const expected = (exact: bigint) => (exact > MOST ? null : Number(exact))

  it('property: a price times its quantity is exact, or more than can be charged', () => {
    fc.assert(
      fc.property(amount, fc.integer({ min: 1, max: MAX_QUANTITY }), (each, quantity) => {
        expect(costOf({ amount: each }, quantity)).toBe(expected(BigInt(each) * BigInt(quantity)))
      }),
    )
  })

  it('property: so is what a hundred prices come to', () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 100 }), (amounts) => {
        const exact = amounts.reduce((sum, each) => sum + BigInt(each), 0n)
        expect(totalOf(amounts.map((each) => ({ amount: each })))).toBe(expected(exact))
      }),
    )
  })

  it.each([
    [999_999_999_999, 1, 999_999_999_999],
    [1_000_000_000_000, 1, null],
    [999_999, 1_000_000, 999_999_000_000],
    [1_000_000, 1_000_000, null],
    [9_007_199_254_740_991, 1_000_000, null],
  ])('%i times %i is %s', (each, quantity, cost) => expect(costOf({ amount: each }, quantity)).toBe(cost))
})
