import { MAX_FORGOTTEN_SPENDERS } from '../../domain/limits.ts'
import { APP_NOW } from '../apps/apps.ts'
import type { HomeDb } from '../connection/places.ts'

/** What is left of the credits, reservations and caps of a feature that is about to be deleted. */
export interface FeatureSpending {
  /** that can be used, were used, or were bought */
  credits: boolean
  /** that hold units or were settled */
  reservations: boolean
  /** set for users */
  caps: boolean
  /** whether the ledger or a counter of such a user has usage of it */
  used: boolean
  /** whether more users have or had any of them, or drew on a pool, than can be forgotten */
  manyUsers: boolean
}

export async function spendingOnFeature(
  db: HomeDb,
  appId: string,
  featureId: string,
): Promise<FeatureSpending> {
  const { rows } = await db.query<FeatureSpending>(
    `select
       exists (select from credit k where k.app_id = app.id and k.feature_id = $2
         and (k.used > 0 or k.bought is not null
           or (k.voided_at is null and (k.expires_at is null or k.expires_at > ${APP_NOW})))) as credits,
       exists (select from usage_reservation k
         where k.app_id = app.id and (k.feature_id = $2 or k.pool_id = $2)
         and (k.settled > 0 or (k.state = 'HELD' and k.expires_at > ${APP_NOW}))) as reservations,
       exists (select from usage_cap k where k.app_id = app.id and k.feature_id = $2 and k."limit" is not null) as caps,
       s.used, s.users > ${MAX_FORGOTTEN_SPENDERS} as "manyUsers"
     from app cross join lateral (
       select count(*) as users, coalesce(bool_or(
         exists (select from usage_counter c
           where c.app_id = k.app_id and c.user_uid = k.user_uid and c.feature_id = $2 and c.used <> 0)
         or exists (select from usage_ledger l
           where l.app_id = k.app_id and l.user_uid = k.user_uid and l.feature_id = $2)), false) as used
       from (select app_id, user_uid from spender where app_id = app.id and features ? $2
         limit ${MAX_FORGOTTEN_SPENDERS} + 1) k) s
     where app.id = $1`,
    [appId, featureId],
  )
  if (!rows[0]) throw new Error('the app of a feature does not exist')
  return rows[0]
}

/** No user is enrolled for the feature any more. The app is locked; returns their number. */
export async function forgetSpenders(db: HomeDb, appId: string, featureId: string): Promise<number> {
  const { rowCount } = await db.query(
    `update spender set features = features - $2, version = version + 1 where app_id = $1 and features ? $2`,
    [appId, featureId],
  )
  return rowCount ?? 0
}

/** Deletes the credits, reservations and counts of a feature, none of which was used. The feature is locked. */
export async function deleteSpending(db: HomeDb, appId: string, featureId: string): Promise<void> {
  for (const table of ['credit', 'usage_reservation', 'usage_cap'])
    await db.query(`delete from ${table} where app_id = $1 and feature_id = $2`, [appId, featureId])
}
