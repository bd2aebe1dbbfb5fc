import type { Feature } from '../../domain/feature.ts'
import type { HomeDb } from '../connection/places.ts'

/** False: the id is taken. */
export async function insertFeature(db: HomeDb, appId: string, feature: Feature): Promise<boolean> {
  return (await insertFeatures(db, appId, [feature])) === 1
}

/** In this order; returns the number of ids that were not taken. */
export async function insertFeatures(
  db: HomeDb,
  appId: string,
  features: readonly Feature[],
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into feature (app_id, id, name, type, unit_label, unit_label_plural, metadata, thresholds, costs)
     select $1, id, name, type, unit_label, unit_label_plural, metadata, thresholds::int[], costs
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::json[], $8::text[], $9::jsonb[])
       with ordinality as f (id, name, type, unit_label, unit_label_plural, metadata, thresholds, costs, ord)
     order by ord on conflict do nothing`,
    [
      appId,
      features.map((f) => f.id),
      features.map((f) => f.name),
      features.map((f) => f.type),
      features.map((f) => f.unitLabel),
      features.map((f) => f.unitLabelPlural),
      features.map((f) => JSON.stringify(f.metadata)),
      features.map((f) => arrayOrNull(f.thresholds)),
      features.map((f) => JSON.stringify(f.costs ?? [])),
    ],
  )
  return rowCount ?? 0
}

export async function updateFeature(db: HomeDb, appId: string, feature: Feature): Promise<void> {
  await db.query(
    `update feature set name = $3, unit_label = $4, unit_label_plural = $5, metadata = $6,
       thresholds = $7::int[], costs = $8
     where app_id = $1 and id = $2`,
    [
      appId,
      feature.id,
      feature.name,
      feature.unitLabel,
      feature.unitLabelPlural,
      JSON.stringify(feature.metadata),
      arrayOrNull(feature.thresholds),
      JSON.stringify(feature.costs ?? []),
    ],
  )
}

/** Makes checks and records of the features read credits and reservations too. The app is locked. */
export async function setSpends(db: HomeDb, appId: string, featureIds: readonly string[]): Promise<void> {
  await db.query(`update feature set spends = true where app_id = $1 and id = any($2) and not spends`, [
    appId,
    featureIds,
  ])
}

/** Makes checks and records of pools, and of what draws on them, read all that pays. The app is locked. */
export async function flagPools(db: HomeDb, appId: string, features: readonly Feature[]): Promise<void> {
  const ids = features.flatMap(({ id, costs = [] }) =>
    costs.length > 0 ? [id, ...costs.map(({ featureId }) => featureId)] : [],
  )
  if (ids.length > 0) await setSpends(db, appId, ids)
}

const arrayOrNull = (thresholds: Feature['thresholds']): string | null =>
  thresholds ? `{${thresholds.join(',')}}` : null

/** Waits for transactions that add what refers to the feature, such as a credit, and blocks further ones. False: there is no such feature. */
export async function lockFeature(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from feature where app_id = $1 and id = $2 for update`, [
    appId,
    id,
  ])
  return rowCount === 1
}

export async function deleteFeature(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(`delete from sample_item where app_id = $1 and kind = 'feature' and id = $2`, [appId, id])
  await db.query(`delete from feature where app_id = $1 and id = $2`, [appId, id])
}
