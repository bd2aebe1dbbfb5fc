import { escapeIdentifier as quoted } from 'pg'
import { bumpAllVersions } from '../apps/apps.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { attachedBlocks, createPartition } from '../ledger/ledger-partitions.ts'
import { BUCKETS, CELL_TABLES, foreignSchema, pathTo } from './cells.ts'
import { dropForeignTables } from './remote-cells.ts'

// Creates cells. The first time, the tables of users move to the schema of cell 0, which takes milliseconds, and views
// over all cells take their names.

const FIRST_CELL = 'c0'
export const schemaOf = (cell: number): string => `c${cell}`

const TABLE_LIST = CELL_TABLES.map((name) => `'${name}'`).join(', ')

export async function homeOf(db: HomeDb): Promise<string> {
  const { rows } = await db.query<{ home: string }>(
    `select relnamespace::regnamespace::text as home from pg_class where oid = 'cell'::regclass`,
  )
  return rows[0]?.home ?? 'public'
}

/** Schemas that are in the way of cells: they exist, and are none. */
export async function schemasTaken(db: HomeDb, wanted: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname = any($1) and nspname not in (select schema from cell)`,
    [wanted],
  )
  return rows.map(({ name }) => name)
}

/** Serialises changes of the cell layout. */
export async function lockCellLayout(tx: Tx): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tollgate cells'))`)
}

/**
 * Has the rest of a transaction create everything as the owner of all other tables: an operator may come as another user,
 * and the service must be able to use what is created.
 */
export async function actAsOwner(tx: Tx): Promise<void> {
  await tx.query(
    `select set_config('role', pg_get_userbyid(relowner), true) from pg_class where oid = 'cell'::regclass`,
  )
}

/** From now on, users of billing ids are recorded. */
export async function noteBillingIds(tx: Tx, home: string): Promise<void> {
  await tx.query(BILLING_IDS(home))
  await tx.query(BILLING_ID_TRIGGER(home, home))
}

/** Notes it of users who had one before, some at a time; returns where to go on, or null after the last. */
export async function noteEarlierBillingIds(tx: Tx, after: BillingIdCursor): Promise<BillingIdCursor | null> {
  const { rows } = await tx.query<BillingIdCursor>(
    `with next as materialized (
       select app_id, uid, billing_id from users where (app_id, uid) > ($1, $2) order by app_id, uid limit 5000
       for no key update),
     noted as (
       insert into user_billing_id (app_id, billing_id, uid)
       select app_id, billing_id, uid from next where billing_id is not null on conflict do nothing)
     select app_id as "appId", uid from next order by app_id desc, uid desc limit 1`,
    [after.appId, after.uid],
  )
  return rows[0] ?? null
}

export interface BillingIdCursor {
  appId: string
  uid: number
}

/** Makes the tables of users those of cell 0. */
export async function createFirstCell(tx: Tx, home: string): Promise<void> {
  await tx.query(`create schema ${FIRST_CELL}`)
  // What refers to a user from outside their cell is checked by those who write it: no key reaches into all cells.
  const { rows: keys } = await tx.query<{ table: string; name: string }>(
    `select conrelid::regclass::text as table, conname as name from pg_constraint
     where contype = 'f' and confrelid = any(array[${TABLE_LIST}]::regclass[])
       and conrelid <> all(array[${TABLE_LIST}]::regclass[]) and conparentid = 0`,
  )
  for (const { table, name } of keys) await tx.query(`alter table ${table} drop constraint ${quoted(name)}`)
  const blocks = await attachedBlocks(tx)
  const partitions = blocks.map((block) => `usage_ledger_${block}`)
  for (const table of [...CELL_TABLES, ...partitions])
    await tx.query(`alter table ${home}.${table} set schema ${FIRST_CELL}`)
  await tx.query(`insert into cell (id, schema) values (0, $1)`, [FIRST_CELL])
  await tx.query(`insert into cell_bucket (bucket, cell) select b, 0 from generate_series(0, $1) b`, [
    BUCKETS - 1,
  ])
  await furnish(tx, FIRST_CELL, home)
}

