import { describe, expect, it } from 'vitest'
import { SUBSCRIBE_REFUSALS } from './errors.ts'
import { checkTemplatePackages, choicesOf, offerOf, pricesOf, type TemplateItem } from './offer.ts'
import type { Package } from './package.ts'
import type { PackagePrice, Price } from './price.ts'
import { PLAIN_TERMS } from './sale-terms.ts'

const price = (id: string, more: Partial<PackagePrice> = {}): PackagePrice => ({
  id,
  provider: 'sandbox',
  amount: 100,
  currency: 'usd',
  interval: 'month',
  isDefault: false,
  ...more,
})

const sold = (id: string, more: Partial<Package> = {}): Package => ({
  id,
  name: id,
  status: 'PUBLISHED',
  isAddon: false,
  archived: false,
  metadata: {},
  updatedAt: 0,
  features: [],
  prices: [price(`${id}-1`)],
  draft: null,
  version: 1,
  history: 1,
  scheduled: null,
  ...more,
})

const item = (found: Package, chosen: TemplateItem['chosen'] = null): TemplateItem => ({
  package: found,
  chosen,
})

describe('gap: billing, what a template asks for', () => {
  it('the default price of each package, or the one that was chosen', () => {
    const plan = sold('plan', { prices: [price('old'), price('set', { isDefault: true }), price('new')] })
    const ids = (items: TemplateItem[]) => {
      const offer = offerOf(items)
      return 'problem' in offer ? offer.problem : offer.items.map((each) => each.price.id)
    }
    expect(ids([item(plan)])).toEqual(['set'])
    expect(ids([item(sold('plan', { prices: [price('old'), price('new')] }))])).toEqual(['new'])
    expect(ids([item(plan, { ...price('old'), archived: false })])).toEqual(['old'])
    expect(offerOf([item(plan)])).toMatchObject({ provider: 'sandbox', currency: 'usd', interval: 'month' })
  })

  const extra = (more: Partial<Price>) => sold('extra', { isAddon: true, prices: [price('extra-1', more)] })
  const PROBLEMS: [string, TemplateItem[], RegExp][] = [
    ['nothing', [], /has no packages/],
    ['a draft', [item(sold('plan', { status: 'DRAFT' }))], /"plan" is not published\. Publish it/],
    ['an archived package', [item(sold('plan', { archived: true }))], /"plan" is archived\. Restore it/],
    ['no price', [item(sold('plan', { prices: [] }))], /"plan" has no price\. Create one/],
    [
      'an archived choice',
      [item(sold('plan'), { ...price('x'), archived: true })],
      /"x" .* is archived\. Restore it/,
    ],
    [
      'two providers',
      [item(sold('plan')), item(extra({ provider: 'stripe' }))],
      /charged by Stripe, .* by the sandbox/,
    ],
    ['two currencies', [item(sold('plan')), item(extra({ currency: 'eur' }))], /in eur, .* in usd/],
    ['two intervals', [item(sold('plan')), item(extra({ interval: 'year' }))], /every year, .* every month/],
    [
      'prices that add up to too much',
      [
        item(sold('plan', { prices: [price('dear', { amount: 999_999_999_999 })] })),
        item(extra({ amount: 1 })),
      ],
      /add up to more than 999999999999 minor units/,
    ],
    ['once and again', [item(sold('plan')), item(extra({ interval: null }))], /charged once, .* every month/],
  ]
  it.each(PROBLEMS)('%s is a problem, and says what to do', (_, items, says) => {
    expect(offerOf(items)).toEqual({ problem: expect.stringMatching(says) })
  })

  it('a trial of what renews, and none of a one-off payment', () => {
    const plan = item(sold('plan'))
    const once = item(sold('once', { prices: [price('once-1', { interval: null })] }))
    const trial = { ...PLAIN_TERMS, trialDays: 14 }
    expect(offerOf([plan], trial)).toMatchObject({ interval: 'month' })
    expect(offerOf([once])).toMatchObject({ interval: null })
    expect(offerOf([once], trial)).toEqual({
      problem: 'One-off prices do not support trials. Create a template without a trial.',
    })
  })
})

