import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, vi } from 'vitest'
import { BY_HAND } from './cells-by-hand.ts'
import { copyCluster, dropCluster } from './citus.ts'
import { PATIENCE_MS } from './patience.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** A new database with the current schema, copied in a fraction of the time of migrating. */
export const createDatabase = (): Promise<TestDatabase> => copyOf(inject('schemaDatabase'))

/** The same with one cell, beside all other tables, however many the run has. */
export const createPlainDatabase = (): Promise<TestDatabase> => copyOf(inject('plainDatabase'))

/** A new, empty database, as the very first start finds it. */
export const createEmptyDatabase = (): Promise<TestDatabase> => copyOf('template1')

async function copyOf(template: string): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const cluster = inject('clusterUrls')
  if (cluster.length > 0 && template === inject('schemaDatabase')) {
    await copyCluster(cluster, template, name)
    const url = new URL(server)
    url.pathname = `/${name}`
    return { url: url.href, drop: () => dropCluster(cluster, name) }
  }
  // Copying the files takes a third of the time that the log of every page would.
  await once(server, `create database ${name} template ${template} strategy file_copy`)
  const url = new URL(inject('poolerUrl') || server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => once(server, `drop database if exists ${name} with (force)`) }
}

/** The same database, past the pooler if the tests run through one. */
export function directly(url: string): string {
  const pooler = inject('poolerUrl')
  if (!pooler || !URL.canParse(url) || new URL(url).host !== new URL(pooler).host) return url
  const direct = new URL(inject('postgresUrl'))
  direct.pathname = new URL(url).pathname
  return direct.href
}

/** What a service on it needs beside DATABASE_URL. */
export function directSetting(url: string): Record<string, string> {
  const direct = directly(url)
  return direct === url ? {} : { DATABASE_DIRECT_URL: direct }
}

async function once(url: string, sql: string): Promise<void> {
  await rowsOf({ connectionString: url }, sql)
}

/** For a connection that writes many rows which are not events: other systems are not told of them. */
export const UNREPORTED = { options: '-c tollgate.events=off' }

/** The rows of a statement, on a separate connection that bypasses the service. */
export const rowsOf = <Row extends pg.QueryResultRow>(
  connection: pg.ClientConfig,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> => withConnection(connection, async (client) => (await client.query<Row>(sql, values)).rows)

/** Lends a connection that bypasses the service. */
export async function withConnection<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { connectionString = '' } = connection
  const past = connectionString ? { connectionString: directly(connectionString) } : {}
  const client = new pg.Client({
    ...connection,
    ...past,
    options: [connection.options, '-c timezone=UTC', `-c ${BY_HAND}=on`].filter(Boolean).join(' '),
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Of the current database: who waits for a lock. */
export const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Waits until somebody in this database waits for a lock. */
export const untilSomebodyWaits = (connectionString: string): Promise<boolean> =>
  vi.waitUntil(async () => (await rowsOf({ connectionString }, WAITING)).length > 0, PATIENCE_MS)