/** Creates the tables of another cell, like those of cell 0; `splitFrom`: of which cell it is to get half of the users. */
export async function createCell(
  tx: Tx,
  id: number,
  home: string,
  splitFrom: number | null = null,
): Promise<void> {
  const schema = schemaOf(id)
  await tx.query(`create schema ${schema}`)
  await tx.query(`select set_config('search_path', $1, true)`, [pathTo(FIRST_CELL, home)])
  const definitions = await definitionsIn(tx, FIRST_CELL)
  const blocks = await attachedBlocks(tx)
  await tx.query(`select set_config('search_path', $1, true)`, [pathTo(schema, home)])
  for (const table of CELL_TABLES) {
    const partitioned = table === 'usage_ledger' ? 'partition by range (seq)' : ''
    await tx.query(
      `create table ${schema}.${table} (like ${FIRST_CELL}.${table} including defaults including constraints
         including storage) ${partitioned}`,
    )
  }
  for (const statement of definitions(schema)) await tx.query(statement)
  for (const block of blocks) await createPartition(tx, block)
  await tx.query(
    `insert into ledger_partition (block, opened_at, retired_at, entries)
     select block, opened_at, retired_at, case when retired_at is not null then 0 end
     from ${FIRST_CELL}.ledger_partition`,
  )
  await furnish(tx, schema, home)
  await tx.query(`insert into cell (id, schema, split_from) values ($1, $2, $3)`, [id, schema, splitFrom])
  await tx.query(`select set_config('search_path', $1, true)`, [home])
}

/** The cell that a split of this one was cut short to; null: none was. */
export async function cellOfUnfinishedSplit(db: HomeDb, from: number): Promise<number | null> {
  const { rows } = await db.query<{ id: number }>(
    'select id from cell where split_from = $1 order by id limit 1',
    [from],
  )
  return rows[0]?.id ?? null
}

/** Nothing of the splits to these cells is left to be done. */
export async function endSplits(db: HomeDb, to: readonly number[]): Promise<void> {
  await db.query('update cell set split_from = null where id = any($1) and split_from is not null', [to])
}

/** Removes a cell in which nothing is left. A bucket that is still there prevents it. */
export async function dropCell(tx: Tx, id: number, home: string): Promise<void> {
  const { rows } = await tx.query<{ remote: boolean }>(`delete from cell where id = $1 returning remote`, [
    id,
  ])
  await showCells(tx, home)
  if (rows[0]?.remote) await dropForeignTables(tx, schemaOf(id))
  await tx.query(`drop schema ${schemaOf(id)} cascade`)
}

/** Has the views show all cells, and every process notice. */
export async function showCells(tx: Tx, home: string): Promise<void> {
  const { rows } = await tx.query<{ schema: string; remote: boolean }>(
    'select schema, remote from cell order by id',
  )
  const readIn = rows.map(({ schema, remote }) => (remote ? foreignSchema(schema) : schema))
  for (const table of CELL_TABLES) {
    const columns = await columnsOf(tx, `${FIRST_CELL}.${table}`)
    const parts = readIn.map(
      (schema) => `select ${columns} from ${schema}.${table}${counting(table, schema)}`,
    )
    const all = parts.join(' union all ')
    await tx.query(
      `create or replace view ${home}.${table} as ${table === 'ledger_partition' ? together(all) : all}`,
    )
  }
  await bumpAllVersions(tx)
}

/** Sums count once their partition is retired, which may be sooner in one cell than in another. */
const counting = (table: string, schema: string): string =>
  table === 'ledger_base'
    ? ` where block in (select block from ${schema}.ledger_partition where retired_at is not null)`
    : ''

/** The partitions of all cells as those of one ledger. */
const together = (partitions: string): string => `
  select block, min(opened_at) as opened_at, null::timestamptz(3) as retiring_at, null::oid as filenode, 0 as changes,
    0::bigint as pages_summed, max(retired_at) as retired_at, sum(entries)::bigint as entries, max(file) as file,
    max(sha256) as sha256
  from (${partitions}) p group by block`

async function columnsOf(db: HomeDb, table: string): Promise<string> {
  const { rows } = await db.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]?.columns ?? ''
}

