import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPool, type Pool, type Tx } from '../../src/store/connection/database.ts'
import { Prepared } from '../../src/store/connection/prepared.ts'
import { createDatabase, directly, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let pool: Pool
let client: Tx
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool({ connectionString: directly(database.url) }, { max: 2 }, pino({ level: 'silent' }))
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})
beforeEach(async () => {
  client = await pool.connect()
})
afterEach(() => client.release(true))

const ECHO = new Prepared<[text: string | null, number: string]>(
  'echo',
  'select a, n from unnest($1::text[]) with ordinality as e (a, n)',
)
const DIVIDE = new Prepared<[string]>('divide', 'select 12 / $1::int')

describe('a prepared statement', () => {
  it('answers with the texts of its rows, in their order', async () => {
    expect(await ECHO.run(client, ['{ä,NULL,"",💶}'])).toEqual([
      ['ä', '1'],
      [null, '2'],
      ['', '3'],
      ['💶', '4'],
    ])
    expect(await ECHO.run(client, ['{}'])).toEqual([])
    expect(await ECHO.run(client, [null])).toEqual([])
  })

  it('accepts any text as a value', async () => {
    const same = new Prepared<[string | null, string]>('same', 'select $1::text, $2::text')
    const wellFormed = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.replaceAll('\0', ''))
    await fc.assert(
      fc.asyncProperty(fc.option(wellFormed), wellFormed, async (a, b) => {
        expect(await same.run(client, [a, b])).toEqual([[a, b]])
      }),
    )
    await expect(same.run(client, ['\0', ''])).rejects.toMatchObject({ code: '22021' })
    const long = 'ü'.repeat(1_000_000)
    expect(await same.run(client, [long, ''])).toEqual([[long, '']])
  })

  it('is prepared once on each connection', async () => {
    const other = await pool.connect()
    for (const one of [client, other, client, other, client]) await ECHO.run(one, ['{a}'])
    const preparedOn = async (one: Tx) => {
      const { rows } = await one.query(
        `select generic_plans + custom_plans as runs from pg_prepared_statements where name = 'echo'`,
      )
      return rows
    }
    expect([await preparedOn(client), await preparedOn(other)]).toEqual([[{ runs: 3 }], [{ runs: 2 }]])
    other.release(true)
  })

  it('fails alone when PostgreSQL refuses it, at the first time as later', async () => {
    for (let time = 0; time < 2; time++) {
      await expect(DIVIDE.run(client, ['0'])).rejects.toMatchObject({ code: '22012' })
      await expect(DIVIDE.run(client, ['three'])).rejects.toMatchObject({ code: '22P02' })
      expect(await DIVIDE.run(client, ['3'])).toEqual([['4']])
    }
  })

  it('fails each time when it is no statement, and leaves the connection usable', async () => {
    const wrong = new Prepared('wrong', 'select from nowhere')
    for (let time = 0; time < 2; time++) {
      await expect(wrong.run(client, [])).rejects.toMatchObject({ code: '42P01' })
    }
    expect(await DIVIDE.run(client, ['4'])).toEqual([['3']])
  })

  it('fails when its connection is lost under it, and when it is gone already', async () => {
    const sleep = new Prepared('sleep', 'select pg_sleep($1::int)')
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const failed = sleep.run(client, ['60']).catch((error: unknown) => error)
    await pool.query('select pg_terminate_backend($1::int)', [rows[0]?.pid])
    expect(await failed).toBeInstanceOf(Error)
    await expect(sleep.run(client, ['0'])).rejects.toThrow()
  })
})
