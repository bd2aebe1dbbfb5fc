import { StartError } from '../../domain/errors.ts'
import type { Pool, Tx } from './database.ts'
import { isPooled } from './service-client.ts'
import { type DatabaseSetting, noPreparedStatements, startProblem } from './start-problems.ts'

const CLIENTS = 3
const ROUNDS = 4

/** Whether there is a pooler between this pool and PostgreSQL. Rejects one that lacks what the service needs. */
export async function checkPooler(pool: Pool, setting: DatabaseSetting): Promise<boolean> {
  const clients: Tx[] = []
  try {
    const first = await pool.connect()
    clients.push(first)
    if (!isPooled(first)) return false
    while (clients.length < CLIENTS) clients.push(await pool.connect())
    await tryPrepared(clients, setting)
    return true
  } catch (error) {
    throw startProblem(error, setting) ?? error
  } finally {
    for (const client of clients) client.release()
  }
}

/**
 * Every client prepares another statement under the same name and executes it in several transactions: one after the
 * other, which mostly share a server connection, and concurrently, which do not. The order changes, so that a client
 * does not always get the same server connection.
 */
async function tryPrepared(clients: readonly Tx[], setting: DatabaseSetting): Promise<void> {
  const execute = async (client: Tx, number: number) => {
    await client.query('begin')
    const { rows } = await client.query<{ answer: number }>({
      name: 'tollgate_probe',
      text: `select ${number} as answer`,
    })
    await client.query('commit')
    if (rows[0]?.answer !== number) throw new StartError(noPreparedStatements('another answered', setting))
  }
  const numbered = clients.map((client, number) => [client, number] as const)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [client, number] of numbered) await execute(client, number)
    await Promise.all(numbered.map(([client, number]) => execute(client, number)))
    numbered.reverse()
  }
}

/** Rejects a direct connection that is not direct, or leads to another database. */
export async function checkDirect(direct: Pool, pool: Pool): Promise<void> {
  try {
    const client = await direct.connect()
    const pooled = isPooled(client)
    client.release()
    if (pooled)
      throw new StartError(
        'DATABASE_DIRECT_URL points to a connection pooler. Point it directly to PostgreSQL.',
      )
    const [one, other] = await Promise.all([identity(direct), identity(pool)])
    if (one !== other)
      throw new StartError(
        'DATABASE_DIRECT_URL and DATABASE_URL point to different databases. Point both to the same database.',
      )
  } catch (error) {
    throw startProblem(error, 'DATABASE_DIRECT_URL') ?? error
  }
}

/** Identifies the database and its running server. */
async function identity(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ identity: string }>(
    `select pg_postmaster_start_time()::text || ' ' || current_database() as identity`,
  )
  return rows[0]?.identity ?? ''
}
