import type { UserDb } from '../connection/places.ts'
import type { CounterRef } from './usage-moves.ts'

/** A user without a spender's row for a feature that draws on a pool or has caps of the plan. */
export interface Stranger {
  appId: string
  userUid: number
  featureId: string
  /** leads to the place of the user's counters */
  ref: CounterRef
}

/**
 * Enrols features of a user, and returns the version of the spender's row; null: no such user. The user's row becomes
 * another, so that no call decided from memory is written.
 */
export async function enrol(
  db: Pick<UserDb, 'query'>,
  appId: string,
  uid: number,
  featureIds: readonly string[],
): Promise<number | null> {
  const { rows } = await db.query<{ version: number }>(
    `with owner as (
       update users set metadata = metadata where app_id = $1 and uid = $2 returning app_id, uid
     )
     insert into spender (app_id, user_uid, features)
     select app_id, uid, (select jsonb_object_agg(id, '{}'::jsonb) from unnest($3::text[]) id) from owner
     on conflict (app_id, user_uid) do update set version = spender.version + 1,
       features = excluded.features || spender.features
     returning version`,
    [appId, uid, featureIds],
  )
  return rows[0]?.version ?? null
}

/** Enrols users one after the other, in the order of their uids. */
export async function enrolEach(db: Pick<UserDb, 'query'>, strangers: readonly Stranger[]): Promise<void> {
  for (const { appId, userUid, featureId } of [...strangers].sort((a, b) => a.userUid - b.userUid))
    await enrol(db, appId, userUid, [featureId])
}
