import type { JsonObject } from '../../domain/metadata.ts'
import type { Entitlement, PackageEdit } from '../../domain/package.ts'
import type { ScheduledPublication } from '../../domain/publication.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { Authorship } from './package-history.ts'

interface MadePackage {
  id: string
  name: string
  isAddon: boolean
  metadata: JsonObject
  updatedAt: number
}

/** False: the id is taken. */
export async function insertPackage(db: HomeDb, appId: string, made: MadePackage): Promise<boolean> {
  return (await insertPackages(db, appId, [made])) === 1
}

/** In this order; returns the number of ids that were not taken. */
export async function insertPackages(
  db: HomeDb,
  appId: string,
  made: readonly MadePackage[],
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into package (app_id, id, name, is_addon, metadata, updated_at)
     select $1, id, name, is_addon, metadata, updated_at
     from unnest($2::text[], $3::text[], $4::boolean[], $5::json[], $6::timestamptz[])
       with ordinality as p (id, name, is_addon, metadata, updated_at, ord)
     order by ord on conflict do nothing`,
    [
      appId,
      made.map((p) => p.id),
      made.map((p) => p.name),
      made.map((p) => p.isAddon),
      made.map((p) => JSON.stringify(p.metadata)),
      made.map((p) => timestamp(p.updatedAt)),
    ],
  )
  return rowCount ?? 0
}

export async function updatePackageMetadata(
  db: HomeDb,
  appId: string,
  id: string,
  metadata: JsonObject,
  now: number,
): Promise<void> {
  await db.query(`update package set metadata = $3, updated_at = $4 where app_id = $1 and id = $2`, [
    appId,
    id,
    JSON.stringify(metadata),
    timestamp(now),
  ])
}

export async function setPackageDraft(
  db: HomeDb,
  appId: string,
  id: string,
  draft: PackageEdit | null,
  now: number,
): Promise<void> {
  await db.query(`update package set draft = $3, updated_at = $4 where app_id = $1 and id = $2`, [
    appId,
    id,
    draft && JSON.stringify(draft),
    timestamp(now),
  ])
}

/** Null: no publication is scheduled any more. */
export async function setScheduled(
  db: HomeDb,
  appId: string,
  id: string,
  scheduled: ScheduledPublication | null,
): Promise<void> {
  const { at, ...rest } = scheduled ?? { at: null }
  await db.query(`update package set publish_at = $3, publication = $4 where app_id = $1 and id = $2`, [
    appId,
    id,
    at === null ? null : timestamp(at),
    at === null ? null : JSON.stringify(rest),
  ])
}

/** Applies the edit to the package and drops its draft. */
export async function applyPackageEdit(
  db: HomeDb,
  appId: string,
  id: string,
  edit: PackageEdit,
  now: number,
): Promise<void> {
  await db.query(
    `update package set name = $3, draft = null, updated_at = $4 where app_id = $1 and id = $2`,
    [appId, id, edit.name, timestamp(now)],
  )
  await db.query(`delete from package_feature where app_id = $1 and package_id = $2`, [appId, id])
  await insertPackageFeatures(db, appId, id, edit.features)
}

export async function publishPackage(
  db: HomeDb,
  appId: string,
  id: string,
  now: number,
  { author, note }: Authorship,
): Promise<void> {
  await db.query(
    `update package set status = 'PUBLISHED', first_published_at = $3, updated_at = $3, first_published_by = $4,
       first_published_note = $5
     where app_id = $1 and id = $2`,
    [appId, id, timestamp(now), author, note],
  )
}

/** When version 1 was published; null: not yet, or not recorded. */
export async function firstPublication(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<Authorship & { at: number | null }> {
  const { rows } = await db.query<Authorship & { at: number | null }>(
    `select first_published_at as at, first_published_by as author, first_published_note as note
     from package where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? { at: null, author: null, note: null }
}

/** With its prices, history and features. */
export async function deletePackage(db: HomeDb, appId: string, id: string): Promise<void> {
  for (const table of ['package_feature', 'package_history', 'price']) {
    await db.query(`delete from ${table} where app_id = $1 and package_id = $2`, [appId, id])
  }
  await db.query(`delete from sample_item where app_id = $1 and kind = 'package' and id = $2`, [appId, id])
  await db.query(`delete from package where app_id = $1 and id = $2`, [appId, id])
}

export function insertPackageFeatures(
  db: HomeDb,
  appId: string,
  id: string,
  features: readonly Entitlement[],
): Promise<void> {
  return insertFeaturesOfPackages(db, appId, [{ id, features }])
}

/** For packages without features. */
export async function insertFeaturesOfPackages(
  db: HomeDb,
  appId: string,
  packages: readonly { id: string; features: readonly Entitlement[] }[],
): Promise<void> {
  const rows = packages.flatMap(({ id, features }) => features.map((f, i) => ({ ...f, id, position: i + 1 })))
  await db.query(
    `insert into package_feature (app_id, package_id, position, feature_id, "limit", reset_period, overage_enabled,
       overage_cap, caps)
     select $1, f.* from unnest($2::text[], $3::int[], $4::text[], $5::bigint[], $6::text[], $7::boolean[], $8::bigint[],
       $9::json[]) as f`,
    [
      appId,
      rows.map((f) => f.id),
      rows.map((f) => f.position),
      rows.map((f) => f.featureId),
      rows.map((f) => f.limit),
      rows.map((f) => f.resetPeriod),
      rows.map((f) => f.overageEnabled),
      rows.map((f) => f.overageCap ?? null),
      rows.map((f) => (f.caps ? JSON.stringify(f.caps) : null)),
    ],
  )
}
