import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue } from './catalogue.ts'
import type { Override } from './override.ts'
import type { ResetPeriod } from './period.ts'
import { anchorAfter, bestTime, comparable, loweredLimits, quotedPrices, quoteOf } from './plan-change.ts'
import type { Price } from './price.ts'

const DAY = 86_400_000
const price = (amount: number, more: Partial<Price> = {}): Price => ({
  id: `p${amount}`,
  provider: 'sandbox',
  amount,
  currency: 'usd',
  interval: 'month',
  ...more,
})
const bought = (amount: number, more: Partial<Price> = {}, quantity = 1) => ({
  price: price(amount, more),
  quantity,
})

describe('gap: change: the best time', () => {
  it.each([
    ['dearer', bought(900), bought(2900), 'NOW'],
    ['the same', bought(900), bought(900), 'NOW'],
    ['cheaper', bought(2900), bought(900), 'PERIOD_END'],
    ['cheaper by the year', bought(900), bought(9900, { interval: 'year' }), 'PERIOD_END'],
    ['dearer by the week', bought(900), bought(300, { interval: 'week' }), 'NOW'],
    ['fewer of the same', bought(900, {}, 3), bought(900, {}, 2), 'PERIOD_END'],
    ['one that is paid once', bought(900), bought(9900, { interval: null }), 'PERIOD_END'],
    ['free after one that is paid once', bought(9900, { interval: null }), bought(0), 'NOW'],
    ['more of a cheaper one', bought(900), bought(500, {}, 2), 'NOW'],
    // By 10 minor units a month, which doubles cannot tell apart.
    [
      'cheaper by very little',
      bought(900_027_474_964, {}, 996_398),
      bought(900_028_378_246, {}, 996_397),
      'PERIOD_END',
    ],
  ] as const)('%s', (_, from, to, when) => {
    expect(bestTime(from, to)).toBe(when)
  })
})

describe('gap: change: which prices are compared', () => {
  it('those of one currency, first of one interval, then of one provider', () => {
    const from = [price(900)]
    const to = [
      price(1, { currency: 'eur' }),
      price(2, { interval: 'year' }),
      price(3, { provider: 'stripe' }),
      price(4),
    ]
    expect(comparable(from, to)?.to.amount).toBe(4)
    expect(comparable(from, to.slice(0, 3))?.to.amount).toBe(3)
    expect(comparable(from, to.slice(0, 2))?.to.amount).toBe(2)
    expect(comparable(from, to.slice(0, 1))).toBeNull()
    expect(comparable(from, [price(5, { interval: null })])).toBeNull()
    expect(comparable([price(5, { interval: null })], from)).toBeNull()
  })

  it('not those of two providers that count the currency in different units', () => {
    // A thousand krónur are 100000 at Stripe and 1000 elsewhere.
    const isk = (amount: number, provider: string) => price(amount, { provider, currency: 'isk' })
    expect(comparable([isk(1_000, 'sandbox')], [isk(100_000, 'stripe')])).toBeNull()
    const [own, other] = [isk(50_000, 'stripe'), isk(900, 'sandbox')]
    expect(comparable([isk(100_000, 'stripe')], [other, own])?.to).toBe(own)
  })
})

describe('gap: change: the prices of a quote', () => {
  const once = price(5, { interval: null })
  const amounts = (from: Price[], to: Price[]) => {
    const quoted = quotedPrices(from, to)
    return quoted && [quoted.from.amount, quoted.to.amount]
  }
  it.each([
    ['of both plans', [price(900)], [price(2900)], [900, 2900]],
    ['of the new plan, if the old one has none', [], [price(2900)], [0, 2900]],
    ['the newest of several', [], [price(2900), price(29_000, { interval: 'year' })], [0, 29_000]],
    ['of the old plan, if the new one has none', [price(900)], [], [900, 0]],
    ['one that is paid once does not count', [once], [price(2900), once], [0, 2900]],
    ['none at all', [once], [], null],
    ['none in one currency', [price(900)], [price(2900, { currency: 'eur' })], null],
  ])('%s', (_, from, to, expected) => {
    expect(amounts(from, to)).toEqual(expected)
  })
})

