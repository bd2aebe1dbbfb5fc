/**
 * Invariant: the numbers of the sentence add up to the budget that a check decides by.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../../test/harness/contents.ts'
import { buildCatalogue } from '../../domain/catalogue.ts'
import { limitSources } from '../../domain/limit-sources.ts'
import { MAX_COUNT } from '../../domain/limits.ts'
import type { Override, OverrideMode } from '../../domain/override.ts'
import { textOf } from '../../domain/sentence.ts'
import { type LiveSubscription, userEntitlement } from '../../domain/user-entitlement.ts'
import { limitSentence } from './limit-sentence.ts'

const NOW = Date.UTC(2026, 10, 19)
const YEAR_END = Date.UTC(2026, 11, 31)

const grants = (limit: number | null) => ({ features: [entitlement('calls', { limit })] })
const CATALOGUE = buildCatalogue(
  [featureContent('calls', { type: 'CONSUMABLE' }), featureContent('sso', { type: 'BINARY' })],
  [
    packageContent('Pro', { features: [...grants(10_000).features, entitlement('sso', { limit: null })] }),
    packageContent('Free', grants(50)),
    packageContent('Boundless', grants(null)),
    packageContent('Pack', { isAddon: true, ...grants(500) }),
    packageContent('Most', { isAddon: true, ...grants(MAX_COUNT) }),
  ],
)
const held = (packageId: string, quantity = 1): LiveSubscription => ({
  packageId,
  isAddon: packageId === 'Pack' || packageId === 'Most',
  startedAt: NOW - 1000,
  anchor: NOW - 1000,
  quantity,
  version: 1,
  versionAsOf: 1,
})
const override = (mode: OverrideMode, limit: number | null, expiresAt: number | null = null): Override => ({
  featureId: 'calls',
  mode,
  limit,
  overageEnabled: null,
  resetPeriod: 'MONTH',
  startedAt: NOW - 500,
  expiresAt,
  reason: null,
})

function sentence(live: LiveSubscription[], set: Override | null, featureId = 'calls') {
  const holder = { live, overrides: set && [{ ...set, featureId }] }
  const found = userEntitlement(CATALOGUE, featureId, holder, NOW)
  return limitSentence(
    { appId: 'acme', catalogue: CATALOGUE },
    found,
    limitSources(CATALOGUE, featureId, holder, NOW),
  )
}
const text = (...of: Parameters<typeof sentence>) => textOf(sentence(...of))

describe('gap: where a limit comes from', () => {
  it.each([
    ['one package', [held('Pro')], null, '10,000 from Pro'],
    ['several of it', [held('Pack', 3), held('Pro')], null, '11,500 = 10,000 Pro + 1,500 Pack × 3'],
    [
      'an override that adds, until a day',
      [held('Pro')],
      override('ADD', 5000, YEAR_END),
      '15,000 = 10,000 Pro + 5,000 override until 2026-12-31 00:00 UTC',
    ],
    ['an override alone', [], override('ADD', 7), '7 from an override'],
    ['a replaced limit', [held('Pro')], override('REPLACE', 3), '3 from an override, instead of 10,000 Pro'],
    ['a removed limit', [held('Free')], override('UNLIMITED', null), 'From an override, instead of 50 Free'],
    ['no limit', [held('Boundless'), held('Pack')], null, 'From Boundless'],
    ['no limit, with something added', [held('Boundless')], override('ADD', 5), 'From Boundless'],
    [
      'the largest limit that can be counted',
      [held('Pro'), held('Most')],
      null,
      '9,007,199,254,740,991 ≤ 10,000 Pro + 9,007,199,254,740,991 Most',
    ],
    ['an override that expired', [held('Pro')], override('ADD', 5000, NOW), '10,000 from Pro'],
  ])('names %s', (_, live, set, expected) => {
    expect(text(live, set)).toBe(expected)
  })

  it('names the packages of a binary feature', () => {
    expect(text([held('Pro')], null, 'sso')).toBe('From Pro')
    expect(text([held('Free')], override('GRANT', null), 'sso')).toBe('From an override')
  })

  it('leads to the packages, and has the end of the override as a time', () => {
    const parts = sentence([held('Pro')], override('ADD', 5000, YEAR_END))
    expect(parts.filter(({ subject }) => subject).map(({ subject }) => subject)).toEqual([
      { kind: 'PACKAGE', appId: 'acme', id: 'Pro' },
    ])
    expect(parts.find(({ at }) => at !== null)?.at).toBe(YEAR_END)
  })

  it('adds up to the budget that a check decides by', () => {
    const subscription = fc.record({
      id: fc.constantFrom('Pro', 'Free', 'Pack'),
      quantity: fc.integer({ min: 1, max: 50 }),
    })
    const added = fc.option(fc.integer({ min: 0, max: 9999 }))
    fc.assert(
      fc.property(fc.array(subscription, { maxLength: 5 }), added, (subscriptions, limit) => {
        const live = subscriptions.map(({ id, quantity }) => held(id, quantity))
        const set = limit === null ? null : override('ADD', limit)
        const holder = { live, overrides: set && [set] }
        const found = userEntitlement(CATALOGUE, 'calls', holder, NOW)
        if (found.kind !== 'metered') return
        const [total, parts] = text(live, set).split(/ = | from /)
        const numbers = [...(parts ?? '').replace(/ × \d+/g, '').matchAll(/[\d,]+/g)]
        const sum = numbers.reduce((all, [n]) => all + Number(n.replaceAll(',', '')), 0)
        expect(Number(total?.replaceAll(',', ''))).toBe(found.allowance.budget)
        if (numbers.length > 0) expect(sum).toBe(found.allowance.budget)
      }),
    )
  })
})
