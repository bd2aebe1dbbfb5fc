import { escapeLiteral, escapeIdentifier as quoted } from 'pg'
import { StartError } from '../../domain/errors.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { BUCKET_INDEX, CELL_TABLES, foreignSchema } from './cells.ts'

// Cells on other servers, by Citus: a cell is a distributed schema, whose tables Citus keeps together on one worker. This
// server is the coordinator; it has all other tables, which Citus knows nothing of.
//
// - A transaction in such a cell reads and writes through Citus, and is committed on both servers or on neither.
// - What reads all cells reads these through foreign tables: Citus would fetch whole tables, where postgres_fdw sends
//   conditions and order along. A foreign table leads to a worker, and any worker finds the cell, wherever it is by now.
// - What a key, a trigger or a sequence of this server does for the other cells is done by those who write.

const CITUS = 'https://docs.citusdata.com'

const foreignServer = (schema: string): string => `tollgate_${schema}`

interface Worker {
  host: string
  port: number
}

export const nameOfWorker = ({ host, port }: Worker): string => `${host}:${port}`

/** The workers of the Citus cluster that this server coordinates. */
export async function findWorkers(db: HomeDb): Promise<Worker[]> {
  const { rows: installed } = await db.query<{ name: string }>(
    `select extname as name from pg_extension where extname in ('citus', 'postgres_fdw')`,
  )
  for (const name of ['citus', 'postgres_fdw'])
    if (!installed.some((extension) => extension.name === name))
      throw new StartError(
        `The database lacks the extension ${name}. Cells on other servers require Citus (${CITUS}) and postgres_fdw.`,
      )
  const { rows } = await db.query<Worker>(
    `select nodename as host, nodeport as port from pg_dist_node
     where noderole = 'primary' and isactive and shouldhaveshards and groupid <> 0 order by nodeid`,
  )
  if (rows.length === 0) throw new StartError('Citus has no workers. Add one with citus_add_node first.')
  return rows
}

/** Where the cells on other servers are, by schema. */
export async function workersOfCells(db: HomeDb): Promise<Map<string, Worker>> {
  const { rows: any } = await db.query(`select from cell where remote limit 1`)
  if (any.length === 0) return new Map()
  const { rows } = await db.query<Worker & { schema: string }>(
    `select c.schema, s.nodename as host, s.nodeport as port
     from cell c join citus_shards s on s.table_name = (quote_ident(c.schema) || '.users')::regclass where c.remote`,
  )
  return new Map(rows.map(({ schema, ...worker }) => [schema, worker]))
}

/**
 * Puts the tables of a cell without users on a worker, which Citus chooses. Nobody waits for it long: there is nothing to
 * copy.
 */
export async function distributeCell(tx: Tx, schema: string, home: string): Promise<void> {
  await makeReady(tx, home)
  const { rows: keys } = await tx.query<{ table: string; name: string }>(
    `select conrelid::regclass::text as table, conname as name from pg_constraint k
     join pg_class c on c.oid = k.confrelid
     where contype = 'f' and conparentid = 0 and connamespace = $1::regnamespace and c.relnamespace <> $1::regnamespace`,
    [schema],
  )
  for (const { table, name } of keys) await tx.query(`alter table ${table} drop constraint ${quoted(name)}`)
  const { rows: triggers } = await tx.query<{ table: string; name: string }>(
    `select tgrelid::regclass::text as table, tgname as name from pg_trigger join pg_class c on c.oid = tgrelid
     where c.relnamespace = $1::regnamespace and not tgisinternal`,
    [schema],
  )
  for (const { table, name } of triggers) await tx.query(`drop trigger ${quoted(name)} on ${table}`)
  const { rows: numbered } = await tx.query<{ table: string; column: string; sequence: string }>(
    `select d.adrelid::regclass::text as table, a.attname as column,
       (regexp_match(pg_get_expr(d.adbin, d.adrelid), '^nextval\\(''([^'']+)'''))[1] as sequence
     from pg_attrdef d join pg_class c on c.oid = d.adrelid
     join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     where c.relnamespace = $1::regnamespace and pg_get_expr(d.adbin, d.adrelid) like 'nextval(%'`,
    [schema],
  )
  for (const { table, column, sequence } of numbered)
    await tx.query(
      `alter table ${table} alter ${quoted(column)} set default ${home}.next_number(${escapeLiteral(sequence)})`,
    )
  // It stays: built when users are moved, it may be left on one server alone when the other is lost meanwhile, and can then
  // neither be built nor removed.
  await tx.query(`create index ${BUCKET_INDEX} on ${schema}.users (bucket_of(app_id, id))`)
  await tx.query(`select citus_schema_distribute($1)`, [schema])
  await tx.query(functionWriting(schema))
  await tx.query(`select create_distributed_function($1, colocate_with => $2)`, [
    `${schema}.${WRITE_USAGE}(${PARAMETERS.map(({ type }) => `${type}[]`).join(', ')})`,
    `${schema}.users`,
  ])
  await createForeignTables(tx, schema, home)
  await tx.query('update cell set remote = true where schema = $1', [schema])
}

