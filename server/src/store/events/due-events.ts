import { textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

// Events that only the passage of time causes. Triggers plan them when the row is written, so nothing is searched for: see plan_event in
// migrations/003-events.sql.

/** Of apps with real time, and of apps with a test clock. */
const REAL = `select d.ctid from event_due d join app a on a.id = d.app_id
  where d.due_at <= statement_timestamp() and a.test_clock is null and a.deleting_since is null`
const TESTED = `select d.ctid from app a cross join lateral (
    select ctid from event_due where app_id = a.id and due_at <= a.test_clock order by due_at limit $1) d
  where a.test_clock is not null and a.deleting_since is null`

/** Moves at most `limit` moments that were reached into the outbox; returns their number. */
export async function moveDue(db: HomeDb, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `with due as (
       delete from event_due where ctid = any(array(
         select ctid from ((${REAL} order by d.due_at limit $1) union all (${TESTED} limit $1)) reached))
       returning *)
     insert into event_outbox (app_id, at, kind, type, user_uid, after)
     select app_id, due_at, 'DUE', type, user_uid, json_build_object('subject', subject, 'data', data)
     from due order by due_at, type, subject`,
    [limit],
  )
  return rowCount ?? 0
}

/** Whether there is anything to publish. */
export async function isAnythingToPublish(db: HomeDb): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>({
    name: 'anything-to-publish',
    text: `select exists (select from event_outbox) or exists (${REAL}) or exists (${TESTED}) as any`,
    values: [1],
  })
  return rows[0]?.any === true
}

/** Schedules an event with the entitlements of these users at these times. */
export async function planEntitlements(
  db: HomeDb,
  appId: string,
  users: readonly { uid: number; at: number }[],
): Promise<void> {
  if (users.length === 0) return
  await db.query(
    `insert into event_due (app_id, subject, type, due_at, user_uid)
     select $1, 'u ' || uid, 'entitlements.changed', at, uid
     from unnest($2::bigint[], $3::timestamptz[]) as u (uid, at) on conflict do nothing`,
    [appId, users.map(({ uid }) => uid), textArray(users, ({ at }) => timestamp(at))],
  )
}
