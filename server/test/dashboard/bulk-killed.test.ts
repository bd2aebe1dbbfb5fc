import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bulkChanges, TO_PRO, USERS } from '../harness/bulk.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { type Client, signedIn } from '../harness/client.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'

const MANY = 300
/** Killed after this many rows, each way. */
const AFTER = [20, 130]

describe('a bulk change whose process is killed', () => {
  let database: TestDatabase
  let server: ServerProcess
  let dashboard: Client
  beforeAll(async () => {
    database = await createDatabase()
    await restart()
    const app = { id: 'default', admin: adminClient(server.url, API_KEY), dashboard }
    await publishPackage(app, 'free', { call: { limit: 1 } })
    await publishPackage(app, 'pro', { call: { limit: 2 } })
    await sql(
      `insert into users (app_id, id, metadata) select 'default', 'user-' || i, '{}' from generate_series(1, ${MANY}) i`,
    )
    await sql(
      `insert into subscription (app_id, user_uid, id, package_id, is_addon, started_at, anchor, metadata)
       select app_id, uid, 'sub-' || id, 'free', false, now(), now(), '{}' from users`,
    )
  })
  afterAll(async () => {
    await server?.kill('SIGKILL')
    await database?.drop()
  })

  const sql = (text: string) => rowsOf<Record<string, unknown>>({ connectionString: database.url }, text)
  async function restart(): Promise<void> {
    server = await spawnServer({
      ...OWNER_SETTINGS,
      DATABASE_URL: database.url,
      TOLLGATE_API_KEY: API_KEY,
      TOLLGATE_LOG_LEVEL: 'fatal',
    })
    dashboard = await signedIn(server.url, OWNER)
  }

  it.each([
    ['apply', 'done', 'APPLIED', 'pro'],
    ['undo', 'undone', 'UNDONE', 'free'],
  ] as const)(
    'continues to %s after the next start, and changes each user once',
    { timeout: 300_000 },
    async (way, count, state, plan) => {
      const bulk = bulkChanges(() => ({ dashboard, databaseUrl: database.url }))
      if (way === 'apply') {
        const { id } = await bulk.start('default', { of: USERS, ...TO_PRO })
        expect(await bulk.settled('default', id)).toMatchObject({ changing: MANY })
      }
      const [change] = await sql('select id from bulk_change')
      const id = String(change?.id)
      await bulk.sent(way, 'default', id)
      for (const rows of AFTER) {
        await vi.waitFor(
          async () =>
            expect((await sql(`select ${count} as n from bulk_change`))[0]?.n).toBeGreaterThan(rows),
          { timeout: PATIENCE_MS, interval: 5 },
        )
        await server.kill('SIGKILL')
        expect((await sql('select state from bulk_change'))[0]?.state).toMatch(/ING$/)
        await restart()
      }
      expect(await bulk.settled('default', id)).toMatchObject({
        state,
        [count]: MANY,
        refused: 0,
        kept: 0,
        problem: null,
      })
      const audited = await sql(
        `select count(*)::int as n from audit_entry where operation = 'changeSubscription'`,
      )
      expect(audited).toEqual([{ n: way === 'apply' ? MANY : 2 * MANY }])
      const live = await sql(
        `select package_id, count(*)::int as n, count(distinct user_uid)::int as users from subscription
       where cancelled_at is null group by 1`,
      )
      expect(live).toEqual([{ package_id: plan, n: MANY, users: MANY }])
    },
  )
})
