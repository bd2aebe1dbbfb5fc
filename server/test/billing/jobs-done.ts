import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { directly } from '../harness/database.ts'

/** One connection per database, since tests call this after most of their steps. It ends with its database. */
const connections = new Map<string, Promise<pg.Client>>()

/** Waits until nothing is to be done in the background: no job in hand or due, no notice unread. */
export async function jobsDone(databaseUrl: string): Promise<void> {
  while ((await waitingJobs(databaseUrl)) > 0) await delay(10)
}

async function waitingJobs(url: string, again = true): Promise<number> {
  try {
    const { rows } = await (await connectionTo(url)).query<{ waiting: string }>({
      // Prepared: planning it takes most of its time, and it is asked thousands of times.
      name: 'waiting-jobs',
      text: `select (select count(*) from graphile_worker.jobs where attempts < max_attempts and run_at <= now())
            + (select count(*) from graphile_worker.jobs where locked_at is not null) as waiting`,
    })
    return Number(rows[0]?.waiting)
  } catch (error) {
    // Some tests end all connections.
    connections.delete(url)
    if (!again) throw error
    return waitingJobs(url, false)
  }
}

function connectionTo(url: string): Promise<pg.Client> {
  const known = connections.get(url)
  if (known) return known
  const connection = connect(url)
  connections.set(url, connection)
  return connection
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: directly(url), options: '-c timezone=UTC' })
  const forget = () => connections.delete(url)
  client.on('error', forget).on('end', forget)
  await client.connect().catch((error: unknown) => {
    forget()
    throw error
  })
  return client
}
