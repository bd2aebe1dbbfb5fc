import pg from 'pg'
import { StartError } from '../../domain/errors.ts'
import { type Connection, PLACE_STATEMENT_MS, type Pool } from './database.ts'
import { ONE_PLACE } from './places.ts'
import { ServiceClient, setIfDirect } from './service-client.ts'
import type { DatabaseSetting } from './start-problems.ts'

/** Settings that COPY text depends on, and no time limit, because big tables take long. */
const SETTINGS = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  extra_float_digits: '1',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  synchronize_seqscans: 'off',
}

/** Connections for operators' tools. `searchPath` selects one of several cells. */
export function openToolPool(connection: Connection, setting: DatabaseSetting, searchPath?: string): Pool {
  const inCell = { search_path: searchPath ?? '', statement_timeout: String(PLACE_STATEMENT_MS) }
  const settings = searchPath === undefined ? SETTINGS : { ...SETTINGS, ...inCell }
  const pool = new ToolPool({
    ...connection,
    Client: ServiceClient,
    max: 4,
    application_name: 'tollgate-tools',
    connectionTimeoutMillis: 30_000,
    keepAlive: true,
    onConnect: async (client) => {
      Object.assign(client, { places: ONE_PLACE.ofSession(client as pg.PoolClient, pool.places) })
      if (await setIfDirect(client, settings)) return endWithProcess(client)
      const instead = setting === '--to' ? 'use' : 'set DATABASE_DIRECT_URL to'
      throw new StartError(
        `${setting} points to a connection pooler, but this command requires a session: ${instead} the address of PostgreSQL itself.`,
      )
    },
  })
  pool.on('error', () => {})
  return pool as Pool
}

class ToolPool extends pg.Pool {
  readonly places = ONE_PLACE.ofPool(this)
}

/** How often PostgreSQL checks, during a statement, whether the client is still connected. */
const LOOK_FOR_US_MS = 1_000
const INVALID_VALUE = '22023'

/**
 * Makes PostgreSQL stop a statement soon after the client process is gone. Otherwise a statement that takes minutes
 * continues, and the next attempt waits for rows that it will roll back.
 */
async function endWithProcess(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(`set client_connection_check_interval = ${LOOK_FOR_US_MS}`)
  } catch (error) {
    // PostgreSQL on Windows does not support it.
    if (!(error instanceof pg.DatabaseError) || error.code !== INVALID_VALUE) throw error
  }
}
