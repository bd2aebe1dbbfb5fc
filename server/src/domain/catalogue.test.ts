import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import {
  buildCatalogue,
  type Catalogue,
  catalogueWith,
  catalogueWithHistory,
  type FeatureContent,
  type HistoryContent,
  versionOf,
} from './catalogue.ts'
import type { Feature } from './feature.ts'
import type { Entitlement } from './package.ts'
import type { ResetPeriod } from './period.ts'
import type { Reach } from './publication.ts'

const bare = (id: string): Feature => {
  const { overridePeriods, spends, archived, ...rest } = featureContent(id)
  return rest
}
const grant = (featureId: string, resetPeriod: ResetPeriod = 'MONTH') =>
  entitlement(featureId, { limit: 1, resetPeriod })
const content = (id: string, features: Entitlement[]) => packageContent(id, { features })

const FEATURES = ['calls', 'seats', 'unused'].map((id) => featureContent(id))
const PACKAGES = [
  content('basic', [grant('calls')]),
  content('pro', [grant('calls'), grant('seats', 'YEAR')]),
  content('daily', [grant('calls', 'DAY')]),
]

describe('a catalogue', () => {
  const { features, packages, grants } = buildCatalogue(FEATURES, PACKAGES)

  it('knows the packages that grant a feature, and each reset period once', () => {
    const of = (id: string) => [features.get(id)?.packages.map((p) => p.id), features.get(id)?.resetPeriods]
    expect(of('calls')).toEqual([
      ['basic', 'pro', 'daily'],
      ['MONTH', 'DAY'],
    ])
    expect(of('seats')).toEqual([['pro'], ['YEAR']])
    expect(of('unused')).toEqual([[], []])
  })

  it('knows the reset periods of overrides as well, before those of packages', () => {
    const calls: FeatureContent = { ...featureContent('calls'), overridePeriods: ['WEEK', 'MONTH'] }
    const built = buildCatalogue(
      [calls],
      [content('basic', [grant('calls')]), content('daily', [grant('calls', 'DAY')])],
    )
    expect(built.features.get('calls')).toMatchObject({
      resetPeriods: ['WEEK', 'MONTH', 'DAY'],
      overridePeriods: ['WEEK', 'MONTH'],
    })
  })

  it('knows what a package grants, with the feature itself', () => {
    expect([...packages.keys()]).toEqual(['basic', 'pro', 'daily'])
    expect(packages.get('pro')?.features).toEqual([
      { ...grant('calls'), feature: bare('calls') },
      { ...grant('seats', 'YEAR'), feature: bare('seats') },
    ])
    expect(grants.get('pro')?.get('seats')).toBe(packages.get('pro')?.features[1])
    expect(grants.get('basic')?.has('seats')).toBe(false)
  })

  it('has no package with a feature that there is not', () => {
    expect(() => buildCatalogue(FEATURES, [content('odd', [grant('gone')])])).toThrow(/odd.*gone/)
  })

  it('with an edit differs in that package alone, which has no draft any more', () => {
    const edit = { name: 'Basic 2', features: [grant('seats', 'WEEK')] }
    const drafted = PACKAGES.map((p) => (p.id === 'basic' ? { ...p, draft: edit } : p))
    const before = buildCatalogue(FEATURES, drafted)
    const after = catalogueWith(before, 'basic', edit, 'ALL', 0)
    expect(after.packages.get('basic')).toMatchObject({ name: 'Basic 2', draft: null })
    expect([...(after.grants.get('basic')?.keys() ?? [])]).toEqual(['seats'])
    expect(after.packages.get('pro')).toEqual(before.packages.get('pro'))
    expect(after.features.get('calls')?.packages.map((p) => p.id)).toEqual(['pro', 'daily'])
    expect(before.packages.get('basic')).toMatchObject({ name: 'basic', draft: edit })
  })
})

describe('gap: publishing a package again', () => {
  const START = Date.UTC(2024, 0, 31)
  const MONTH_LATER = Date.UTC(2024, 1, 29)
  const YEAR_LATER = Date.UTC(2025, 0, 31)
  const first = (resetPeriod: ResetPeriod = 'MONTH') =>
    buildCatalogue(FEATURES, [content('plan', [grant('calls', resetPeriod)])])
  const published = (before: Catalogue, reach: Reach, resetPeriod: ResetPeriod = 'MONTH') =>
    catalogueWith(before, 'plan', { name: 'Plan', features: [grant('calls', resetPeriod)] }, reach, START)
  const bought = (version: number) => ({ packageId: 'plan', version, versionAsOf: version, anchor: START })
  const entry = (position: number, reach: Reach, at = START) =>
    ({ position, kind: 'PUBLISHED', from: position - 1, to: position, reach, at }) as const

  it.each<Reach>(['ALL', 'NEW_ONLY', 'AT_PERIOD_END'])('for %s makes the next version', (reach) => {
    expect(published(first(), reach).packages.get('plan')).toMatchObject({ version: 2, history: 2 })
  })

  it('for all gives everybody the newest version, and ends the history', () => {
    const after = published(published(first(), 'NEW_ONLY'), 'ALL')
    expect([1, 2, 3].map((version) => versionOf(after, bought(version), START))).toEqual([3, 3, 3])
    expect(after.histories.has('plan')).toBe(false)
  })

  it('for some begins a history, with the last publication for all unless that was the first', () => {
    const entries = (catalogue: Catalogue) => catalogue.histories.get('plan')?.entries
    expect(entries(published(first(), 'NEW_ONLY'))).toEqual([entry(2, 'NEW_ONLY')])
    const second = published(first(), 'ALL')
    expect(entries(published(second, 'NEW_ONLY'))).toEqual([entry(2, 'ALL', 0), entry(3, 'NEW_ONLY')])
  })

  it('moves subscribers at the end of the longest period of the version that they have', () => {
    const after = published(first('YEAR'), 'AT_PERIOD_END', 'MONTH')
    const versions = [MONTH_LATER, YEAR_LATER - 1, YEAR_LATER].map((now) => versionOf(after, bought(1), now))
    expect(versions).toEqual([1, 1, 2])
  })

  describe('after a migration from the newest version back to the first', () => {
    const migration: HistoryContent = {
      position: 3,
      kind: 'MIGRATED',
      from: 2,
      to: 1,
      reach: 'AT_PERIOD_END',
      at: START,
      features: null,
    }
    const migrated = catalogueWithHistory(published(first('MONTH'), 'NEW_ONLY', 'YEAR'), 'plan', [
      { ...entry(2, 'NEW_ONLY'), features: [grant('calls', 'MONTH')] },
      migration,
    ])

    it('those who have the newest leave it when its longest period ends', () => {
      const at = (now: number) => versionOf(migrated, bought(2), now)
      expect([MONTH_LATER, YEAR_LATER - 1, YEAR_LATER].map(at)).toEqual([2, 2, 1])
    })

    it('another publication keeps the migration in the history', () => {
      const history = published(migrated, 'NEW_ONLY').histories.get('plan')
      expect(history?.entries.map(({ kind, from, to }) => [kind, from, to])).toEqual([
        ['PUBLISHED', 1, 2],
        ['MIGRATED', 2, 1],
        ['PUBLISHED', 2, 3],
      ])
      expect([...(history?.versions.keys() ?? [])]).toEqual([1, 2])
    })
  })

  it('a subscription to a package that is gone has the version it was bought at', () => {
    expect(versionOf(first(), { ...bought(4), packageId: 'gone' }, START)).toBe(4)
  })
})
