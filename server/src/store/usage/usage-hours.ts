import type { UsageBucket } from '../../domain/usage-series.ts'
import { type Tx, timestamp } from '../connection/database.ts'
import { allRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'
import { lastEntryNumber } from '../ledger/ledger-partitions.ts'

// Recorded usage per feature and hour. `usage_hour` has the sums of the ledger's entries up to the number in
// `usage_rollup`, and later entries are summed up when they are asked for. So a series is exact at any moment.
//
// Entries are committed in another order than they are numbered. The position moves only to a number that had been given
// out before all present writers of the ledger began, so that no entry up to it is still to come.

/** The position, and what may be summed up next. */
interface RollupState {
  /** everything up to here is summed up */
  seq: number
  /** the last number that was given to an entry */
  last: number
}

/**
 * Null: there is nothing new to sum up, or some users are on another server, whose entries are numbered long before they
 * are written.
 */
export async function readRollup(db: HomeDb): Promise<RollupState | null> {
  // First: a cell on another server that is added afterwards has later numbers only.
  const last = await lastEntryNumber(db)
  const { rows } = await db.query<{ seq: number; remote: boolean }>(
    `select seq, exists (select from cell where remote) as remote from usage_rollup`,
  )
  const state = rows[0]
  if (!state) {
    await db.query(`insert into usage_rollup (seq) values (0) on conflict do nothing`)
    return null
  }
  return state.remote || state.seq >= last ? null : { seq: state.seq, last }
}

/** Transactions that may be writing entries: they have their number by now, or get a later one. */
export async function entryWriters(db: HomeDb): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct virtualtransaction as id from pg_locks
     where relation in (select oid from pg_class where relname = 'usage_ledger' and relkind = 'p')
       and mode = 'RowExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows.map(({ id }) => id)
}

/** The part of a sum of entries that was taken from credits. */
const BURNT = `coalesce(sum(delta) filter (where starts_with(reset_period, 'CREDIT:')), 0)`

/**
 * Adds the entries after the position, up to `to`, to the sums. Returns the position, and whether there were any. Null:
 * another process is doing so.
 */
export async function rollUp(tx: Tx, to: number): Promise<{ seq: number; any: boolean } | null> {
  const { rows: held } = await tx.query<{ seq: number }>(
    `select seq from usage_rollup for update skip locked`,
  )
  const from = held[0]?.seq
  if (from === undefined) return null
  if (from >= to) return { seq: from, any: false }
  const { rowCount } = await tx.query(
    `insert into usage_hour as h (app_id, feature_id, hour, delta, burnt, entries, first_seq, last_seq)
     select app_id, feature_id, date_trunc('hour', recorded_at), sum(delta), ${BURNT}, count(*), min(seq), max(seq)
     from usage_ledger where seq > $1 and seq <= $2 group by 1, 2, 3
     on conflict (app_id, feature_id, hour) do update set delta = h.delta + excluded.delta,
       burnt = h.burnt + excluded.burnt, entries = h.entries + excluded.entries, first_seq = least(h.first_seq, excluded.first_seq),
       last_seq = greatest(h.last_seq, excluded.last_seq)`,
    [from, to],
  )
  await tx.query(`update usage_rollup set seq = $1`, [to])
  return { seq: to, any: (rowCount ?? 0) > 0 }
}

/** Moves the position to just before the next entry: numbers are skipped when a partition of the ledger is opened. */
export async function skipUnusedNumbers(tx: Tx, to: number): Promise<void> {
  const { rows: held } = await tx.query<{ seq: number }>(
    `select seq from usage_rollup for update skip locked`,
  )
  if (held[0] === undefined) return
  await tx.query(
    `update usage_rollup set seq = greatest(seq, (
       select coalesce(min(seq) - 1, $2) from usage_ledger where seq > $1 and seq <= $2))`,
    [held[0].seq, to],
  )
}

/** Has the index of new entries note the pages that are full. */
export async function summarizeEntries(db: HomeDb, partition: string): Promise<void> {
  await db.query(
    `select brin_summarize_new_values(oid) from pg_class where relname = $1 and relkind = 'i'
       and pg_has_role(relowner, 'usage')`,
    [`${partition}_by_seq`],
  )
}

