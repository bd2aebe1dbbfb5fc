import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue } from './catalogue.ts'
import type { Entitlement } from './package.ts'
import { accessChange, counterOf, entitlementChanges, touchedFeatures } from './publish-impact.ts'
import type { UserEntitlement } from './user-entitlement.ts'

const grant = (change: Partial<Entitlement> = {}) => entitlement('calls', change)

describe('gap: publishing, the features that an edit touches', () => {
  it.each([
    { limit: 11 },
    { limit: null },
    { resetPeriod: 'DAY' },
    { overageEnabled: true },
  ] satisfies Partial<Entitlement>[])('one that changes in %j', (change) => {
    expect(touchedFeatures([grant()], [grant(change)])).toEqual([
      { featureId: 'calls', before: grant(), after: grant(change) },
    ])
  })

  it('none that is granted as before', () => {
    expect(touchedFeatures([grant()], [grant()])).toEqual([])
  })

  it('one that comes, one that goes, and none that stays', () => {
    const [stays, goes, comes] = ['stays', 'goes', 'comes'].map((featureId) => grant({ featureId })) as [
      Entitlement,
      Entitlement,
      Entitlement,
    ]
    expect(touchedFeatures([stays, goes], [comes, stays])).toEqual([
      { featureId: 'goes', before: goes, after: null },
      { featureId: 'comes', before: null, after: comes },
    ])
  })
})

const metered = (budget: number | null, overageEnabled = false): UserEntitlement => ({
  kind: 'metered',
  allowance: { budget, overageEnabled, resetPeriod: 'MONTH' },
  anchor: 0,
  byOverride: false,
  period: { start: 5, end: 9 },
})
const NONE: UserEntitlement = { kind: 'none', code: 'NOT_IN_PACKAGE' }

describe('gap: publishing, what it does to a subscriber', () => {
  const of = (before: UserEntitlement, after: UserEntitlement, used: number) =>
    accessChange({ featureId: 'calls', before, after }, { before: used, after: used })?.change ?? null

  it.each([
    // one more of it decides
    [metered(10), metered(5), 4, null],
    [metered(10), metered(5), 5, 'LOSES'],
    [metered(10), metered(5), 9, 'LOSES'],
    [metered(10), metered(5), 10, null],
    [metered(5), metered(10), 5, 'GAINS'],
    [metered(5), metered(10), 10, null],
    [metered(5), metered(5, true), 5, 'GAINS'],
    [NONE, metered(1), 0, 'GAINS'],
    [metered(null), NONE, 0, 'LOSES'],
    [NONE, { kind: 'binary', byOverride: false }, 0, 'GAINS'],
    [{ kind: 'binary', byOverride: false }, { kind: 'binary', byOverride: false }, 0, null],
    // with overage nobody is refused, but the next use may cost
    [metered(10, true), metered(5, true), 4, null],
    [metered(10, true), metered(5, true), 5, 'MORE_OVERAGE'],
    [metered(10, true), metered(5, true), 20, 'MORE_OVERAGE'],
    [metered(5, true), metered(10, true), 9, 'LESS_OVERAGE'],
    [metered(5, true), metered(10, true), 20, 'LESS_OVERAGE'],
    [metered(null), metered(5, true), 5, 'MORE_OVERAGE'],
    [metered(5, true), metered(null), 5, 'LESS_OVERAGE'],
    [metered(10), metered(5, true), 7, 'MORE_OVERAGE'],
    [metered(5, true), metered(5), 5, 'LOSES'],
  ] satisfies [
    UserEntitlement,
    UserEntitlement,
    number,
    string | null,
  ][])('%j, then %j, with %i used: %s', (before, after, used, change) => {
    expect(of(before, after, used)).toBe(change)
  })

  it('goes by what is used under each of the two', () => {
    const change = { featureId: 'calls', before: metered(5), after: metered(5) }
    expect(accessChange(change, { before: 5, after: 0 })?.change).toBe('GAINS')
    expect(accessChange(change, { before: 0, after: 5 })).toMatchObject({
      change: 'LOSES',
      before: { access: true },
      after: { access: false },
    })
  })

  it('says of access gained that it costs, and of access lost only that it is lost', () => {
    const made = (before: UserEntitlement, after: UserEntitlement) =>
      accessChange({ featureId: 'calls', before, after }, { before: 5, after: 5 })
    expect(made(metered(5), metered(5, true))).toMatchObject({ change: 'GAINS', overage: 'MORE' })
    expect(made(metered(5), metered(6, true))).toMatchObject({ change: 'GAINS', overage: null })
    expect(made(metered(5, true), metered(5))).toMatchObject({ change: 'LOSES', overage: null })
  })

  it('depends on the counter of a metered feature alone', () => {
    expect(counterOf(metered(5))).toEqual({ resetPeriod: 'MONTH', periodStart: 5 })
    expect([counterOf({ kind: 'binary', byOverride: false }), counterOf(NONE)]).toEqual([null, null])
  })

  it('is found by the two catalogues', () => {
    const catalogue = (limit: number) =>
      buildCatalogue([featureContent('calls')], [packageContent('plan', { features: [grant({ limit })] })])
    const plan = { packageId: 'plan', isAddon: false, startedAt: 0, anchor: 0 }
    const live = [{ ...plan, quantity: 1, version: 1, versionAsOf: 1 }]
    const catalogues = { before: catalogue(10), after: catalogue(20) }
    expect(entitlementChanges(catalogues, ['calls', 'gone'], { live, overrides: null }, 1)).toMatchObject([
      { featureId: 'calls', before: { allowance: { budget: 10 } }, after: { allowance: { budget: 20 } } },
      { featureId: 'gone', before: { code: 'FEATURE_NOT_FOUND' }, after: { code: 'FEATURE_NOT_FOUND' } },
    ])
  })
})
