import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue, type Catalogue, type FeatureContent } from './catalogue.ts'
import { catalogueDiff } from './catalogue-diff.ts'
import type { Feature } from './feature.ts'
import type { Entitlement, PackageEdit } from './package.ts'

type Sold = {
  name?: string
  isAddon?: boolean
  archived?: boolean
  features?: Entitlement[]
  draft?: PackageEdit
}

const grant = (change: Partial<Entitlement> = {}) => entitlement('calls', change)

function catalogue(
  features: Record<string, Partial<FeatureContent>>,
  packages: Record<string, Sold> = {},
): Catalogue {
  return buildCatalogue(
    Object.entries(features).map(([id, more]) => featureContent(id, more)),
    Object.entries(packages).map(([id, sold]) => packageContent(id, sold)),
  )
}

const changes = (from: Catalogue, to: Catalogue) => {
  const { features, packages } = catalogueDiff(from, to)
  return [...features, ...packages].map(({ id, change }) => `${id} ${change}`)
}

describe('gap: copying a catalogue, what it does', () => {
  it('adds what is new, and takes nothing away', () => {
    const from = catalogue({ calls: {} }, { plan: {} })
    expect(changes(from, catalogue({ other: {} }, { more: {} }))).toEqual(['calls ADD', 'plan ADD'])
    expect(catalogueDiff(from, catalogue({})).features).toEqual([
      {
        id: 'calls',
        name: 'calls',
        change: 'ADD',
        message: null,
        before: null,
        after: { name: 'calls', type: 'CONSUMABLE', unitLabel: null, unitLabelPlural: null, metadata: {} },
      },
    ])
  })

  it('leaves alone what is the same', () => {
    const same = () => catalogue({ calls: {} }, { plan: { features: [grant()] } })
    expect(changes(same(), same())).toEqual(['calls SAME', 'plan SAME'])
  })

  it.each([
    { name: 'Calls' },
    { unitLabel: 'call' },
    { unitLabelPlural: 'calls' },
    { metadata: { a: 1 } },
  ] satisfies Partial<Feature>[])('changes a feature that differs in %j', (change) => {
    const diff = catalogueDiff(catalogue({ calls: change }), catalogue({ calls: {} }))
    expect(diff.features).toMatchObject([{ change: 'CHANGE', before: { name: 'calls' }, after: change }])
  })

  it.each([
    { name: 'Plan' },
    { features: [] },
    { features: [grant({ limit: 11 })] },
    { features: [grant({ resetPeriod: 'DAY' })] },
    { features: [grant({ overageEnabled: true })] },
    { draft: { name: 'plan', features: [] } },
  ] satisfies Sold[])('changes a package that differs in %j', (change) => {
    const to = catalogue({ calls: {} }, { plan: { features: [grant()] } })
    const from = catalogue({ calls: {} }, { plan: { features: [grant()], ...change } })
    expect(changes(from, to)).toEqual(['calls SAME', 'plan CHANGE'])
  })

  it('copies a package as it would be published', () => {
    const draft = { name: 'Next', features: [grant({ limit: 7 })] }
    const { packages } = catalogueDiff(catalogue({ calls: {} }, { plan: { draft } }), catalogue({}))
    expect(packages[0]?.after).toEqual({ name: 'Next', isAddon: false, features: [grant({ limit: 7 })] })
  })

  it('leaves a feature of another type, and the packages that grant it', () => {
    const packages = { plan: { features: [grant()] }, other: {} }
    const from = catalogue({ calls: { type: 'BINARY' } }, packages)
    const { features, packages: copied } = catalogueDiff(from, catalogue({ calls: {} }, packages))
    expect(features).toMatchObject([
      { change: 'CONFLICT', message: expect.stringMatching(/CONSUMABLE.*BINARY/) },
    ])
    expect(copied).toMatchObject([
      { id: 'plan', change: 'CONFLICT', message: expect.stringContaining('"calls"') },
      { id: 'other', change: 'SAME', message: null },
    ])
  })

  it('leaves out archived packages, and archived features that no other package needs', () => {
    const from = catalogue(
      { calls: { archived: true }, seats: { archived: true }, exports: {} },
      { plan: { features: [grant()] }, old: { archived: true, features: [grant({ featureId: 'seats' })] } },
    )
    expect(changes(from, catalogue({}))).toEqual(['calls ADD', 'exports ADD', 'plan ADD'])
  })

  it('needs the archived features of a draft rather than those it replaces', () => {
    const draft = { name: 'plan', features: [grant({ featureId: 'seats' })] }
    const from = catalogue(
      { calls: { archived: true }, seats: { archived: true } },
      { plan: { features: [grant()], draft } },
    )
    expect(changes(from, catalogue({}))).toEqual(['seats ADD', 'plan ADD'])
  })

  it('makes no add-on of a base plan', () => {
    expect(changes(catalogue({}, { plan: { isAddon: true } }), catalogue({}, { plan: {} }))).toEqual([
      'plan CONFLICT',
    ])
  })
})

describe('a feature that cannot be copied', () => {
  const there = catalogue({ calls: { type: 'BINARY' } })
  const copied = (sold: Sold) => catalogueDiff(catalogue({ calls: {} }, { plan: sold }), there).packages[0]

  it('keeps a package back whose draft grants it', () => {
    expect(copied({ features: [], draft: { name: 'plan', features: [grant()] } })).toMatchObject({
      change: 'CONFLICT',
      message: 'The feature "calls" of the package cannot be copied',
    })
  })

  it('keeps no package back whose draft has dropped it', () => {
    expect(copied({ features: [grant()], draft: { name: 'plan', features: [] } })).toMatchObject({
      change: 'ADD',
      message: null,
    })
  })
})

describe('a feature that is archived there', () => {
  const copied = (present: Record<string, Sold>) =>
    catalogueDiff(
      catalogue({ calls: {} }, { plan: { features: [grant()] } }),
      catalogue({ calls: { archived: true } }, present),
    ).packages[0]

  it.each([
    ['new', {}],
    ['without it', { plan: { features: [] } }],
  ])('is added to no package: one that is %s', (_, present) => {
    expect(copied(present)).toMatchObject({
      change: 'CONFLICT',
      message: 'The feature "calls" of the package is archived in this app',
    })
  })

  it.each([
    ['package', { plan: { features: [grant({ limit: 5 })] } }],
    ['draft', { plan: { features: [], draft: { name: 'plan', features: [grant({ limit: 5 })] } } }],
  ])('is changed in a %s that has it', (_, present) => {
    expect(copied(present)).toMatchObject({ change: 'CHANGE', message: null })
  })
})
