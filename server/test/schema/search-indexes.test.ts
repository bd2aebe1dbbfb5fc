import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { searchUsers } from '../../src/store/users/search-users.ts'
import { createPlainDatabase } from '../harness/database.ts'

/** Enough that no plan scans the table for want of rows. */
const MANY = 5_001

const silent = pino({ level: 'silent' })
let pool: Pool
let drop: () => Promise<void>
let url: string
beforeAll(async () => {
  const database = await createPlainDatabase()
  drop = database.drop
  url = database.url
  pool = openPool({ connectionString: url }, { max: 2, statementMs: Number.POSITIVE_INFINITY }, silent)
  await pool.query(`insert into app (id, name) values ('a', 'A')`)
  await pool.query(
    `insert into users (app_id, id, name, metadata)
     select 'a', 'u' || i, case when i = 77 then 'Ada Lovelace' end, '{}' from generate_series(1, $1) i`,
    [MANY],
  )
  await pool.query('analyze users')
})
afterAll(async () => {
  await pool?.end()
  await drop?.()
})

const found = async (text: string, db = pool): Promise<string[]> =>
  (await searchUsers(db, 'a', text, null, 9, 9)).map(({ id }) => id)

it('finds a user by the beginning of an id or a name, and by a part of a name', async () => {
  expect(await found('u77')).toContain('u77')
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
