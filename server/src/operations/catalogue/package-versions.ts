import { type Catalogue, versionOf } from '../../domain/catalogue.ts'
import { MAX_PAGE } from '../../domain/limits.ts'
import type { Entitlement } from '../../domain/package.ts'
import type { Reach } from '../../domain/publication.ts'
import { type Authorship, type HistoryRow, packageHistory } from '../../store/catalogue/package-history.ts'
import { firstPublication } from '../../store/catalogue/packages.ts'
import type { Tx } from '../../store/connection/database.ts'
import { liveSubscribers } from '../../store/subscriptions/subscribers.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { checkFirst } from '../call/paging.ts'
import { requirePackage } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'
import { lookingUp } from './reach.ts'

export interface PackageVersion extends Authorship {
  version: number
  features: readonly Entitlement[]
  /** null: a draft, or version 1 if its publication was not recorded */
  publishedAt: number | null
  /** subscriptions it was published for; null: version 1 */
  reach: Reach | null
  /** number of live subscriptions with this version */
  held: number
}

export interface PackageVersions {
  /** newest first */
  versions: PackageVersion[]
  /** newest first */
  migrations: HistoryRow[]
}

interface VersionPage {
  /** of each list; maximum and default: MAX_PAGE */
  first?: number | null | undefined
  /** continue before this version */
  before?: number | null | undefined
}

/** The versions of a package with their numbers of subscriptions, and the migrations. */
export async function packageVersions(
  call: Call,
  packageId: string,
  { first, before }: VersionPage = {},
): Promise<PackageVersions> {
  checkFirst(first)
  const most = Math.min(first ?? MAX_PAGE, MAX_PAGE)
  const { appId } = call
  const { now } = await requireApp(call.service.pool, appId)
  const catalogue = await catalogueOf(call)
  const { version, features } = requirePackage(catalogue, packageId)
  const history = await packageHistory(call.service.pool, appId, packageId)
  const published = history.filter((e) => e.kind === 'PUBLISHED')
  const original = await firstPublication(call.service.pool, appId, packageId)
  const held = await lookingUp(call, (tx) => countByVersion(tx, appId, packageId, catalogue, now))
  const newest = Math.min(version, (before ?? version + 1) - 1)
  const versions = Array.from({ length: Math.max(0, Math.min(newest, most)) }, (_, i): PackageVersion => {
    const number = newest - i
    const made = published.find((e) => e.to === number)
    const publication = made ?? (number === 1 ? original : null)
    return {
      version: number,
      features: published.find((e) => e.from === number)?.features ?? features,
      publishedAt: publication?.at ?? null,
      author: publication?.author ?? null,
      note: publication?.note ?? null,
      reach: made?.reach ?? null,
      held: held.get(number) ?? 0,
    }
  })
  const migrations = history.filter((e) => e.kind === 'MIGRATED').reverse()
  return { versions, migrations: migrations.slice(0, most) }
}

/** Enough that reading takes longer than deciding. */
const BATCH_SIZE = 5_000

async function countByVersion(
  tx: Tx,
  appId: string,
  packageId: string,
  catalogue: Catalogue,
  now: number,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  let last = 0
  for (;;) {
    const batch = await liveSubscribers(tx, appId, packageId, now, last, BATCH_SIZE)
    for (const { anchor, version, versionAsOf, seq } of batch) {
      const held = versionOf(catalogue, { packageId, anchor, version, versionAsOf }, now)
      counts.set(held, (counts.get(held) ?? 0) + 1)
      last = seq
    }
    if (batch.length < BATCH_SIZE) return counts
  }
}
