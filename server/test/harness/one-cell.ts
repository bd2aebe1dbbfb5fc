import { TEST_CELLS } from './cells-by-hand.ts'
import { rowsOf } from './database.ts'

/** Where names lead to, for a pool and for a session of its own. */
interface InOneCell {
  pool: { searchPath?: string }
  session: { options?: string }
}

/**
 * Has all users of a database be in one cell, for tests of what is done in a cell. To be called before there are users.
 */
export async function inOneCell(url: string): Promise<InOneCell> {
  if (TEST_CELLS === 1) return { pool: {}, session: {} }
  await rowsOf({ connectionString: url }, 'update cell_bucket set cell = 1')
  await rowsOf({ connectionString: url }, 'update app set version = version + 1')
  return { pool: { searchPath: 'c1,public' }, session: { options: '-c search_path=c1,public' } }
}

/** The tables of this name: one, or one for each cell. */
export async function tablesNamed(url: string, table: string): Promise<string[]> {
  const found = await rowsOf<{ name: string }>(
    { connectionString: url },
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = $1 and c.relkind in ('r', 'p') order by 1`,
    [table],
  )
  return found.map(({ name }) => name)
}

/** The schema with the tables of a user. */
export async function schemaOfUser(url: string, appId: string, userId: string): Promise<string> {
  const [found] = await rowsOf<{ schema: string }>(
    { connectionString: url },
    'select c.schema from cell c join cell_bucket b on b.cell = c.id where b.bucket = bucket_of($1, $2)',
    [appId, userId],
  )
  return found?.schema ?? 'public'
}