describe('gap: billing, what a template may name', () => {
  const addon = (id: string) => sold(id, { isAddon: true })
  const FINE = [
    [sold('a')],
    [sold('a'), addon('b')],
    [addon('b'), addon('c')],
    [sold('a', { status: 'DRAFT' })],
  ]
  it.each(FINE)('%#: a base plan, add-ons, or both', (...packages) => {
    expect(() => checkTemplatePackages(packages)).not.toThrow()
  })

  const REFUSED: [(Package | undefined)[], string][] = [
    [[], 'packageIds must contain at least one package'],
    [[sold('a'), sold('b')], SUBSCRIBE_REFUSALS.severalTiers],
    [[sold('a'), undefined], SUBSCRIBE_REFUSALS.unknownPackage],
    [[sold('a'), addon('b'), addon('b')], 'packageIds must not contain a package twice'],
  ]
  it.each(REFUSED)('%#: anything else is refused', (packages, message) => {
    expect(() => checkTemplatePackages(packages)).toThrow(message)
  })
})

describe('gap: billing, a template that cannot be', () => {
  it('names a package that there is not', () => {
    for (const packages of [
      [undefined],
      [undefined, sold('plan')],
      [sold('extra', { isAddon: true }), undefined],
    ]) {
      expect(() => checkTemplatePackages(packages)).toThrow(SUBSCRIBE_REFUSALS.unknownPackage)
    }
  })

  it('has no price for a package without one, or whose price is archived', () => {
    const archived = { ...price('x'), archived: true }
    expect(pricesOf([item(sold('plan', { prices: [] })), item(sold('pro'), archived)])).toEqual([null, null])
  })
})

describe('gap: billing, what a payer chooses between', () => {
  const CHOOSES = { ...PLAIN_TERMS, choosesInterval: true }
  const plan = sold('plan', {
    prices: [
      price('month', { isDefault: true }),
      price('year', { interval: 'year', amount: 900 }),
      price('dear', { interval: 'year', amount: 999 }),
      price('euro', { interval: 'week', currency: 'eur' }),
      price('stripe', { interval: 'week', provider: 'stripe' }),
      price('once', { interval: null }),
    ],
  })
  const extra = (...intervals: ('month' | 'year')[]) =>
    sold('extra', {
      isAddon: true,
      prices: intervals.map((interval) => price(`extra-${interval}`, { interval })),
    })
  const CHOICES: [string, TemplateItem[], Record<string, string[]>][] = [
    [
      'each interval at the newest price like the template’s',
      [item(plan)],
      { month: ['month'], year: ['dear'] },
    ],
    [
      'the price that the template names',
      [item(plan, { ...price('year', { interval: 'year' }), archived: false })],
      { month: ['month'], year: ['year'] },
    ],
    [
      'intervals that all packages have',
      [item(plan), item(extra('year', 'month'))].map((one, i) =>
        i === 0 ? one : item(one.package, { ...price('extra-month'), archived: false }),
      ),
      { month: ['month', 'extra-month'], year: ['dear', 'extra-year'] },
    ],
    ['nothing if one interval is left', [item(plan), item(extra('month'))], {}],
    [
      'nothing of a one-off price',
      [item(plan, { ...price('once', { interval: null }), archived: false })],
      {},
    ],
    ['nothing of what cannot be sold', [item(sold('plan', { status: 'DRAFT' }))], {}],
  ]
  it.each(CHOICES)('%s', (_, items, expected) => {
    const choices = choicesOf(items, CHOOSES)
    const found = choices.map(({ interval, items }) => [interval, items.map((each) => each.price.id)])
    expect(Object.fromEntries(found)).toEqual(expected)
  })

  it('nothing unless the template says so', () => {
    expect(choicesOf([item(plan)], PLAIN_TERMS)).toEqual([])
  })
})
