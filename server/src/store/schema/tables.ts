import type { ClientBase } from 'pg'
import { escapeIdentifier as quoted } from 'pg'
import type { HomeDb } from '../connection/places.ts'
import { copyIn, copyOut } from './copy.ts'

/** All tables with content: those of a backup. The cells of users are not part of it: a restored database has one. */
export const TABLES = [
  'activity',
  'api_key',
  'app',
  'audit_entry',
  'billing_template',
  'billing_template_item',
  'bulk_change',
  'bulk_change_row',
  'checkout_session',
  'credit',
  'denial',
  'erased_ref',
  'event_block',
  'event_due',
  'event_log',
  'event_outbox',
  'event_position',
  'feature',
  'feature_activity',
  'idempotency',
  'invitation',
  'job_worker',
  'ledger_base',
  'ledger_partition',
  'liveness',
  'member',
  'notice',
  'package',
  'package_feature',
  'package_history',
  'password_reset',
  'payment',
  'price',
  'provider_account',
  'provider_subscription',
  'recent_usage',
  'recharge_attempt',
  'recharge_rule',
  'revenue_figures',
  'sample_activity',
  'sample_item',
  'sandbox_checkout',
  'sandbox_customer',
  'sandbox_event',
  'sandbox_invoice',
  'sandbox_subscription',
  'secret',
  'session',
  'sign_in_pace',
  'spender',
  'subscription',
  'token_key',
  'usage_counter',
  'usage_hour',
  'usage_ledger',
  'usage_reservation',
  'usage_rollup',
  'usage_cap',
  'user_import',
  'user_import_row',
  'users',
  'webhook_delivery',
  'webhook_endpoint',
]

/** graphile-worker's tables are internal. Jobs are saved as requested, and requested again. */
export const JOBS = 'graphile_worker.jobs'
const JOB_COLUMNS = ['identifier', 'payload', 'run_at', 'max_attempts', 'priority', 'key']

export interface TableColumns {
  name: string
  columns: string[]
}

/** The schemas: with several cells, those of cell 0 stand for all of them, which are read through views. */
const SCHEMAS = `(select current_schema()::regnamespace::oid
  union all select relnamespace from pg_class where oid = to_regclass('c0.ledger_partition'))`

/** The existing tables, each after those it refers to, then the jobs. */
export async function readTables(db: HomeDb): Promise<TableColumns[]> {
  const { rows } = await db.query<TableColumns & { refersTo: string[] }>(
    `select c.relname as name,
       array(select attname::text from pg_attribute
         where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
       array(select r.relname::text from pg_constraint join pg_class r on r.oid = confrelid
         where conrelid = c.oid and contype = 'f' and confrelid <> conrelid) as "refersTo"
     from pg_class c where c.relnamespace in ${SCHEMAS} and c.relkind in ('r', 'p') and c.relname = any($1)
     order by 1`,
    [TABLES],
  )
  const ordered: TableColumns[] = []
  const waiting = new Map(rows.map((row) => [row.name, row]))
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter((row) => row.refersTo.every((name) => !waiting.has(name)))
    if (free.length === 0) throw new Error(`circular references between tables: ${[...waiting.keys()]}`)
    for (const { name, columns } of free) {
      waiting.delete(name)
      ordered.push({ name, columns })
    }
  }
  const jobs = await db.query(`select where to_regclass('graphile_worker._private_jobs') is not null`)
  return jobs.rowCount === 0 ? ordered : [...ordered, { name: JOBS, columns: JOB_COLUMNS }]
}

/** Jobs still to be run, including those running now. */
const SELECT_JOBS = `select t.identifier, j.payload, j.run_at, j.max_attempts, j.priority, j.key
  from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  where j.attempts < j.max_attempts`

const columnList = ({ columns }: TableColumns) => columns.map(quoted).join(', ')

/** The rows of a table in COPY format, in pieces of whole lines. */
export function readRows(client: ClientBase, table: TableColumns): AsyncGenerator<Buffer, void> {
  const { name } = table
  // As a query: a partitioned table cannot be copied directly.
  const rows = name === JOBS ? SELECT_JOBS : `select ${columnList(table)} from ${quoted(name)}`
  return copyOut(client, `copy (${rows}) to stdout`)
}

export async function writeRows(
  client: ClientBase,
  table: TableColumns,
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  if (table.name !== JOBS)
    return copyIn(client, `copy ${quoted(table.name)} (${columnList(table)}) from stdin`, pieces)
  await client.query(
    `create temp table restored_job (identifier text, payload json, run_at timestamptz, max_attempts int,
       priority int, key text) on commit drop`,
  )
  await copyIn(client, `copy restored_job (${columnList(table)}) from stdin`, pieces)
  await client.query(
    `select count(graphile_worker.add_job(identifier, payload, run_at => run_at, max_attempts => max_attempts,
       job_key => key, priority => priority, job_key_mode => 'replace')) from restored_job`,
  )
}

