import type { Feature } from '../domain/feature.ts'
import type { Db } from './database.ts'

/** False when the id is taken. */
export async function insertFeature(db: Db, appId: string, feature: Feature): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into feature (app_id, id, name, type, unit_label, unit_label_plural, metadata)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      appId,
      feature.id,
      feature.name,
      feature.type,
      feature.unitLabel,
      feature.unitLabelPlural,
      JSON.stringify(feature.metadata),
    ],
  )
  return rowCount === 1
}

export async function updateFeature(db: Db, appId: string, feature: Feature): Promise<void> {
  await db.query(
    `update feature set name = $3, unit_label = $4, unit_label_plural = $5, metadata = $6
     where app_id = $1 and id = $2`,
    [
      appId,
      feature.id,
      feature.name,
      feature.unitLabel,
      feature.unitLabelPlural,
      JSON.stringify(feature.metadata),
    ],
  )
}

export async function archiveFeature(db: Db, appId: string, id: string, archived: boolean): Promise<void> {
  await db.query(
    `update feature set archived_at = case when $3 then coalesce(archived_at, now()) end
     where app_id = $1 and id = $2`,
    [appId, id, archived],
  )
}

export async function deleteFeature(db: Db, appId: string, id: string): Promise<void> {
  await db.query(`delete from sample_item where app_id = $1 and kind = 'feature' and id = $2`, [appId, id])
  await db.query(`delete from feature where app_id = $1 and id = $2`, [appId, id])
}
