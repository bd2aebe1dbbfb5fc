import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_AMOUNT, MAX_COUNT } from './limits.ts'
import {
  afterDecline,
  afterPayment,
  checkRechargeRule,
  mayCharge,
  type RechargeHealth,
  type RechargeRule,
  rechargeNow,
} from './recharge.ts'

const RULE: RechargeRule = { below: 100, upTo: 1000, priceId: 'pack', maxSpendPerPeriod: null }
const PACK = { units: 300, amount: 500 }
const NEW: RechargeHealth = { declines: 0, waitUntil: null, on: true }
const HOUR = 3_600_000

describe('a recharge rule', () => {
  it.each<[string, Partial<RechargeRule>]>([
    ['below', { below: 0 }],
    ['below', { below: 1.5 }],
    ['upTo', { upTo: MAX_COUNT + 1 }],
    ['upTo', { upTo: 99 }],
    ['maxSpendPerPeriod', { maxSpendPerPeriod: 0 }],
    ['maxSpendPerPeriod', { maxSpendPerPeriod: MAX_AMOUNT + 1 }],
  ])('names the field that is wrong: %s', (field, change) => {
    expect(() => checkRechargeRule({ ...RULE, ...change })).toThrow(expect.objectContaining({ field }))
  })

  it.each<[string, number, number, number | null, ReturnType<typeof rechargeNow>]>([
    ['nothing at the threshold', 100, 0, null, { kind: 'enough' }],
    ['whole packs below it', 99, 0, null, { kind: 'charge', packs: 4, units: 1200, amount: 2000 }],
    [
      'exactly the gap where packs fit',
      100 - 1 - 99,
      0,
      null,
      { kind: 'charge', packs: 4, units: 1200, amount: 2000 },
    ],
    [
      'the packs that the maximum leaves',
      0,
      700,
      1700,
      { kind: 'charge', packs: 2, units: 600, amount: 1000 },
    ],
    ['nothing beyond the maximum', 0, 1201, 1700, { kind: 'spent' }],
    ['nothing if more was spent than the maximum is now', 0, 2000, 1700, { kind: 'spent' }],
  ])('buys %s', (_, balance, spent, maxSpendPerPeriod, expected) => {
    expect(rechargeNow({ ...RULE, maxSpendPerPeriod }, PACK, balance, spent)).toEqual(expected)
  })

  const amounts = fc.record({
    below: fc.integer({ min: 1, max: 10_000 }),
    more: fc.integer({ min: 0, max: 100_000 }),
    units: fc.integer({ min: 1, max: 5_000 }),
    amount: fc.integer({ min: 0, max: 50_000 }),
    balance: fc.integer({ min: 0, max: 12_000 }),
    spent: fc.integer({ min: 0, max: 1_000_000 }),
    most: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  })

  it('closes the gap with no more packs than needed, within the maximum', () => {
    fc.assert(
      fc.property(amounts, ({ below, more, units, amount, balance, spent, most }) => {
        const rule = { ...RULE, below, upTo: below + more, maxSpendPerPeriod: most }
        const made = rechargeNow(rule, { units, amount }, balance, spent)
        expect(made.kind === 'enough').toBe(balance >= below)
        if (made.kind === 'spent') expect(spent + amount).toBeGreaterThan(most ?? Number.POSITIVE_INFINITY)
        if (made.kind !== 'charge') return
        expect(made).toMatchObject({ units: made.packs * units, amount: made.packs * amount })
        expect(balance + made.units - units).toBeLessThan(rule.upTo)
        if (most !== null) expect(amount === 0 || spent + made.amount <= most).toBe(true)
        const affordsMore = most === null || spent + made.amount + amount <= most
        if (affordsMore) expect(balance + made.units).toBeGreaterThanOrEqual(rule.upTo)
      }),
    )
  })
})

describe('a declined recharge', () => {
  it('waits an hour, then two, and turns the rule off at the third', () => {
    const first = afterDecline(NEW, false, 0)
    expect(first).toEqual({ declines: 1, waitUntil: HOUR, on: true })
    expect([mayCharge(first, HOUR - 1), mayCharge(first, HOUR)]).toEqual([false, true])
    const second = afterDecline(first, false, HOUR)
    expect(second).toEqual({ declines: 2, waitUntil: 3 * HOUR, on: true })
    const third = afterDecline(second, false, 3 * HOUR)
    expect(third).toEqual({ declines: 3, waitUntil: null, on: false })
    expect(mayCharge(third, Number.MAX_SAFE_INTEGER)).toBe(false)
  })

  it('turns the rule off at once if the card can never be charged', () => {
    expect(afterDecline(NEW, true, 5)).toEqual({ declines: 1, waitUntil: null, on: false })
  })

  it('is forgotten after a payment', () => {
    const paid = afterPayment(afterDecline(afterDecline(NEW, false, 0), false, HOUR))
    expect(paid).toEqual(NEW)
    expect(mayCharge(paid, 0)).toBe(true)
  })
})
