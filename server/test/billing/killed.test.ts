import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { signedIn } from '../harness/client.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { usedDataFolder } from '../harness/used-data.ts'
import { GOOD_CARD, openSandboxShop } from './sandbox-shop.ts'

// Whoever has paid has access soon, also when the process that had the payment in hand is killed.

/** What is promised, from the death of the process on. */
const TAKEN_UP_MS = 15_000

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(env: Record<string, string>): Promise<ServerProcess> {
  const server = await spawnServer({ ...OWNER_SETTINGS, TOLLGATE_LOG_LEVEL: 'fatal', ...env })
  cleanups.push(() => server.kill('SIGKILL'))
  return server
}

async function shopAt({ url }: ServerProcess) {
  const dashboard = await signedIn(url, OWNER)
  const server = { url, databaseUrl: '', dashboard, admin: adminClient(url, API_KEY) }
  return openSandboxShop({ ...server, firstStart: { apiKey: null, ownerToken: null }, stop: async () => {} })
}

const live = (connection: pg.ClientConfig, appId: string) =>
  rowsOf<{ user: string }>(
    connection,
    `select u.id as user from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid
     where s.app_id = $1 and s.cancelled_at is null order by 1`,
    [appId],
  )

/** Waits for this many live subscriptions; answers how long that took. */
async function until(count: number, connection: pg.ClientConfig, appId: string): Promise<number> {
  const began = performance.now()
  while ((await live(connection, appId)).length < count) {
    if (performance.now() - began > 3 * TAKEN_UP_MS) throw new Error('paid, and no access')
    await delay(50)
  }
  return performance.now() - began
}

describe('gap: billing, a process killed while handling a payment', () => {
  it('is replaced by another one that runs already, within 15 s', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const connection = { connectionString: database.url }
    const first = await start({ DATABASE_URL: database.url })
    const shop = await shopAt(first)
    const url = await shop.link('plan')

    // While somebody holds the user, the job stays in the hand of the only process there is.
    const holder = new pg.Client(connection)
    await holder.connect()
    await holder.query('begin')
    await holder.query(`select from users where app_id = $1 for update`, [shop.id])
    expect((await shop.submit(url, GOOD_CARD)).status).toBe(303)
    const held = () =>
      rowsOf(
        connection,
        `select from graphile_worker.jobs where locked_by is not null and task_identifier = 'handle-notice'`,
      )
    while ((await held()).length === 0) await delay(20)
    await start({ DATABASE_URL: database.url })
    await first.kill('SIGKILL')
    const died = performance.now()
    await holder.query('rollback')
    await holder.end()

    await until(1, connection, shop.id)
    expect(performance.now() - died).toBeLessThan(TAKEN_UP_MS)
  })

  it('is taken over immediately by the next start on the embedded database, every time', async () => {
    const folder = await usedDataFolder()
    cleanups.push(() => folder.remove())
    const env = { TOLLGATE_DATA_DIR: folder.path }
    let server = await start(env)
    const shop = await shopAt(server)
    let [inDeadHands, paid] = [0, 0]
    for (let round = 1; round <= 2; round++) {
      const links = await Promise.all([1, 2, 3, 4].map(() => shop.link('plan', null)))
      const pages = await Promise.all(
        links.map((link) => shop.submit(link, { ...GOOD_CARD, email: 'pat@example.com' })),
      )
      expect(pages.map(({ status }) => status)).toEqual([303, 303, 303, 303])
      paid += pages.length
      await server.kill('SIGKILL')
      // Those that it had not come to are in its hands as well.
      const jobs = await rowsOf(
        await folder.connection(),
        `update graphile_worker._private_jobs set locked_by = coalesce(locked_by, 'worker-that-died'),
           locked_at = now() where run_at <= now() returning id`,
      )
      inDeadHands += jobs.length
      server = await start({ ...env, PORT: new URL(server.url).port })
      // A job takes milliseconds; waiting for signs of life would take eight seconds and more.
      expect(await until(paid, await folder.connection(), shop.id)).toBeLessThan(6_000)
    }
    expect(inDeadHands).toBeGreaterThan(0)
  })
})
