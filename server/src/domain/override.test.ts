import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Allowance } from './allowance.ts'
import type { FeatureType } from './feature.ts'
import {
  type NewOverride,
  type Override,
  overridden,
  overrideAt,
  overridesAt,
  withOverride,
} from './override.ts'

const override = (more: Partial<Override>): Override => ({
  featureId: 'calls',
  mode: 'REPLACE',
  limit: 5,
  overageEnabled: null,
  resetPeriod: 'DAY',
  startedAt: 0,
  expiresAt: null,
  reason: null,
  ...more,
})
const asked = (more: Partial<NewOverride>): NewOverride => {
  const { startedAt, ...rest } = override({})
  return { ...rest, resetPeriod: null, ...more }
}
const granted = (budget: number | null): Allowance => ({
  budget,
  overageEnabled: false,
  resetPeriod: 'MONTH',
})

describe('gap: an override', () => {
  it.each([
    ['REPLACE', 10, 5],
    ['REPLACE', null, 5],
    ['ADD', 10, 15],
    ['ADD', null, null],
    ['UNLIMITED', 10, null],
    ['GRANT', 10, null],
  ] as const)('%s 5 makes a budget of %s one of %s', (mode, budget, expected) => {
    expect(overridden(granted(budget), override({ mode })).budget).toBe(expected)
  })

  it('counts by the packages, and by itself where there are none', () => {
    expect(overridden(granted(1), override({})).resetPeriod).toBe('MONTH')
    expect(overridden(null, override({ mode: 'ADD' }))).toEqual({
      budget: 5,
      overageEnabled: false,
      resetPeriod: 'DAY',
    })
  })

  it('allows overage, forbids it, or leaves it to the packages', () => {
    const open = { ...granted(1), overageEnabled: true }
    const overage = (overageEnabled: boolean | null) =>
      overridden(open, override({ overageEnabled })).overageEnabled
    expect([overage(true), overage(false), overage(null)]).toEqual([true, false, true])
  })

  it('property: is over at its expiry, by the clock, and concerns its own feature alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 200 }), (expiresAt, now) => {
        const all = [override({ featureId: 'other' }), override({ expiresAt })]
        expect(overrideAt(all, 'calls', now)).toEqual(now < expiresAt ? all[1] : null)
        expect(overrideAt(all, 'third', now)).toBeNull()
        expect(overrideAt(null, 'calls', now)).toBeNull()
      }),
    )
  })

  it('keeps the start and the reset period of the one it replaces, unless that is over', () => {
    const earlier = [override({ startedAt: 3, expiresAt: 10, resetPeriod: 'WEEK' })]
    const setAt = (now: number, resetPeriod: NewOverride['resetPeriod'] = null) => {
      const { set } = withOverride(earlier, asked({ resetPeriod }), 'CONSUMABLE', now)
      return [set.startedAt, set.resetPeriod]
    }
    expect(setAt(9)).toEqual([3, 'WEEK'])
    expect(setAt(9, 'HOUR')).toEqual([3, 'HOUR'])
    expect(setAt(10)).toEqual([10, 'MONTH'])
  })

  it('property: setting one leaves the others that are in force, and only those', () => {
    const stored = fc.uniqueArray(
      fc.record({ featureId: fc.constantFrom('a', 'b', 'calls', 'd'), expiresAt: fc.option(fc.nat(20)) }),
      { selector: ({ featureId }) => featureId },
    )
    fc.assert(
      fc.property(stored, fc.nat(20), (rows, now) => {
        const before = rows.map((row) => override(row))
        const { set, all } = withOverride(before, asked({ limit: 7 }), 'CONSUMABLE', now)
        expect(all.at(-1)).toBe(set)
        expect(overrideAt(all, 'calls', now)?.limit).toBe(7)
        const others = before.filter((o) => o.featureId !== 'calls' && (o.expiresAt ?? Infinity) > now)
        expect(all.slice(0, -1)).toEqual(others)
        expect(overridesAt(all, now)).toEqual(all)
      }),
    )
  })
})

