/**
 * Invariants
 * - Twelve months of a monthly price and one of a yearly price of the same total are the same MRR.
 * - The parts add up: MRR of two sets of prices is within one minor unit of the MRR of both together.
 * - Nothing that is not charged for adds anything, and no currency or provider touches another.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { billingStateOf, type ChargedPrice, mrrOf } from './mrr.ts'

const MONTHLY: ChargedPrice = {
  provider: 'stripe',
  currency: 'usd',
  amount: 2900,
  interval: 'month',
  state: 'active',
  trialing: false,
  quantity: 1,
}

describe('gap: monthly recurring revenue', () => {
  const CASES: [string, Partial<ChargedPrice>[], number, number][] = [
    ['one monthly price', [{}], 2900, 0],
    ['three seats', [{ quantity: 3 }], 8700, 0],
    ['a year, over twelve months', [{ interval: 'year', amount: 29_000 }], 2417, 0],
    ['a week, 52 of them a year', [{ interval: 'week', amount: 1200 }], 5200, 0],
    ['a day, 365 of them a year', [{ interval: 'day', amount: 120 }], 3650, 0],
    ['half a minor unit a month, rounded up', [{ interval: 'year', amount: 6 }], 1, 0],
    [
      'two halves make one, not two',
      [
        { interval: 'year', amount: 6 },
        { interval: 'year', amount: 6 },
      ],
      1,
      0,
    ],
    ['what is past due, also by itself', [{}, { state: 'past due', amount: 1000 }], 3900, 1000],
  ]
  it.each(CASES)('counts %s', (_, prices, amount, pastDue) => {
    expect(mrrOf(prices.map((price) => ({ ...MONTHLY, ...price })))).toEqual([
      { provider: 'stripe', currency: 'usd', amount, pastDue },
    ])
  })

  const NOTHING: [string, Partial<ChargedPrice>][] = [
    ['a one-off price', { interval: null }],
    ['a trial', { trialing: true }],
    ['a trial that is past due', { trialing: true, state: 'past due' }],
    ['what is paused', { state: 'paused' }],
  ]
  it.each(NOTHING)('does not count %s', (_, price) => {
    expect(mrrOf([{ ...MONTHLY, ...price }])).toEqual([])
  })

  it('is never summed over currencies or providers', () => {
    expect(
      mrrOf([
        MONTHLY,
        { ...MONTHLY, currency: 'eur' },
        { ...MONTHLY, currency: 'eur' },
        { ...MONTHLY, provider: 'sandbox' },
      ]),
    ).toEqual([
      { provider: 'sandbox', currency: 'usd', amount: 2900, pastDue: 0 },
      { provider: 'stripe', currency: 'eur', amount: 5800, pastDue: 0 },
      { provider: 'stripe', currency: 'usd', amount: 2900, pastDue: 0 },
    ])
  })

  it('lists the largest currency of a provider first, and equal ones by their codes', () => {
    const charged = [
      { ...MONTHLY, currency: 'eur', amount: 1000 },
      { ...MONTHLY, currency: 'chf', amount: 1000 },
      { ...MONTHLY, currency: 'gbp', amount: 2000 },
      { ...MONTHLY, currency: 'usd', amount: 3000 },
    ]
    expect(mrrOf(charged).map(({ currency }) => currency)).toEqual(['usd', 'gbp', 'chf', 'eur'])
  })

  it('is never more than a number holds exactly', () => {
    const most = { ...MONTHLY, amount: 9_007_199_254_740_991, state: 'past due' } as const
    const [one] = mrrOf([most])
    const [two] = mrrOf([{ ...most, quantity: 2 }])
    expect(one).toMatchObject({ amount: 9_007_199_254_740_991, pastDue: 9_007_199_254_740_991 })
    expect(two).toMatchObject({ amount: 9_007_199_254_740_991, pastDue: 9_007_199_254_740_991 })
  })

  const price = fc.record({
    provider: fc.constantFrom('stripe', 'sandbox'),
    currency: fc.constantFrom('usd', 'eur'),
    amount: fc.nat(1_000_000),
    interval: fc.constantFrom('day', 'week', 'month', 'year', null),
    state: fc.constantFrom('active', 'past due', 'paused'),
    trialing: fc.boolean(),
    quantity: fc.nat(1000),
  }) as fc.Arbitrary<ChargedPrice>
  const sumOf = (prices: ChargedPrice[], provider: string, currency: string) =>
    mrrOf(prices).find((m) => m.provider === provider && m.currency === currency)?.amount ?? 0

  it('adds up, in any order', () => {
    fc.assert(
      fc.property(fc.array(price), fc.array(price), (some, others) => {
        const all = [...some, ...others]
        expect(mrrOf([...all].reverse())).toEqual(mrrOf(all))
        for (const { provider, currency, amount, pastDue } of mrrOf(all)) {
          const parts = sumOf(some, provider, currency) + sumOf(others, provider, currency)
          expect(Math.abs(amount - parts)).toBeLessThanOrEqual(1)
          expect(pastDue).toBeLessThanOrEqual(amount)
        }
      }),
    )
  })

  it('is the same for a year paid at once and by the month', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1000 }), (amount, quantity) => {
        const yearly = { ...MONTHLY, quantity, amount: amount * 12, interval: 'year' as const }
        expect(mrrOf([yearly])).toEqual(mrrOf([{ ...MONTHLY, quantity, amount }]))
      }),
    )
  })

  it.each([
    ['live', 'active', 'active'],
    ['live', 'trialing', 'active'],
    ['past due', 'unpaid', 'past due'],
    ['paused', 'paused', 'paused'],
    ['paused', 'on hold', 'paused'],
    ['live', 'active, collection paused', 'paused'],
    ['past due', 'past_due, collection paused', 'paused'],
  ])('of what is %s (%s) is %s', (billingStatus, status, state) => {
    expect(billingStateOf({ billingStatus, status })).toBe(state)
  })
})
