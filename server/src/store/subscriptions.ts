import type { Subscription } from '../domain/subscription.ts'
import { type Db, timestamp, timestampOrNull } from './database.ts'

export interface SubscriptionRow extends Subscription {
  seq: number
  userId: string
  userUid: number
}

const SELECT = `
select s.seq, s.id, s.user_uid as "userUid", u.id as "userId", s.package_id as "packageId", s.is_addon as "isAddon",
  s.started_at as "startedAt", s.anchor, s.cancel_at as "cancelAt", s.cancelled_at as "cancelledAt", s.metadata
from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid`

export async function insertSubscriptions(
  db: Db,
  appId: string,
  userUid: number,
  made: readonly Subscription[],
): Promise<void> {
  await db.query(
    `insert into subscription (app_id, user_uid, id, package_id, is_addon, started_at, anchor, cancel_at, metadata)
     select $1, $2, s.* from unnest($3::text[], $4::text[], $5::boolean[], $6::timestamptz[], $7::timestamptz[],
       $8::timestamptz[], $9::json[]) as s`,
    [
      appId,
      userUid,
      made.map((s) => s.id),
      made.map((s) => s.packageId),
      made.map((s) => s.isAddon),
      made.map((s) => timestamp(s.startedAt)),
      made.map((s) => timestamp(s.anchor)),
      made.map((s) => timestampOrNull(s.cancelAt)),
      made.map((s) => JSON.stringify(s.metadata)),
    ],
  )
}

export async function findSubscription(db: Db, appId: string, id: string): Promise<SubscriptionRow | null> {
  const { rows } = await db.query<SubscriptionRow>(`${SELECT} where s.app_id = $1 and s.id = $2`, [appId, id])
  return rows[0] ?? null
}

export async function subscriptionsOfUser(
  db: Db,
  appId: string,
  userUid: number,
): Promise<SubscriptionRow[]> {
  const { rows } = await db.query<SubscriptionRow>(
    `${SELECT} where s.app_id = $1 and s.user_uid = $2 order by s.seq`,
    [appId, userUid],
  )
  return rows
}

/** In the order of their making, from the one after `after`: all, or one user's. */
export async function listSubscriptions(
  db: Db,
  appId: string,
  userUid: number | null,
  after: number,
  limit: number,
): Promise<SubscriptionRow[]> {
  const { rows } = await db.query<SubscriptionRow>(
    userUid === null
      ? {
          name: 'list-subscriptions',
          text: `${SELECT} where s.app_id = $1 and s.seq > $2 order by s.seq limit $3`,
          values: [appId, after, limit],
        }
      : {
          name: 'list-subscriptions-of-user',
          text: `${SELECT} where s.app_id = $1 and s.seq > $2 and s.user_uid = $4 order by s.seq limit $3`,
          values: [appId, after, limit, userUid],
        },
  )
  return rows
}

/** Ends, in writing, what the clock has ended already, so that the unique indexes see it too. */
export async function settleLapsed(db: Db, appId: string, userUid: number, now: number): Promise<void> {
  await db.query(
    `update subscription set cancelled_at = cancel_at
     where app_id = $1 and user_uid = $2 and cancelled_at is null and cancel_at <= $3`,
    [appId, userUid, timestamp(now)],
  )
}

export async function cancelNow(db: Db, appId: string, ids: readonly string[], now: number): Promise<void> {
  await db.query(
    `update subscription set cancelled_at = $3 where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids, timestamp(now)],
  )
}

/** Never moves an earlier end to a later one. */
export async function cancelLater(db: Db, appId: string, ids: readonly string[], at: number): Promise<void> {
  await db.query(
    `update subscription set cancel_at = least(cancel_at, $3::timestamptz)
     where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids, timestamp(at)],
  )
}
