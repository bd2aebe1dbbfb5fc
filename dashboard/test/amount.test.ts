import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as limits from '../../server/src/domain/limits.ts'
import { MAX_AMOUNT, typedAmount } from '../src/forms/amount.ts'
import { grantText, overrideText } from '../src/grants.ts'
import { units } from '../src/ui/number.ts'
import { decimalText, moneyText, priceText } from '../src/ui/price.ts'

const USD = { code: 'usd', decimals: 2, step: 1 }
const EUR = { code: 'eur', decimals: 2, step: 1 }
const JPY = { code: 'jpy', decimals: 0, step: 1 }
const KWD = { code: 'kwd', decimals: 3, step: 1 }
const CAD = { code: 'cad', decimals: 2, step: 1 }
/** as Stripe counts them */
const STRIPE_KWD = { code: 'kwd', decimals: 3, step: 10 }
const STRIPE_ISK = { code: 'isk', decimals: 2, step: 100 }

describe('gap: an amount as people type it', () => {
  const READ: [string, typeof USD, string, number][] = [
    ['29', USD, 'en', 2900],
    ['29.00', USD, 'en', 2900],
    ['29.5', USD, 'en', 2950],
    ['29,00', USD, 'en', 2900],
    ['.5', USD, 'en', 50],
    ['5.', USD, 'en', 500],
    ['0', USD, 'en', 0],
    [' 29 ', USD, 'en', 2900],
    ['1,200', USD, 'en', 120000],
    ['$1,200.50', USD, 'en', 120050],
    ['1,200.50 USD', USD, 'en', 120050],
    ['usd 1200.50', USD, 'de', 120050],
    ['1.200,50 €', EUR, 'de', 120050],
    ['1.200,50', EUR, 'en', 120050],
    ['1.200', EUR, 'de', 120000],
    ['1.200.300', EUR, 'en', 120030000],
    ['1 200,50 €', EUR, 'fr', 120050],
    ["1'200.50", EUR, 'de-CH', 120050],
    ['1’200.50', EUR, 'de-CH', 120050],
    ['$5', CAD, 'en', 500],
    ['CA$5', CAD, 'en', 500],
    ['¥1,500', JPY, 'en', 1500],
    ['1500', JPY, 'en', 1500],
    ['1.500', KWD, 'en', 1500],
    ['1,500', KWD, 'en', 1500000],
    ['1.5', KWD, 'en', 1500],
    ['1.510', STRIPE_KWD, 'en', 1510],
    ['500', STRIPE_ISK, 'en', 50000],
    ['9,999,999,999.99', USD, 'en', 999_999_999_999],
  ]
  it.each(READ)('%j in %o (%s): %i', (text, currency, locale, amount) => {
    expect(typedAmount(text, currency, locale)).toEqual({ amount, problem: null })
  })

  const REFUSED: [string, typeof USD, string, RegExp][] = [
    ['', USD, 'en', /missing/],
    ['  ', USD, 'en', /missing/],
    ['free', USD, 'en', /Enter an amount in USD/],
    ['-5', USD, 'en', /cannot be negative/],
    ['($5)', USD, 'en', /cannot be negative/],
    ['29.999', USD, 'en', /USD has 2 decimals: 29\.999 has 3/],
    ['1.200', USD, 'en', /has 3\. For thousands, write 1200\./],
    ['1,200', EUR, 'de', /EUR has 2 decimals/],
    ['29.9', JPY, 'en', /JPY has no decimals: 29\.9 has 1/],
    ['1500.00', JPY, 'en', /JPY has no decimals/],
    ['1.0005', KWD, 'en', /KWD has 3 decimals/],
    ['€29', USD, 'en', /€ is not USD/],
    ['29 EUR', USD, 'en', /EUR is not USD/],
    ['1,2,3', USD, 'en', /Enter an amount/],
    ['1.2.3', USD, 'en', /Enter an amount/],
    ['1,20.50', USD, 'en', /Enter an amount/],
    ['1.200,50.1', USD, 'en', /Enter an amount/],
    ['12a5', USD, 'en', /Enter an amount/],
    ['1e3', USD, 'en', /Enter an amount/],
    ['1.515', STRIPE_KWD, 'en', /KWD is charged in steps of 0\.010/],
    ['500.50', STRIPE_ISK, 'en', /ISK is charged in steps of 1\.00/],
    ['10000000000.00', USD, 'en', /too large/],
    ['90071992547409.92', USD, 'en', /too large/],
  ]
  it.each(REFUSED)('%j in %o (%s) is refused: %s', (text, currency, locale, says) => {
    const typed = typedAmount(text, currency, locale)
    expect(typed.amount).toBeNull()
    expect(typed.problem).toMatch(says)
  })

  it('takes back every amount as it is shown, to the last minor unit', () => {
    const currencies = fc.constantFrom(USD, EUR, JPY, KWD, CAD)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_AMOUNT }), currencies, (amount, currency) => {
        const { code, decimals } = currency
        for (const text of [decimalText(amount, decimals), moneyText({ amount, decimals, currency: code })]) {
          expect(typedAmount(text, currency, 'en')).toEqual({ amount, problem: null })
        }
      }),
    )
  })
})

