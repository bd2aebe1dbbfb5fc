import type { HomeDb, UserDb } from '../connection/places.ts'

/** Makes checks and records of the feature read credits and reservations too. The app is locked. */
export async function setSpends(db: HomeDb, appId: string, featureId: string): Promise<void> {
  await db.query(`update feature set spends = true where app_id = $1 and id = $2`, [appId, featureId])
}

/**
 * Locks the spender's row of a user: until the transaction ends, no other decision about the user's credits is written.
 * Returns its version; null: the user has none for this feature.
 */
export async function lockSpender(
  db: HomeDb,
  appId: string,
  uid: number,
  featureId: string,
): Promise<number | null> {
  const { rows } = await db.query<{ version: number }>(
    `select version from spender where app_id = $1 and user_uid = $2 and features ? $3 for update`,
    [appId, uid, featureId],
  )
  return rows[0]?.version ?? null
}

/**
 * Enrols a feature of a user who is locked, and returns the version of the spender's row. The user's row becomes another,
 * so that no call decided from memory is written without the credits.
 */
export async function enrolSpender(
  db: UserDb,
  appId: string,
  uid: number,
  featureId: string,
): Promise<number> {
  await db.query(`update users set metadata = metadata where app_id = $1 and uid = $2`, [appId, uid])
  const { rows } = await db.query<{ version: number }>(
    `insert into spender (app_id, user_uid, features) values ($1, $2, jsonb_build_object($3::text, '{}'::jsonb))
     on conflict (app_id, user_uid) do update set version = spender.version + 1,
       features = spender.features || excluded.features
     returning version`,
    [appId, uid, featureId],
  )
  if (!rows[0]) throw new Error('a spender was not stored')
  return rows[0].version
}

/** Voids the credits of a user, and ends their reservations and caps. */
export async function endSpending(db: HomeDb, appId: string, uid: number): Promise<void> {
  await db.query(
    `update credit set voided_at = statement_timestamp(), ended = true, reason = null, provider = null,
       provider_ref = null
     where app_id = $1 and user_uid = $2`,
    [appId, uid],
  )
  await db.query(`delete from usage_reservation where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from usage_cap where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from spender where app_id = $1 and user_uid = $2`, [appId, uid])
}
