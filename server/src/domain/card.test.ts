import { describe, expect, it } from 'vitest'
import { cardOutcome, cardProblems } from './card.ts'

const NOW = Date.UTC(2030, 5, 30, 23, 59, 59)
const GOOD = { number: '4242424242424242', expiry: '06/30', cvc: '123' }

describe('gap: billing, the cards of the sandbox', () => {
  const FINE = [
    {},
    { number: '4242 4242 4242 4242' },
    { number: '4242-4242-4242-4242' },
    { expiry: '6/30' },
    { expiry: '0630' },
    { expiry: ' 06 / 2030 ' },
    { cvc: '1234' },
    { cvc: ' 123 ' },
    { expiry: '12/30' },
    { expiry: '01/31' },
  ]
  it.each(FINE)('%j is fine', (change) => {
    expect(cardProblems({ ...GOOD, ...change }, NOW)).toEqual({})
  })

  const WRONG: [Partial<typeof GOOD>, keyof typeof GOOD][] = [
    [{ number: '' }, 'number'],
    [{ number: '4242424242424241' }, 'number'],
    [{ number: '4242' }, 'number'],
    [{ number: '5555555555554444' }, 'number'],
    [{ number: '0'.repeat(20) }, 'number'],
    [{ expiry: '' }, 'expiry'],
    [{ expiry: '00/31' }, 'expiry'],
    [{ expiry: '13/31' }, 'expiry'],
    [{ expiry: '05/30' }, 'expiry'],
    [{ expiry: 'soon' }, 'expiry'],
    [{ expiry: '/30' }, 'expiry'],
    [{ expiry: '06/' }, 'expiry'],
    [{ cvc: '12' }, 'cvc'],
    [{ cvc: '12345' }, 'cvc'],
    [{ cvc: 'abc' }, 'cvc'],
  ]
  it.each(WRONG)('%j is wrong in its %s', (change, field) => {
    expect(Object.keys(cardProblems({ ...GOOD, ...change }, NOW))).toEqual([field])
  })

  it.each([
    // 5555555555554444 passes the check of its digits, and so do these with nines, of 13 and of 19
    ['5555555555554444', /only accepts the test cards/],
    ['6011000990139424', /only accepts the test cards/],
    ['4222222222222', /only accepts the test cards/],
    ['6304000000000000000', /only accepts the test cards/],
    ['378282246310005', /only accepts the test cards/],
    ['5555555555554445', /number is not valid/],
    ['5555555555554454', /number is not valid/],
    ['400000000002', /number is not valid/],
    ['0'.repeat(20), /number is not valid/],
  ])('%s: %s', (number, says) => {
    expect(cardProblems({ ...GOOD, number }, NOW).number).toMatch(says)
  })

  it.each([
    ['soon', 'Enter the month and year, such as 12/34.'],
    ['13/31', 'Enter the month and year, such as 12/34.'],
    ['05/30', 'This card has expired.'],
  ])('the expiry %s: %s', (expiry, says) => {
    expect(cardProblems({ ...GOOD, expiry }, NOW)).toEqual({ expiry: says })
  })

  it('a card is good until its month is over', () => {
    expect(cardProblems(GOOD, NOW + 999)).toEqual({})
    expect(cardProblems(GOOD, Date.UTC(2030, 6, 1))).toHaveProperty('expiry')
  })

  it('each number has its outcome, and an unknown one pays nothing', () => {
    expect(cardOutcome('4242 4242 4242 4242')).toBe('pays')
    expect(cardOutcome('4000 0000 0000 0002')).toBe('declined')
    expect(cardOutcome('4000 0000 0000 0341')).toBe('fails to renew')
    expect(cardOutcome('5555555555554444')).toBe('declined')
  })
})
