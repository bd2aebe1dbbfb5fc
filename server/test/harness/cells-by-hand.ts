import { CELL_TABLES } from '../../src/store/cells/cells.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { CITUS_CELLS } from './citus.ts'

// Tests write rows by hand. Where the run has several cells (TOLLGATE_TEST_CELLS), the tables of users are views, and
// PostgreSQL refuses to write to them, which is how a writer of the service that forgot to enter a cell is found. For a
// session that says that it writes by hand, triggers send each row to the cell of its user instead.

/** Said by a session that does so. */
export const BY_HAND = 'tollgate.by_hand'

/** How many cells the databases of this run have. */
export const TEST_CELLS = process.env.TOLLGATE_TEST_CITUS_URL
  ? CITUS_CELLS
  : Number(process.env.TOLLGATE_TEST_CELLS ?? 1)

/** Lets the connections of a test's own pool write by hand. */
export function writingByHand(pool: Pool): Pool {
  if (TEST_CELLS > 1) pool.on('connect', (client) => void client.query(`set ${BY_HAND} = on`).catch(() => {}))
  return pool
}

export async function allowWritingByHand(pool: Pool): Promise<void> {
  await pool.query(WRITE_TO_CELL)
  for (const table of CELL_TABLES) {
    const { rows } = await pool.query<{ column: string; value: string }>(DEFAULTS, [`c0.${table}`])
    for (const { column, value } of rows)
      await pool.query(`alter view ${table} alter column ${column} set default ${value}`)
    await pool.query(
      `create trigger by_hand instead of insert or update or delete on ${table}
         for each row execute function write_to_cell()`,
    )
  }
}

const DEFAULTS = `
  select a.attname as column,
    coalesce(pg_get_expr(d.adbin, d.adrelid),
      format('nextval(%L)', pg_get_serial_sequence(a.attrelid::regclass::text, a.attname))) as value
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1::regclass and a.attnum > 0 and (d.oid is not null or a.attidentity <> '')`

const WRITE_TO_CELL = `
create function write_to_cell() returns trigger language plpgsql as $$
declare
  known jsonb := to_jsonb(new);
  user_id text;
  target text;
  columns text;
  given text;
  key text;
  made record;
begin
  if coalesce(current_setting('${BY_HAND}', true), '') <> 'on' then
    raise object_not_in_prerequisite_state
      using message = format('cannot write to view "%s"', tg_table_name);
  end if;
  if tg_table_name = 'users' then
    user_id := known->>'id';
  elsif known ? 'user_uid' then
    select id into user_id from users where app_id = known->>'app_id' and uid = (known->>'user_uid')::bigint;
  end if;
  -- A number that PostgreSQL gave stays as it is. Values are part of the statement: another server has no type of these views.
  select string_agg(quote_ident(attname), ', ' order by attnum),
      string_agg(format('%L::%s', known->>attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
    into columns, given
    from pg_attribute where attrelid = format('c0.%I', tg_table_name)::regclass and attnum > 0 and not attisdropped
      and (tg_op = 'INSERT' or attidentity <> 'a');
  select string_agg(format('t.%I = %L::%s', a.attname, to_jsonb(old)->>a.attname, format_type(a.atttypid, a.atttypmod)), ' and ')
    into key
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
    where i.indrelid = format('c0.%I', tg_table_name)::regclass and i.indisprimary;
  -- Which partitions there are is known to each cell; any other row is in one of them.
  for target in
    select format('%I.%I', c.schema, tg_table_name) from cell c
    where tg_op <> 'INSERT' or tg_table_name = 'ledger_partition'
      or c.id = coalesce((select cell from cell_bucket where bucket = bucket_of(known->>'app_id', user_id)), 0)
  loop
    if tg_op = 'INSERT' then
      execute format('insert into %s (%s) overriding system value values (%s) returning %s', target, columns, given, columns)
        into made;
    elsif tg_op = 'UPDATE' then
      execute format('update %s t set (%s) = row(%s) where %s', target, columns, given, key);
    else
      execute format('delete from %s t where %s', target, key);
    end if;
  end loop;
  if tg_op = 'DELETE' then
    return old;
  elsif tg_op = 'UPDATE' then
    return new;
  end if;
  return made;
end $$`