describe('gap: change: where periods are counted from', () => {
  const resets = fc.subarray<ResetPeriod>(['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER'])
  it('property: from the same moment where the plans share a reset period', () => {
    fc.assert(
      fc.property(resets, resets, fc.integer({ min: 0, max: 900 * DAY }), (from, to, after) => {
        const anchor = Date.UTC(2024, 0, 31)
        const found = anchorAfter({ anchor, resetPeriods: from }, to, [], anchor + after)
        const shared = from.some((reset) => reset !== 'NEVER' && to.includes(reset))
        if (shared) expect(found).toBe(anchor)
        expect([anchor, anchor + after]).toContain(found)
      }),
    )
  })

  it('from the change on where nothing of what went before is still running', () => {
    const anchor = Date.UTC(2024, 0, 31)
    const at = anchor + 3 * DAY
    expect(anchorAfter({ anchor, resetPeriods: ['DAY'] }, ['MONTH'], [], at)).toBe(at)
    expect(anchorAfter({ anchor, resetPeriods: [] }, ['MONTH'], [], at)).toBe(at)
    // The month of an earlier plan is still running.
    const earlier = [{ anchor, lastLiveAt: anchor + DAY, resetPeriods: ['MONTH' as const] }]
    expect(anchorAfter({ anchor: at - 1, resetPeriods: [] }, ['MONTH'], earlier, at)).toBe(anchor)
  })
})

describe('gap: change: where periods are counted from, by the plans before and after', () => {
  const anchor = Date.UTC(2024, 0, 31)
  const at = anchor + 3 * DAY
  it.each<[string, ResetPeriod[], ResetPeriod[], number]>([
    ['where a period of both ends with the change, from the same moment', ['DAY'], ['DAY'], anchor],
    ['where the month of the old plan is still running, from the same moment', ['MONTH'], ['DAY'], anchor],
    ['where neither plan ever resets, from the change on', ['NEVER'], ['NEVER'], at],
  ])('%s', (_, before, after, from) => {
    expect(anchorAfter({ anchor, resetPeriods: before }, after, [], at)).toBe(from)
  })

  it('from the same moment as soon as the old plan’s next day has begun', () => {
    expect(anchorAfter({ anchor, resetPeriods: ['DAY'] }, ['MONTH'], [], at)).toBe(at)
    expect(anchorAfter({ anchor, resetPeriods: ['DAY'] }, ['MONTH'], [], at + 1)).toBe(anchor)
  })
})

describe('gap: change: the quote by list prices', () => {
  const period = { start: 0, end: 30 * DAY }
  it('gives back the unused share, and charges the same share of the new price', () => {
    expect(quoteOf(bought(900), bought(2900), period, 15 * DAY)).toEqual({
      credit: 450,
      charge: 1450,
      currency: 'usd',
    })
  })

  it('is none where either price is paid once', () => {
    const once = bought(900, { interval: null })
    expect(quoteOf(once, bought(1), period, 0)).toBeNull()
    expect(quoteOf(bought(1), once, period, 0)).toBeNull()
  })

  it('property: is whole numbers that can be charged, or none', () => {
    // Prices from before there was a bound may be larger.
    const some = fc.record({
      amount: fc.oneof(fc.nat(2_000_000), fc.maxSafeNat()),
      quantity: fc.integer({ min: 1, max: 1_000_000 }),
      interval: fc.constantFrom('month', 'year') as fc.Arbitrary<'month' | 'year'>,
    })
    fc.assert(
      fc.property(some, some, fc.integer({ min: 0, max: 30 * DAY }), (from, to, now) => {
        const [old, next] = [from, to].map(({ amount, quantity, interval }) =>
          bought(amount, { interval }, quantity),
        ) as [ReturnType<typeof bought>, ReturnType<typeof bought>]
        const quote = quoteOf(old, next, period, now)
        const most = [from, to].map(({ amount, quantity }) => BigInt(amount) * BigInt(quantity))
        expect(quote === null).toBe(most.some((cost) => cost > 999_999_999_999n))
        if (!quote) return
        for (const amount of [quote.credit, quote.charge]) {
          expect(Number.isSafeInteger(amount) && amount >= 0 && amount <= 999_999_999_999).toBe(true)
        }
      }),
    )
  })

  it('property: a change and back in one moment costs nothing', () => {
    const amount = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 0, max: 30 * DAY }), (a, b, now) => {
        const there = quoteOf(bought(a), bought(b), period, now)
        const back = quoteOf(bought(b), bought(a), period, now)
        expect((there?.charge ?? 0) - (back?.credit ?? 0)).toBe(0)
        expect((back?.charge ?? 0) - (there?.credit ?? 0)).toBe(0)
      }),
    )
  })
})