/**
 * Takes entries that are about to be deleted out of the sums: those of sample users, whose usage was generated. The position
 * stays where it is until the transaction ends.
 */
export async function subtractEntries(db: HomeDb, appId: string, uids: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ seq: number }>(`select seq from usage_rollup for update`)
  await db.query(
    `update usage_hour h set delta = h.delta - gone.delta, burnt = h.burnt - gone.burnt, entries = h.entries - gone.entries
     from (select feature_id, date_trunc('hour', recorded_at) as hour, sum(delta) as delta, ${BURNT} as burnt,
         count(*) as entries
       from usage_ledger where app_id = $1 and user_uid = any($2::text[]::bigint[]) and seq <= $3 group by 1, 2) gone
     where h.app_id = $1 and h.feature_id = gone.feature_id and h.hour = gone.hour`,
    [appId, uids, rows[0]?.seq ?? 0],
  )
}

/** Which usage is asked for. */
export interface UsageRange {
  appId: string
  featureId: string
  bucket: UsageBucket
  from: number
  to: number
}

/** Usage by start of its bucket; buckets without any are left out. */
type Buckets = Map<number, number>

interface BucketRow {
  at: number
  used: number
}

/** The usage of all users, and since when it is complete; null: since the first entry. */
export async function usageOfFeature(
  db: HomeDb,
  { appId, featureId, bucket, from, to }: UsageRange,
): Promise<{ buckets: Buckets; completeFrom: number | null }> {
  // The position and the sums are of one snapshot. Whatever is added to the sums afterwards is still among later entries.
  const { rows } = await db.query<{ seq: number; completeFrom: number | null; sums: [string, number][] }>(
    `select r.seq, r.complete_from as "completeFrom", (
       select coalesce(json_agg(json_build_array(at, used)), '[]') from (
         select extract(epoch from date_trunc($3, hour)) * 1000 as at, sum(delta) as used from usage_hour
         where app_id = $1 and feature_id = $2 and hour >= $4 and hour < $5 group by 1) s) as sums
     from usage_rollup r`,
    [appId, featureId, bucket, timestamp(from), timestamp(to)],
  )
  const { seq = 0, completeFrom = null, sums = [] } = rows[0] ?? {}
  const later = await db.places.each(
    rowsOf<BucketRow>({
      text: `select date_trunc($3, recorded_at) as at, sum(delta)::float8 as used from usage_ledger
       where app_id = $1 and feature_id = $2 and recorded_at >= $4 and recorded_at < $5 and seq > $6 group by 1`,
      values: [appId, featureId, bucket, timestamp(from), timestamp(to), seq],
    }),
    allRows(),
  )
  return {
    buckets: added([...sums.map(([at, used]) => ({ at: Number(at), used: Number(used) })), ...later]),
    completeFrom: db.places.acrossServers ? await lastRetirement(db) : completeFrom,
  }
}

/** Entries that are not summed up yet are read for a figure if there are at most so many. */
const ENTRIES_READ = 200_000

/**
 * Units taken from credits after `from`, up to `now`, by feature, and since when they are complete; null: since the first
 * entry. Null: most recent entries are not summed up yet.
 */
export async function burntCredits(
  db: HomeDb,
  {
    appId,
    featureIds,
    from,
    now,
  }: { appId: string; featureIds: readonly string[]; from: number; now: number },
): Promise<{ units: Map<string, number>; completeFrom: number | null } | null> {
  const last = await lastEntryNumber(db)
  const { rows } = await db.query<{ seq: number; completeFrom: number | null; sums: [string, number][] }>(
    `select r.seq, greatest(r.complete_from, r.burnt_from) as "completeFrom", (
       select coalesce(json_agg(json_build_array(feature_id, burnt)), '[]') from (
         select feature_id, sum(burnt) as burnt from usage_hour
         where app_id = $1 and feature_id = any($2) and hour >= date_trunc('hour', $3::timestamptz) and hour <= $4
         group by 1) s) as sums
     from usage_rollup r`,
    [appId, featureIds, timestamp(from), timestamp(now)],
  )
  const { seq = 0, completeFrom = null, sums = [] } = rows[0] ?? {}
  if (last - seq > ENTRIES_READ) return null
  const later = await db.places.each(
    rowsOf<{ featureId: string; burnt: number }>({
      text: `select feature_id as "featureId", sum(delta)::float8 as burnt from usage_ledger
       where app_id = $1 and feature_id = any($2) and starts_with(reset_period, 'CREDIT:')
         and recorded_at >= date_trunc('hour', $3::timestamptz) and recorded_at <= $4 and seq > $5 group by 1`,
      values: [appId, featureIds, timestamp(from), timestamp(now), seq],
    }),
    allRows(),
  )
  const units = new Map(sums)
  for (const { featureId, burnt } of later) units.set(featureId, (units.get(featureId) ?? 0) + burnt)
  return { units, completeFrom }
}

