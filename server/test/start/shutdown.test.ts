import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { signedIn } from '../harness/client.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  refusedStart,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { usedDataFolder } from '../harness/used-data.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(env: Record<string, string>): Promise<ServerProcess> {
  const server = await spawnServer({ TOLLGATE_LOG_LEVEL: 'error', ...env })
  cleanups.push(() => server.kill('SIGKILL'))
  return server
}

describe('one data folder', () => {
  it('gap: one process per data folder: a second start is refused in one line, the first one serves on', async () => {
    const folder = await usedDataFolder()
    cleanups.push(folder.remove)
    const first = await start({ TOLLGATE_DATA_DIR: folder.path })

    const second = await refusedStart({ TOLLGATE_DATA_DIR: folder.path })
    expect(second.code).toBe(1)
    expect(second.stderr).toBe(
      `tollgate: Another Tollgate server (process ${first.process.pid}) at ${first.url} is using the data folder ` +
        `${folder.path}. Stop it first, or set TOLLGATE_DATA_DIR to another folder.\n`,
    )
    await adminClient(first.url, API_KEY).data('mutation { createUser(input: { id: "ann" }) { id } }')

    expect(await first.kill('SIGTERM')).toBe(0)
    expect(await folder.postmaster()).toBeNull()
    const next = await start({ TOLLGATE_DATA_DIR: folder.path })
    expect(await adminClient(next.url, API_KEY).data('{ users { id } }')).toEqual({ users: [{ id: 'ann' }] })
  })
})

describe('SIGTERM', () => {
  it.each([
    'SIGTERM',
    'SIGINT',
  ] as const)('gap: shutdown: requests under way at %s are answered, new ones refused, and it ends with 0', async (signal) => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const server = await start({ ...OWNER_SETTINGS, DATABASE_URL: database.url })
    const admin = adminClient(server.url, API_KEY)
    await publishPackage({ id: 'default', admin, dashboard: await signedIn(server.url, OWNER) }, 'plan', {
      call: { limit: 10 },
    })
    await createUsers(admin, ['ann'])

    const release = await holdUser(database.url, 'ann')
    const answer = admin.ask('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { status } }')
    await until(async () => (await blocked(database.url)) === 1)

    server.process.kill(signal)
    await until(() =>
      fetch(`${server.url}/healthz`).then(
        () => false,
        () => true,
      ),
    )
    expect(server.process.exitCode).toBeNull()
    const gone = once(server.process, 'exit')
    await release()

    expect(await answer).toEqual({ status: 200, data: { subscribe: [{ status: 'ACTIVE' }] } })
    expect(await gone).toEqual([0, null])
    expect(await rowsOf({ connectionString: database.url }, 'select id from subscription')).toHaveLength(1)
  })
})

/** Locks the user's row from outside, so that whatever changes the user's subscriptions waits. */
async function holdUser(databaseUrl: string, id: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin')
  await client.query('select from users where id = $1 for update', [id])
  cleanups.push(() => client.end())
  return async () => {
    await client.query('rollback')
  }
}

async function blocked(databaseUrl: string): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    { connectionString: databaseUrl },
    `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count ?? 0
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20)
}