/** Statements that give the tables of another schema all that `like` leaves out. */
async function definitionsIn(db: HomeDb, from: string): Promise<(schema: string) => string[]> {
  const tables = `(select oid from pg_class where relnamespace = '${from}'::regnamespace and relname in (${TABLE_LIST}))`
  const { rows: constraints } = await db.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where conrelid in ${tables} and contype in ('p', 'u', 'f')
     order by contype = 'f', conrelid::regclass::text, conname`,
  )
  const { rows: indexes } = await db.query<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index i where indrelid in ${tables}
       and not exists (select from pg_constraint where conindid = i.indexrelid) order by indexrelid::regclass::text`,
  )
  const { rows: options } = await db.query<{ table: string; options: string }>(
    `select oid::regclass::text as table, array_to_string(reloptions, ', ') as options from pg_class
     where oid in ${tables} and reloptions is not null`,
  )
  const { rows: numbered } = await db.query<{ table: string; column: string; sequence: string }>(
    `select c.relname as table, a.attname as column, pg_get_serial_sequence(format('%I.%I', '${from}', c.relname), a.attname) as sequence
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.oid in ${tables} and a.attidentity <> '' and not a.attisdropped`,
  )
  return (schema) => [
    ...constraints.map(
      ({ table, name, definition }) =>
        `alter table ${schema}.${table} add constraint ${quoted(name)} ${definition}`,
    ),
    ...indexes.map(({ definition }) => definition.replace(` ON ${from}.`, ` ON ${schema}.`)),
    ...options.map(({ table, options: given }) => `alter table ${schema}.${table} set (${given})`),
    // Numbers are unique in all cells, and rise with time in all of them together.
    ...numbered.map(
      ({ table, column, sequence }) =>
        `alter table ${schema}.${table} alter ${column} set default nextval('${sequence}')`,
    ),
  ]
}

/** Gives a cell the triggers of the first one, with functions whose names lead to the tables of this cell. */
async function furnish(tx: Tx, schema: string, home: string): Promise<void> {
  const { rows: triggers } = await tx.query<{
    table: string
    name: string
    definition: string
    function: string
    body: string
  }>(
    `select c.relname as table, t.tgname as name, pg_get_triggerdef(t.oid) as definition,
       p.proname as function, p.prosrc as body
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
     where c.relnamespace = $1::regnamespace and not t.tgisinternal and t.tgname <> 'users_billing_ids'`,
    [FIRST_CELL],
  )
  for (const [name, body] of new Map(triggers.map((trigger) => [trigger.function, trigger.body])))
    await tx.query(
      `create function ${schema}.${name}() returns trigger language plpgsql set search_path = ${pathTo(schema, home)}
       as $body$${body}$body$`,
    )
  for (const { table, name, definition, function: calls } of triggers) {
    await tx.query(`drop trigger if exists ${name} on ${schema}.${table}`)
    await tx.query(
      definition
        .replace(/ ON \S+ /, ` ON ${schema}.${table} `)
        .replace(/EXECUTE FUNCTION .*/, `EXECUTE FUNCTION ${schema}.${calls}()`),
    )
  }
  await tx.query(BILLING_ID_TRIGGER(schema, home))
}

const BILLING_ID_TRIGGER = (schema: string, home: string) =>
  `create or replace trigger users_billing_ids after insert or delete or update of billing_id on ${schema}.users
     for each row execute function ${home}.note_billing_id()`

/** A billing id belongs to one user of an app, whichever cell they are in. Moving a user changes nothing. */
const BILLING_IDS = (home: string) => `
create or replace function ${home}.note_billing_id() returns trigger language plpgsql set search_path = ${home} as $$
begin
  if current_setting('tollgate.moving', true) = 'on' then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.billing_id is not null
    and (tg_op = 'DELETE' or new.billing_id is distinct from old.billing_id) then
    delete from user_billing_id where app_id = old.app_id and billing_id = old.billing_id and uid = old.uid;
  end if;
  if tg_op <> 'DELETE' and new.billing_id is not null
    and (tg_op = 'INSERT' or new.billing_id is distinct from old.billing_id) then
    insert into user_billing_id (app_id, billing_id, uid) values (new.app_id, new.billing_id, new.uid)
      on conflict do nothing;
    if not found then
      raise unique_violation using constraint = 'users_billing_id',
        message = 'another user of the app has this billing id';
    end if;
  end if;
  return null;
end $$`
