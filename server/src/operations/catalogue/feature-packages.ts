import { type Catalogue, versionOf } from '../../domain/catalogue.ts'
import { MAX_COUNTED } from '../../domain/limits.ts'
import type { Entitlement, Package } from '../../domain/package.ts'
import { countLive, newestSubscribers } from '../../store/subscriptions/subscribers.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { requireFeature } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'

/** A version of a package that grants a feature. */
export interface FeaturePackage {
  package: Package
  /** null: only its draft grants it */
  version: number | null
  grant: Entitlement
  /** live subscriptions with this version, counted among the newest */
  held: { count: number; more: boolean }
}

/** Scanned subscriptions of all packages together. */
const MOST_LOOKED_AT = 10 * MAX_COUNTED

/** All packages that grant the feature, oldest first, with their versions, newest first. */
export async function featurePackages(call: Call, id: string): Promise<FeaturePackage[]> {
  const { pool } = call.service
  const { now } = await requireApp(pool, call.appId)
  const catalogue = await catalogueOf(call)
  requireFeature(catalogue, id)
  const carriers = carriersOf(catalogue, id)
  const most = Math.min(MAX_COUNTED, Math.ceil(MOST_LOOKED_AT / Math.max(carriers.length, 1)))
  const [past, plain] = [carriers.filter(hasVersions), carriers.filter((p) => !hasVersions(p))]
  const counts = await countLive(
    pool,
    call.appId,
    plain.map((p) => p.id),
    now,
    most,
  )
  const held = new Map<string, { versions: Map<number, number>; more: boolean }>()
  for (const { id: packageId, version } of plain) {
    const { count, more } = counts.get(packageId) ?? { count: 0, more: false }
    held.set(packageId, { versions: new Map([[version, count]]), more })
  }
  for (const { id: packageId } of past) {
    const { rows, more } = await newestSubscribers(pool, call.appId, packageId, now, most)
    const versions = new Map<number, number>()
    for (const row of rows) {
      const version = versionOf(catalogue, { packageId, ...row }, now)
      versions.set(version, (versions.get(version) ?? 0) + 1)
    }
    held.set(packageId, { versions, more })
  }
  return carriers.flatMap((carrier) =>
    versionsOf(catalogue, carrier, id).map(({ version, grant }) => {
      const { versions, more } = held.get(carrier.id) ?? { versions: new Map<number, number>(), more: false }
      const count = version === null ? 0 : (versions.get(version) ?? 0)
      return { package: carrier, version, grant, held: { count, more: version !== null && more } }
    }),
  )

  function hasVersions({ id }: Package): boolean {
    return catalogue.histories.has(id)
  }
}

/** Packages that grant the feature in a draft or in a version that may have subscriptions. */
function carriersOf(catalogue: Catalogue, featureId: string): Package[] {
  return [...catalogue.packages.values()].filter((p) => versionsOf(catalogue, p, featureId).length > 0)
}

/** Ids of those in a version that may have subscriptions, oldest first. */
export const grantingPackages = (catalogue: Catalogue, featureId: string): string[] =>
  [...catalogue.packages.values()]
    .filter((p) => versionsOf(catalogue, p, featureId).some(({ version }) => version !== null))
    .map(({ id }) => id)

function versionsOf(
  { grants, histories }: Catalogue,
  { id, version, draft }: Package,
  featureId: string,
): { version: number | null; grant: Entitlement }[] {
  const newest = grants.get(id)?.get(featureId)
  const planned = draft?.features.find((f) => f.featureId === featureId)
  const earlier = [...(histories.get(id)?.versions ?? [])]
    .filter(([number]) => number !== version)
    .sort(([a], [b]) => b - a)
    .flatMap(([number, content]) => {
      const grant = content.get(featureId)
      return grant ? [{ version: number, grant }] : []
    })
  return [
    ...(planned && !newest ? [{ version: null, grant: planned }] : []),
    ...(newest ? [{ version, grant: newest }] : []),
    ...earlier,
  ]
}
