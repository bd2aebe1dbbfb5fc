import { escapeIdentifier as quoted } from 'pg'
import { STATEMENT_TIMEOUT_MS } from '../../domain/limits.ts'
import { bumpAllVersions } from '../apps/apps.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Pool, TryAgain, type Tx } from '../connection/database.ts'
import { awaitCommits, commitTogether } from '../connection/distributed-commits.ts'
import type { HomeDb } from '../connection/places.ts'
import { homeOf } from './cell-layout.ts'
import { BUCKET_INDEX, type Cell } from './cells.ts'
import { holdLedgers } from './hold-ledger.ts'

// Moves users between cells with everything that is theirs, in one transaction: at no moment are they in both or in
// none. Whoever writes in a cell holds the bucket, by a lock or by the statement that writes.

/** Tables of counted usage, in the order in which they can be moved. */
const COUNTED = ['usage_counter', 'usage_ledger', 'ledger_base'] as const

/** Which cell each bucket is in. */
export async function readBuckets(db: HomeDb): Promise<number[]> {
  const { rows } = await db.query<{ cell: number }>('select cell from cell_bucket order by bucket')
  return rows.map(({ cell }) => cell)
}

export async function countCells(db: HomeDb): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*) as count from cell')
  return rows[0]?.count ?? 0
}

interface CellContent {
  id: number
  buckets: number
  users: number
  bytes: number
}

/** The cells, with an estimate of their users and the size of all their tables. */
export async function cellContents(db: HomeDb): Promise<CellContent[]> {
  const { rows } = await db.query<CellContent>(
    `select c.id, (select count(*) from cell_bucket b where b.cell = c.id) as buckets,
       (select greatest(reltuples, 0)::bigint from pg_class where oid = (c.schema || '.users')::regclass) as users,
       (select sum(pg_total_relation_size(t.oid))::bigint from pg_class t
        where t.relnamespace = c.schema::regnamespace and t.relkind = 'r') as bytes
     from cell c order by c.id`,
  )
  return rows
}

/** Has the users of cells found by their bucket during `work`; on other servers they always are. */
export async function withBucketIndex(
  pool: Pool,
  cells: readonly number[],
  work: () => Promise<void>,
): Promise<void> {
  const { rows } = await pool.query<{ schema: string }>(
    'select schema from cell where id = any($1) and not remote order by id',
    [cells],
  )
  for (const { schema } of rows) {
    // One that another attempt left unfinished is of no use.
    const { rows: found } = await pool.query<{ valid: boolean }>(
      'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
      [`${schema}.${BUCKET_INDEX}`],
    )
    if (found[0]?.valid === false)
      await pool.query(`drop index concurrently ${quoted(schema)}.${BUCKET_INDEX}`)
    await pool.query(
      `create index concurrently if not exists ${BUCKET_INDEX} on ${quoted(schema)}.users (bucket_of(app_id, id))`,
    )
  }
  try {
    await work()
  } finally {
    for (const { schema } of rows)
      await pool.query(`drop index concurrently if exists ${quoted(schema)}.${BUCKET_INDEX}`)
  }
}

/** Moves all users of some buckets of one cell and returns their number. Writes to these users wait. */
export async function moveBucketsTo(tx: Tx, buckets: readonly number[], to: number): Promise<number> {
  const { rows } = await tx.query<{ bucket: number } & Cell>(
    `with held as materialized (
       select bucket, cell from cell_bucket where bucket = any($1) order by bucket for update)
     select held.bucket, f.schema, f.remote from held join cell f on f.id = held.cell where held.cell <> $2`,
    [buckets, to],
  )
  const target = await cellNumbered(tx, to)
  let moved = 0
  for (const schema of new Set(rows.map((row) => row.schema))) {
    const leaving = rows.filter((row) => row.schema === schema)
    const remote = leaving[0]?.remote ?? false
    // Includes users who were moved here just now.
    if (remote) await awaitCommits(tx, schema)
    const { rows: users } = await tx.query<UserKey>(
      `select app_id as "appId", uid from ${quoted(schema)}.users where bucket_of(app_id, id) = any($1)`,
      [leaving.map(({ bucket }) => bucket)],
    )
    await move(tx, { schema, remote }, target, users)
    moved += users.length
  }
  await tx.query('update cell_bucket set cell = $2 where bucket = any($1)', [buckets, to])
  // Last: changes of the catalogue wait for it.
  await bumpAllVersions(tx)
  return moved
}

