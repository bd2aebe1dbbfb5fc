import pg from 'pg'
import { startEmbeddedPostgres } from '../server/src/embedded-postgres/start.ts'
import { atEnd, refuseIfEnding } from './cleanup.ts'

export interface Postgres {
  /** for pgbench */
  host: string
  port: number
  user: string
  password: string
  version: string
  urlOf(database: string): string
}

/** pgbench at 256 clients and the servers side by side; the embedded PostgreSQL is set up for fewer. */
const CONNECTIONS = 400

/** Runs the embedded PostgreSQL as the server would: its own settings but for the number of connections. */
export async function startPostgres(dataDir: string): Promise<Postgres> {
  const first = await launch(dataDir)
  const enough = await withClient(first.urlOf('postgres'), async (client) => {
    const { rows } = await client.query<{ max_connections: string }>('show max_connections')
    if (Number(rows[0]?.max_connections) >= CONNECTIONS) return true
    await client.query(`alter system set max_connections = ${CONNECTIONS}`)
    return false
  })
  if (enough) return first
  await first.stop()
  return launch(dataDir)
}

async function launch(dataDir: string): Promise<Postgres & { stop(): Promise<void> }> {
  refuseIfEnding()
  const starting = startEmbeddedPostgres({ dataDir, log: () => {} })
  const stop = atEnd(async () => (await starting).stop())
  const { host, port, user, password } = (await starting).admin
  const urlOf = (database: string) =>
    `postgresql://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  const version = await withClient(urlOf('postgres'), async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version ?? 'unknown'
  })
  return { host, port, user, password, version, urlOf, stop }
}

/** Lends a connection for as long as `work` takes. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // The waiting query reports a broken connection; without a listener it would also end the process.
  client.on('error', () => {})
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
