import type { Catalogue, CataloguedFeature } from './catalogue.ts'
import type { JsonObject } from './metadata.ts'
import { entitlementOf, type Package, type PackageEdit } from './package.ts'

export const CATALOGUE_CHANGES = ['ADD', 'CHANGE', 'SAME', 'CONFLICT'] as const

/** Effect of copying a catalogue on one feature or package of the target app. */
export interface CatalogueDiffEntry {
  id: string
  name: string
  change: (typeof CATALOGUE_CHANGES)[number]
  /** for a conflict: the reason why it is not copied */
  message: string | null
  before: JsonObject | null
  after: JsonObject | null
}

export interface CatalogueDiff {
  features: CatalogueDiffEntry[]
  packages: CatalogueDiffEntry[]
}

/**
 * Features and packages of `from` that are missing in `to` or differ. Nothing is ever removed. Archived packages are
 * omitted, and so are archived features that no other package needs.
 */
export function catalogueDiff(from: Catalogue, to: Catalogue): CatalogueDiff {
  const offered = [...from.packages.values()].filter(({ archived }) => !archived)
  const needed = new Set(offered.flatMap((p) => toPublish(p).features.map(({ featureId }) => featureId)))
  const features = [...from.features.values()]
    .filter(({ id, archived }) => !archived || needed.has(id))
    .map((feature) => featureEntry(feature, to))
  const conflicts = new Set(features.filter((f) => f.change === 'CONFLICT').map((f) => f.id))
  const packages = offered.map((p) => packageEntry(p, to, conflicts))
  return { features, packages }
}

function featureEntry(feature: CataloguedFeature, to: Catalogue): CatalogueDiffEntry {
  const present = to.features.get(feature.id)
  const entry = entryOf(feature, present ? shownFeature(present) : null, shownFeature(feature))
  if (!present || present.type === feature.type) return entry
  const message = `The feature is ${present.type} in this app and ${feature.type} in the other. The type of a feature cannot be changed.`
  return { ...entry, change: 'CONFLICT', message }
}

function packageEntry(p: Package, to: Catalogue, conflicts: ReadonlySet<string>): CatalogueDiffEntry {
  const present = to.packages.get(p.id)
  const entry = entryOf(p, present ? shownPackage(present) : null, shownPackage(p))
  const conflict = (message: string): CatalogueDiffEntry => ({ ...entry, change: 'CONFLICT', message })
  if (present && present.isAddon !== p.isAddon)
    return conflict('One package is an add-on and the other a base plan')
  const copied = toPublish(p).features.map(({ featureId }) => featureId)
  const odd = copied.find((id) => conflicts.has(id))
  if (odd !== undefined) return conflict(`The feature ${JSON.stringify(odd)} of the package cannot be copied`)
  const has = new Set(
    [...(present?.features ?? []), ...(present?.draft?.features ?? [])].map((f) => f.featureId),
  )
  const archived = copied.find((id) => to.features.get(id)?.archived && !has.has(id))
  return archived === undefined
    ? entry
    : conflict(`The feature ${JSON.stringify(archived)} of the package is archived in this app`)
}

function entryOf(
  { id, name }: { id: string; name: string },
  before: JsonObject | null,
  after: JsonObject,
): CatalogueDiffEntry {
  const same = JSON.stringify(before) === JSON.stringify(after)
  const change = before === null ? 'ADD' : same ? 'SAME' : 'CHANGE'
  return { id, name, change, message: null, before, after }
}

function shownFeature(feature: CataloguedFeature): JsonObject {
  const { name, type, unitLabel, unitLabelPlural, metadata, costs = [] } = feature
  const drawn = costs.map(({ featureId, cost }) => ({ featureId, cost }))
  return { name, type, unitLabel, unitLabelPlural, metadata, ...(drawn.length > 0 && { costs: drawn }) }
}

/** As it would be published: with its draft, if there is one. */
const toPublish = (p: Package): PackageEdit => p.draft ?? p

function shownPackage(p: Package): JsonObject {
  const { name, features } = toPublish(p)
  return { name, isAddon: p.isAddon, features: features.map(entitlementOf) }
}
