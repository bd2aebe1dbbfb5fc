import type { Spending } from '../../domain/purse.ts'
import type { HomeDb, UserDb } from '../connection/places.ts'
import { enrol } from '../usage/enrol.ts'

/**
 * Locks the spender's row of a user: until the transaction ends, no other decision about the user's credits is written.
 * Returns its version; null: the user is not enrolled for all of these features.
 */
export async function lockSpender(
  db: HomeDb,
  appId: string,
  uid: number,
  featureIds: readonly string[],
): Promise<number | null> {
  const { rows } = await db.query<{ version: number; enrolled: boolean }>(
    `select version, features ?& $3 as enrolled from spender where app_id = $1 and user_uid = $2 for update`,
    [appId, uid, featureIds],
  )
  return rows[0]?.enrolled ? rows[0].version : null
}

/**
 * Enrols features of a user, and returns the version of the spender's row. The user's row becomes another, so that no call
 * decided from memory is written without the credits.
 */
export async function enrolSpender(
  db: UserDb,
  appId: string,
  uid: number,
  featureIds: readonly string[],
): Promise<number> {
  const version = await enrol(db, appId, uid, featureIds)
  if (version === null) throw new Error('a spender was not stored')
  return version
}

/** Stores what is owed by a user who was just enrolled. */
export async function storeOwed(
  db: HomeDb,
  appId: string,
  uid: number,
  featureId: string,
  owed: NonNullable<Spending['owed']>,
): Promise<void> {
  await db.query(
    `update spender set features = jsonb_set(features, array[$3, 'owed'], $4) where app_id = $1 and user_uid = $2`,
    [appId, uid, featureId, JSON.stringify(owed)],
  )
}

/** Voids the credits of a user, and ends their reservations, caps and automatic recharges. */
export async function endSpending(db: HomeDb, appId: string, uid: number): Promise<void> {
  await db.query(
    `update credit set voided_at = statement_timestamp(), ended = true, reason = null, provider = null,
       provider_ref = null
     where app_id = $1 and user_uid = $2`,
    [appId, uid],
  )
  await db.query(`delete from usage_reservation where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from usage_cap where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from recharge_rule where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from recharge_attempt where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from spender where app_id = $1 and user_uid = $2`, [appId, uid])
}
