import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { appliedMigrations, isMigrated, migrate, whileOthersWait } from '../../src/store/schema/migrate.ts'
import { MIGRATION_FILES } from '../../src/store/schema/migration-files.ts'
import { TABLES } from '../../src/store/schema/tables.ts'
import { createEmptyDatabase, directly, untilSomebodyWaits } from '../harness/database.ts'

// Upgrades start from 0.1.0 and only add: every row stays as it is, and processes of 0.1.0 keep working on the new schema
// until they are replaced.

const BASELINE = '001-baseline'
const ROWS = readFileSync(new URL('./baseline-rows.sql', import.meta.url), 'utf8')
/** Tables that are not backed up. Another one never has a row. */
const OF_CELLS = ['cell', 'cell_bucket', 'user_billing_id']
const hasRows = (table: string) => table !== 'remote_work'

const cleanups: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function emptyDatabase(): Promise<Pool & { url: string; another(): Pool }> {
  const database = await createEmptyDatabase()
  cleanups.push(database.drop)
  const url = directly(database.url)
  const open = () => {
    const pool = openPool(
      { connectionString: url },
      { max: 2, statementMs: Number.POSITIVE_INFINITY },
      pino({ level: 'silent' }),
    )
    cleanups.push(() => pool.end())
    return pool
  }
  return Object.assign(open(), { url, another: open })
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the migrations', () => {
  it('are numbered from 001, without gaps', () => {
    const numbers = Object.keys(MIGRATION_FILES).map((name) => /^(\d{3})-[a-z0-9-]+$/.exec(name)?.[1])
    expect(numbers).toEqual(numbers.map((_, i) => String(i + 1).padStart(3, '0')))
  })

  it('begin with the baseline of 0.1.0, which does not change: add a file instead', () => {
    expect(sha256(MIGRATION_FILES[BASELINE] ?? '')).toBe(
      'a46823505f8d2b12541eea88f8487cfff129467757565364ac388140370e9114',
    )
    expect(sha256(ROWS)).toBe('40b89477ba3dfdfd6ad3bf8c59e0bd34ce281fd036cf50756806c815f7fe5233')
  })

  it('keep every row of the baseline, and accept what a process of 0.1.0 still writes', async () => {
    const pool = await emptyDatabase()
    await migrate(pool, { to: BASELINE })
    const columns = await columnsOf(pool)
    await writeRows(pool, 'first')
    const before = await rowsIn(pool, columns)
    const filled = Object.keys(before).filter((table) => before[table]?.length !== 0)
    // Later tables are not in it.
    expect(filled.sort()).toEqual(Object.keys(columns).filter(hasRows).sort())
    expect([...TABLES, ...OF_CELLS]).toEqual(expect.arrayContaining(filled))

    await migrate(pool)
    expect(await isMigrated(pool)).toBe(true)
    expect(await rowsIn(pool, columns)).toEqual(before)
    await writeRows(pool, 'second')
    const after = await rowsIn(pool, columns)
    for (const table of ['users', 'subscription', 'usage_ledger', 'payment'])
      expect(after[table]).toHaveLength(2)
  })

  it('make the price that was charged by default the default one', async () => {
    const pool = await emptyDatabase()
    await migrate(pool, { to: BASELINE })
    await pool.query(`insert into app (id, name) values ('shop', 'Shop')`)
    for (const id of ['plan', 'extra', 'unsold'])
      await pool.query(
        `insert into package (app_id, id, name, is_addon, metadata, updated_at) values ('shop', $1, $1, false, '{}', now())`,
        [id],
      )
    for (const [id, packageId, archivedAt] of [
      ['month', 'plan', null],
      ['year', 'plan', null],
      ['old', 'plan', '2026-01-02Z'],
      ['once', 'extra', null],
      ['gone', 'unsold', '2026-01-02Z'],
    ])
      await pool.query(
        `insert into price (app_id, provider, id, package_id, amount, currency, archived_at)
         values ('shop', 'sandbox', $1, $2, 900, 'usd', $3)`,
        [id, packageId, archivedAt],
      )
    await migrate(pool)
    const { rows } = await pool.query<{ id: string }>(`select id from price where is_default order by id`)
    expect(rows.map(({ id }) => id)).toEqual(['once', 'year'])
  })
})