describe('gap: the largest amount', () => {
  it('is the one that the server accepts', () => expect(MAX_AMOUNT).toBe(limits.MAX_AMOUNT))
})

describe('gap: anything else that is typed', () => {
  it('is refused with a sentence', () => {
    const letters = fc.string({ unit: fc.constantFrom(..."0123456789.,-$€ eE'") })
    fc.assert(
      fc.property(fc.oneof(letters, fc.string()), fc.constantFrom(USD, JPY, KWD), (text, currency) => {
        const { amount, problem } = typedAmount(text, currency, 'en')
        expect(amount === null ? problem : Number.isSafeInteger(amount)).toBeTruthy()
      }),
    )
  })
})

describe('gap: money as it is shown', () => {
  it.each([
    [2900, 2, 'usd', '$29.00'],
    [120050, 2, 'eur', '€1,200.50'],
    [1500, 0, 'jpy', '¥1,500'],
    [1500, 3, 'kwd', 'KWD\u00a01.500'],
    [1234, 3, 'kwd', 'KWD\u00a01.234'],
    [199_000, 2, 'huf', 'HUF\u00a01,990'],
    [199_050, 2, 'huf', 'HUF\u00a01,990.50'],
    [50_000, 2, 'isk', 'ISK\u00a0500'],
    [-250, 2, 'usd', '-$2.50'],
    [9_007_199_254_740_991, 2, 'usd', '$90,071,992,547,409.91'],
    // from before unknown currencies were refused
    [1234, 2, 'zzz', 'ZZZ\u00a012.34'],
  ])('%i with %i decimals in %s is %s', (amount, decimals, currency, text) => {
    expect(moneyText({ amount, decimals, currency })).toBe(text)
  })

  it('says how often it is paid', () => {
    const money = { amount: 2900, decimals: 2, currency: 'usd' }
    expect(priceText({ ...money, interval: 'month' })).toBe('$29.00 per month')
    expect(priceText({ ...money, interval: null })).toBe('$29.00 once')
  })
})

describe('an amount of a feature', () => {
  it.each([
    [1, 'call', 'calls', '1 call'],
    [0, 'call', 'calls', '0 calls'],
    [12_000, 'call', 'calls', '12,000 calls'],
    [5, 'report', null, '5 × report'],
    [5, 'report', '', '5 × report'],
    [1, 'report', null, '1 report'],
    [1, '', 'reports', '1 × reports'],
    [1500, null, null, '1,500'],
  ])('%s of %s and %s: %s', (value, label, plural, text) => {
    expect(units(value, label, plural)).toBe(text)
  })

  it('is in a grant and in an override as anywhere else', () => {
    const report = {
      id: 'report',
      name: 'Reports',
      type: 'CONSUMABLE',
      unitLabel: 'report',
      unitLabelPlural: null,
    } as const
    const rest = { resetPeriod: 'MONTH', overageEnabled: false, overageCap: null, caps: [] } as const
    const grant = { id: 'report', limit: '5', ...rest }
    expect(grantText(grant, report)).toBe('5 × report a month')
    expect(overrideText({ mode: 'ADD', limit: 5, overageEnabled: null }, report)).toBe('5 × report more')
  })
})
