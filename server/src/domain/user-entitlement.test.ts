/**
 * Invariants
 * - An entitlement depends on the live subscriptions only, not on their order.
 * - The base plan decides: its anchor always, its reset period wherever it grants the feature.
 * - The first reason that applies is given: user, feature, subscription, package.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue, type Catalogue } from './catalogue.ts'
import type { FeatureType } from './feature.ts'
import type { Override } from './override.ts'
import type { ResetPeriod } from './period.ts'
import { type Holder, type LiveSubscription, userEntitlement } from './user-entitlement.ts'

const NOW = Date.UTC(2024, 4, 20)
const BASE_ANCHOR = Date.UTC(2024, 0, 31)
const HOUR = 3_600_000
const DAY = 24 * HOUR

type Grant = [featureId: string, limit: number | null, resetPeriod?: ResetPeriod, overage?: boolean]

function catalogue(features: Record<string, FeatureType>, packages: Record<string, Grant[]>): Catalogue {
  return buildCatalogue(
    Object.entries(features).map(([id, type]) => featureContent(id, { type })),
    Object.entries(packages).map(([id, grants]) =>
      packageContent(id, {
        isAddon: id.startsWith('addon'),
        features: grants.map(([featureId, limit, resetPeriod = 'MONTH', overageEnabled = false]) =>
          entitlement(featureId, { limit, resetPeriod, overageEnabled }),
        ),
      }),
    ),
  )
}

const CATALOGUE = catalogue(
  { calls: 'CONSUMABLE', seats: 'CONSUMABLE', export: 'BINARY', unused: 'CONSUMABLE' },
  {
    basic: [
      ['calls', 100, 'MONTH'],
      ['export', null],
    ],
    unlimited: [['calls', null]],
    bare: [],
    'addon-calls': [['calls', 50, 'DAY', true]],
    'addon-seats': [['seats', 5, 'YEAR']],
    'addon-more-seats': [['seats', 7, 'WEEK']],
    'addon-export': [['export', null]],
  },
)

/** Each add-on starts a day after the one before; anchors differ here so that tests can tell them apart. */
const liveOf = (...ids: string[]): LiveSubscription[] =>
  ids.map((packageId, i) => ({
    packageId,
    isAddon: packageId.startsWith('addon'),
    startedAt: BASE_ANCHOR + i * DAY,
    anchor: packageId.startsWith('addon') ? BASE_ANCHOR + i * DAY : BASE_ANCHOR,
    quantity: 1,
    version: 1,
    versionAsOf: 1,
  }))

const has = (live: LiveSubscription[]): Holder => ({ live, overrides: null })

describe('gap: canUseFeature, why there is no access', () => {
  it.each([
    ['an unknown user', 'calls', null, 'USER_NOT_FOUND'],
    ['an unknown user, an unknown feature', 'nope', null, 'USER_NOT_FOUND'],
    ['an unknown feature', 'nope', liveOf('basic'), 'FEATURE_NOT_FOUND'],
    ['an unknown feature, no subscription', 'nope', [], 'FEATURE_NOT_FOUND'],
    ['no subscription', 'calls', [], 'NO_SUBSCRIPTION'],
    ['no subscription, a binary feature', 'export', [], 'NO_SUBSCRIPTION'],
    ['a feature of no package', 'unused', liveOf('basic', 'addon-calls'), 'NOT_IN_PACKAGE'],
    ['a feature of another package', 'seats', liveOf('basic'), 'NOT_IN_PACKAGE'],
    ['a binary feature of another package', 'export', liveOf('bare', 'addon-calls'), 'NOT_IN_PACKAGE'],
    ['a package that the catalogue lacks', 'calls', liveOf('gone'), 'NOT_IN_PACKAGE'],
    ['a name of Object.prototype', 'constructor', liveOf('basic'), 'FEATURE_NOT_FOUND'],
  ])('%s', (_, featureId, live, code) => {
    expect(userEntitlement(CATALOGUE, featureId, live && has(live), NOW)).toEqual({ kind: 'none', code })
  })
})

describe('spec §1 a feature is either binary or consumable', () => {
  it.each([
    ['export', ['basic'], { kind: 'binary', byOverride: false }],
    ['export', ['bare', 'addon-export'], { kind: 'binary', byOverride: false }],
    ['calls', ['basic'], { budget: 100, overageEnabled: false, resetPeriod: 'MONTH' }],
    ['calls', ['unlimited'], { budget: null, overageEnabled: false, resetPeriod: 'MONTH' }],
    ['calls', ['basic', 'addon-seats'], { budget: 100, overageEnabled: false, resetPeriod: 'MONTH' }],
    ['calls', ['basic', 'addon-calls'], { budget: 150, overageEnabled: true, resetPeriod: 'MONTH' }],
    ['calls', ['addon-calls', 'basic'], { budget: 150, overageEnabled: true, resetPeriod: 'MONTH' }],
    ['calls', ['unlimited', 'addon-calls'], { budget: null, overageEnabled: true, resetPeriod: 'MONTH' }],
    ['calls', ['bare', 'addon-calls'], { budget: 50, overageEnabled: true, resetPeriod: 'DAY' }],
    // the base does not grant it: the first add-on decides, by its start
    [
      'seats',
      ['basic', 'addon-seats', 'addon-more-seats'],
      { budget: 12, overageEnabled: false, resetPeriod: 'YEAR' },
    ],
    [
      'seats',
      ['basic', 'addon-more-seats', 'addon-seats'],
      { budget: 12, overageEnabled: false, resetPeriod: 'WEEK' },
    ],
  ])('%s with %j', (featureId, ids, expected) => {
    const entitlement = userEntitlement(CATALOGUE, featureId, has(liveOf(...ids)), NOW)
    expect(entitlement.kind === 'metered' ? entitlement.allowance : entitlement).toEqual(expected)
  })
})