async function writeRows(pool: Pool, app: string): Promise<void> {
  await pool.query(
    ROWS.replaceAll(/^--.*$/gm, '')
      .replaceAll(':app', `'${app}'`)
      .replaceAll(':hash', `sha256('${app}')`),
  )
}

/** The tables, without partitions, with their columns. */
async function columnsOf(pool: Pool): Promise<Record<string, string[]>> {
  const { rows } = await pool.query<{ table: string; columns: string[] }>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and c.relname <> 'schema_migration'
     group by 1`,
  )
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

async function rowsIn(pool: Pool, columns: Record<string, string[]>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [table, names] of Object.entries(columns)) {
    const list = names.map((name) => `"${name}"`).join(', ')
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from (select ${list} from "${table}") t order by 1`,
    )
    found[table] = rows.map(({ row }) => row)
  }
  return found
}

describe('migrating', () => {
  const FILES = {
    '001-first': 'create table made (id int); insert into made values (1)',
    '002-second': 'alter table made add more int default 2',
  }

  it('applies what is missing, in order, and says what it is doing', async () => {
    const pool = await emptyDatabase()
    const told: string[] = []
    const applying = (name: string) => void told.push(name)
    await migrate(pool, { files: FILES, to: '001-first', applying })
    expect(await appliedMigrations(pool)).toEqual(['001-first'])
    await migrate(pool, { files: FILES, to: '002-second', applying })
    await migrate(pool, { files: FILES, to: '002-second', applying })
    expect(told).toEqual(['001-first', '002-second'])
    expect((await pool.query('select * from made')).rows).toEqual([{ id: 1, more: 2 }])
  })

  it('applies a migration completely or not at all', async () => {
    const pool = await emptyDatabase()
    const broken = { ...FILES, '002-second': 'alter table made add more int; select 1 / 0' }
    await expect(migrate(pool, { files: broken, to: '002-second' })).rejects.toThrow('division by zero')
    expect(await appliedMigrations(pool)).toEqual(['001-first'])
    await migrate(pool, { files: FILES, to: '002-second' })
    expect(await appliedMigrations(pool)).toEqual(['001-first', '002-second'])
  })

  it('waits for a table that is in use, without holding up others', async () => {
    const pool = await emptyDatabase()
    await migrate(pool, { files: FILES, to: '001-first' })
    const reader = await pool.another().connect()
    await reader.query('begin; select from made')
    const migrating = migrate(pool, { files: FILES, to: '002-second' })
    await untilSomebodyWaits(pool.url)
    const other = pool.another()
    // Nobody gets past a transaction that waits, until it gives up.
    expect((await other.query('insert into made values (2)')).rowCount).toBe(1)
    expect(await appliedMigrations(other)).toEqual(['001-first'])
    await reader.query('commit')
    reader.release()
    await migrating
    expect(await appliedMigrations(pool)).toEqual(['001-first', '002-second'])
  })
})

describe('several processes that start at once', () => {
  it('migrate once', async () => {
    const pool = await emptyDatabase()
    const applied: string[] = []
    const starts = Array.from({ length: 5 }, () => pool.another())
    await Promise.all(
      starts.map((each) =>
        whileOthersWait(each, () => migrate(each, { applying: (name) => void applied.push(name) })),
      ),
    )
    expect(applied).toEqual(Object.keys(MIGRATION_FILES))
    expect(await isMigrated(pool)).toBe(true)
  })

  it('wait for the first one, but not forever', async () => {
    const pool = await emptyDatabase()
    const [first, second] = [pool.another(), pool.another()]
    let waited = 0
    let changed = 0
    const change = async () => void changed++
    const waiting = () => void waited++
    await whileOthersWait(first, async () => {
      const failed = whileOthersWait(second, change, { waiting, attempts: 3, ms: 20 })
      await expect(failed).rejects.toThrow(StartError)
      await expect(failed).rejects.toThrow(/^Another process has been changing the schema/)
    })
    expect({ waited, changed }).toEqual({ waited: 3, changed: 0 })
    await whileOthersWait(second, change, { waiting, attempts: 3, ms: 20 })
    expect({ waited, changed }).toEqual({ waited: 3, changed: 1 })
  })
})
