import { timestamp } from '../connection/database.ts'
import { sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf } from '../connection/places.ts'

export interface Calls {
  checks: number
  records: number
}

/** Adds to the counts of this minute. Calls of an app that is being deleted since are forgotten. */
export async function addActivity(db: HomeDb, counts: ReadonlyMap<string, Calls>): Promise<void> {
  const rows = [...counts]
  await db.query(
    `insert into activity as a (app_id, minute, checks, records)
     select c.app_id, date_trunc('minute', now()), c.checks, c.records
     from unnest($1::text[], $2::bigint[], $3::bigint[]) as c (app_id, checks, records)
     join app on app.id = c.app_id and app.deleting_since is null order by c.app_id for key share of app
     on conflict (app_id, minute) do update set checks = a.checks + excluded.checks, records = a.records + excluded.records`,
    [rows.map(([appId]) => appId), rows.map(([, c]) => c.checks), rows.map(([, c]) => c.records)],
  )
}

export type ActivityUnit = 'minute' | 'hour' | 'day'

/** The counts by start of each unit of time; units without any are left out. */
export async function activityBetween(
  db: HomeDb,
  appId: string,
  unit: ActivityUnit,
  from: number,
  to: number,
): Promise<Map<number, Calls>> {
  const { rows } = await db.query<Calls & { at: number }>(
    `select date_trunc($2, minute) as at, sum(checks)::bigint as checks, sum(records)::bigint as records
     from (select app_id, minute, checks, records from activity
           union all select app_id, minute, checks, records from sample_activity) as a
     where app_id = $1 and minute >= $3 and minute < $4 group by 1`,
    [appId, unit, timestamp(from), timestamp(to)],
  )
  return new Map(rows.map(({ at, checks, records }) => [at, { checks, records }]))
}

export interface RecentUsage {
  appId: string
  userId: string
  featureId: string
  used: number
  budget: number | null
}

/** Only the newest rows of an app are kept. */
const KEPT = 200

/** Of existing users, who are not deleted during the call. A user who is being moved may be returned twice. */
export async function noteRecentUsage(db: HomeDb, recent: readonly RecentUsage[]): Promise<void> {
  await db.query(
    `insert into recent_usage (app_id, user_id, feature_id, used, budget, recorded_at)
     select r.*, now() from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
       as r (app_id, user_id, feature_id, used, budget)
     where exists (select from users u where u.app_id = r.app_id and u.id = r.user_id
       and u.app_id = any($1) and u.id = any($2)) order by 1, 2, 3
     on conflict (app_id, user_id, feature_id)
       do update set used = excluded.used, budget = excluded.budget, recorded_at = excluded.recorded_at`,
    [
      recent.map((r) => r.appId),
      recent.map((r) => r.userId),
      recent.map((r) => r.featureId),
      recent.map((r) => r.used),
      recent.map((r) => r.budget),
    ],
  )
  await db.query(
    `delete from recent_usage r using unnest($1::text[]) as a (id)
     where r.app_id = a.id and r.recorded_at < (select recorded_at from recent_usage
       where app_id = a.id order by recorded_at desc offset ${KEPT} limit 1)`,
    [[...new Set(recent.map((r) => r.appId))]],
  )
}

/** Users are known by id, which another user may take over. Counts of a former user with that id are dropped. */
export async function moveRecentUsage(db: HomeDb, appId: string, from: string, to: string): Promise<void> {
  await db.query(`delete from recent_usage where app_id = $1 and user_id = $2`, [appId, to])
  await db.query(`update recent_usage set user_id = $3 where app_id = $1 and user_id = $2`, [appId, from, to])
}

export async function listRecentUsage(
  db: HomeDb,
  appId: string,
): Promise<(RecentUsage & { recordedAt: number })[]> {
  const { rows } = await db.query<RecentUsage & { recordedAt: number }>(
    `select app_id as "appId", user_id as "userId", feature_id as "featureId", used, budget, recorded_at as "recordedAt"
     from recent_usage where app_id = $1 order by recorded_at desc limit ${KEPT}`,
    [appId],
  )
  return rows
}

export interface Checklist {
  feature: boolean
  package: boolean
  published: boolean
  user: boolean
  subscription: boolean
  check: boolean
}

export async function readChecklist(db: HomeDb, appId: string): Promise<Checklist> {
  // By the key, whatever the statistics say: the table may be full of other apps' rows and have none of this app's.
  const any = (table: string, key: string, and = '') =>
    `(select true from ${table} where app_id = $1 ${and} order by app_id, ${key} limit 1) is not null`
  const { rows } = await db.query<Omit<Checklist, 'user' | 'subscription'>>(
    `select ${any('feature', 'id')} as feature, ${any('package', 'id')} as package,
       ${any('package', 'id', `and status = 'PUBLISHED'`)} as published,
       ${any('activity', 'minute', 'and checks > 0')} as "check"`,
    [appId],
  )
  if (!rows[0]) throw new Error('the checklist query returned no row')
  const { users, subscriptions } = await db.places.each(
    rowOf<{ users: number; subscriptions: number }>({
      text: `select ${any('users', 'uid')}::int as users, ${any('subscription', 'seq')}::int as subscriptions`,
      values: [appId],
    }),
    sums(),
  )
  return { ...rows[0], user: users > 0, subscription: subscriptions > 0 }
}