describe('gap: setting an override', () => {
  const NOW = 1_000
  const LATEST = Date.UTC(9000, 0)
  const MAX = 2 ** 53 - 1
  const badInput = (message: RegExp) =>
    expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) })

  it.each<[FeatureType, Partial<NewOverride>]>([
    ['CONSUMABLE', { mode: 'REPLACE', limit: 0 }],
    ['CONSUMABLE', { mode: 'REPLACE', limit: MAX }],
    ['CONSUMABLE', { mode: 'REPLACE', overageEnabled: false }],
    ['CONSUMABLE', { mode: 'ADD', limit: 5 }],
    ['CONSUMABLE', { mode: 'ADD', limit: 5, overageEnabled: true }],
    ['CONSUMABLE', { mode: 'UNLIMITED', limit: null }],
    ['CONSUMABLE', { mode: 'GRANT', limit: null }],
    ['CONSUMABLE', { mode: 'DENY', limit: null }],
    ['BINARY', { mode: 'GRANT', limit: null }],
    ['BINARY', { mode: 'DENY', limit: null }],
    ['CONSUMABLE', { expiresAt: NOW + 1 }],
    ['CONSUMABLE', { expiresAt: LATEST }],
    ['CONSUMABLE', { reason: 'A favour to an early customer' }],
  ])('of a %s feature, as the first of a user: %j', (type, more) => {
    const { set, all } = withOverride(null, asked(more), type, NOW)
    expect(set).toEqual({ ...asked(more), resetPeriod: 'MONTH', startedAt: NOW })
    expect(all).toEqual([set])
  })

  it.each<[FeatureType, Partial<NewOverride>, RegExp]>([
    ['BINARY', { mode: 'REPLACE' }, /^The mode REPLACE requires a CONSUMABLE feature/],
    ['BINARY', { mode: 'UNLIMITED', limit: null }, /requires a CONSUMABLE feature/],
    ['CONSUMABLE', { mode: 'REPLACE', limit: null }, /^The mode REPLACE requires a limit$/],
    ['CONSUMABLE', { mode: 'ADD', limit: null }, /^The mode ADD requires a limit$/],
    ['CONSUMABLE', { mode: 'UNLIMITED', limit: 5 }, /^The mode UNLIMITED does not accept a limit$/],
    ['BINARY', { mode: 'GRANT', limit: 0 }, /^The mode GRANT does not accept a limit$/],
    ['CONSUMABLE', { limit: -1 }, /^limit must be an integer from 0 to 9007199254740991$/],
    ['CONSUMABLE', { limit: 1.5 }, /^limit must be an integer/],
    ['CONSUMABLE', { limit: MAX + 1 }, /^limit must be an integer/],
    [
      'CONSUMABLE',
      { mode: 'DENY', limit: null, overageEnabled: false },
      /^The mode DENY does not accept overageEnabled$/,
    ],
    ['CONSUMABLE', { expiresAt: NOW }, /^expiresAt must be in the future$/],
    ['CONSUMABLE', { expiresAt: LATEST + 1 }, /^expiresAt must not be after 9000-01-01T00:00:00.000Z/],
    ['CONSUMABLE', { reason: '\u0000' }, /^reason /],
  ])('of a %s feature, refused: %j', (type, more, message) => {
    expect(() => withOverride(null, asked(more), type, NOW)).toThrow(badInput(message))
  })

  it('a user has at most 100, those that are over aside', () => {
    const numbered = (count: number) =>
      Array.from({ length: count }, (_, i) => override({ featureId: `f${i}` }))
    const count = (earlier: Override[], featureId: string) =>
      withOverride(earlier, asked({ featureId }), 'CONSUMABLE', NOW).all.length
    expect(count(numbered(99), 'calls')).toBe(100)
    expect(count(numbered(100), 'f7')).toBe(100)
    expect(count([...numbered(99), override({ featureId: 'over', expiresAt: NOW })], 'calls')).toBe(100)
    expect(() => count(numbered(100), 'calls')).toThrow(badInput(/at most 100 overrides/))
  })

  it('a user who never had one has none in force', () => {
    expect(overridesAt(null, NOW)).toEqual([])
  })
})