/** Objects of this server that Citus must know. */
async function makeReady(tx: Tx, home: string): Promise<void> {
  const { rowCount: known } = await tx.query(
    `select from pg_dist_partition where logicalrelid = '${home}.remote_work'::regclass`,
  )
  if (known === 0) await tx.query(`select citus_add_local_table_to_metadata('${home}.remote_work')`)
  await tx.query(`select create_distributed_function('${home}.bucket_of(text, text)')`)
}

async function createForeignTables(tx: Tx, schema: string, home: string): Promise<void> {
  const worker = await workerOf(tx, schema)
  const server = quoted(foreignServer(schema))
  const option = (value: string | number) => escapeLiteral(String(value))
  const { rows } = await tx.query<{ database: string; owner: string }>(
    `select current_database() as database, pg_get_userbyid(relowner) as owner from pg_class
     where oid = '${home}.cell'::regclass`,
  )
  const { database = '', owner = '' } = rows[0] ?? {}
  await tx.query(
    `create server ${server} foreign data wrapper postgres_fdw options (host ${option(worker.host)},
       port ${option(worker.port)}, dbname ${option(database)}, use_remote_estimate 'true', keep_connections 'on',
       connect_timeout '5', keepalives_idle '5', keepalives_interval '2', keepalives_count '3', tcp_user_timeout '10000')`,
  )
  // Citus itself goes from server to server as that user.
  await tx.query(
    `create user mapping for ${quoted(owner)} server ${server} options (user ${option(owner)}, password_required 'false')`,
  )
  await tx.query(`grant usage on foreign server ${server} to ${quoted(owner)}`)
  await tx.query(`create schema ${foreignSchema(schema)} authorization ${quoted(owner)}`)
  for (const table of CELL_TABLES) {
    const foreign = `${foreignSchema(schema)}.${table}`
    const columns = await columnDefinitions(tx, `${schema}.${table}`)
    await tx.query(
      `create foreign table ${foreign} (${columns}) server ${server}
       options (schema_name ${option(schema)}, table_name ${option(table)})`,
    )
    await tx.query(`alter foreign table ${foreign} owner to ${quoted(owner)}`)
  }
}

