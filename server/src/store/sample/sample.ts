import type { ResetPeriod } from '../../domain/period.ts'
import { type Tx, timestamp, timestampOrNull } from '../connection/database.ts'
import { allRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf, type UserDb } from '../connection/places.ts'
import type { DenialRow } from '../usage/denials.ts'

/** Uids of the created users: fewer if an id was taken. */
export async function insertSampleUsers(
  tx: Tx,
  appId: string,
  users: readonly SampleUser[],
): Promise<number[]> {
  const uids = await tx.places.ofMany(
    appId,
    users,
    ({ id }) => id,
    async (db, some) => {
      const { rows } = await db.query<{ id: string; uid: number }>(
        `insert into users (app_id, id, name, email, metadata)
         select $1, u.*, '{"sample": true}' from unnest($2::text[], $3::text[], $4::text[]) as u
         on conflict do nothing returning id, uid`,
        [appId, some.map((u) => u.id), some.map((u) => u.name), some.map((u) => u.email)],
      )
      const uidOf = new Map(rows.map(({ id, uid }) => [id, uid]))
      return some.map(({ id }) => uidOf.get(id) ?? null)
    },
  )
  return uids.filter((uid) => uid !== null)
}

interface SampleUser {
  id: string
  name: string
  email: string
}

/** Writes rows in the place of their users. */
async function writeByPlace<Row extends { uid: number }>(
  tx: Tx,
  appId: string,
  rows: readonly Row[],
  write: (db: UserDb, some: readonly Row[]) => Promise<unknown>,
): Promise<void> {
  const uids = [...new Set(rows.map(({ uid }) => uid))]
  await tx.places.writeEach(async (db) => {
    const found = await db.query<{ uid: number }>(
      `select uid from users where app_id = $1 and uid = any($2)`,
      [appId, uids],
    )
    const here = new Set(found.rows.map(({ uid }) => uid))
    await write(
      db,
      rows.filter(({ uid }) => here.has(uid)),
    )
  })
}

export interface SampleSubscription {
  uid: number
  id: string
  packageId: string
  isAddon: boolean
  startedAt: number
  endedAt: number | null
  /** its bill; null: it is free */
  billRef: string | null
}

export async function insertSampleSubscriptions(
  tx: Tx,
  appId: string,
  made: readonly SampleSubscription[],
): Promise<void> {
  await writeByPlace(tx, appId, made, (db, some) =>
    db.query(
      `insert into subscription (app_id, user_uid, id, package_id, is_addon, started_at, anchor, cancelled_at,
         provider, provider_ref, cancel_at)
       select $1, s.uid, s.id, s.package_id, s.is_addon, s.started_at, s.started_at, s.ended_at, p.provider, p.ref,
         -- What is past due ends after a time of grace.
         p.past_due_since + make_interval(days => (select grace_days from app where id = $1))
       from unnest($2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[], $7::timestamptz[],
         $8::text[]) as s (uid, id, package_id, is_addon, started_at, ended_at, bill_ref)
         left join provider_subscription p on p.app_id = $1 and p.provider = 'sandbox' and p.ref = s.bill_ref
       order by s.started_at`,
      [
        appId,
        some.map((s) => s.uid),
        some.map((s) => s.id),
        some.map((s) => s.packageId),
        some.map((s) => s.isAddon),
        some.map((s) => timestamp(s.startedAt)),
        some.map((s) => timestampOrNull(s.endedAt)),
        some.map((s) => s.billRef),
      ],
    ),
  )
}

export interface SampleCounter {
  uid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
  used: number
}

export type SampleEntry = SampleCounter & { delta: number; budget: number | null; recordedAt: number }

/** The ledger in chronological order: a counter is the sum of its entries. */
export async function insertSampleUsage(
  tx: Tx,
  appId: string,
  counters: readonly SampleCounter[],
  entries: readonly SampleEntry[],
): Promise<void> {
  const key = (rows: readonly SampleCounter[]) => [
    rows.map((r) => r.uid),
    rows.map((r) => r.featureId),
    rows.map((r) => r.resetPeriod),
    rows.map((r) => timestamp(r.periodStart)),
    rows.map((r) => r.used),
  ]
  await writeByPlace(tx, appId, counters, (db, some) =>
    db.query(
      `insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
       select $1, s.* from unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[]) as s`,
      [appId, ...key(some)],
    ),
  )
  await writeByPlace(tx, appId, entries, async (db, some) => {
    await db.places.holdLedger()
    await db.query(
      `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, used, delta, recorded_at, action)
       select $1, s.*, 'ADD' from unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[],
         $7::bigint[], $8::timestamptz[]) as s (uid, feature_id, reset_period, period_start, used, delta, recorded_at)
       order by s.recorded_at`,
      [appId, ...key(some), some.map((e) => e.delta), some.map((e) => timestamp(e.recordedAt))],
    )
  })
}

