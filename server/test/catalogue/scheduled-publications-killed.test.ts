import { describe, expect, it, vi } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { signedIn } from '../harness/client.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { API_KEY, adminClient, OWNER, OWNER_SETTINGS, spawnServer } from '../harness/server.ts'

const at = (day: number) => `2030-02-0${day}T00:00:00.000Z`

describe('scheduled publications of two processes that are killed', () => {
  const PACKAGES = 60
  it('take place once each', { timeout: 300_000 }, async () => {
    const database = await createDatabase()
    const start = () =>
      spawnServer({
        ...OWNER_SETTINGS,
        DATABASE_URL: database.url,
        TOLLGATE_API_KEY: API_KEY,
        TOLLGATE_LOG_LEVEL: 'fatal',
      })
    const sql = (text: string) => rowsOf<Record<string, unknown>>({ connectionString: database.url }, text)
    let running = [await start(), await start()]
    try {
      const [first] = running
      if (!first) throw new Error('there is no server')
      const dashboard = await signedIn(first.url, OWNER)
      await dashboard.data('mutation { createApp(id: "clocked", name: "C", testClock: true) { id } }')
      await dashboard.data(`mutation { advanceClock(appId: "clocked", to: "${at(1)}") { id } }`)
      const { createApiKey } = await dashboard.data(
        'mutation { createApiKey(appId: "clocked", name: "k") { secret } }',
      )
      const app = {
        id: 'clocked',
        admin: adminClient(first.url, createApiKey.secret),
        dashboard: dashboard.of('clocked'),
      }
      for (let i = 0; i < PACKAGES; i++) {
        await publishPackage(app, `p${i}`, {})
        await app.dashboard.data(
          `mutation ($id: String!) {
            editPackage(appId: "clocked", id: $id, input: { name: "New" }) { id }
            publishPackage(appId: "clocked", id: $id, at: "${at(2)}") { id }
          }`,
          { id: `p${i}` },
        )
      }
      await dashboard.data(`mutation { advanceClock(appId: "clocked", to: "${at(2)}") { id } }`)
      const waiting = async () =>
        Number((await sql('select count(*)::int as n from package where publish_at is not null'))[0]?.n)
      for (const left of [PACKAGES - 10, PACKAGES - 35]) {
        await vi.waitFor(async () => expect(await waiting()).toBeLessThan(left), {
          timeout: PATIENCE_MS,
          interval: 5,
        })
        await Promise.all(running.map((one) => one.kill('SIGKILL')))
        running = [await start(), await start()]
        await sql(`select graphile_worker.add_job('publish-scheduled', '{}') from generate_series(1, 4)`)
      }
      await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 120_000, interval: 100 })
      expect(
        await sql(`select version, count(*)::int as n from package where app_id = 'clocked' group by 1`),
      ).toEqual([{ version: 2, n: PACKAGES }])
      expect(
        await sql(
          `select count(*)::int as n, count(distinct subject_id)::int as packages from audit_entry where operation = 'scheduledPublication'`,
        ),
      ).toEqual([{ n: PACKAGES, packages: PACKAGES }])
    } finally {
      await Promise.all(running.map((one) => one.kill('SIGKILL')))
      await database.drop()
    }
  })
})
