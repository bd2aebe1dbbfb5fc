import type { Pool, Tx } from '../connection/database.ts'
import { awaitCommits } from '../connection/distributed-commits.ts'
import type { HomeDb } from '../connection/places.ts'
import { withoutWaiting } from '../connection/without-waiting.ts'
import { lastNumberOf, partitionName } from './ledger-partitions.ts'

// Retiring a partition replaces its entries by their sums in `ledger_base`. The sums are computed beforehand; then one
// short transaction makes them count and removes the entries. So a counter always equals the sums of retired partitions
// plus the entries of the others.
// The ledger of a cell on another server is retired in the same way, by statements that Citus passes on. The difference
// is how concurrent changes are detected:
// - There are no triggers: transactions that delete entries or move users declare it (`hold-ledger.ts`).
// - Entries are numbered before they are sent there, so one may arrive at any time after the next partition was opened.
// Writers check afterwards whether the partition is being retired, and fail if so (`remote-cells.ts`).

/** False: another process is retiring. An operator's tool holds the same lock for its session. */
export async function tryLockRetirement(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate ledger retirement')) as locked`,
  )
  return rows[0]?.locked === true
}

/** False: another tool or a service is retiring. */
export async function holdRetirement(client: HomeDb): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    `select pg_try_advisory_lock(hashtext('tollgate ledger retirement')) as held`,
  )
  return rows[0]?.held === true
}

/** Ends `holdRetirement`. The server notices only later that a connection was closed. */
export async function releaseRetirement(client: HomeDb): Promise<void> {
  await client.query(`select pg_advisory_unlock(hashtext('tollgate ledger retirement'))`)
}

/** Blocks closed more than `seconds` ago that still have their entries, oldest first. */
export async function blocksToRetire(db: HomeDb, seconds: number): Promise<number[]> {
  const { rows } = await db.query<{ block: number }>(
    `select block from (select *, lead(opened_at) over (order by block) as closed_at from ledger_partition) p
     where retired_at is null and closed_at <= now() - make_interval(secs => $1) order by block`,
    [seconds],
  )
  return rows.map(({ block }) => block)
}

/** Queried through a row of it: on another server the table has another name. */
const ofTable = (block: number, value: string) => `(select ${value} from ${partitionName(block)} limit 1)`
/** Identifies its file and server: 32 bits of a hash. */
const FILE = (block: number) =>
  ofTable(
    block,
    `(hashtextextended(pg_relation_filenode(tableoid) || ' ' || (select system_identifier from pg_control_system()), 0)
      & 4294967295)::oid`,
  )
const PAGES = (block: number) =>
  `coalesce(${ofTable(block, `pg_relation_size(tableoid) / current_setting('block_size')::int`)}, 0)`

/**
 * Marks a partition as being retired, so that changes of its entries are detected from now on. The work of an earlier
 * attempt is kept unless entries were deleted since, or the table was rewritten. False: it is retired.
 */
export async function beginRetiring(tx: Tx, block: number): Promise<boolean> {
  if (!(await holdUnretired(tx, block))) return false
  const { rowCount: isBegun } = await tx.query(
    `select from ledger_partition where block = $1 and ${IS_UNCHANGED(block)}`,
    [block],
  )
  if (isBegun === 1) return true
  await tx.query(`delete from ledger_base where block = $1`, [block])
  await tx.query(
    `update ledger_partition set retiring_at = now(), filenode = ${FILE(block)}, changes = 0, pages_summed = 0
     where block = $1`,
    [block],
  )
  return true
}

/** Whether no entries of a partition that is being retired were deleted, and it was not retired. */
export async function isUntouched(db: HomeDb, block: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from ledger_partition where block = $1 and retired_at is null and changes = 0`,
    [block],
  )
  return rowCount === 1
}

/** False: it is retired, and its table is gone. */
async function holdUnretired(tx: Tx, block: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from ledger_partition where block = $1 and retired_at is null for update`,
    [block],
  )
  return rowCount === 1
}

