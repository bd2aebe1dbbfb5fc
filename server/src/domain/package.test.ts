/**
 * Invariants
 * - An entry grants a feature that exists; what the caller left out has one default.
 * - A limit is a whole number from 0 to 2^53-1, or absent, which is unlimited. A binary feature has none.
 * - A package lists a feature once.
 */
import { describe, expect, it } from 'vitest'
import type { FeatureType } from './feature.ts'
import {
  checkNewPackage,
  checkPackageEdit,
  countedPeriods,
  type Entitlement,
  type EntitlementInput,
  entitlementFor,
} from './package.ts'
import { RESET_PERIODS, type ResetPeriod } from './period.ts'

const MAX = 2 ** 53 - 1
const badInput = (message: RegExp) =>
  expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) })

describe('spec §2 Entitlement', () => {
  it.each<[FeatureType, EntitlementInput, Omit<Entitlement, 'featureId'>]>([
    ['CONSUMABLE', {}, { limit: null, resetPeriod: 'MONTH', overageEnabled: false }],
    ['CONSUMABLE', { limit: null }, { limit: null, resetPeriod: 'MONTH', overageEnabled: false }],
    ['CONSUMABLE', { limit: 0 }, { limit: 0, resetPeriod: 'MONTH', overageEnabled: false }],
    ['CONSUMABLE', { limit: MAX }, { limit: MAX, resetPeriod: 'MONTH', overageEnabled: false }],
    [
      'CONSUMABLE',
      { limit: 100, resetPeriod: 'DAY', overageEnabled: true },
      { limit: 100, resetPeriod: 'DAY', overageEnabled: true },
    ],
    [
      'CONSUMABLE',
      { limit: 5, resetPeriod: null, overageEnabled: null },
      { limit: 5, resetPeriod: 'MONTH', overageEnabled: false },
    ],
    ['BINARY', {}, { limit: null, resetPeriod: 'MONTH', overageEnabled: false }],
    ['BINARY', { limit: null }, { limit: null, resetPeriod: 'MONTH', overageEnabled: false }],
  ])('gap: %s %j', (type, input, entitlement) => {
    expect(entitlementFor('calls', { type }, input)).toEqual({ featureId: 'calls', ...entitlement })
  })

  it.each(RESET_PERIODS)('gap: resetPeriod may be %s', (resetPeriod) => {
    expect(entitlementFor('calls', { type: 'CONSUMABLE' }, { resetPeriod }).resetPeriod).toBe(resetPeriod)
  })

  it.each<[FeatureType, EntitlementInput, RegExp]>([
    ['CONSUMABLE', { limit: -1 }, /^limit must be an integer from 0 to 9007199254740991$/],
    ['CONSUMABLE', { limit: MAX + 1 }, /^limit/],
    ['CONSUMABLE', { limit: 1.5 }, /^limit/],
    ['CONSUMABLE', { limit: Number.NaN }, /^limit/],
    ['CONSUMABLE', { limit: Number.POSITIVE_INFINITY }, /^limit/],
    ['CONSUMABLE', { resetPeriod: 'month' as ResetPeriod }, /^resetPeriod must be one of HOUR, DAY,/],
    ['BINARY', { limit: 0 }, /"calls" is BINARY and does not accept a limit/],
    ['BINARY', { limit: 10 }, /"calls" is BINARY and does not accept a limit/],
  ])('gap: %s %j is bad input', (type, input, message) => {
    expect(() => entitlementFor('calls', { type }, input)).toThrow(badInput(message))
  })

  it('gap: an unknown feature', () => {
    expect(() => entitlementFor('nope', undefined, {})).toThrow(
      expect.objectContaining({ code: 'FEATURE_NOT_FOUND', message: 'Feature not found: "nope"' }),
    )
  })
})

describe('spec §2 Package', () => {
  const entries = (...ids: string[]): Entitlement[] =>
    ids.map((featureId) => ({ featureId, limit: 1, resetPeriod: 'MONTH', overageEnabled: false }))
  const numbered = (count: number) => entries(...Array.from({ length: count }, (_, i) => `f${i}`))

  it.each([
    ['no features', []],
    ['several', entries('a', 'b', 'A')],
    ['1,000', numbered(1_000)],
  ])('gap: %s are fine', (_, features) => {
    expect(checkPackageEdit({ name: 'Pro', features })).toBeUndefined()
  })

  it.each([
    ['one twice', entries('a', 'b', 'a'), /^Feature "a" is listed twice$/],
    ['1,001', numbered(1_001), /at most 1000 features/],
    ['an endless id twice', entries('x'.repeat(10_000), 'x'.repeat(10_000)), /^.{1,150}$/],
  ])('gap: %s is bad input', (_, features, message) => {
    expect(() => checkPackageEdit({ name: 'Pro', features })).toThrow(badInput(message))
  })

  it('gap: the name is text', () => {
    expect(() => checkPackageEdit({ name: '\u0000', features: [] })).toThrow(badInput(/^name/))
  })

  it.each([
    ['', 'Pro', {}, /^id /],
    ['pro', 'x'.repeat(1_025), {}, /^name /],
    ['pro', 'Pro', { large: 'x'.repeat(20_000) }, /^metadata /],
  ])('gap: a new one is checked, %#', (id, name, metadata, message) => {
    expect(() => checkNewPackage(id, name, metadata)).toThrow(badInput(message))
    expect(checkNewPackage('pro', 'Pro', {})).toBeUndefined()
  })
})

describe('gap: subscriptions, the periods that a package counts', () => {
  it('are those of its consumable features', () => {
    const granted = (type: FeatureType, resetPeriod: ResetPeriod) => ({
      featureId: type,
      limit: null,
      resetPeriod,
      overageEnabled: false,
      feature: { id: type, name: type, type, unitLabel: null, unitLabelPlural: null, metadata: {} },
    })
    expect(countedPeriods({ features: [granted('BINARY', 'YEAR'), granted('CONSUMABLE', 'DAY')] })).toEqual([
      'DAY',
    ])
  })
})
