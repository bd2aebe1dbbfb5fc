import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster } from '../../../proof/harness/cluster.ts'
import { Trial } from '../../../proof/trial.ts'
import { DASHBOARD_QUERIES, QUERIES } from '../../src/operations/registry/registry.ts'
import { readConfig } from '../../src/settings/config.ts'
import { EXAMPLES } from '../examples/examples.ts'
import { newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { NetworkProxy } from '../harness/network-proxy.ts'
import { createApp, MASTER_KEY_SETTINGS, startTestServer, type TestServer } from '../harness/server.ts'

// Invariants: what was committed before a list was asked for is in it, whatever the replica does; checks and records never
// reach the replica; a replica that lags, hangs, fails or is no standby costs a moment, not an answer.

/** More than a list may wait for a replica, on a busy machine. */
const AT_ONCE_MS = 5_000

const trial = new Trial(
  { name: 'replica', full: {}, faults: [] },
  { seed: 1, seconds: null, breakage: null, previous: null },
)
let primary: Cluster
let standby: Cluster
/** a standby that takes over later, without having received anything */
let successor: Cluster
let toPrimary: NetworkProxy
let server: TestServer
let world: World
let monotonic: number
const logged: string[] = []

beforeAll(async () => {
  primary = await Cluster.make(trial)
  await primary.createDatabase()
  toPrimary = await NetworkProxy.before({ path: primary.socket })
  await primary.stop()
  standby = await primary.standby(trial, { host: '127.0.0.1', port: toPrimary.port })
  successor = await primary.standby(trial, { host: '127.0.0.1', port: 9 })
  await primary.start()
  await standby.start()
  const began = performance.now()
  monotonic = 0
  server = await startTestServer({
    databaseUrl: primary.url(),
    env: { ...MASTER_KEY_SETTINGS, DATABASE_REPLICA_URL: standby.url() },
    log: pino({ level: 'warn' }, { write: (line: string) => logged.push(line) }),
    clocks: { monotonic: () => performance.now() - began + monotonic },
  })
  await publishPackage({ id: 'default', ...server }, 'plan', { calls: { limit: 1_000 } })
  await createUsers(server.admin, ['ada'])
  await server.admin.data('mutation { subscribe(userId: "ada", packageIds: ["plan"]) { id } }')
  const app = {
    id: 'listed',
    admin: await createApp(server, 'listed'),
    dashboard: server.dashboard.of('listed'),
  }
  world = await furnishWorld(server, app)
})
afterAll(async () => {
  await server?.stop()
  await toPrimary?.close()
  await trial.cleanUp()
})

const names = async (): Promise<string[]> => {
  const { users } = await server.dashboard.data('{ users(appId: "default") { rows { id } } }')
  return users.rows.map(({ id }: { id: string }) => id)
}

/** What the service last did on each of its connections to the replica. */
const doneThere = async (): Promise<string> => {
  const rows = await standby.sql(`select query from pg_stat_activity where application_name = 'tollgate'`)
  return rows.map(({ query }) => query).join('\n')
}

/** A replica that was left alone is tried again. */
const wait = () => {
  monotonic += 10_000
}

/** The list comes from the replica: at the latest once the timeline is noted there. */
const readThere = async () => {
  await expect
    .poll(async () => {
      wait()
      await names()
      return doneThere()
    })
    .toMatch(/from users/)
}

let made = 0
/** Somebody created just now is in the list that is asked for next, and that comes at once. */
async function expectNewest(): Promise<void> {
  const id = `user-${++made}`
  await createUsers(server.admin, [id])
  const began = performance.now()
  expect(await names()).toContain(id)
  expect(performance.now() - began).toBeLessThan(AT_ONCE_MS)
}

describe('reads apart', () => {
  it('gap: replica: lists are read there, with everything that was committed before', async () => {
    await readThere()
    for (let i = 0; i < 20; i++) await expectNewest()
    expect(await doneThere()).toMatch(/from users/)
  })

  it('gap: replica: checks, records and changes never reach it', async () => {
    await server.admin.data(`mutation {
      recordUsage(input: { userId: "ada", featureId: "calls", delta: 1 }) { recorded }
      updateUser(id: "ada", input: { name: "Ada" }) { id }
    }`)
    await server.admin.data('{ canUseFeature(userId: "ada", featureId: "calls") { access } }')
    await server.dashboard.call('showUsage', { userId: 'ada', featureId: 'calls' })
    expect(await doneThere()).not.toMatch(/usage_counter|update|insert/i)
  })

  const LISTS = DASHBOARD_QUERIES.filter((name) => QUERIES[name].replica)
  it.each(LISTS)('gap: replica: %s is read there, and writes nothing there', async (name) => {
    await readThere()
    logged.length = 0
    const { client, document, variables } = await readyCall('dashboard', name, newTurn(world, name))
    const { errors } = await client.ask(document, variables)
    const { code } = EXAMPLES[name]
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(code && [code])
    expect(logged.filter((line) => line.includes('the replica'))).toEqual([])
  })

  it('gap: replica: one that lags is not used until it has caught up', async () => {
    await standby.sql('select pg_wal_replay_pause()')
    wait()
    for (let i = 0; i < 3; i++) await expectNewest()
    await standby.sql('select pg_wal_replay_resume()')
    await readThere()
    await expectNewest()
  })

  it('gap: replica: one that hangs, and one that is gone, costs a moment', async () => {
    await standby.freeze()
    wait()
    await expectNewest()
    await standby.thaw()
    await standby.kill()
    wait()
    await expectNewest()
    await standby.start()
    await readThere()
  })

  it('gap: replica: one that missed a failover is not believed, though it is ahead of the new primary', async () => {
    await successor.start()
    await successor.promote()
    await primary.sql('create table filler as select generate_series(1, 500000) as number')
    await readThere()
    const after = await startTestServer({
      databaseUrl: successor.url(),
      env: { DATABASE_REPLICA_URL: standby.url() },
    })
    try {
      const [{ ahead } = {}] = await standby.sql(
        `select pg_last_wal_replay_lsn() > '${(await successor.sql('select pg_current_wal_lsn() as lsn'))[0]?.lsn}' as ahead`,
      )
      expect(ahead).toBe(true)
      for (let i = 0; i < 3; i++) {
        const { users } = await after.dashboard.data('{ users(appId: "default") { rows { id } } }')
        expect(users.rows).toEqual([])
      }
    } finally {
      await after.stop()
    }
  })

  it('gap: replica: one that has become a primary itself is not believed', async () => {
    await standby.promote()
    await standby.sql(`insert into users (app_id, id, metadata) values ('default', 'ghost', '{}')`)
    wait()
    await expectNewest()
    expect(await names()).not.toContain('ghost')
  })

  it.each([
    [
      { DATABASE_URL: '', DATABASE_REPLICA_URL: 'postgresql://a/b' },
      /^DATABASE_REPLICA_URL requires DATABASE_URL/,
    ],
    [{ DATABASE_REPLICA_URL: 'mysql://a/b' }, /^DATABASE_REPLICA_URL must start with postgres/],
    [{ DATABASE_REPLICA_URL: 'postgresql://a,b/c' }, /^DATABASE_REPLICA_URL must contain a single server/],
  ])('gap: replica: %o is refused', (env, line) => {
    expect(() => readConfig({ DATABASE_URL: 'postgresql://a/b', ...env })).toThrow(line)
  })
})