describe('gap: quantities: the limits that usage must not exceed', () => {
  type Grant = [featureId: string, limit: number | null, resetPeriod?: ResetPeriod, overage?: boolean]
  const packages: Record<string, Grant[]> = {
    // Not in the order of their ids.
    pro: [
      ['seats', 10],
      ['desks', 4],
      ['calls', 100, 'MONTH'],
      ['storage', 5, 'NEVER', true],
      ['guests', null],
    ],
    free: [['seats', 2]],
    'addon-seats': [['seats', 3]],
    'addon-rooms': [['rooms', 1]],
  }
  const catalogue = buildCatalogue(
    ['seats', 'desks', 'calls', 'storage', 'guests', 'rooms'].map((id) => featureContent(id)),
    Object.entries(packages).map(([id, grants]) =>
      packageContent(id, {
        isAddon: id.startsWith('addon'),
        features: grants.map(([featureId, limit, resetPeriod = 'NEVER', overageEnabled = false]) =>
          entitlement(featureId, { limit, resetPeriod, overageEnabled }),
        ),
      }),
    ),
  )
  const override = (
    mode: Override['mode'],
    limit: number | null,
    more: Partial<Override> = {},
  ): Override => ({
    featureId: 'seats',
    mode,
    limit,
    resetPeriod: 'NEVER',
    overageEnabled: null,
    reason: null,
    startedAt: 0,
    expiresAt: null,
    ...more,
  })

  /** `pro 2` is a plan and its quantity, followed by add-ons. */
  const limitsOf = (from: string, to: string, overrides: Override[] | null = null) => {
    const [packageId = '', quantity] = from.split(' ')
    const [plan = '', times, ...addons] = to.split(' ')
    const subscription = (id: string, count: number) => ({
      packageId: id,
      isAddon: id !== plan,
      startedAt: 0,
      anchor: 0,
      quantity: count,
      version: 1,
      versionAsOf: 1,
    })
    const live = [...addons.map((id) => subscription(id, 1)), subscription(plan, Number(times))]
    const limits = loweredLimits(
      catalogue,
      { packageId, quantity: Number(quantity) },
      { live, overrides },
      30 * DAY,
    )
    return limits.map(({ featureId, budget, periodStart }) => {
      expect(periodStart).toBe(0)
      return `${featureId} ${budget}`
    })
  }

  it.each<[what: string, from: string, to: string, overrides: Override[] | null, limits: string[]]>([
    ['a lower quantity of the same plan', 'pro 3', 'pro 2', null, ['desks 8', 'seats 20']],
    ['the same quantity', 'pro 2', 'pro 2', null, []],
    ['a higher quantity', 'pro 2', 'pro 3', null, []],
    ['another plan in the same quantity', 'pro 1', 'free 1', null, []],
    ['another plan in a lower quantity', 'pro 2', 'free 1', null, []],
    ['another plan in a higher quantity', 'pro 1', 'free 2', null, []],
    ['with an add-on that allows more', 'pro 2', 'pro 1 addon-seats', null, ['desks 4', 'seats 13']],
    ['with an add-on of something else', 'pro 2', 'pro 1 addon-rooms', null, ['desks 4', 'seats 10']],
    ['with an override that adds', 'pro 2', 'pro 1', [override('ADD', 5)], ['desks 4', 'seats 15']],
    ['with an override that replaces', 'pro 2', 'pro 1', [override('REPLACE', 1)], ['desks 4']],
    ['with an override without a limit', 'pro 2', 'pro 1', [override('GRANT', null)], ['desks 4']],
    ['with an override that denies', 'pro 2', 'pro 1', [override('DENY', null)], ['desks 4']],
    [
      'with an override that allows overage',
      'pro 2',
      'pro 1',
      [override('ADD', 0, { overageEnabled: true })],
      ['desks 4'],
    ],
    [
      'with an override that has expired',
      'pro 2',
      'pro 1',
      [override('REPLACE', 1, { expiresAt: DAY })],
      ['desks 4', 'seats 10'],
    ],
  ])('%s', (_, from, to, overrides, limits) => {
    expect(limitsOf(from, to, overrides)).toEqual(limits)
  })
})