/** Transactions that may be writing to the ledger, or to anything else on the other server that has it. */
export async function ledgerWriters(db: HomeDb, remote: string | null): Promise<string[]> {
  if (remote !== null) {
    // From here on, everyone there sees what this server has committed.
    await awaitCommits(db, remote)
    const { rows } = await db.query<{ ids: string[] }>(
      `select array(select x::text from pg_snapshot_xip(pg_current_snapshot()) x) as ids from ledger_partition limit 1`,
    )
    return rows[0]?.ids ?? []
  }
  const { rows } = await db.query<{ id: string }>(
    `select virtualtransaction as id from pg_locks
     where relation = 'usage_ledger'::regclass and mode = 'RowExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows.map(({ id }) => id)
}

/** 2 GB: a partition of usual size is read once and writes each sum once. */
const PAGES_AT_ONCE = 262_144

export type Summing = 'more' | 'done' | 'changed'

/** Adds the next part of a partition to its sums. */
export async function sumUp(tx: Tx, block: number, pagesAtOnce: number = PAGES_AT_ONCE): Promise<Summing> {
  const { from, pages } = await extentOf(tx, block)
  if (from >= pages) return 'done'
  const to = Math.min(from + pagesAtOnce, pages)
  await tx.query(
    `insert into ledger_base (app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
     select app_id, user_uid, feature_id, reset_period, period_start, $1, sum(delta), count(*)
     from ${partitionName(block)} where ctid >= $2::tid and ctid < $3::tid
     group by app_id, user_uid, feature_id, reset_period, period_start
     on conflict (app_id, user_uid, feature_id, reset_period, period_start, block)
       do update set delta = ledger_base.delta + excluded.delta, entries = ledger_base.entries + excluded.entries`,
    [block, `(${from},0)`, `(${to},0)`],
  )
  // Last, because transactions that delete entries wait for this row.
  const { rowCount } = await tx.query(
    `update ledger_partition set pages_summed = $3
     where block = $1 and pages_summed = $2 and ${IS_UNCHANGED(block)}`,
    [block, from, to],
  )
  if (rowCount === 0) return 'changed'
  return to < pages ? 'more' : 'done'
}

const IS_UNCHANGED = (block: number) =>
  `retiring_at is not null and retired_at is null and changes = 0 and filenode is not distinct from ${FILE(block)}`

async function extentOf(db: HomeDb, block: number): Promise<{ from: number; pages: number }> {
  const { rows } = await db.query<{ from: number; pages: number }>(
    `select pages_summed as from, ${PAGES(block)} as pages from ledger_partition where block = $1`,
    [block],
  )
  return rows[0] ?? { from: 0, pages: 0 }
}

export const pagesOf = async (db: HomeDb, block: number): Promise<number> => (await extentOf(db, block)).pages

/** Exact totals of a partition. */
export interface Totals {
  entries: bigint
  delta: bigint
}

export async function totalsOf(db: HomeDb, block: number): Promise<Totals> {
  const { rows } = await db.query<{ entries: string; delta: string }>(
    `select coalesce(sum(entries), 0)::text as entries, coalesce(sum(delta), 0)::text as delta
     from ledger_base where block = $1`,
    [block],
  )
  return { entries: BigInt(rows[0]?.entries ?? 0), delta: BigInt(rows[0]?.delta ?? 0) }
}

/** The entries on some pages of a partition, each as a line of JSON. */
export async function entriesOnPages(db: HomeDb, block: number, from: number, to: number): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select row_to_json(e)::text as line from (
       select app_id as "appId", user_uid as "userUid", feature_id as "featureId", reset_period as "resetPeriod",
         period_start as "periodStart", seq, action, delta, used, recorded_at as "recordedAt"
       from ${partitionName(block)} where ctid >= $1::tid and ctid < $2::tid) e`,
    [`(${from},0)`, `(${to},0)`],
  )
  return rows.map(({ line }) => line)
}

const MOVES = `hashtext('tollgate moves of users')`

/** Prevents moves of users between places for as long as the connection is open. */
export async function blockUserMoves(client: HomeDb): Promise<void> {
  await client.query(`select pg_advisory_lock(${MOVES})`)
}

/** Whether users can be moved; if so, until the transaction ends. */
export async function mayMoveUsers(tx: HomeDb): Promise<boolean> {
  const { rows } = await tx.query<{ may: boolean }>(
    `select pg_try_advisory_xact_lock_shared(${MOVES}) as may`,
  )
  return rows[0]?.may === true
}

/** The file with the entries. */
export interface Filed {
  file: string
  sha256: string
}

/**
 * Replaces the entries by their sums. `busy`: the ledger was in use for longer than its writers can be blocked;
 * `changed`: entries were deleted since.
 */
export async function finishRetiring(
  pool: Pool,
  block: number,
  { entries }: Totals,
  filed: Filed | null,
  remote: string | null,
): Promise<'retired' | 'changed' | 'busy'> {
  let outcome: 'retired' | 'changed' = 'changed'
  const done = await withoutWaiting(pool, remote === null ? 'here' : 'elsewhere', async (tx) => {
    // In the lock order of a deletion, by its trigger or by `holdLedger`.
    if (remote === null) await tx.query('lock table only usage_ledger in access exclusive mode')
    if (!(await holdUnretired(tx, block))) return
    if (remote !== null) {
      // Otherwise, after dropping a table, Citus looks for others that it no longer needs to know, and locks
      // `remote_work`, which all writers on other servers hold.
      await tx.query('set local citus.enable_local_reference_table_foreign_keys = off')
      await tx.query('lock table usage_ledger in access exclusive mode')
    }
    const { rowCount } = await tx.query(
      `update ledger_partition set retired_at = now(), entries = $2, file = $3, sha256 = $4
       where block = $1 and ${IS_UNCHANGED(block)}
         and pages_summed >= ${PAGES(block)}`,
      [block, String(entries), filed?.file ?? null, filed?.sha256 ?? null],
    )
    if (rowCount === 0) return
    if (remote === null)
      await tx.query(`update usage_rollup set complete_from = now() where seq < $1`, [lastNumberOf(block)])
    await tx.query(`drop table ${partitionName(block)}`)
    outcome = 'retired'
  })
  return done ? outcome : 'busy'
}