/** How many users each of these buckets of a cell has. */
export async function countInBuckets(
  db: HomeDb,
  schema: string,
  buckets: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await db.query<{ bucket: number; users: number }>(
    `select bucket_of(app_id, id) as bucket, count(*) as users from ${quoted(schema)}.users
     where bucket_of(app_id, id) = any($1) group by 1`,
    [buckets],
  )
  return new Map(rows.map(({ bucket, users }) => [bucket, users]))
}

interface UserKey {
  appId: string
  uid: number
}

async function cellNumbered(db: HomeDb, cell: number): Promise<Cell> {
  const { rows } = await db.query<Cell>('select schema, remote from cell where id = $1', [cell])
  if (!rows[0]) throw new Error(`cell ${cell} does not exist`)
  return rows[0]
}

/** Moves what some users have used who were deleted from this cell; false: there is nothing left. */
export async function moveLeftBehind(tx: Tx, from: number, to: number): Promise<boolean> {
  const [source, target] = [await cellNumbered(tx, from), await cellNumbered(tx, to)]
  if (source.remote) await awaitCommits(tx, source.schema)
  for (const table of COUNTED) {
    const { rows: users } = await tx.query<UserKey>(
      `select distinct app_id as "appId", user_uid as uid
       from (select app_id, user_uid from ${quoted(source.schema)}.${table} limit 1000) as left_behind`,
    )
    await move(tx, source, target, users)
    if (users.length > 0) return true
  }
  return false
}

/**
 * Moves a user from one bucket to another; returns the cell they are in now. Nobody else writes to the user meanwhile:
 * usage that is being recorded finds the old counters gone.
 */
export async function moveForNewId(
  tx: Tx,
  user: UserKey,
  [from, to]: readonly [number, number],
): Promise<Cell> {
  const { rows } = await tx.query<{ bucket: number } & Cell>(
    `with held as materialized (
       select bucket, cell from cell_bucket where bucket = any($1) order by bucket for update)
     select held.bucket, c.schema, c.remote from held join cell c on c.id = held.cell`,
    [[from, to]],
  )
  const cellOf = (wanted: number): Cell => {
    const found = rows.find(({ bucket }) => bucket === wanted)
    if (!found) throw new Error(`bucket ${wanted} has no cell`)
    return found
  }
  const [source, target] = [cellOf(from), cellOf(to)]
  if (source.schema !== target.schema) await move(tx, source, target, [user])
  return target
}

async function move(tx: Tx, source: Cell, target: Cell, users: readonly UserKey[]): Promise<void> {
  if (users.length === 0) return
  if (source.remote || target.remote) return moveBetweenServers(tx, source, target, users)
  const [from, to] = [quoted(source.schema), quoted(target.schema)]
  await holdLedgers(tx, [source, target])
  await checkLedgers(tx, from, to)
  await tx.query(`set local tollgate.moving = 'on'`)
  const values = [textArray(users, ({ appId }) => appId), numberArray(users, ({ uid }) => uid)]
  const moving = 'unnest($1::text[], $2::bigint[]) as m (app_id, uid)'
  // From here on nobody starts a counter for them,
  await tx.query(
    `select from ${moving} join ${from}.users u using (app_id, uid) order by app_id, uid for update of u`,
    values,
  )
  // and once the counters are gone, nobody writes an entry: what is moved after them is all there is.
  for (const table of COUNTED) {
    const counts = table === 'ledger_base' ? `where block in (${retiredIn(from)})` : ''
    await tx.query(
      `with gone as (
         delete from ${from}.${table} t using ${moving} where t.app_id = m.app_id and t.user_uid = m.uid returning t.*)
       insert into ${to}.${table} overriding system value select * from gone ${counts}`,
      values,
    )
  }
  await tx.query(
    `insert into ${to}.users overriding system value select u.* from ${moving} join ${from}.users u using (app_id, uid)`,
    values,
  )
  await tx.query(
    `with gone as (
       delete from ${from}.subscription t using ${moving} where t.app_id = m.app_id and t.user_uid = m.uid returning t.*)
     insert into ${to}.subscription overriding system value select * from gone`,
    values,
  )
  await tx.query(
    `delete from ${from}.users u using ${moving} where u.app_id = m.app_id and u.uid = m.uid`,
    values,
  )
  await tx.query(`set local tollgate.moving = 'off'`)
}

