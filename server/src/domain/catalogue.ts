import { badUserInput } from './errors.ts'
import type { Feature } from './feature.ts'
import { MAX_FEATURES, MAX_PACKAGE_HISTORY, MAX_PACKAGES } from './limits.ts'
import {
  countedPeriods,
  type Entitlement,
  entitlementOf,
  type Package,
  type PackageEdit,
  type PackageFeature,
} from './package.ts'
import { type HistoryEntry, type PackageHistory, type Versioned, versionAt } from './package-version.ts'
import type { ResetPeriod } from './period.ts'
import { drawsOf } from './pool.ts'
import type { Reach } from './publication.ts'
import type { Draw } from './split.ts'

/** All features and packages of one app, oldest first. */
export interface Catalogue {
  features: ReadonlyMap<string, CataloguedFeature>
  packages: ReadonlyMap<string, Package>
  /** Grants by package id and feature id. */
  grants: ReadonlyMap<string, ReadonlyMap<string, PackageFeature>>
  /** Only of packages of which someone may have an earlier version. */
  histories: ReadonlyMap<string, PackageHistory>
}

/** Grants of a subscription now, by feature id: those of the version that it has. */
export function grantsOf(
  catalogue: Catalogue,
  subscription: Versioned & { packageId: string },
  now: number,
): ReadonlyMap<string, PackageFeature> | undefined {
  const { packageId } = subscription
  const newest = catalogue.grants.get(packageId)
  const history = catalogue.histories.get(packageId)
  if (!history) return newest
  return history.versions.get(versionOf(catalogue, subscription, now)) ?? newest
}

/** The version of its package that a subscription has now. */
export function versionOf(
  catalogue: Catalogue,
  subscription: Versioned & { packageId: string },
  now: number,
): number {
  const { packageId } = subscription
  const newest = catalogue.packages.get(packageId)?.version ?? subscription.version
  const history = catalogue.histories.get(packageId)
  if (!history) return newest
  const contentOf = (version: number) => history.versions.get(version) ?? catalogue.grants.get(packageId)
  return versionAt(
    history,
    subscription,
    (version) => countedPeriods({ features: [...(contentOf(version)?.values() ?? [])] }),
    now,
  )
}

/** The reset periods of the consumable features that a subscription grants now. */
export function countedPeriodsOf(
  catalogue: Catalogue,
  subscription: Versioned & { packageId: string },
  now: number,
): ResetPeriod[] {
  return countedPeriods({ features: [...(grantsOf(catalogue, subscription, now)?.values() ?? [])] })
}

/** A feature, with the packages that grant it. */
export interface CataloguedFeature extends Feature {
  packages: Package[]
  /** Reset periods of its grants: nearly always just one. */
  resetPeriods: ResetPeriod[]
  /** those of overrides */
  overridePeriods: ResetPeriod[]
  /** Whether more than the plan may pay for it: see purse.ts. */
  spends: boolean
  /** what it draws on; null: nothing */
  pool: Draw | null
  /** An archived feature cannot be added to packages; see archive-feature.ts. */
  archived: boolean
}

/** A stored feature. */
export type FeatureContent = Feature & Pick<CataloguedFeature, 'overridePeriods' | 'spends' | 'archived'>

/** A stored package. It refers to features by id. */
export type PackageContent = Omit<Package, 'features'> & {
  features: Entitlement[]
  /** empty if everyone has the newest version */
  entries: HistoryContent[]
}

/** An entry, with what its version `from` granted; null for a migration. */
export type HistoryContent = HistoryEntry & { features: Entitlement[] | null }