/** Recent usage for the home page; deleted with its users. */
export async function insertSampleRecent(
  db: Tx,
  appId: string,
  recent: readonly SampleEntry[],
): Promise<void> {
  const uids = recent.map(({ uid }) => uid)
  const find = rowsOf<{ uid: number; id: string }>({
    text: `select uid, id from users where app_id = $1 and uid = any($2)`,
    values: [appId, uids],
  })
  const idOf = new Map((await db.places.each(find, allRows())).map(({ uid, id }) => [uid, id]))
  await db.query(
    `insert into recent_usage (app_id, user_id, feature_id, used, budget, recorded_at)
     select $1, r.* from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::timestamptz[]) as r`,
    [
      appId,
      uids.map((uid) => idOf.get(uid)),
      recent.map((r) => r.featureId),
      recent.map((r) => r.used),
      recent.map((r) => r.budget),
      recent.map((r) => timestamp(r.recordedAt)),
    ],
  )
}

export type SampleDenial = Pick<DenialRow, 'kind' | 'reason' | 'times' | 'at'> & {
  uid: number
  featureId: string
}

/** Deleted with their users. */
export async function insertSampleDenials(
  db: HomeDb,
  appId: string,
  denials: readonly SampleDenial[],
): Promise<void> {
  await db.query(
    `insert into denial (app_id, feature_id, user_uid, kind, reason, times, first_at, denied_at)
     select $1, d.feature_id, d.uid, d.kind, d.reason, d.times, d.denied_at, d.denied_at
     from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[])
       as d (feature_id, uid, kind, reason, times, denied_at)`,
    [
      appId,
      denials.map((d) => d.featureId),
      denials.map((d) => d.uid),
      denials.map((d) => d.kind),
      denials.map((d) => d.reason),
      denials.map((d) => d.times),
      denials.map((d) => timestamp(d.at)),
    ],
  )
}

export interface SampleCalls {
  minutesAgo: number
  checks: number
  records: number
}

/** Activity is in real time, even for an app with a test clock. */
export async function insertSampleCalls(
  db: HomeDb,
  appId: string,
  calls: readonly SampleCalls[],
): Promise<void> {
  await db.query(
    `insert into sample_activity (app_id, minute, checks, records)
     select $1, date_trunc('minute', now()) - c.ago * interval '1 minute', c.checks, c.records
     from unnest($2::int[], $3::bigint[], $4::bigint[]) as c (ago, checks, records)`,
    [appId, calls.map((c) => c.minutesAgo), calls.map((c) => c.checks), calls.map((c) => c.records)],
  )
}

export type SampleKind = 'feature' | 'package' | 'price' | 'template' | 'user'

export async function noteSample(
  db: HomeDb,
  appId: string,
  kind: SampleKind,
  ids: readonly string[],
): Promise<void> {
  await db.query(`insert into sample_item (app_id, kind, id) select $1, $2, unnest($3::text[])`, [
    appId,
    kind,
    ids,
  ])
}

export async function forgetSample(db: HomeDb, appId: string): Promise<void> {
  await db.query(`delete from sample_activity where app_id = $1`, [appId])
  await db.query(
    `delete from feature_activity where app_id = $1 and sample and feature_id in (
       select id from sample_item where app_id = $1 and kind = 'feature')`,
    [appId],
  )
  await db.query(`delete from sample_item where app_id = $1`, [appId])
}

/** Of its users, including later ones. */
export async function countOfSampleUsers(
  db: HomeDb,
  appId: string,
): Promise<{ subscriptions: number; payments: number }> {
  const count = (table: string) =>
    `(select count(*) from ${table} t where t.app_id = $1 and t.user_uid = any(array(
       select i.id::bigint from sample_item i where i.app_id = $1 and i.kind = 'user')))`
  const { rows } = await db.query<{ subscriptions: number; payments: number }>(
    `select ${count('subscription')} as subscriptions, ${count('payment')} as payments`,
    [appId],
  )
  return rows[0] ?? { subscriptions: 0, payments: 0 }
}