/** Locks tables against schema changes, or also against writes, until the transaction ends. */
export async function holdTables(
  client: ClientBase,
  tables: readonly TableColumns[],
  against: 'changes of the schema' | 'writes',
): Promise<void> {
  const names = tables.filter(({ name }) => name !== JOBS).map(({ name }) => quoted(name))
  const mode = against === 'writes' ? 'share' : 'access share'
  if (names.length > 0) await client.query(`lock table ${names.join(', ')} in ${mode} mode`)
}

/** Whether some users are on other servers, which share no snapshot with this one. */
export async function isOnSeveralServers(db: HomeDb): Promise<boolean> {
  // A database of an earlier version has no such column.
  const { rowCount: known } = await db.query(
    `select from pg_attribute where attrelid = to_regclass('cell') and attname = 'remote'`,
  )
  if (known === 0) return false
  const { rowCount } = await db.query(`select from cell where remote limit 1`)
  return rowCount === 1
}

/** Deletes rows that migrations created: a backup contains all of them. */
export async function emptyTables(client: ClientBase & HomeDb): Promise<void> {
  const names = (await readTables(client)).filter(({ name }) => name !== JOBS)
  await client.query(`truncate ${names.map(({ name }) => quoted(name)).join(', ')}`)
}

/** An identity column and its current value. */
export interface Sequence {
  table: string
  column: string
  last: string
  used: boolean
}

export async function readSequences(db: HomeDb): Promise<Sequence[]> {
  const { rows } = await db.query<{ table: string; column: string; sequence: string }>(
    `select c.relname as "table", a.attname as "column", pg_get_serial_sequence(c.oid::regclass::text, a.attname) as sequence
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace in ${SCHEMAS} and c.relname = any($1) and a.attidentity <> ''
       and not a.attisdropped
     order by 1, 2`,
    [TABLES],
  )
  const sequences: Sequence[] = []
  for (const { table, column, sequence } of rows) {
    const state = await db.query<{ last: string; used: boolean }>(
      `select last_value::text as last, is_called as used from ${sequence}`,
    )
    if (state.rows[0]) sequences.push({ table, column, ...state.rows[0] })
  }
  return sequences
}

export async function writeSequences(db: HomeDb, sequences: readonly Sequence[]): Promise<void> {
  for (const { table, column, last, used } of sequences)
    await db.query(`select setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)`, [
      quoted(table),
      column,
      last,
      used,
    ])
}

/** Number of counters that differ from the sum of their ledger rows and retired sums. */
export async function unbalancedCounters(db: HomeDb): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from (
       select from (
         select app_id, user_uid, feature_id, reset_period, period_start, used as amount from usage_counter
         union all select app_id, user_uid, feature_id, 'CREDIT:' || id, 'epoch', used from credit
         union all select app_id, user_uid, feature_id, reset_period, period_start, -delta from usage_ledger
         union all select app_id, user_uid, feature_id, reset_period, period_start, -delta
           from ledger_base b join ledger_partition p using (block) where p.retired_at is not null) both_sides
       group by app_id, user_uid, feature_id, reset_period, period_start having sum(amount) <> 0) unbalanced`,
  )
  return rows[0]?.count ?? 0
}

/** Our tables that already exist, with their rows counted up to a thousand. */
export async function findOccupied(db: HomeDb): Promise<{ name: string; rows: number }[]> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace
       and relname = any($1) order by 1`,
    [[...TABLES, 'schema_migration']],
  )
  const occupied: { name: string; rows: number }[] = []
  for (const { name } of rows) {
    const counted = await db.query<{ rows: number }>(
      `select count(*) as rows from (select from ${quoted(name)} limit 1000) t`,
    )
    occupied.push({ name, rows: counted.rows[0]?.rows ?? 0 })
  }
  return occupied
}

/** The number of the service's connections to this database. */
export async function connectedServices(db: HomeDb): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = 'tollgate' and pid <> pg_backend_pid()`,
  )
  return rows[0]?.count ?? 0
}

export async function analyzeTables(db: HomeDb): Promise<void> {
  await db.query(`analyze ${TABLES.map(quoted).join(', ')}`)
}

/** The database's own time, as ISO 8601. */
export async function readTime(db: HomeDb): Promise<string> {
  const { rows } = await db.query<{ at: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  )
  return rows[0]?.at ?? ''
}

/** Whether old entries were replaced by their sums in some cells and not yet in others. */
export async function ledgersDiffer(db: HomeDb): Promise<boolean> {
  const { rowCount: present } = await db.query(`select where to_regclass('cell') is not null`)
  if (present === 0) return false
  const { rows: cells } = await db.query<{ schema: string }>('select schema from cell order by id')
  if (cells.length === 0) return false
  const retired = cells.map(
    ({ schema }) => `select block from ${quoted(schema)}.ledger_partition where retired_at is not null`,
  )
  const { rowCount } = await db.query(
    `select from (${retired.join(' union all ')}) r group by block having count(*) <> ${cells.length} limit 1`,
  )
  return rowCount !== 0
}
