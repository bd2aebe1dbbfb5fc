import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPool } from '../../src/store/connection/database.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../harness/database.ts'
import { type NetworkProxy, proxyBefore } from '../harness/network-proxy.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'

// Invariants: every call is answered by its deadline, whatever the network does; a call answered with "unavailable"
// before it was sent has no effect afterwards; service returns with the network, without a restart.

const DEADLINE_MS = 1_500
/** What a busy machine may add. */
const SLACK_MS = 2_500

let database: TestDatabase
let network: NetworkProxy
let proxied: string
let cutOff: TestServer
let healthy: TestServer
beforeAll(async () => {
  database = await createDatabase()
  const { proxy, url } = await proxyBefore(database.url)
  network = proxy
  proxied = url
  const env = { TOLLGATE_REQUEST_TIMEOUT_MS: String(DEADLINE_MS) }
  cutOff = await startTestServer({ databaseUrl: proxied, env })
  healthy = await startTestServer({ databaseUrl: database.url })
  await publishPackage({ id: 'default', ...healthy }, 'plan', { calls: { limit: 1_000 } })
  await createUsers(healthy.admin, ['ada', 'bob'])
  await healthy.admin.data('mutation { subscribe(userId: "ada", packageIds: ["plan"]) { id } }')
})
afterAll(async () => {
  await cutOff?.stop()
  await healthy?.stop()
  await network?.close()
  await database?.drop()
})

const CHECK = '{ canUseFeature(userId: "ada", featureId: "calls") { access } }'
const RECORD = 'mutation { recordUsage(input: { userId: "ada", featureId: "calls", delta: 1 }) { recorded } }'
const CALLS = [
  CHECK,
  RECORD,
  '{ users { id } }',
  '{ packages { id } }',
  '{ showUsage(userId: "ada", featureId: "calls") { current { consumption { used } } } }',
  'mutation { subscribe(userId: "bob", packageIds: ["plan"]) { id } }',
  'mutation { createUser(input: { id: "cyd" }) { id } }',
]

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now()
  const result = await work()
  return { ms: performance.now() - start, result }
}

const readiness = async () => (await fetch(`${cutOff.url}/readyz`)).status

describe('a network that swallows packets', () => {
  it('gap: liveness: calls fail clearly by their deadline, and all is well soon after', async () => {
    for (const call of [CHECK, RECORD]) expect((await cutOff.admin.ask(call)).errors).toBeUndefined()
    expect(await readiness()).toBe(200)

    network.trouble = 'swallow'
    const asked = [...CALLS, RECORD, RECORD, CHECK].map((call) => timed(() => cutOff.admin.ask(call)))
    const notReady = timed(readiness)
    for (const { ms, result } of await Promise.all(asked)) {
      expect(result.errors?.[0]?.extensions).toMatchObject({
        code: 'UNAVAILABLE',
        type: 'Error',
        status: 503,
        retryAfter: 1,
      })
      expect(ms).toBeLessThan(DEADLINE_MS + SLACK_MS)
    }
    const { ms, result } = await notReady
    expect(result).toBe(503)
    expect(ms).toBeLessThan(5_000)
    expect((await fetch(`${cutOff.url}/healthz`)).status).toBe(200)

    network.trouble = 'none'
    const back = await timed(async () => {
      while ((await readiness()) !== 200) await sleep(50)
      for (const call of [CHECK, RECORD, '{ users { id } }']) {
        while ((await cutOff.admin.ask(call)).errors) await sleep(50)
      }
    })
    expect(back.ms).toBeLessThan(5_000 + SLACK_MS)
  })

  it('gap: liveness: a call answered with "unavailable" before it was sent is not recorded afterwards', async () => {
    const used = async () => {
      const showUsage = await healthy.admin.call('showUsage { current { consumption { used } } }', {
        userId: 'ada',
        featureId: 'calls',
      })
      return showUsage.current.consumption.used
    }
    const before = await used()
    network.trouble = 'swallow'
    const answers = await Promise.all(Array.from({ length: 20 }, () => cutOff.admin.ask(RECORD)))
    network.trouble = 'none'
    expect(answers.every(({ errors }) => errors?.[0]?.extensions.code === 'UNAVAILABLE')).toBe(true)
    let recorded = 0
    while (recorded === 0) recorded = (await cutOff.admin.ask(RECORD)).errors ? 0 : 1
    expect(await used()).toBe(before + 1)
  })

  it('gap: liveness: a process lost in the middle of a transaction holds up others for seconds at most', async () => {
    const pool = openPool({ connectionString: proxied }, { max: 1 }, pino({ level: 'silent' }))
    const tx = await pool.connect()
    tx.on('error', () => {})
    await tx.query('begin')
    await tx.query("select from app where id = 'default' for update")
    network.trouble = 'swallow'
    try {
      const feature = 'mutation { createFeature(input: { id: "late", name: "Late", type: BINARY }) { id } }'
      const { ms, result } = await timed(() => healthy.admin.ask(feature))
      expect(result.errors).toBeUndefined()
      expect(ms).toBeLessThan(4_000 + SLACK_MS)
    } finally {
      network.trouble = 'none'
      tx.release(true)
      await pool.end()
    }
  })

  it('gap: liveness: stopping does not wait for a database that is silent', async () => {
    const other = await startTestServer({ databaseUrl: proxied })
    await other.admin.ask(CHECK)
    network.trouble = 'swallow'
    const { ms } = await timed(() => other.stop())
    network.trouble = 'none'
    expect(ms).toBeLessThan(10_000)
  })
})

describe('a database in another time zone', () => {
  it('gap: time: a URL with its own options changes no time', async () => {
    const url = new URL(database.url)
    url.searchParams.set('options', '-c timezone=Asia/Kathmandu -c datestyle=German')
    const abroad = await startTestServer({ databaseUrl: url.href })
    try {
      const ask = '{ subscriptions(userId: "ada") { startedAt } }'
      expect(await abroad.admin.data(ask)).toEqual(await healthy.admin.data(ask))
      const [{ startedAt }] = (await abroad.admin.data(ask)).subscriptions
      const [row] = await rowsOf<{ ms: number }>(
        { connectionString: database.url },
        'select (extract(epoch from started_at) * 1000)::float8 as ms from subscription',
      )
      expect(Date.parse(startedAt)).toBe(Math.floor(row?.ms ?? 0))
    } finally {
      await abroad.stop()
    }
  })
})