/**
 * The same, where one of the two cells is on another server: the rows are fetched and sent, as PostgreSQL writes them, since
 * no statement can write to both.
 */
async function moveBetweenServers(
  tx: Tx,
  source: Cell,
  target: Cell,
  users: readonly UserKey[],
): Promise<void> {
  const remote = [source, target].filter((place) => place.remote).map(({ schema }) => schema)
  const [from, to] = [quoted(source.schema), quoted(target.schema)]
  // A server that hangs must not hold up everybody who waits for this transaction.
  await tx.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`)
  for (const schema of remote) await awaitCommits(tx, schema)
  await commitTogether(tx, await homeOf(tx), remote)
  await holdLedgers(tx, [source, target])
  await checkLedgers(tx, from, to)
  await tx.query(`set local tollgate.moving = 'on'`)
  const values = [textArray(users, ({ appId }) => appId), numberArray(users, ({ uid }) => uid)]
  const moving = 'unnest($1::text[], $2::bigint[]) as m (app_id, uid)'
  await tx.query(
    `select 1 from ${from}.users u join ${moving} on u.app_id = m.app_id and u.uid = m.uid for update of u`,
    values,
  )
  // Locked first: usage that is being recorded waits for its counter, and then finds it gone.
  const take = async (table: string, uid: string): Promise<string[]> => {
    const theirs = `t.app_id = m.app_id and t.${uid} = m.uid`
    const { rows } = await tx.query<{ row: string; counts: boolean }>(
      `select t::text as row, ${table === 'ledger_base' ? `t.block in (${retiredIn(from)})` : 'true'} as counts
       from ${from}.${table} t join ${moving} on ${theirs} for update of t`,
      values,
    )
    if (rows.length > 0)
      await tx.query(`delete from ${from}.${table} t using ${moving} where ${theirs}`, values)
    return rows.filter(({ counts }) => counts).map(({ row }) => row)
  }
  const put = async (table: string, rows: readonly string[]) => {
    if (rows.length === 0) return
    await tx.query(
      `insert into ${to}.${table} overriding system value
       select (r::${to}.${table}).* from unnest($1::text[]) as r`,
      [textArray(rows, (row) => row)],
    )
  }
  const counted = []
  for (const table of COUNTED) counted.push({ table, rows: await take(table, 'user_uid') })
  const subscriptions = await take('subscription', 'user_uid')
  await put('users', await take('users', 'uid'))
  await put('subscription', subscriptions)
  for (const { table, rows } of counted) await put(table, rows)
  await tx.query(`set local tollgate.moving = 'off'`)
}

/** The sums that count: those of what is still in the ledger are unfinished work. */
const retiredIn = (cell: string): string =>
  `select block from ${cell}.ledger_partition where retired_at is not null`

/** The entries of a user fit into another ledger only if it has the same partitions. */
async function checkLedgers(tx: Tx, from: string, to: string): Promise<void> {
  const stateOf = async (cell: string): Promise<string> => {
    const { rows } = await tx.query<{ state: string }>(
      `select string_agg(block || ' ' || (retired_at is null), ',' order by block) as state
       from ${cell}.ledger_partition`,
    )
    return rows[0]?.state ?? ''
  }
  if ((await stateOf(from)) !== (await stateOf(to)))
    throw new TryAgain('the ledgers of the two cells have different partitions')
}
