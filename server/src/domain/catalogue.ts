import type { Feature } from './feature.ts'
import type { Package } from './package.ts'

/** All features and packages of one app, oldest first. */
export interface Catalogue {
  features: ReadonlyMap<string, CataloguedFeature>
  packages: ReadonlyMap<string, Package>
}

/** A feature together with the packages that include it. */
export interface CataloguedFeature extends Feature {
  packages: Package[]
}
