import { describe, expect, it } from 'vitest'
import { buildCatalogue, catalogueWith, type FeatureContent, type PackageContent } from './catalogue.ts'
import type { Feature } from './feature.ts'
import type { Entitlement } from './package.ts'

const feature = (id: string): FeatureContent => ({
  id,
  name: id,
  type: 'CONSUMABLE',
  unitLabel: null,
  unitLabelPlural: null,
  metadata: {},
  overridePeriods: [],
  archived: false,
})
const bare = (id: string): Feature => {
  const { overridePeriods, archived, ...rest } = feature(id)
  return rest
}
const grant = (featureId: string, resetPeriod: Entitlement['resetPeriod'] = 'MONTH'): Entitlement => ({
  featureId,
  limit: 1,
  resetPeriod,
  overageEnabled: false,
})
const content = (id: string, features: Entitlement[]): PackageContent => ({
  id,
  name: id,
  status: 'PUBLISHED',
  isAddon: false,
  archived: false,
  metadata: {},
  updatedAt: 0,
  features,
  prices: [],
  draft: null,
  version: 1,
  history: 1,
  entries: [],
})

const FEATURES = ['calls', 'seats', 'unused'].map(feature)
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
