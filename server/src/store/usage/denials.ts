import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export const DENIAL_KINDS = ['CHECK', 'RECORD'] as const

/** A denied check, or usage that was refused. */
export interface Denial {
  appId: string
  featureId: string
  userId: string
  kind: (typeof DENIAL_KINDS)[number]
  reason: string
  /** how often since the last report */
  times: number
}

export interface DenialRow extends Pick<Denial, 'kind' | 'reason' | 'times'> {
  userUid: number
  firstAt: number
  at: number
}

/** Users with the latest denials that each feature keeps. */
const KEPT_DENIALS = 500

/** Of existing users and features; none of the users is deleted meanwhile. */
export async function noteDenials(db: HomeDb, denials: readonly Denial[]): Promise<void> {
  await db.query(
    `with n as materialized (
       select n.*, (select u.uid from users u where u.app_id = n.app_id and u.id = n.user_id
         and u.app_id = any($1) and u.id = any($3) limit 1) as uid
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
         as n (app_id, feature_id, user_id, kind, reason, times))
     insert into denial as d (app_id, feature_id, user_uid, kind, reason, times, first_at, denied_at)
     select n.app_id, n.feature_id, n.uid, n.kind, n.reason, n.times, now(), now()
     from n join feature f on f.app_id = n.app_id and f.id = n.feature_id where n.uid is not null
     order by n.app_id, n.feature_id, n.uid for key share of f
     on conflict (app_id, feature_id, user_uid) do update set kind = excluded.kind, reason = excluded.reason,
       times = d.times + excluded.times, denied_at = excluded.denied_at`,
    [
      textArray(denials, (d) => d.appId),
      textArray(denials, (d) => d.featureId),
      textArray(denials, (d) => d.userId),
      textArray(denials, (d) => d.kind),
      textArray(denials, (d) => d.reason),
      numberArray(denials, (d) => d.times),
    ],
  )
  const features = [...new Map(denials.map((d) => [JSON.stringify([d.appId, d.featureId]), d])).values()]
  await db.query(
    `delete from denial d using unnest($1::text[], $2::text[]) as f (app_id, feature_id)
     where d.app_id = f.app_id and d.feature_id = f.feature_id and d.denied_at < (select denied_at from denial
       where app_id = f.app_id and feature_id = f.feature_id order by denied_at desc, user_uid desc
       offset ${KEPT_DENIALS - 1} limit 1)`,
    [textArray(features, (f) => f.appId), textArray(features, (f) => f.featureId)],
  )
}

/** Latest first, starting before `before`. */
export async function listDenials(
  db: HomeDb,
  appId: string,
  featureId: string,
  before: { at: number; userUid: number } | null,
  limit: number,
): Promise<DenialRow[]> {
  const { rows } = await db.query<DenialRow>(
    `select user_uid as "userUid", kind, reason, times, first_at as "firstAt",
       denied_at as at
     from denial where app_id = $1 and feature_id = $2 and (denied_at, user_uid) < ($3::timestamptz, $4::bigint)
     order by denied_at desc, user_uid desc limit $5`,
    [
      appId,
      featureId,
      before === null ? 'infinity' : timestamp(before.at),
      before?.userUid ?? Number.MAX_SAFE_INTEGER,
      limit,
    ],
  )
  return rows
}
