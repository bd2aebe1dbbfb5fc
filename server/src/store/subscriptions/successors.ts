import { timestamp, timestampOrNull } from '../connection/database.ts'
import type { UserDb } from '../connection/places.ts'

// Planned successors of subscriptions.

/** Deletes the planned successors of these. Those that have taken over stay. */
export async function deleteSuccessors(
  db: UserDb,
  appId: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  await db.query(
    `delete from subscription where app_id = $1 and follows = any($2) and cancelled_at is null and started_at > $3`,
    [appId, ids, timestamp(now)],
  )
}

/** Makes the planned successor of one subscription follow another. */
export async function followInstead(db: UserDb, appId: string, id: string, other: string): Promise<void> {
  await db.query(
    `update subscription set follows = $3 where app_id = $1 and follows = $2 and cancelled_at is null`,
    [appId, id, other],
  )
}

/**
 * Writes what has already happened by the clock, so that the unique indexes see it: subscriptions past their `cancelAt`
 * are cancelled, and their successors are no longer planned.
 */
export async function settleByClock(db: UserDb, appId: string, userUid: number, now: number): Promise<void> {
  await db.query(
    `update subscription set cancelled_at = cancel_at
     where app_id = $1 and user_uid = $2 and cancelled_at is null and cancel_at <= $3`,
    [appId, userUid, timestamp(now)],
  )
  await db.query(
    `update subscription set follows = null
     where app_id = $1 and user_uid = $2 and follows is not null and started_at <= $3`,
    [appId, userUid, timestamp(now)],
  )
}

/** Moves the end of a trial, and its successor. */
export async function moveTrialEnd(
  db: UserDb,
  appId: string,
  id: string,
  { at, nextAnchor }: { at: number; nextAnchor: number },
): Promise<void> {
  await db.query(
    `update subscription set trial_ends_at = $3, cancel_at = $3
     where app_id = $1 and id = $2 and cancelled_at is null`,
    [appId, id, timestamp(at)],
  )
  await db.query(
    `update subscription set started_at = $3, anchor = $4
     where app_id = $1 and follows = $2 and cancelled_at is null`,
    [appId, id, timestamp(at), timestamp(nextAnchor)],
  )
}

/**
 * Aligns successors with their predecessors. A successor is dropped if its predecessor continues, if its payment ended
 * with it, if another base plan has replaced it, or if it is an add-on that the user has anyway; the start of the
 * others moves with the predecessor's end.
 */
export async function alignSuccessors(
  db: UserDb,
  appId: string,
  userUid: number,
  now: number,
): Promise<void> {
  const planned = `p.app_id = $1 and p.user_uid = $2 and p.cancelled_at is null and p.started_at > $3
       and f.app_id = p.app_id and f.id = p.follows`
  await db.query(
    `delete from subscription p using subscription f where ${planned} and (case when f.cancelled_at is null
         then f.cancel_at is null or (p.provider is not null and f.cancel_at <> p.started_at)
         else p.provider is not null or (not p.is_addon and exists (select from subscription b
           where b.app_id = p.app_id and b.user_uid = p.user_uid and b.cancelled_at is null and not b.is_addon
             and b.follows is null)) end
         or (p.is_addon and exists (select from subscription b where b.app_id = p.app_id and b.user_uid = p.user_uid
           and b.package_id = p.package_id and b.cancelled_at is null and b.follows is null and b.id <> f.id
           and (b.cancel_at is null or b.cancel_at > p.started_at))))`,
    [appId, userUid, timestamp(now)],
  )
  await db.query(
    `update subscription p set started_at = coalesce(f.cancelled_at, f.cancel_at) from subscription f
     where ${planned} and p.started_at <> coalesce(f.cancelled_at, f.cancel_at)`,
    [appId, userUid, timestamp(now)],
  )
}

/**
 * Ends unpaid add-ons with their base plan, whose end `was` and now is `ends` (null: none): those that would outlast
 * it, and those that were to end with it. Later successors of them are dropped.
 */
export async function endAddonsWithPlan(
  db: UserDb,
  appId: string,
  userUid: number,
  { was, ends }: { was: number | null; ends: number | null },
): Promise<void> {
  const theirs = `app_id = $1 and user_uid = $2 and is_addon and provider is null and cancelled_at is null`
  if (ends !== null)
    await db.query(`delete from subscription where ${theirs} and follows is not null and started_at >= $3`, [
      appId,
      userUid,
      timestamp(ends),
    ])
  // A trial keeps its own end.
  await db.query(
    `update subscription s set cancel_at = a.ends, trial_ends_at = case when s.trial_ends_at > a.ends then a.ends else s.trial_ends_at end
     from (select id, case when cancel_at = $3 then least(trial_ends_at, $4) else least(cancel_at, $4) end as ends
       from subscription where ${theirs}) a
     where s.app_id = $1 and s.id = a.id and s.cancel_at is distinct from a.ends`,
    [appId, userUid, timestampOrNull(was), timestampOrNull(ends)],
  )
}
