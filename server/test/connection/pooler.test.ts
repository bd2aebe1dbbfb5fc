import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  atOneMoment,
  openPool,
  type Pool,
  type PoolOptions,
  transaction,
} from '../../src/store/connection/database.ts'
import { Prepared } from '../../src/store/connection/prepared.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import {
  createDatabase,
  createEmptyDatabase,
  directly,
  rowsOf,
  type TestDatabase,
} from '../harness/database.ts'
import { type NetworkProxy, proxyBefore } from '../harness/network-proxy.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { PGBOUNCER, startPgBouncer } from '../harness/pgbouncer.ts'
import { refusedStart, startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariants: behind a pooler nothing is left in a session, every statement has the settings of its pool, and no
// statement takes another round trip. A pooler that cannot carry the service is refused at the start.

let database: TestDatabase
let direct: string
beforeAll(async () => {
  database = await createDatabase()
  direct = directly(database.url)
})
afterAll(() => database?.drop())

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function open(url: string, options: Partial<PoolOptions> = {}): Pool {
  const pool = openPool(
    { connectionString: url },
    { max: 1, statementMs: 432, keyLookups: true, ...options },
    pino({ level: 'silent' }),
  )
  cleanups.push(() => pool.end())
  return pool
}

const SETTINGS = `current_setting('statement_timeout') as timeout, current_setting('enable_seqscan') as seqscan,
  current_setting('TimeZone') as zone`
const OURS = { timeout: '432ms', seqscan: 'off', zone: 'UTC' }
/** What a session has once the settings of a transaction are gone. */
const left = async (pool: Pool) => {
  const results: unknown = await pool.query(`commit; select ${SETTINGS}`)
  return (results as { rows: unknown[] }[]).at(-1)?.rows[0]
}
const LISTENING = `select from pg_stat_activity where datname = current_database() and query ilike 'listen%'`
const UNTOUCHED = { timeout: '0', seqscan: 'on', zone: 'UTC' }

describe('a server that names another process than its own, as a pooler does', () => {
  let proxy: NetworkProxy
  let url: string
  let sent = 0
  beforeAll(async () => {
    const before = await proxyBefore(direct)
    proxy = before.proxy
    url = before.url
    proxy.watch = (piece, side) => {
      if (side === 'request') sent++
      const key = piece.indexOf('K\0\0\0\x0c', 'latin1')
      if (side === 'reply' && key >= 0) piece.writeInt32BE(-1, key + 5)
    }
  })
  afterAll(() => proxy?.close())

  it('gap: poolers: each way to send a statement has the settings, and leaves none behind', async () => {
    const pool = open(url)
    const one = { ...OURS, one: 1 }
    const ask = `select ${SETTINGS}, 1 as one`
    expect((await pool.query(ask)).rows).toEqual([one])
    expect((await pool.query(`${ask} where $1`, [true])).rows).toEqual([one])
    expect((await pool.query({ name: 'ask', text: ask })).rows).toEqual([one])
    expect((await pool.query({ name: 'ask', text: ask })).rows).toEqual([one])
    const inTransaction = await transaction(pool, async (tx) => [
      (await tx.query(ask)).rows[0],
      (await tx.query(`${ask} where $1`, [true])).rows[0],
    ])
    expect(inTransaction).toEqual([one, one])
    expect(await atOneMoment(pool, 'read only', async (tx) => (await tx.query(ask)).rows)).toEqual([one])
    const client = await pool.connect()
    const prepared = new Prepared<[string, string, string]>('hot', `select ${SETTINGS} where $1::bool`)
    for (const _ of [1, 2]) {
      expect(await prepared.run(client, ['t'])).toEqual([['432ms', 'off', 'UTC']])
    }
    client.release()
    expect(await left(pool)).toEqual(UNTOUCHED)
  })

  it('gap: poolers: no statement takes another round trip', async () => {
    const pool = open(url)
    const client = await pool.connect()
    const prepared = new Prepared<[string]>('hot', 'select $1::text')
    const trips = async (work: () => Promise<unknown>) => {
      await work()
      const before = sent
      await work()
      return sent - before
    }
    expect(await trips(() => prepared.run(client, ['a']))).toBe(1)
    expect(await trips(() => client.query('select 1'))).toBe(1)
    expect(await trips(() => client.query('select $1::int', [1]))).toBe(1)
    client.release()
    expect(await trips(() => transaction(pool, (tx) => tx.query('select 1')))).toBe(3)
  })

  it('gap: poolers: an error is of the statement, and the next one is well', async () => {
    const pool = open(url)
    const client = await pool.connect()
    const wrong = new Prepared('wrong', 'select 1 / $1::int')
    for (const _ of [1, 2]) await expect(wrong.run(client, ['0'])).rejects.toMatchObject({ code: '22012' })
    await expect(client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
    await expect(client.query('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' })
    await expect(client.query('select pg_sleep(9)')).rejects.toMatchObject({ code: '57014' })
    expect((await client.query(`select ${SETTINGS}`)).rows).toEqual([OURS])
    client.release()
    expect(await left(pool)).toEqual(UNTOUCHED)
  })

  it('gap: poolers: nobody listens for notifications', async () => {
    const pool = open(url)
    await pool.query('LISTEN "jobs:insert"; LISTEN "worker:migrate";')
    expect((await pool.query('select pg_listening_channels()')).rows).toEqual([])
  })

  it('gap: poolers: jobs run through it, and are announced past it', async () => {
    const server = await startTestServer({ databaseUrl: url, env: { DATABASE_DIRECT_URL: direct } })
    cleanups.push(server.stop)
    const ask = (text: string) => rowsOf({ connectionString: direct }, text)
    await vi.waitFor(async () => expect(await ask('select from job_worker')).toHaveLength(4), PATIENCE_MS)
    await vi.waitFor(async () => expect(await ask(LISTENING)).toHaveLength(1), PATIENCE_MS)
    await ask(`select graphile_worker.add_job('turn-sandboxes', '{}', job_key => 'now')`)
    const waiting = `select from graphile_worker.jobs where key = 'now'`
    await vi.waitFor(async () => expect(await ask(waiting)).toEqual([]), PATIENCE_MS)
  })

  it('gap: poolers: is refused as the direct way, and by what needs a session', async () => {
    await expect(startTestServer({ databaseUrl: direct, env: { DATABASE_DIRECT_URL: url } })).rejects.toThrow(
      /^DATABASE_DIRECT_URL points to a connection pooler\. .*\.$/,
    )
    const elsewhere = await createDatabase()
    cleanups.push(elsewhere.drop)
    await expect(
      startTestServer({ databaseUrl: url, env: { DATABASE_DIRECT_URL: directly(elsewhere.url) } }),
    ).rejects.toThrow(/^DATABASE_DIRECT_URL and DATABASE_URL point to different databases\. /)
  })
})

if (!PGBOUNCER) console.info('TOLLGATE_TEST_PGBOUNCER is not set: nothing is tested through PgBouncer')

describe.skipIf(!PGBOUNCER)('PgBouncer', () => {
  const REFUSED =
    /^DATABASE_URL points to a connection pooler without support for prepared statements \(.*\)\. Use PgBouncer 1\.21 /
  const refusals: [string, Record<string, string | number>, RegExp][] = [
    ['without prepared statements', { max_prepared_statements: 0 }, REFUSED],
    ['in turns, without', { max_prepared_statements: 0, server_round_robin: 1 }, REFUSED],
    [
      'by statement',
      { pool_mode: 'statement', max_prepared_statements: 100 },
      /^DATABASE_URL points to a connection pooler without support for transactions \(.*\)\. Set its pool_mode to transaction\.$/,
    ],
  ]
  it.each(refusals)('gap: poolers: is refused %s', async (_, settings, line) => {
    const pgbouncer = await startPgBouncer(settings)
    cleanups.push(pgbouncer.stop)
    const { code, stderr } = await refusedStart({ DATABASE_URL: pgbouncer.before(direct) })
    expect(stderr).toMatch(/^tollgate: .*\n$/)
    expect(stderr.slice('tollgate: '.length).trimEnd()).toMatch(line)
    expect(code).toBe(1)
  })

  describe('in transaction mode', () => {
    const pgbouncer = shared(() => startPgBouncer({ max_prepared_statements: 100, default_pool_size: 6 }))
    let server: TestServer
    let url: string
    beforeAll(async () => {
      url = pgbouncer.before(direct)
      server = await startTestServer({
        databaseUrl: url,
        env: { DATABASE_DIRECT_URL: direct, TOLLGATE_REQUEST_TIMEOUT_MS: '1500' },
      })
      await publishPackage({ id: 'default', ...server }, 'plan', { calls: { limit: 1_000 } })
      await createUsers(server.admin, ['ada'])
      await server.admin.data('mutation { subscribe(userId: "ada", packageIds: ["plan"]) { id } }')
    })
    afterAll(async () => {
      await server?.stop()
    })

    const CHECK = '{ canUseFeature(userId: "ada", featureId: "calls") { access } }'
    const RECORD =
      'mutation { recordUsage(input: { userId: "ada", featureId: "calls", delta: 1 }) { recorded } }'

    it('gap: poolers: checks and records at once, and leaves no session changed', async () => {
      const calls = Array.from({ length: 40 }, (_, i) => server.admin.ask(i % 2 ? CHECK : RECORD))
      const users = Array.from({ length: 10 }, (_, i) => createUsers(server.admin, [`more-${i}`]))
      for (const { errors } of await Promise.all(calls)) expect(errors).toBeUndefined()
      await Promise.all(users)
      const showUsage = await server.admin.call('showUsage { current { consumption { used } } }', {
        userId: 'ada',
        featureId: 'calls',
      })
      expect(showUsage.current.consumption.used).toBe(20)
      const pool = open(url, { max: 6 })
      const all = await Promise.all(Array.from({ length: 6 }, () => left(pool)))
      for (const session of all) expect(session).toEqual(UNTOUCHED)
    })

    it('gap: poolers: a statement ends at its time, on the server too', async () => {
      const pool = open(url, { statementMs: 300 })
      await expect(pool.query('select pg_sleep($1)', [60])).rejects.toMatchObject({ code: '57014' })
      const running = `select pid from pg_stat_activity where query like '%pg_sleep%' and state = 'active'
        and pid <> pg_backend_pid()`
      expect(await rowsOf({ connectionString: direct }, running)).toEqual([])
    })

    it('gap: poolers: a statement that was refused once is prepared again', async () => {
      const pool = open(url)
      const client = await pool.connect()
      const early = new Prepared<[string]>('early', 'select one::text from not_yet where $1::bool')
      await expect(early.run(client, ['t'])).rejects.toMatchObject({ code: '42P01' })
      const named = { name: 'named', text: 'select one from not_yet' }
      await expect(client.query(named)).rejects.toMatchObject({ code: '42P01' })
      await rowsOf({ connectionString: direct }, 'create table not_yet as select 1 as one')
      expect(await early.run(client, ['t'])).toEqual([['1']])
      expect((await client.query(named)).rows).toEqual([{ one: 1 }])
      client.release()
    })

    it('gap: poolers: when it stops answering, calls fail by their deadline and come back with it', async () => {
      pgbouncer.process.kill('SIGSTOP')
      const began = performance.now()
      const answers = await Promise.all(
        [CHECK, RECORD, '{ users { id } }'].map((call) => server.admin.ask(call)),
      )
      for (const { errors } of answers) expect(errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
      expect(performance.now() - began).toBeLessThan(4_000)
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
      pgbouncer.process.kill('SIGCONT')
      while ((await fetch(`${server.url}/readyz`)).status !== 200) await sleep(50)
      for (const call of [CHECK, RECORD]) expect((await server.admin.ask(call)).errors).toBeUndefined()
    })

    it('gap: poolers: the first start, with all migrations, goes through it too', async () => {
      const empty = await createEmptyDatabase()
      cleanups.push(empty.drop)
      const [one, other] = await Promise.all(
        [1, 2].map(() => startTestServer({ databaseUrl: pgbouncer.before(directly(empty.url)) })),
      )
      cleanups.push(async () => Promise.all([one?.stop(), other?.stop()]))
      await createUsers(one?.admin as TestServer['admin'], ['eve'])
      expect(await other?.admin.data('{ users { id } }')).toEqual({ users: [{ id: 'eve' }] })
    })
  })
})
