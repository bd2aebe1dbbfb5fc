import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addCells } from '../../src/operations/upkeep/cells.ts'
import { openPool } from '../../src/store/connection/database.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import type { Client } from '../harness/client.ts'
import { createPlainDatabase, directly, rowsOf, type TestDatabase } from '../harness/database.ts'
import { tablesNamed } from '../harness/one-cell.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'

// A missing table or column is a fault of the installation. It must be logged and answered as an internal error, never
// as contention that a retry would resolve.

const RECORD = `mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { recorded } }`
const RECORD_KEYED = `mutation {
  recordUsage(input: { userId: "ann", featureId: "call", delta: 1, idempotencyKey: "event" }) { recorded }
}`
const CHECK = '{ canUseFeature(userId: "ann", featureId: "call") { access } }'

interface Fault {
  table: string
  from: string
  to: string
}

describe.each([{ cells: 1 }, { cells: 2 }])('gap: schema faults, cells: $cells', ({ cells }) => {
  const logged: { level: number; err?: { code?: string } }[] = []
  let database: TestDatabase
  let server: TestServer
  let keyed: Client
  beforeAll(async () => {
    database = await createPlainDatabase()
    const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) })
    server = await startTestServer({ databaseUrl: database.url, log })
    const pool = openPool({ connectionString: directly(database.url) }, { max: 1 }, pino({ level: 'silent' }))
    if (cells > 1) await addCells(pool, cells - 1, () => {})
    await pool.end()
    await publishPackage({ id: 'default', ...server }, 'plan', { call: { limit: 10 } })
    await createUsers(server.admin, ['ann'])
    await server.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
    await server.admin.data(RECORD)
    keyed = server.admin.with({ 'Idempotency-Key': 'request' })
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })
  beforeEach(() => {
    logged.length = 0
  })

  /** Renames a column in every cell. */
  async function rename({ table, from, to }: Fault): Promise<void> {
    for (const name of await tablesNamed(database.url, table))
      await rowsOf({ connectionString: database.url }, `alter table ${name} rename column ${from} to ${to}`)
  }

  it.each<[what: string, fault: Fault, ask: () => ReturnType<Client['ask']>]>([
    [
      'recordUsage that cannot write',
      { table: 'usage_ledger', from: 'recorded_at', to: 'missing' },
      () => server.admin.ask(RECORD),
    ],
    [
      'recordUsage that cannot read',
      { table: 'usage_counter', from: 'used', to: 'missing' },
      () => server.admin.ask(RECORD),
    ],
    [
      'recordUsage in a transaction',
      { table: 'usage_ledger', from: 'recorded_at', to: 'missing' },
      () => keyed.ask(RECORD_KEYED),
    ],
    ['canUseFeature', { table: 'usage_counter', from: 'used', to: 'missing' }, () => server.admin.ask(CHECK)],
  ])('%s: an internal error, logged once', async (_, fault, ask) => {
    await rename(fault)
    const { errors } = await ask()
    await rename({ ...fault, from: fault.to, to: fault.from })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL_SERVER_ERROR'])
    expect(logged.map(({ err }) => err?.code)).toEqual(['42703'])
    // Nothing is left behind: once the schema is repaired, the same call succeeds.
    expect((await ask()).errors).toBeUndefined()
  })

  const sql = (text: string) => rowsOf({ connectionString: database.url }, text)

  it('a missing table is an internal error too', async () => {
    const tables = await tablesNamed(database.url, 'usage_ledger')
    for (const name of tables) await sql(`alter table ${name} rename to missing`)
    const { errors } = await server.admin.ask(RECORD)
    for (const name of tables)
      await sql(`alter table ${name.replace('usage_ledger', 'missing')} rename to usage_ledger`)
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL_SERVER_ERROR'])
    // Where a cell lacks the table, its name leads to the view over all cells, which takes no rows.
    expect(logged.map(({ err }) => err?.code)).toEqual([cells === 1 ? '42P01' : '55000'])
  })

  it.each([
    { how: 'by itself', ask: () => server.admin.ask(RECORD) },
    {
      how: 'in a transaction',
      ask: () => keyed.with({ 'Idempotency-Key': 'other' }).ask(RECORD_KEYED.replace('"event"', '"other"')),
    },
  ])('a missing partition of the ledger is an internal error too, $how', async ({ ask }) => {
    const partitions = await tablesNamed(database.url, 'usage_ledger_0')
    const ledgerOf = (partition: string) => partition.replace('_0', '')
    for (const name of partitions) await sql(`alter table ${ledgerOf(name)} detach partition ${name}`)
    const { errors } = await ask()
    for (const name of partitions)
      await sql(
        `alter table ${ledgerOf(name)} attach partition ${name} for values from (minvalue) to (1099511627776)`,
      )
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL_SERVER_ERROR'])
    expect(logged.map(({ err }) => err?.code)).toEqual(['23514'])
    expect((await ask()).errors).toBeUndefined()
  })
})
