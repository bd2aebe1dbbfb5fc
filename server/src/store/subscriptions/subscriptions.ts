import type { Subscription } from '../../domain/subscription.ts'
import { timestamp, timestampOrNull } from '../connection/database.ts'
import { allRows, anyRows, firstRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf, type UserDb } from '../connection/places.ts'

/** The provider and its id; null: not paid at one. */
export interface PaidFor {
  appId: string
  provider: string | null
  providerRef: string | null
}

export interface SubscriptionRow extends Subscription, PaidFor {
  seq: number
  userId: string
  userUid: number
  /** the email without a name */
  userName: string | null
  /** planned successor; null once that has taken over */
  next: PlannedSuccessor | null
}

interface PlannedSuccessor {
  id: string
  packageId: string
  quantity: number
  at: number
  /** null: not paid at one */
  provider: string | null
  /** scheduled end; null: none */
  endsAt: number | null
}

/**
 * As of `now`, which every reader passes: until a successor takes over, it is not a row of its own, only the `next` of
 * its predecessor.
 * Users are looked up one by one: a hash join would read all of them for a page.
 */
export const select = (now: string, rows = 'subscription s') => `
select s.app_id as "appId", s.seq, s.provider, s.provider_ref as "providerRef", s.id, s.user_uid as "userUid", u.id as "userId", coalesce(u.name, u.email) as "userName", s.package_id as "packageId", s.is_addon as "isAddon",
  s.started_at as "startedAt", s.anchor, s.cancel_at as "cancelAt", s.cancelled_at as "cancelledAt",
  s.trial_ends_at as "trialEndsAt", s.quantity, s.package_version as "version", s.version_as_of as "versionAsOf",
  n.id as "nextId", n.package_id as "nextPackageId", n.quantity as "nextQuantity", n.started_at as "nextAt",
  n.provider as "nextProvider", n.cancel_at as "nextEndsAt", s.metadata
from ${rows} join lateral (select id, name, email from users where app_id = s.app_id and uid = s.user_uid offset 0) u on true
left join subscription n on n.app_id = s.app_id and n.follows = s.id and n.cancelled_at is null and n.started_at > ${now}`

export const isShown = (now: string, s = 's') => `(${s}.follows is null or ${s}.started_at <= ${now})`

export type Read = Omit<SubscriptionRow, 'next'> & {
  nextId: string | null
  nextPackageId: string
  nextQuantity: number
  nextAt: number
  nextProvider: string | null
  nextEndsAt: number | null
}

export function fromRow(read: Read): SubscriptionRow {
  const { nextId, nextPackageId, nextQuantity, nextAt, nextProvider, nextEndsAt, ...row } = read
  if (nextId === null) return { ...row, next: null }
  const next = {
    id: nextId,
    packageId: nextPackageId,
    quantity: nextQuantity,
    at: nextAt,
    provider: nextProvider,
    endsAt: nextEndsAt,
  }
  return { ...row, next }
}

export async function insertSubscriptions(
  db: UserDb,
  appId: string,
  userUid: number,
  made: readonly Subscription[],
  paid: { provider: string; ref: string } | null = null,
): Promise<void> {
  await insert(
    db,
    appId,
    userUid,
    made.map((s) => ({ ...s, follows: null })),
    paid,
  )
}

/** Plans the successor of a subscription. */
export async function insertSuccessor(
  db: UserDb,
  appId: string,
  userUid: number,
  follows: string,
  successor: Subscription,
  paid: { provider: string; ref: string } | null = null,
): Promise<void> {
  await insert(db, appId, userUid, [{ ...successor, follows }], paid)
}

async function insert(
  db: UserDb,
  appId: string,
  userUid: number,
  made: readonly (Subscription & { follows: string | null })[],
  paid: { provider: string; ref: string } | null,
): Promise<void> {
  await db.places.holdReferences(
    appId,
    made.map((s) => s.packageId),
    paid,
  )
  await db.query(
    `insert into subscription (app_id, user_uid, provider, provider_ref, id, package_id, is_addon, started_at, anchor,
       cancel_at, cancelled_at, trial_ends_at, quantity, package_version, version_as_of, follows, metadata)
     select $1, $2, $3, $4, s.* from unnest($5::text[], $6::text[], $7::boolean[], $8::timestamptz[],
       $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::int[], $14::int[], $15::int[],
       $16::text[], $17::json[]) as s`,
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
      made.map((s) => timestampOrNull(s.trialEndsAt)),
      made.map((s) => s.quantity),
      made.map((s) => s.version),
      made.map((s) => s.versionAsOf),
      made.map((s) => s.follows),
      made.map((s) => JSON.stringify(s.metadata)),
    ],
  )
}

