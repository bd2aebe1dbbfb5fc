import type { Feature } from './feature.ts'
import type { Entitlement, Package, PackageEdit, PackageFeature } from './package.ts'
import type { ResetPeriod } from './period.ts'

/** All features and packages of one app, oldest first. */
export interface Catalogue {
  features: ReadonlyMap<string, CataloguedFeature>
  packages: ReadonlyMap<string, Package>
  /** What each package grants, by package id and feature id. */
  grants: ReadonlyMap<string, ReadonlyMap<string, PackageFeature>>
}

/** A feature together with the packages that grant it. */
export interface CataloguedFeature extends Feature {
  packages: Package[]
  /** The reset periods it is granted with: nearly always just one. */
  resetPeriods: ResetPeriod[]
}

/** A package as it is stored, naming its features by id. */
export type PackageContent = Omit<Package, 'features'> & { features: Entitlement[] }

export function buildCatalogue(stored: readonly Feature[], contents: readonly PackageContent[]): Catalogue {
  const features = new Map<string, CataloguedFeature>()
  for (const feature of stored) features.set(feature.id, { ...feature, packages: [], resetPeriods: [] })
  const packages = new Map<string, Package>()
  const grants = new Map<string, Map<string, PackageFeature>>()
  for (const content of contents) {
    const made: Package = { ...content, features: [] }
    for (const entitlement of content.features) {
      const feature = features.get(entitlement.featureId)
      if (!feature) throw new Error(`package ${made.id} grants the unknown feature ${entitlement.featureId}`)
      // A package holds the bare feature, or it would contain itself.
      const { packages, resetPeriods, ...plain } = feature
      packages.push(made)
      if (!resetPeriods.includes(entitlement.resetPeriod)) resetPeriods.push(entitlement.resetPeriod)
      made.features.push({ ...entitlement, feature: plain })
    }
    packages.set(made.id, made)
    grants.set(made.id, new Map(made.features.map((f) => [f.featureId, f])))
  }
  return { features, packages, grants }
}

/** The catalogue as it will be once the edit of a package is published. */
export function catalogueWith(catalogue: Catalogue, packageId: string, edit: PackageEdit): Catalogue {
  const contents = [...catalogue.packages.values()].map((p) =>
    p.id === packageId ? { ...p, ...edit, draft: null } : p,
  )
  return buildCatalogue([...catalogue.features.values()], contents)
}
