import { pino } from 'pino'
import { addCells, evenly, moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { CELL_TABLES } from '../../src/store/cells/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { functionWriting } from '../../src/store/cells/remote-cells.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { publishPackage, type TestApp } from './catalogue.ts'
import type { Client } from './client.ts'
import { createPlainDatabase, directly } from './database.ts'
import { startTestServer, type TestServer } from './server.ts'

const quiet = () => {}

/** For moves that nobody watches or stops. */
export const MOVING = { stopping: new AbortController().signal, progress: quiet, waiting: quiet }

/** Two servers on one database, and what a test asks of them and of the cells. */
export interface CellServers {
  servers: [TestServer, TestServer]
  /** past the servers */
  pool: Pool
  app: TestApp
  /** The cells that have such a row. */
  cellsWith(table: string, condition: string): Promise<string[]>
  cellsOfUser(id: string): Promise<string[]>
  record(client: Client, userId: string, delta?: number): Promise<number>
  usedBy(client: Client, userId: string): Promise<number>
  spread(cells: number): Promise<void>
  close(): Promise<void>
}

/** On a database with one cell, unless another is given. */
export async function openCellServers(creating = createPlainDatabase()): Promise<CellServers> {
  const database = await creating
  const one = await startTestServer({ databaseUrl: database.url })
  const other = await startTestServer({ databaseUrl: one.databaseUrl })
  const pool = openPool(
    { connectionString: directly(one.databaseUrl) },
    { max: 4, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  const app = { id: 'default', admin: one.admin, dashboard: one.dashboard.of('default') }
  await publishPackage(app, 'plan', { call: { limit: 1_000_000, resetPeriod: 'MONTH' } })
  await publishPackage(app, 'more', { call: { limit: 10 } }, true)
  const cellsWith = async (table: string, condition: string) => {
    const { rows } = await pool.query<{ schema: string }>('select schema from cell order by id')
    const found: string[] = []
    for (const { schema } of rows) {
      const { rowCount } = await pool.query(`select 1 from ${schema}.${table} where ${condition} limit 1`)
      if (rowCount) found.push(schema)
    }
    return found
  }
  return {
    servers: [one, other],
    pool,
    app,
    cellsWith,
    cellsOfUser: (id) => cellsWith('users', `app_id = 'default' and id = '${id}'`),
    async record(client, userId, delta = 1) {
      const recordUsage = await client.call('recordUsage { consumption { used } }', {
        input: { userId, featureId: 'call', delta },
      })
      return recordUsage.consumption.used
    },
    async usedBy(client, userId) {
      const canUseFeature = await client.call('canUseFeature { consumption { used } }', {
        userId,
        featureId: 'call',
      })
      return canUseFeature.consumption.used
    },
    async spread(cells) {
      await addCells(pool, cells - 1, quiet)
      await moveBuckets(pool, evenly(await readBuckets(pool), cells), MOVING)
    },
    async close() {
      await pool.end()
      await other.stop()
      await one.stop()
      await database.drop()
    },
  }
}

/** Connections on which names lead to each of the cells, as those have who look after the ledgers. */
export async function openLedgers({ pool, servers }: CellServers): Promise<[Pool, ...Pool[]]> {
  const { rows } = await pool.query<{ schema: string }>('select schema from cell order by id')
  return rows.map(({ schema }) =>
    openPool(
      { connectionString: directly(servers[0].databaseUrl) },
      { max: 3, statementMs: Number.POSITIVE_INFINITY, searchPath: `${schema}, public` },
      pino({ level: 'silent' }),
    ),
  ) as [Pool, ...Pool[]]
}

/**
 * Has the service treat the second cell as one on another server, without Citus: the function that writes usage there, the
 * names under which it is read, and the note that it is remote.
 */
export async function pretendRemote(pool: Pool): Promise<void> {
  const views = CELL_TABLES.map((table) => `create view c1_remote.${table} as select * from c1.${table}`)
  await pool.query(`create schema c1_remote; ${views.join('; ')}`)
  await pool.query(functionWriting('c1'))
  await pool.query(`update cell set remote = true where schema = 'c1'; update app set version = version + 1`)
}
