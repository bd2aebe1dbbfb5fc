import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openPool } from '../../src/store/connection/database.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { connectedServices } from '../../src/store/schema/tables.ts'
import { createDatabase, directly, withConnection } from '../harness/database.ts'
import { openStore } from '../harness/store.ts'

it('nothing ends a connection for work without a bound, not even a transaction that waits', async () => {
  const store = await openStore({ statementMs: Number.POSITIVE_INFINITY })
  const { rows } = await store.pool.query(
    `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
       current_setting('idle_in_transaction_session_timeout') as idle`,
  )
  await store.close()
  expect(rows).toEqual([{ statement: '0', lock: '0', idle: '0' }])
})

it('only connections of a service are taken for one', async () => {
  const database = await createDatabase()
  const psql = { connectionString: directly(database.url), application_name: 'psql' }
  await withConnection(psql, async (asking) => {
    await withConnection(psql, async () =>
      expect(await connectedServices(asking as unknown as HomeDb)).toBe(0),
    )
    const log = pino({ level: 'silent' })
    const pool = openPool({ connectionString: psql.connectionString }, { max: 1 }, log)
    await pool.query('select')
    expect(await connectedServices(asking as unknown as HomeDb)).toBe(1)
    await pool.end()
  })
  await database.drop()
})
