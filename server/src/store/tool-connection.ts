import pg from 'pg'
import type { Connection, Pool } from './database.ts'

/**
 * The settings that COPY text depends on, and no time limit: a big table takes as long as it takes. Set by statement,
 * since a pooler may drop startup options.
 */
const SETTINGS = `set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set bytea_output = 'hex'; set client_encoding = 'UTF8'; set extra_float_digits = 1;
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0;
  set synchronize_seqscans = off`

/** Connections for backup, restore and move. */
export function openToolPool(connection: Connection): Pool {
  const pool = new pg.Pool({
    ...connection,
    max: 4,
    application_name: 'tollgate-tools',
    connectionTimeoutMillis: 30_000,
    keepAlive: true,
    onConnect: async (client) => {
      await client.query(SETTINGS)
    },
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
