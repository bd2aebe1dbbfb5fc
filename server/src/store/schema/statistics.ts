import type { HomeDb } from '../connection/places.ts'
import { TABLES } from './tables.ts'

/** With fewer rows, any plan is fast. */
const FEW_ROWS = 500

/** Tables that have more than doubled since they were last analyzed, in all cells. */
export async function grownTables(db: HomeDb): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
     where c.relnamespace in (select current_schema()::regnamespace union all select schema::regnamespace from cell)
       and (c.relname = any($1) or c.relname like 'usage_ledger%') and c.relkind = 'r'
       and s.n_live_tup > 2 * greatest(c.reltuples, $2) and pg_has_role(c.relowner, 'usage')
     order by 1`,
    [TABLES, FEW_ROWS],
  )
  return rows.map(({ name }) => name)
}

/** Skipped if another process is analyzing the table, or holds a lock on it. */
export async function analyze(db: HomeDb, table: string): Promise<void> {
  await db.query(`analyze (skip_locked) ${table}`)
}