async function columnDefinitions(db: HomeDb, table: string): Promise<string> {
  const { rows } = await db.query<{ columns: string }>(
    `select string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
       case when attcollation <> t.typcollation then ' collate ' || attcollation::regcollation end), ', ' order by attnum) as columns
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]?.columns ?? ''
}

export async function dropForeignTables(tx: Tx, schema: string): Promise<void> {
  await tx.query(`drop schema ${foreignSchema(schema)} cascade`)
  await tx.query(`drop server ${quoted(foreignServer(schema))} cascade`)
}

/** The worker that has a cell. */
async function workerOf(db: HomeDb, schema: string): Promise<Worker> {
  const { rows } = await db.query<Worker>(
    `select nodename as host, nodeport as port from citus_shards where table_name = $1::regclass limit 1`,
    [`${schema}.users`],
  )
  if (!rows[0]) throw new Error(`${schema} is not on a Citus worker`)
  return rows[0]
}

/** Moves a cell to another worker while it is in use. Writes wait during the last step. */
export async function moveCell(db: HomeDb, schema: string, to: Worker): Promise<void> {
  await db.query(`select citus_schema_move($1::regnamespace, $2::text, $3::int)`, [schema, to.host, to.port])
}

/** Has the foreign tables lead to where the cell is now. Until then they lead there by a detour. */
export async function followCell(tx: Tx, schema: string): Promise<void> {
  const worker = await workerOf(tx, schema)
  await tx.query(
    `alter server ${quoted(foreignServer(schema))} options (set host ${escapeLiteral(worker.host)},
       set port ${escapeLiteral(String(worker.port))})`,
  )
}

// Recording usage is one call of a function, which Citus sends to the worker: one round trip, and one commit if there is
// nothing to write on this server.

const WRITE_USAGE = 'write_usage'

const KEY = ['app_id', 'user_uid', 'feature_id', 'reset_period', 'period_start']
const KEY_TYPES = ['text', 'bigint', 'text', 'text', 'timestamptz']

/** The lists that the function is given: counters that move, entries of the ledger, new counters and their users. */
const LISTS = {
  m: { columns: [...KEY, 'was', 'becomes'], types: [...KEY_TYPES, 'bigint', 'bigint'] },
  e: {
    columns: [...KEY, 'seq', 'action', 'delta', 'used', 'recorded_at', 'move'],
    types: [...KEY_TYPES, 'bigint', 'text', 'bigint', 'bigint', 'timestamptz', 'int'],
  },
  n: { columns: [...KEY, 'used'], types: [...KEY_TYPES, 'bigint'] },
  h: { columns: ['app_id', 'uid'], types: ['text', 'bigint'] },
}

const PARAMETERS = Object.entries(LISTS).flatMap(([list, { columns, types }]) =>
  columns.map((column, i) => ({ name: `${list}_${column}`, type: types[i] as string })),
)

/** The call, with the columns of the lists: Citus passes nothing on before it knows the values. */
export function callWriting(schema: string, values: readonly string[]): string {
  const given = PARAMETERS.map(({ type }, i) => `${escapeLiteral(values[i] ?? '{}')}::${type}[]`)
  return `select ${quoted(schema)}.${WRITE_USAGE}(${given.join(', ')}) as move`
}

/**
 * Returns the moves that were made, counted from 1. One statement after the other: Citus takes none that writes twice. In a
 * transaction Citus runs it on this server, and plans its statements with their values only.
 *
 * Entries for a partition that is being retired are refused, and are then numbered anew. That comes last: by then the
 * transaction has a number, and whoever has marked the partition waits for those that had one.
 */
export function functionWriting(schema: string): string {
  const from = (list: keyof typeof LISTS, ordinality = '') => {
    const { columns } = LISTS[list]
    const names = columns.map((column) => `${list}_${column}`).join(', ')
    return `unnest(${names})${ordinality && ' with ordinality'} as ${list} (${[...columns, ...(ordinality ? [ordinality] : [])].join(', ')})`
  }
  const is = (table: string, list: string) => KEY.map((k) => `${table}.${k} = ${list}.${k}`).join(' and ')
  const entry = 'seq, action, delta, used, recorded_at'
  return `
create function ${schema}.${WRITE_USAGE}(${PARAMETERS.map(({ name, type }) => `${name} ${type}[]`).join(', ')})
  returns setof bigint language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  made bigint[] := '{}';
  move bigint;
begin
  if cardinality(h_uid) > 0 then
    perform 1 from ${schema}.users u join ${from('h')} on u.app_id = h.app_id and u.uid = h.uid for key share of u;
    get diagnostics move = row_count;
    if move < cardinality(h_uid) then
      raise serialization_failure using message = 'the user was moved to another cell';
    end if;
  end if;
  if cardinality(m_was) > 0 then
    for move in update ${schema}.usage_counter c set used = m.becomes from ${from('m', 'ord')}
      where ${is('c', 'm')} and c.used = m.was returning m.ord
    loop
      made := made || move;
      return next move;
    end loop;
  end if;
  if cardinality(n_used) > 0 then
    insert into ${schema}.usage_counter (${KEY.join(', ')}, used) select * from ${from('n')};
  end if;
  insert into ${schema}.usage_ledger (${KEY.join(', ')}, ${entry})
    select ${KEY.map((k) => `e.${k}`).join(', ')}, e.seq, e.action, e.delta, e.used, e.recorded_at from ${from('e')}
    where e.move is null or e.move = any(made);
  if exists (select 1 from ${schema}.ledger_partition p
      where p.retiring_at is not null and p.block in (e_seq[1] >> 40, e_seq[cardinality(e_seq)] >> 40)) then
    raise serialization_failure using message = 'the partition of the ledger is being retired';
  end if;
end $$`
}

/** Numbers for new rows, rising. */
export async function takeNumbers(db: HomeDb, sequence: string, count: number): Promise<number[]> {
  const { rows } = await db.query<{ number: number }>(
    `select nextval($1::regclass) as number from generate_series(1, $2)`,
    [sequence, count],
  )
  return rows.map(({ number }) => number)
}
