import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildSearch } from '../../src/operations/upkeep/build-search.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { stateOfIndex } from '../../src/store/schema/search-indexes.ts'
import { searchUsers } from '../../src/store/users/search-users.ts'
import { createEmptyDatabase } from '../harness/database.ts'

// A large installation is upgraded: the search works at once as far as there are indexes for it, and whole once they
// are built, beside everything else.

/** More than a migration indexes while everything waits for it. */
const MANY = 5_001

const silent = pino({ level: 'silent' })
let pool: Pool
let drop: () => Promise<void>
let url: string
beforeAll(async () => {
  const database = await createEmptyDatabase()
  drop = database.drop
  url = database.url
  pool = openPool(
    { connectionString: database.url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    silent,
  )
  await migrate(pool, '015-erasure')
  await pool.query(`insert into app (id, name) values ('a', 'A')`)
  await pool.query(
    `insert into users (app_id, id, name, metadata)
     select 'a', 'u' || i, case when i = 77 then 'Ada Lovelace' end, '{}' from generate_series(1, $1) i`,
    [MANY],
  )
  await migrate(pool)
})
afterAll(async () => {
  await pool?.end()
  await drop?.()
})

const found = async (text: string, db = pool): Promise<string[]> =>
  (await searchUsers(db, 'a', text, null, 9, 9)).map(({ id }) => id)

it('finds beginnings of ids, and nothing by a scan, until the indexes are built', async () => {
  expect(await stateOfIndex(pool, 'users_by_part')).toBe('missing')
  expect(await found('u77')).toContain('u77')
  expect(await found('ada')).toEqual([])
  expect(await found('lovelace')).toEqual([])
})

it('finds parts of names once they are built, also after a build that was cut short', async () => {
  await pool.query('create index concurrently users_by_part on users (name)')
  await pool.query(`update pg_index set indisvalid = false where indexrelid = 'users_by_part'::regclass`)
  expect(await stateOfIndex(pool, 'users_by_part')).toBe('broken')
  expect(await found('lovelace')).toEqual([])

  const never = new AbortController().signal
  await Promise.all([buildSearch(pool, silent, never, 10), buildSearch(pool, silent, never, 10)])
  expect(await found('ada')).toEqual(['u77'])
  expect(await found('lovelace')).toEqual(['u77'])
})

const scans = async () => {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query<{ scans: number }>(
    `select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'users_by_part'`,
  )
  return rows[0]?.scans ?? 0
}

it.each([
  false,
  true,
])('reads the index of parts where keyLookups is %s, and only if there is room', async (keyLookups) => {
  const one = openPool({ connectionString: url }, { max: 1, keyLookups }, silent)
  try {
    const before = await scans()
    for (let i = 0; i < 8; i++) expect(await found('lovelace', one)).toEqual(['u77'])
    await one.query('select pg_stat_force_next_flush()')
    expect(await scans()).toBe(before + 8)
    expect(await found('u77', one)).toHaveLength(9)
    await one.query('select pg_stat_force_next_flush()')
    expect(await scans()).toBe(before + 8)
  } finally {
    await one.end()
  }
})

it('stops when it is told to', async () => {
  await pool.query('drop index users_by_part')
  await buildSearch(pool, silent, AbortSignal.abort(), 60_000)
  expect(await stateOfIndex(pool, 'users_by_part')).toBe('missing')
})
