import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_AMOUNT, MAX_COUNT } from './limits.ts'
import {
  afterDecline,
  balanceOf,
  checkRechargeRule,
  HEALTHY,
  mayCharge,
  nextMonth,
  postponed,
  type RechargeRule,
  rechargeNow,
  rechargeState,
  setAgain,
} from './recharge.ts'

const RULE: RechargeRule = { below: 100, upTo: 1000, priceId: 'pack', maxSpendPerPeriod: null }
const PACK = { units: 300, amount: 500 }
const HOUR = 3_600_000
const SOFT = { hard: false, reason: 'declined' }

describe('a rule of automatic recharges', () => {
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

  it.each<[string, { balance: number; owed: number }, number, number | null, ReturnType<typeof rechargeNow>]>(
    [
      ['nothing at the threshold', { balance: 100, owed: 0 }, 0, null, { kind: 'enough' }],
      [
        'whole packs below it',
        { balance: 99, owed: 0 },
        0,
        null,
        { kind: 'charge', packs: 4, units: 1200, amount: 2000 },
      ],
      [
        'no pack more than closes the gap',
        { balance: 100 - 1, owed: 0 },
        0,
        2000,
        { kind: 'charge', packs: 4, units: 1200, amount: 2000 },
      ],
      [
        'also what the next credit pays for',
        { balance: 0, owed: 201 },
        0,
        null,
        { kind: 'charge', packs: 5, units: 1500, amount: 2500 },
      ],
      [
        'the packs that the maximum leaves',
        { balance: 0, owed: 0 },
        700,
        1700,
        { kind: 'charge', packs: 2, units: 600, amount: 1000 },
      ],
      ['nothing beyond the maximum', { balance: 0, owed: 0 }, 1201, 1700, { kind: 'spent' }],
      [
        'nothing if more was spent than the maximum is now',
        { balance: 0, owed: 0 },
        2000,
        1700,
        { kind: 'spent' },
      ],
    ],
  )('buys %s', (_, state, spent, maxSpendPerPeriod, expected) => {
    expect(rechargeNow({ ...RULE, maxSpendPerPeriod }, PACK, state, spent)).toEqual(expected)
  })

  it('buys no more units than a credit can have', () => {
    const owing = { balance: 0, owed: MAX_COUNT }
    const pack = { units: MAX_COUNT - 1, amount: 1 }
    expect(rechargeNow({ ...RULE, upTo: MAX_COUNT }, pack, owing, 0)).toEqual({
      ...{ kind: 'charge', packs: 1, units: MAX_COUNT - 1, amount: 1 },
    })
  })

  const amounts = fc.record({
    below: fc.integer({ min: 1, max: 10_000 }),
    more: fc.integer({ min: 0, max: 100_000 }),
    units: fc.integer({ min: 1, max: 5_000 }),
    amount: fc.integer({ min: 1, max: 50_000 }),
    balance: fc.integer({ min: 0, max: 12_000 }),
    spent: fc.integer({ min: 0, max: 1_000_000 }),
    most: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  })

  it('closes the gap with no more packs than needed, within the maximum', () => {
    fc.assert(
      fc.property(amounts, ({ below, more, units, amount, balance, spent, most }) => {
        const rule = { ...RULE, below, upTo: below + more, maxSpendPerPeriod: most }
        const made = rechargeNow(rule, { units, amount }, { balance, owed: 0 }, spent)
        expect(made.kind === 'enough').toBe(balance >= below)
        if (made.kind === 'spent') expect(spent + amount).toBeGreaterThan(most ?? Number.POSITIVE_INFINITY)
        if (made.kind !== 'charge') return
        expect(made).toMatchObject({ units: made.packs * units, amount: made.packs * amount })
        expect(balance + made.units - units).toBeLessThan(rule.upTo)
        if (most !== null) expect(spent + made.amount).toBeLessThanOrEqual(most)
        const affordsMore = most === null || spent + made.amount + amount <= most
        if (affordsMore) expect(balance + made.units).toBeGreaterThanOrEqual(rule.upTo)
      }),
    )
  })
})

describe('the balance', () => {
  const credit = { amount: 10, used: 4, effectiveAt: 0, expiresAt: null, voidedAt: null }

  it('is what is left of the credits that can be used now', () => {
    const others = [
      { ...credit, effectiveAt: 101 },
      { ...credit, expiresAt: 100 },
      { ...credit, voidedAt: 5 },
      { ...credit, used: 10 },
    ]
    expect(balanceOf([credit, ...others, { ...credit, expiresAt: 101 }], 100)).toBe(12)
  })
})

describe('a declined recharge', () => {
  it('waits an hour, then two, and turns the rule off at the third', () => {
    const first = afterDecline(HEALTHY, SOFT, 0)
    expect(first).toEqual({ isOn: true, declines: 1, waitUntil: HOUR, reason: 'declined' })
    expect([mayCharge(first, HOUR - 1), mayCharge(first, HOUR)]).toEqual([false, true])
    const second = afterDecline(first, SOFT, HOUR)
    expect(second).toMatchObject({ declines: 2, waitUntil: 3 * HOUR, isOn: true })
    const third = afterDecline(second, SOFT, 3 * HOUR)
    expect(third).toEqual({ isOn: false, declines: 3, waitUntil: null, reason: 'declined' })
    expect(mayCharge(third, Number.MAX_SAFE_INTEGER)).toBe(false)
  })

  it('turns the rule off at once if the card can never be charged', () => {
    const off = afterDecline(HEALTHY, { hard: true, reason: 'stolen' }, 5)
    expect(off).toEqual({ isOn: false, declines: 1, waitUntil: null, reason: 'stolen' })
  })

  it('keeps a rule off that was turned off meanwhile', () => {
    expect(afterDecline({ ...HEALTHY, isOn: false }, SOFT, 0).isOn).toBe(false)
  })
})

describe('a rule that is set again', () => {
  it('keeps the wait after a decline, ends any other wait, and is turned on', () => {
    const declined = afterDecline(HEALTHY, SOFT, 0)
    expect(setAgain(declined)).toEqual(declined)
    expect(setAgain(postponed(HEALTHY, { until: 9, reason: 'maximum' }))).toEqual(HEALTHY)
    expect(setAgain(afterDecline(HEALTHY, { ...SOFT, hard: true }, 0))).toEqual(HEALTHY)
  })
})

describe('the state', () => {
  it.each([
    ['ON', HEALTHY, false],
    ['CHARGING', HEALTHY, true],
    ['WAITING', postponed(HEALTHY, { until: 101, reason: 'maximum' }), false],
    ['ON', postponed(HEALTHY, { until: 100, reason: 'maximum' }), false],
    ['OFF', { ...HEALTHY, isOn: false }, false],
  ] as const)('is %s', (state, health, isUnderWay) => {
    expect(rechargeState(health, isUnderWay, 100)).toBe(state)
  })

  it('waits for the maximum until the first day of the next month', () => {
    expect(nextMonth(Date.UTC(2030, 0, 31, 23))).toBe(Date.UTC(2030, 1, 1))
  })
})
