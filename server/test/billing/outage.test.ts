import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { signedIn } from '../harness/client.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { openSandboxShop } from './sandbox-shop.ts'

// The background work outlives its database, and the process it is in.

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(databaseUrl: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await spawnServer({
    ...OWNER_SETTINGS,
    DATABASE_URL: databaseUrl,
    TOLLGATE_LOG_LEVEL: 'fatal',
    ...env,
  })
  cleanups.push(() => server.kill('SIGKILL'))
  return server
}

async function shopAt({ url }: ServerProcess, databaseUrl: string) {
  const dashboard = await signedIn(url, OWNER)
  const server = { url, databaseUrl, dashboard, admin: adminClient(url, API_KEY) }
  return openSandboxShop({ ...server, firstStart: { apiKey: null, ownerToken: null }, stop: async () => {} })
}

describe('gap: billing, when things break', () => {
  it('survives repeated loss of its background connections', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const server = await start(database.url)
    const shop = await shopAt(server, database.url)
    for (let round = 0; round < 10; round++) {
      await rowsOf(
        { connectionString: database.url },
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      )
      await delay(200)
    }
    await shop.buy('plan')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    expect(server.process.exitCode).toBeNull()
    expect(await server.kill('SIGTERM')).toBe(0)
  })

  it('runs jobs again after more of them could not be reported than it has workers', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    await start(database.url)
    const sql = (text: string) => rowsOf({ connectionString: database.url }, text)
    const JOBS = `graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier = 'turn-sandbox'`
    await sql(`create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger refuse before delete on graphile_worker._private_jobs for each row execute function refuse();
      select graphile_worker.add_job('turn-sandbox', '{"appId": "default"}') from generate_series(1, 8)`)
    await vi.waitFor(
      async () => expect((await sql(`select 1 from ${JOBS} and j.attempts > 0`)).length).toBeGreaterThan(3),
      PATIENCE_MS,
    )
    await sql('drop trigger refuse on graphile_worker._private_jobs')
    await vi.waitFor(async () => expect(await sql(`select j.id from ${JOBS}`)).toEqual([]), PATIENCE_MS)
  })
})