export function buildCatalogue(
  stored: readonly FeatureContent[],
  contents: readonly PackageContent[],
): Catalogue {
  const features = new Map<string, CataloguedFeature>()
  const draws = drawsOf(stored)
  for (const feature of stored)
    features.set(feature.id, {
      ...feature,
      packages: [],
      resetPeriods: countedAnyway(feature),
      pool: draws.get(feature.id) ?? null,
    })
  const packages = new Map<string, Package>()
  const grants = new Map<string, Map<string, PackageFeature>>()
  const histories = new Map<string, PackageHistory>()
  for (const { entries, ...content } of contents) {
    const made: Package = { ...content, features: [] }
    const granted = (entitlement: Entitlement): PackageFeature => {
      const feature = features.get(entitlement.featureId)
      if (!feature) throw new Error(`Package ${made.id} grants the unknown feature ${entitlement.featureId}`)
      // A package contains the plain feature. Otherwise it would contain itself.
      const { packages, resetPeriods, overridePeriods, spends, archived, pool, ...plain } = feature
      if (!resetPeriods.includes(entitlement.resetPeriod)) resetPeriods.push(entitlement.resetPeriod)
      return { ...entitlementOf(entitlement), feature: plain }
    }
    for (const entitlement of content.features) {
      made.features.push(granted(entitlement))
      features.get(entitlement.featureId)?.packages.push(made)
    }
    packages.set(made.id, made)
    grants.set(made.id, byFeature(made.features))
    if (entries.length > 0) {
      const versions = new Map<number, ReadonlyMap<string, PackageFeature>>()
      for (const { from, features } of entries)
        if (features) versions.set(from, byFeature(features.map(granted)))
      histories.set(made.id, { entries: entries.map(({ features, ...entry }) => entry), versions })
    }
  }
  return { features, packages, grants, histories }
}

/** Reset periods of a feature that no package may grant: of overrides, and of credits without a plan. */
const countedAnyway = ({ overridePeriods, spends }: FeatureContent): ResetPeriod[] =>
  spends && !overridePeriods.includes('NEVER') ? [...overridePeriods, 'NEVER'] : [...overridePeriods]

const byFeature = (features: readonly PackageFeature[]) => new Map(features.map((f) => [f.featureId, f]))

/** Rejects another entry that leaves someone at an earlier version if there are too many. */
export function checkRoomInHistory({ histories }: Catalogue, packageId: string): void {
  if ((histories.get(packageId)?.entries.length ?? 0) < MAX_PACKAGE_HISTORY) return
  throw badUserInput(
    `The package was published or migrated ${MAX_PACKAGE_HISTORY} times since it was last published for ALL. Publish it for ALL first.`,
  )
}

/** The catalogue as it will be once the edit of a package is published. */
export function catalogueWith(
  catalogue: Catalogue,
  packageId: string,
  edit: PackageEdit,
  reach: Reach,
  now: number,
): Catalogue {
  return rebuilt(catalogue, packageId, (p, entries) => {
    const [version, history] = [p.version + 1, p.history + 1]
    const published: HistoryContent = {
      position: history,
      kind: 'PUBLISHED',
      from: p.version,
      to: version,
      reach,
      at: now,
      features: p.features,
    }
    const after = reach === 'ALL' ? [] : [...(entries.length > 0 ? entries : lastForAll(p)), published]
    return { ...p, ...edit, draft: null, scheduled: null, version, history, entries: after }
  })
}

/** The catalogue with another history of one package. */
export function catalogueWithHistory(
  catalogue: Catalogue,
  packageId: string,
  entries: HistoryContent[],
): Catalogue {
  return rebuilt(catalogue, packageId, (p) => ({ ...p, entries }))
}

function rebuilt(
  catalogue: Catalogue,
  packageId: string,
  change: (found: Package, entries: HistoryContent[]) => PackageContent,
): Catalogue {
  const contents = [...catalogue.packages.values()].map((p): PackageContent => {
    const entries = entriesOf(catalogue.histories.get(p.id))
    return p.id === packageId ? change(p, entries) : { ...p, entries }
  })
  return buildCatalogue([...catalogue.features.values()], contents)
}

export function checkSize({ features, packages }: { features: number; packages: number }): void {
  if (features > MAX_FEATURES)
    throw badUserInput(`An app can have at most ${MAX_FEATURES} features. Delete unused ones first.`)
  if (packages > MAX_PACKAGES)
    throw badUserInput(`An app can have at most ${MAX_PACKAGES} packages. Delete unused ones first.`)
}

/** A package without a history: everyone has its newest version. */
function lastForAll({ version, history }: Package): HistoryContent[] {
  if (version === 1) return []
  const entry = { position: history, kind: 'PUBLISHED', from: version - 1, to: version } as const
  return [{ ...entry, reach: 'ALL', at: 0, features: null }]
}

function entriesOf(history: PackageHistory | undefined): HistoryContent[] {
  if (!history) return []
  return history.entries.map((entry) => {
    const granted = entry.kind === 'PUBLISHED' ? history.versions.get(entry.from) : undefined
    return { ...entry, features: granted ? [...granted.values()] : null }
  })
}