export async function findSubscription(
  db: HomeDb,
  appId: string,
  id: string,
  now: number,
): Promise<SubscriptionRow | null> {
  const ask = rowsOf<Read>({
    text: `${select('$3')} where s.app_id = $1 and s.id = $2 and ${isShown('$3')}`,
    values: [appId, id, timestamp(now)],
  })
  const [row] = await db.places.each(ask, anyRows())
  return row ? fromRow(row) : null
}

/** The existing subscriptions among these ids, oldest first. */
export async function findSubscriptions(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
  now: number,
): Promise<SubscriptionRow[]> {
  const ask = rowsOf<Read>({
    text: `${select('$3')} where s.app_id = $1 and s.id = any($2) and ${isShown('$3')} order by s.seq`,
    values: [appId, ids, timestamp(now)],
  })
  return (await db.places.each(ask, allRows())).map(fromRow)
}

export async function subscriptionsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  now: number,
): Promise<SubscriptionRow[]> {
  const ask = rowsOf<Read>({
    text: `${select('$3')} where s.app_id = $1 and s.user_uid = $2 and ${isShown('$3')} order by s.seq`,
    values: [appId, userUid, timestamp(now)],
  })
  return (await db.places.each(ask, anyRows())).map(fromRow)
}

/** Oldest first, starting after `after`: all, or one user's. */
export async function listSubscriptions(
  db: HomeDb,
  appId: string,
  userUid: number | null,
  after: number,
  limit: number,
  now: number,
): Promise<SubscriptionRow[]> {
  const ask = rowsOf<Read>(
    userUid === null
      ? {
          name: 'list-subscriptions',
          text: `${select('$4')} where s.app_id = $1 and s.seq > $2 and ${isShown('$4')} order by s.seq limit $3`,
          values: [appId, after, limit, timestamp(now)],
        }
      : {
          name: 'list-subscriptions-of-user',
          text: `${select('$4')} where s.app_id = $1 and s.seq > $2 and s.user_uid = $5 and ${isShown('$4')}
order by s.seq limit $3`,
          values: [appId, after, limit, timestamp(now), userUid],
        },
  )
  return (
    await db.places.each(
      ask,
      firstRows(limit, (a, b) => a.seq - b.seq),
    )
  ).map(fromRow)
}

export async function cancelNow(
  db: UserDb,
  appId: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  await db.query(
    `update subscription set cancelled_at = $3 where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids, timestamp(now)],
  )
}

/** Never postpones an earlier end. */
export async function cancelLater(
  db: UserDb,
  appId: string,
  ids: readonly string[],
  at: number,
): Promise<void> {
  await db.query(
    `update subscription set cancel_at = least(cancel_at, $3::timestamptz)
     where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids, timestamp(at)],
  )
}

/** Sets its end to exactly this time. */
export async function endAt(db: UserDb, appId: string, id: string, at: number): Promise<void> {
  await db.query(
    `update subscription set cancel_at = $3 where app_id = $1 and id = $2 and cancelled_at is null`,
    [appId, id, timestamp(at)],
  )
}

/** Removes a scheduled end. */
export async function keepOn(db: UserDb, appId: string, ids: readonly string[]): Promise<void> {
  await db.query(
    `update subscription set cancel_at = null where app_id = $1 and id = any($2) and cancelled_at is null`,
    [appId, ids],
  )
}

/** The payments of a user's subscriptions, by provider and id. */
export async function paymentsBehind(
  db: UserDb,
  appId: string,
  userUid: number,
): Promise<Map<string, { paidAt: number; forGood: boolean }>> {
  const { rows } = await db.query<{ provider: string; ref: string; paidAt: number; forGood: boolean }>(
    `select provider, ref, paid_at as "paidAt", status = 'paid' as "forGood" from provider_subscription
     where app_id = $1 and (provider, ref) in
       (select provider, provider_ref from subscription where app_id = $1 and user_uid = $2)`,
    [appId, userUid],
  )
  return new Map(rows.map(({ provider, ref, ...payment }) => [`${provider}/${ref}`, payment]))
}

/** Stores the provider's state. */
export async function followProvider(
  db: UserDb,
  appId: string,
  s: Pick<Subscription, 'id' | 'anchor' | 'cancelAt' | 'quantity' | 'trialEndsAt'>,
): Promise<void> {
  await db.query(
    `update subscription set anchor = $3, cancel_at = $4, quantity = $5, trial_ends_at = $6
     where app_id = $1 and id = $2 and cancelled_at is null`,
    [
      appId,
      s.id,
      timestamp(s.anchor),
      timestampOrNull(s.cancelAt),
      s.quantity,
      timestampOrNull(s.trialEndsAt),
    ],
  )
}
