import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { signedIn, type WireError } from '../harness/client.ts'
import type { DataFolder } from '../harness/data-folder.ts'
import { rowsOf } from '../harness/database.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { usedDataFolder } from '../harness/used-data.ts'

// Invariants under kill -9 of the server and of PostgreSQL: what was acknowledged is there, exactly once, and
// nothing else is; the counter is the ledger's sum; the next start needs no manual step.

/** A few here; `npm run proof` has hundreds. */
const ROUNDS = 2
const WORKERS = 16
const USERS = ['ann', 'bob', 'eve', 'dan']
/** Acknowledged writes before each kill, so that it always hits a service at full work. */
const WRITES = 100

describe('kill -9 under writes, on the embedded database', () => {
  let folder: DataFolder
  let server: ServerProcess
  beforeAll(async () => {
    folder = await usedDataFolder()
    server = await start()
    const admin = adminClient(server.url, API_KEY)
    const dashboard = await signedIn(server.url, OWNER)
    await publishPackage({ id: 'default', admin, dashboard }, 'plan', { call: {}, seat: {} })
    await createUsers(admin, USERS)
    for (const user of USERS) {
      await admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["plan"]) { id } }`)
    }
  })
  afterAll(async () => {
    await server?.kill('SIGKILL')
    await folder?.remove()
  })

  const start = () =>
    spawnServer({ ...OWNER_SETTINGS, TOLLGATE_DATA_DIR: folder.path, TOLLGATE_LOG_LEVEL: 'fatal' })

  it(`gap: durability: in ${ROUNDS} rounds no acknowledged write is lost or counted twice`, {
    timeout: 300_000,
  }, async () => {
    const writing = startWriting(() => server.url)
    for (let round = 0; round < ROUNDS; round++) {
      await writing.reach(writing.acknowledged() + WRITES)
      if (round % 2 === 0) {
        await server.kill('SIGKILL')
        server = await start()
      } else {
        await killPostgres()
      }
    }
    await writing.reach(writing.acknowledged() + WRITES)
    const events = await writing.finish()

    expect(writing.refusals()).toEqual([])
    const recorded = await rowsOf<{ delta: number }>(
      await folder.connection(),
      'select delta::int from usage_ledger order by delta',
    )
    expect(recorded.map(({ delta }) => delta)).toEqual(times(events, (i) => i + 1))
    const astray = await rowsOf(
      await folder.connection(),
      `select * from usage_counter c where used <> (select sum(delta) from usage_ledger l
         where l.user_uid = c.user_uid and l.feature_id = c.feature_id and l.period_start = c.period_start)`,
    )
    expect(astray).toEqual([])
    expect(await server.kill('SIGTERM')).toBe(0)
  })

  /** Kills PostgreSQL alone and waits until the same server is ready again, with a new one. */
  async function killPostgres(): Promise<void> {
    const before = await folder.postmaster()
    if (!before) throw new Error('there is no PostgreSQL to kill')
    process.kill(before.pid, 'SIGKILL')
    for (;;) {
      const ready = await fetch(`${server.url}/readyz`)
      expect([200, 503]).toContain(ready.status)
      const now = await folder.postmaster()
      if (ready.status === 200 && now && now.pid !== before.pid) break
      await sleep(20)
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(server.process.exitCode).toBeNull()
  }
})

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/**
 * Many callers, each of which records one event after the other, and sends it again with the same key until it is
 * acknowledged. An event's delta is its number: the ledger tells which were counted, and how often.
 */
function startWriting(url: () => string) {
  let last = 0
  let acknowledged = 0
  let stopping = false
  const refusals: unknown[] = []

  async function send(number: number, worker: number): Promise<boolean> {
    const variables = {
      input: {
        userId: USERS[worker % USERS.length],
        featureId: number % 3 === 0 ? 'seat' : 'call',
        delta: number,
        idempotencyKey: `event ${number}`,
      },
    }
    const query = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'
    // Refused, cut off: the server is down.
    const answer = await adminClient(url(), API_KEY)
      .ask(query, variables)
      .catch(() => null)
    if (answer === null) return false
    if (answer.status === 200 && answer.data?.recordUsage?.recorded === true) return true
    if (answer.status !== 200 || !answer.errors?.every(isPassing)) refusals.push(answer)
    return false
  }

  async function work(worker: number): Promise<void> {
    while (!stopping) {
      const number = ++last
      while (!(await send(number, worker))) await sleep(100)
      acknowledged++
    }
  }
  const working = Promise.all(times(WORKERS, work))

  return {
    acknowledged: () => acknowledged,
    /** Answers that nobody should get, whatever was killed. */
    refusals: () => refusals,
    async reach(count: number) {
      while (acknowledged < count) await sleep(10)
    },
    /** Waits until every event is acknowledged; returns how many there were. */
    async finish() {
      stopping = true
      await working
      return last
    },
  }
}

const isPassing = (error: WireError) => error.extensions.code === 'UNAVAILABLE'
