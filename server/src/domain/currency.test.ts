/**
 * Invariants
 * - A currency is one of ISO 4217's current list that has a minor unit.
 * - An amount of the smallest step is what the provider would charge.
 */
import { describe, expect, it } from 'vitest'
import { currenciesOf, isCurrency } from './currency.ts'

describe('gap: billing, the currencies of ISO 4217', () => {
  it.each(['usd', 'eur', 'jpy', 'kwd', 'xcg', 'zwg', 'sle', 'clf'])('%s is one', (code) => {
    expect(isCurrency(code)).toBe(true)
  })

  it.each([
    'USD',
    'zzz',
    '',
    'us',
    'usdx',
    'hrk',
    'bgn',
    'ang',
    'cuc',
    'zwl',
    'sll',
    'xau',
    'xdr',
    'xxx',
    'xts',
  ])('%j is none: in capitals, never given, withdrawn, or without a minor unit', (code) => {
    expect(isCurrency(code)).toBe(false)
  })

  it('has 164 currencies and funds, each once, in order', () => {
    const codes = currenciesOf('sandbox').map(({ code }) => code)
    expect(codes).toHaveLength(164)
    expect(codes).toEqual([...new Set(codes)].sort())
    expect(codes.every((code) => /^[a-z]{3}$/.test(code))).toBe(true)
  })

  it.each([
    ['sandbox', 'jpy', 0, 1],
    ['sandbox', 'usd', 2, 1],
    ['sandbox', 'kwd', 3, 1],
    ['sandbox', 'clf', 4, 1],
    ['sandbox', 'isk', 0, 1],
    ['stripe', 'isk', 2, 100],
    ['stripe', 'ugx', 2, 100],
    ['stripe', 'mga', 0, 1],
    ['stripe', 'kwd', 3, 10],
    ['stripe', 'usd', 2, 1],
  ])('at %s, %s has %i decimals and steps of %i', (provider, code, exponent, step) => {
    expect(currenciesOf(provider).find((c) => c.code === code)).toEqual({ code, exponent, step })
  })
})