/** The usage of one user, from the ledger. */
export async function usageOfUser(
  db: HomeDb,
  uid: number,
  { appId, featureId, bucket, from, to }: UsageRange,
): Promise<Buckets> {
  // The entries of the feature in the time asked for have numbers from `first` to `last`, or above `seq`.
  const { rows } = await db.query<{ seq: number; first: number | null; last: number | null }>(
    `select r.seq, h.first, h.last from usage_rollup r cross join (
       select min(first_seq) as first, max(last_seq) as last from usage_hour
       where app_id = $1 and feature_id = $2 and hour >= $3 and hour < $4) h`,
    [appId, featureId, timestamp(from), timestamp(to)],
  )
  const { seq = 0, first = null, last = null } = rows[0] ?? {}
  const ranges = [...(first === null ? [] : [[first, last]]), [seq + 1, Number.MAX_SAFE_INTEGER]]
  return added(
    await db.places.each(
      rowsOf<BucketRow>({
        text: `select date_trunc($4, l.recorded_at) as at, sum(l.delta)::float8 as used
         from unnest($7::bigint[], $8::bigint[]) as r (first, last) cross join lateral (
           select recorded_at, delta from usage_ledger where app_id = $1 and user_uid = $2 and feature_id = $3
             and seq >= r.first and seq <= r.last) l
         where l.recorded_at >= $5 and l.recorded_at < $6 group by 1`,
        values: [
          appId,
          uid,
          featureId,
          bucket,
          timestamp(from),
          timestamp(to),
          ranges.map(([low]) => low),
          ranges.map(([, high]) => high),
        ],
      }),
      allRows(),
    ),
  )
}

/**
 * Since when the ledger has all entries of a user and feature; null: since the first one. Entries of a user and feature are
 * numbered in the order of their times.
 */
export async function userCompleteFrom(
  db: HomeDb,
  appId: string,
  uid: number,
  featureId: string,
): Promise<number | null> {
  const [retired] = await db.places.each(
    rowsOf<{ retired: boolean }>({
      text: `select true as retired from ledger_base b join ledger_partition p on p.block = b.block
       where p.retired_at is not null and b.app_id = $1 and b.user_uid = $2 and b.feature_id = $3 limit 1`,
      values: [appId, uid, featureId],
    }),
    allRows(),
  )
  if (!retired) return null
  const [oldest] = await db.places.each(
    rowsOf<{ at: number }>({
      text: `select recorded_at as at from usage_ledger where app_id = $1 and user_uid = $2 and feature_id = $3
       order by seq limit 1`,
      values: [appId, uid, featureId],
    }),
    allRows(),
  )
  return oldest?.at ?? (await lastRetirement(db))
}

/** When the last retired partition got its last entry, in real time. */
async function lastRetirement(db: HomeDb): Promise<number | null> {
  const { rows } = await db.query<{ at: number | null }>(
    `select max(next.opened_at) as at from ledger_partition p join ledger_partition next on next.block = p.block + 1
     where p.retired_at is not null`,
  )
  return rows[0]?.at ?? null
}

function added(rows: readonly BucketRow[]): Buckets {
  const buckets: Buckets = new Map()
  for (const { at, used } of rows) buckets.set(at, (buckets.get(at) ?? 0) + used)
  return buckets
}
