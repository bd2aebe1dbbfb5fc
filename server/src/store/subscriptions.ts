import type { Subscription } from '../domain/subscription.ts'
import { type Db, timestamp, timestampOrNull } from './database.ts'
import { PAID_AT } from './provider-subscriptions.ts'

/** The provider and its id of what is paid for; null: created by hand. */
export interface PaidFor {
  appId: string
  provider: string | null
  providerRef: string | null
}

export interface SubscriptionRow extends Subscription, PaidFor {
  seq: number
  userId: string
  userUid: number
}

const SELECT = `
select s.app_id as "appId", s.seq, s.provider, s.provider_ref as "providerRef", s.id, s.user_uid as "userUid", u.id as "userId", s.package_id as "packageId", s.is_addon as "isAddon",
  s.started_at as "startedAt", s.anchor, s.cancel_at as "cancelAt", s.cancelled_at as "cancelledAt", s.metadata
from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid`

export async function insertSubscriptions(
  db: Db,
  appId: string,
  userUid: number,
  made: readonly Subscription[],
  paid: { provider: string; ref: string } | null = null,
): Promise<void> {
  await db.query(
    `insert into subscription (app_id, user_uid, provider, provider_ref, id, package_id, is_addon, started_at, anchor,
       cancel_at, cancelled_at, metadata)
     select $1, $2, $3, $4, s.* from unnest($5::text[], $6::text[], $7::boolean[], $8::timestamptz[],
       $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::json[]) as s`,
    [
      appId,
      userUid,
      paid?.provider ?? null,
      paid?.ref ?? null,
      made.map((s) => s.id),
      made.map((s) => s.packageId),
      made.map((s) => s.isAddon),
      made.map((s) => timestamp(s.startedAt)),
      made.map((s) => timestamp(s.anchor)),
      made.map((s) => timestampOrNull(s.cancelAt)),
      made.map((s) => timestampOrNull(s.cancelledAt)),
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

/** Oldest first, starting after `after`: all, or one user's. */
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

/** Newest first, starting before `before`: all, one user's or one package's. */
export async function newestSubscriptions(
  db: Db,
  appId: string,
  { userUid, packageId }: { userUid: number | null; packageId: string | null },
  before: number,
  limit: number,
): Promise<SubscriptionRow[]> {
  const values: unknown[] = [appId, before, limit]
  const of = (column: string, value: unknown) =>
    value === null ? '' : `and s.${column} = $${values.push(value)}`
  const { rows } = await db.query<SubscriptionRow>(
    `${SELECT} where s.app_id = $1 and s.seq < $2 ${of('user_uid', userUid)} ${of('package_id', packageId)}
     order by s.seq desc limit $3`,
    values,
  )
  return rows
}

/** Marks subscriptions past their `cancelAt` as cancelled, so that the unique indexes see it. */
export async function cancelLapsed(db: Db, appId: string, userUid: number, now: number): Promise<void> {
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

/** Never postpones an earlier end. */
export async function cancelLater(db: Db, appId: string, ids: readonly string[], at: number): Promise<void> {
  await db.query(
    `update subscription set cancel_at = least(cancel_at, $3::timestamptz)
     where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids, timestamp(at)],
  )
}

/** Takes a scheduled end back. */
export async function keepOn(db: Db, appId: string, ids: readonly string[]): Promise<void> {
  await db.query(
    `update subscription set cancel_at = null where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids],
  )
}

/** Whether anything was ever granted for this id at the provider. */
export async function isGiven(db: Db, appId: string, provider: string, ref: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from subscription where app_id = $1 and provider = $2 and provider_ref = $3 limit 1`,
    [appId, provider, ref],
  )
  return rowCount === 1
}

/** The payments behind a user's subscriptions, by provider and id. */
export async function paymentsBehind(
  db: Db,
  appId: string,
  userUid: number,
): Promise<Map<string, { paidAt: number; forGood: boolean }>> {
  const { rows } = await db.query<{ provider: string; ref: string; paidAt: number; forGood: boolean }>(
    `select provider, ref, ${PAID_AT} as "paidAt", status = 'paid' as "forGood" from provider_subscription
     where app_id = $1 and (provider, ref) in
       (select provider, provider_ref from subscription where app_id = $1 and user_uid = $2)`,
    [appId, userUid],
  )
  return new Map(rows.map(({ provider, ref, ...payment }) => [`${provider}/${ref}`, payment]))
}

/** Sets its anchor and end to the provider's. */
export async function followProvider(
  db: Db,
  appId: string,
  { id, anchor, cancelAt }: { id: string; anchor: number; cancelAt: number | null },
): Promise<void> {
  await db.query(
    `update subscription set anchor = $3, cancel_at = $4 where app_id = $1 and id = $2 and cancelled_at is null`,
    [appId, id, timestamp(anchor), timestampOrNull(cancelAt)],
  )
}
