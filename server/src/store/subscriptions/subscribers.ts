import type { Override } from '../../domain/override.ts'
import type { Versioned } from '../../domain/package-version.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import type { Holder, LiveSubscription } from '../../domain/user-entitlement.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import { allRows, firstRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'

/** A user with a live subscription to a package, and its version. */
export interface Subscriber extends Versioned {
  /** of the subscription: the page cursor */
  seq: number
  uid: number
}

/** Subscribers of a package, oldest subscription first, starting after `after`. */
export async function liveSubscribers(
  db: HomeDb,
  appId: string,
  packageId: string,
  now: number,
  after: number,
  limit: number,
): Promise<Subscriber[]> {
  const ask = rowsOf<Subscriber>({
    text: `select seq, user_uid as uid, anchor, package_version as "version", version_as_of as "versionAsOf" from subscription
      where app_id = $1 and package_id = $2 and seq > $3
        and cancelled_at is null and (cancel_at is null or cancel_at > $4)
        and (follows is null or started_at <= $4)
      order by seq limit $5`,
    values: [appId, packageId, after, timestamp(now), limit],
  })
  return db.places.each(
    ask,
    firstRows(limit, (a, b) => a.seq - b.seq),
  )
}

const IS_LIVE = `cancelled_at is null and (cancel_at is null or cancel_at > $4) and (follows is null or started_at <= $4)`

/** Live ones of the `most` newest subscriptions to a package; `more`: there are older ones. */
export async function newestSubscribers(
  db: HomeDb,
  appId: string,
  packageId: string,
  now: number,
  most: number,
): Promise<{ rows: Versioned[]; more: boolean }> {
  const ask = rowsOf<Versioned & { seq: number; live: boolean }>({
    text: `select seq, anchor, package_version as "version", version_as_of as "versionAsOf", ${IS_LIVE} as live
      from subscription where app_id = $1 and package_id = $2 order by seq desc limit $3`,
    values: [appId, packageId, most + 1, timestamp(now)],
  })
  const rows = await db.places.each(
    ask,
    firstRows(most + 1, (a, b) => b.seq - a.seq),
  )
  return { rows: rows.slice(0, most).filter(({ live }) => live), more: rows.length > most }
}

/**
 * Number of live ones of the newest subscriptions to each of these packages, counted up to `most`; `more`: there are
 * others.
 */
export async function countLive(
  db: HomeDb,
  appId: string,
  packageIds: readonly string[],
  now: number,
  most: number,
): Promise<Map<string, { count: number; more: boolean }>> {
  const ask = rowsOf<{ id: string; count: number; looked: number }>({
    text: `select p.id, s.count, s.looked from unnest($2::text[]) as p (id) cross join lateral (
       select count(*) filter (where ${IS_LIVE}) as count, count(*) as looked from (
         select cancelled_at, cancel_at, follows, started_at from subscription
         where app_id = $1 and package_id = p.id order by seq desc limit $3 + 1) newest) s`,
    values: [appId, packageIds, most, timestamp(now)],
  })
  const counts = new Map<string, { count: number; looked: number }>()
  for (const { id, count, looked } of await db.places.each(ask, allRows())) {
    const sum = counts.get(id)
    counts.set(id, { count: count + (sum?.count ?? 0), looked: looked + (sum?.looked ?? 0) })
  }
  return new Map(
    [...counts].map(([id, { count, looked }]) => [id, { count: Math.min(count, most), more: looked > most }]),
  )
}

export interface UserContact {
  userId: string
  name: string | null
  email: string | null
}

/** These users, by uid. */
export async function peopleOf(
  db: HomeDb,
  appId: string,
  uids: readonly number[],
): Promise<Map<number, UserContact>> {
  const find = rowsOf<UserContact & { uid: number }>({
    text: `select uid, id as "userId", name, email from users where app_id = $1 and uid = any($2::bigint[])`,
    values: [appId, numberArray(uids, (uid) => uid)],
  })
  return new Map((await db.places.each(find, allRows())).map(({ uid, ...person }) => [uid, person]))
}

/** Current and planned subscriptions of a user: see `heldAt`. */
interface SubscriberState extends Holder {
  live: SubscriberPackage[]
}

interface SubscriberPackage extends LiveSubscription {
  cancelAt: number | null
  /** It starts at its `startedAt`. */
  planned: boolean
}

/** Packages and overrides of these users now, by uid; with `planned`, also later subscriptions. */
export async function holders(
  db: HomeDb,
  appId: string,
  uids: readonly number[],
  now: number,
  planned = false,
): Promise<Map<number, SubscriberState>> {
  const values = numberArray(uids, (uid) => uid)
  const findHeld = rowsOf<SubscriberPackage & { uid: number }>({
    text: `select user_uid as uid, package_id as "packageId", is_addon as "isAddon", started_at as "startedAt", anchor,
       quantity, package_version as "version", version_as_of as "versionAsOf", cancel_at as "cancelAt",
       follows is not null as planned
     from subscription where app_id = $1 and user_uid = any($2::bigint[])
       and cancelled_at is null and (cancel_at is null or cancel_at > $3)
       and (follows is null or started_at <= $3 or $4) order by seq`,
    values: [appId, values, timestamp(now), planned],
  })
  const findOverrides = rowsOf<{ uid: number; overrides: Override[] }>({
    text: `select uid, overrides from users where app_id = $1 and uid = any($2::bigint[]) and overrides is not null`,
    values: [appId, values],
  })
  const rows = await db.places.each(findHeld, allRows())
  const overridden = await db.places.each(findOverrides, allRows())
  const overrides = new Map(overridden.map((row) => [row.uid, row.overrides]))
  const held = new Map(
    uids.map((uid) => [uid, { live: [] as SubscriberPackage[], overrides: overrides.get(uid) ?? null }]),
  )
  for (const { uid, ...subscription } of rows) held.get(uid)?.live.push(subscription)
  return held
}

/** The subscriptions that are live at that time. */
export function heldAt({ live, overrides }: SubscriberState, at: number): Holder {
  const isLive = (s: SubscriberPackage) =>
    !(s.planned && s.startedAt > at) && (s.cancelAt === null || s.cancelAt > at)
  return { live: live.filter(isLive), overrides }
}

export interface UserCounter {
  uid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
}

/** The values of these counters, in order; 0 where there is none. */
export async function usedOf(db: HomeDb, appId: string, counters: readonly UserCounter[]): Promise<number[]> {
  const used = new Array<number>(counters.length).fill(0)
  if (counters.length === 0) return used
  // Joined by a column, not by the parameter, so that the planner always uses the whole key.
  const find = rowsOf<{ ord: number; used: number }>({
    text: `with q as materialized (
       select $1 as app_id, q.* from unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[])
         with ordinality as q (user_uid, feature_id, reset_period, period_start, ord))
     select q.ord::int, c.used
     from q join usage_counter c on c.app_id = q.app_id and c.user_uid = q.user_uid and c.feature_id = q.feature_id
       and c.reset_period = q.reset_period and c.period_start = q.period_start`,
    values: [
      appId,
      numberArray(counters, (c) => c.uid),
      textArray(counters, (c) => c.featureId),
      textArray(counters, (c) => c.resetPeriod),
      textArray(counters, (c) => timestamp(c.periodStart)),
    ],
  })
  for (const row of await db.places.each(find, allRows())) used[row.ord - 1] = row.used
  return used
}
