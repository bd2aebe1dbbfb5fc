import { setTimeout as delay } from 'node:timers/promises'
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
})