describe('gap: periods count from the base plan', () => {
  const utc = (iso: string) => Date.parse(`${iso}T00:00:00Z`)
  it.each([
    ['calls', ['basic'], '2024-04-30', '2024-05-31'],
    ['calls', ['basic', 'addon-calls'], '2024-04-30', '2024-05-31'],
    ['calls', ['addon-calls', 'basic'], '2024-04-30', '2024-05-31'],
    ['calls', ['bare', 'addon-calls'], '2024-05-20', '2024-05-21'],
    ['seats', ['basic', 'addon-seats'], '2024-01-31', '2025-01-31'],
  ])('%s with %j: %s to %s', (featureId, ids, start, end) => {
    expect(userEntitlement(CATALOGUE, featureId, has(liveOf(...ids)), NOW)).toMatchObject({
      kind: 'metered',
      anchor: BASE_ANCHOR,
      period: { start: utc(start), end: utc(end) },
    })
  })

  it('the period is the one that contains now', () => {
    const at = (iso: string) => userEntitlement(CATALOGUE, 'calls', has(liveOf('basic')), utc(iso))
    expect(at('2024-02-28')).toMatchObject({ period: { start: utc('2024-01-31') } })
    expect(at('2024-02-29')).toMatchObject({ period: { start: utc('2024-02-29') } })
  })
})

describe('gap: a quantity multiplies the limits of its package', () => {
  it.each([
    ['basic', 1, 100],
    ['basic', 2, 200],
    ['basic', 3, 300],
    ['basic', 2 ** 53 - 1, 2 ** 53 - 1],
    ['unlimited', 3, null],
  ])('%s, %i times: %s', (packageId, quantity, budget) => {
    const live = liveOf(packageId).map((subscription) => ({ ...subscription, quantity }))
    expect(userEntitlement(CATALOGUE, 'calls', has(live), NOW)).toMatchObject({ allowance: { budget } })
  })
})

describe('gap: an override and the packages', () => {
  const override = (more: Partial<Override> = {}): Override => ({
    featureId: 'calls',
    mode: 'ADD',
    limit: 5,
    overageEnabled: null,
    resetPeriod: 'DAY',
    startedAt: NOW - 36 * HOUR,
    expiresAt: null,
    reason: null,
    ...more,
  })
  const entitlement = (live: LiveSubscription[], set: Override) =>
    userEntitlement(CATALOGUE, set.featureId, { live, overrides: [set] }, NOW)

  it('adds to what they grant, counted as they say', () => {
    expect(entitlement(liveOf('basic'), override())).toMatchObject({
      allowance: { budget: 105, resetPeriod: 'MONTH' },
      anchor: BASE_ANCHOR,
      byOverride: true,
    })
  })

  it('grants a feature without a subscription, counted from its own start', () => {
    expect(entitlement([], override())).toEqual({
      kind: 'metered',
      allowance: { budget: 5, overageEnabled: false, resetPeriod: 'DAY' },
      anchor: NOW - 36 * HOUR,
      period: { start: NOW - 12 * HOUR, end: NOW + 12 * HOUR },
      byOverride: true,
    })
    const granted = override({ featureId: 'export', mode: 'GRANT', limit: null })
    expect(entitlement([], granted)).toEqual({ kind: 'binary', byOverride: true })
  })

  it.each(['calls', 'export'])('denies %s, whatever the packages grant', (featureId) => {
    const denied = override({ featureId, mode: 'DENY', limit: null })
    expect(entitlement(liveOf('basic'), denied)).toEqual({ kind: 'none', code: 'DENIED' })
    expect(entitlement([], denied)).toEqual({ kind: 'none', code: 'DENIED' })
  })

  it('no longer counts once it has expired', () => {
    const denied = override({ mode: 'DENY', limit: null, expiresAt: NOW })
    expect(entitlement(liveOf('basic'), denied)).toMatchObject({
      allowance: { budget: 100 },
      byOverride: false,
    })
    expect(entitlement([], denied)).toEqual({ kind: 'none', code: 'NO_SUBSCRIPTION' })
  })
})

it('gap: the order in which the live subscriptions are read decides nothing', () => {
  const live = liveOf('basic', 'addon-calls', 'addon-seats', 'addon-more-seats', 'addon-export')
  fc.assert(
    fc.property(
      fc.shuffledSubarray(live, { minLength: live.length }),
      fc.constantFrom('calls', 'seats', 'export', 'unused'),
      (shuffled, featureId) => {
        const asRead = [...shuffled]
        const expected = userEntitlement(CATALOGUE, featureId, has(live), NOW)
        expect(userEntitlement(CATALOGUE, featureId, has(shuffled), NOW)).toEqual(expected)
        expect(shuffled).toEqual(asRead)
      },
    ),
  )
})
