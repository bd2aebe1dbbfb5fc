import type { JsonObject } from '../domain/metadata.ts'
import type { Entitlement, PackageEdit } from '../domain/package.ts'
import { type Db, timestamp } from './database.ts'

/** False when the id is taken. */
export async function insertPackage(
  db: Db,
  appId: string,
  made: { id: string; name: string; isAddon: boolean; metadata: JsonObject; updatedAt: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into package (app_id, id, name, is_addon, metadata, updated_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [appId, made.id, made.name, made.isAddon, JSON.stringify(made.metadata), timestamp(made.updatedAt)],
  )
  return rowCount === 1
}

export async function updatePackageMetadata(
  db: Db,
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
  db: Db,
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

/** Makes the edit the package's content and drops its draft. */
export async function applyPackageEdit(
  db: Db,
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

export async function publishPackage(db: Db, appId: string, id: string, now: number): Promise<void> {
  await db.query(`update package set status = 'PUBLISHED', updated_at = $3 where app_id = $1 and id = $2`, [
    appId,
    id,
    timestamp(now),
  ])
}

export async function archivePackage(db: Db, appId: string, id: string, archived: boolean): Promise<void> {
  await db.query(
    `update package set archived_at = case when $3 then coalesce(archived_at, now()) end
     where app_id = $1 and id = $2`,
    [appId, id, archived],
  )
}

/** With what belongs to it alone. */
export async function deletePackage(db: Db, appId: string, id: string): Promise<void> {
  for (const table of ['package_feature', 'package_history', 'price']) {
    await db.query(`delete from ${table} where app_id = $1 and package_id = $2`, [appId, id])
  }
  await db.query(`delete from sample_item where app_id = $1 and kind = 'package' and id = $2`, [appId, id])
  await db.query(`delete from package where app_id = $1 and id = $2`, [appId, id])
}

export async function insertPackageFeatures(
  db: Db,
  appId: string,
  id: string,
  features: Entitlement[],
): Promise<void> {
  await db.query(
    `insert into package_feature (app_id, package_id, position, feature_id, "limit", reset_period, overage_enabled)
     select $1, $2, position, feature_id, "limit", reset_period, overage_enabled
     from unnest($3::text[], $4::bigint[], $5::text[], $6::boolean[])
       with ordinality as f (feature_id, "limit", reset_period, overage_enabled, position)`,
    [
      appId,
      id,
      features.map((f) => f.featureId),
      features.map((f) => f.limit),
      features.map((f) => f.resetPeriod),
      features.map((f) => f.overageEnabled),
    ],
  )
}
