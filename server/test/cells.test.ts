import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateJobs } from '../src/background.ts'
import { withContents } from '../src/backup/contents.ts'
import { load } from '../src/backup/load.ts'
import { addCells, allOf, evenly, half, moveBuckets } from '../src/operations/upkeep/cells.ts'
import { keepLedger } from '../src/operations/upkeep/keep-ledger.ts'
import { bucketOf } from '../src/store/cells.ts'
import { openPool, type Pool } from '../src/store/database.ts'
import { readBuckets } from '../src/store/move-users.ts'
import { unbalancedCounters } from '../src/store/tables.ts'
import { openToolPool } from '../src/store/tool-connection.ts'
import { createUsers, publishPackage, type TestApp } from './harness/catalogue.ts'
import type { Client, Data } from './harness/client.ts'
import { createDatabase, createEmptyDatabase, directly } from './harness/database.ts'
import { API_KEY, adminClient, createApp, startTestServer, type TestServer } from './harness/server.ts'

const log = pino({ level: 'silent' })
const quiet = () => {}
const never = new AbortController().signal
const moving = { stopping: never, progress: quiet, waiting: quiet }

/** Bounds how long a test waits for something that is under way. */
const PATIENCE_MS = 20_000

describe('a database whose users are spread over cells', () => {
  let [one, other]: TestServer[] = []
  let pool: Pool
  let app: TestApp
  const servers = () => [one, other] as [TestServer, TestServer]
  beforeAll(async () => {
    one = await startTestServer()
    other = await startTestServer({ databaseUrl: one.databaseUrl })
    pool = openPool({ connectionString: directly(one.databaseUrl) }, { max: 4, statementMs: Infinity }, log)
    app = { id: 'default', admin: one.admin, dashboard: one.dashboard }
    await publishPackage(app, 'plan', { call: { limit: 1_000_000, resetPeriod: 'MONTH' } })
    await publishPackage(app, 'more', { call: { limit: 10 } }, true)
  })
  afterAll(async () => {
    await pool.end()
    await other?.stop()
    await one?.stop()
  })

  const schemasWith = async (table: string, condition: string): Promise<string[]> => {
    const { rows } = await pool.query<{ schema: string }>('select schema from cell order by id')
    const found: string[] = []
    for (const { schema } of rows) {
      const { rowCount } = await pool.query(`select from ${schema}.${table} where ${condition} limit 1`)
      if (rowCount) found.push(schema)
    }
    return found
  }
  const cellOfUser = (id: string) => schemasWith('users', `app_id = 'default' and id = '${id}'`)

  const record = (client: Client, userId: string, delta = 1) =>
    client.data(
      'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded consumption { used } } }',
      { input: { userId, featureId: 'call', delta } },
    )
  const usedBy = async (client: Client, userId: string) => {
    const { canUseFeature } = await client.data(
      `{ canUseFeature(userId: "${userId}", featureId: "call") { consumption { used } } }`,
    )
    return canUseFeature.consumption?.used ?? null
  }

  /** Users who use something all the time, on both servers, until it is stopped; and what they should have used. */
  async function use30(prefix: string) {
    const users = Array.from({ length: 30 }, (_, i) => `${prefix}${i}`)
    const used = new Map<string, number>()
    for (const id of users) used.set(id, await usedBy(app.admin, id))
    let [going, calls] = [true, 0]
    let failed: unknown = null
    const run = Promise.all(
      users.map(async (id, i) => {
        for (let n = 0; going; n++) {
          const { admin } = servers()[(i + n) % 2] as TestServer
          const { recordUsage } = await record(admin, id)
          const before = used.get(id) ?? 0
          expect([id, recordUsage.consumption.used]).toEqual([id, before + 1])
          used.set(id, before + 1)
          expect([id, await usedBy((servers()[n % 2] as TestServer).admin, id)]).toEqual([id, before + 1])
          calls += 2
        }
      }),
    )
    run.catch((error: unknown) => {
      failed = error
    })
    return {
      users,
      used,
      get failed() {
        return failed
      },
      get calls() {
        return calls
      },
      async stop() {
        going = false
        await run
      },
    }
  }

  /** Waits until so many calls were answered. */
  async function reach(load: { calls: number; failed: unknown }, calls: number): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    while (load.calls < calls) {
      if (load.failed) throw load.failed
      expect(performance.now()).toBeLessThan(until)
      await delay(10)
    }
  }

  it('is one cell at first, becomes four under load, and no call fails, is lost or counted twice', async () => {
    const users = Array.from({ length: 30 }, (_, i) => `u${i}`)
    await createUsers(app.admin, users)
    for (const id of users)
      await app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
    const load = await use30('u')
    await reach(load, 60)
    expect(await addCells(pool, 3, quiet)).toBe(4)
    const after = load.calls
    await reach(load, after + 60)
    await moveBuckets(pool, evenly(await readBuckets(pool), 4), moving)
    const moved = load.calls
    await reach(load, moved + 60)
    await load.stop()
    for (const id of users) {
      expect(await cellOfUser(id)).toHaveLength(1)
      for (const { admin } of servers())
        expect([id, await usedBy(admin, id)]).toEqual([id, load.used.get(id)])
    }
    const cells = new Set((await Promise.all(users.map(cellOfUser))).flat())
    expect([...cells].sort()).toEqual(['c0', 'c1', 'c2', 'c3'])
    expect(await unbalancedCounters(pool)).toBe(0)
  }, 60_000)

  it('moves users back and forth under load without losing anything', async () => {
    const load = await use30('u')
    for (let round = 0; round < 3; round++) {
      const buckets = await readBuckets(pool)
      const moves = load.users.map((id) => {
        const bucket = bucketOf('default', id)
        return { bucket, to: ((buckets[bucket] ?? 0) + 1) % 4 }
      })
      await moveBuckets(pool, [...new Map(moves.map((move) => [move.bucket, move])).values()], moving)
      const moved = load.calls
      await reach(load, moved + 60)
    }
    await load.stop()
    expect(await unbalancedCounters(pool)).toBe(0)
  }, 60_000)

  it('keeps the order of lists and the numbers of users, whatever cell they are in', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `ordered-${i}`)
    await createUsers(app.admin, ids)
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const { users }: Data = await app.admin.data(
        'query ($after: String) { users(first: 7, after: $after) { id } }',
        {
          after,
        },
      )
      if (users.length === 0) break
      seen.push(...users.map(({ id }: Data) => id))
      after = users.at(-1).id
    }
    expect(seen.filter((id) => id.startsWith('ordered-'))).toEqual(ids)
  })

  it('takes a user along whose id changes, with everything that is theirs', async () => {
    await createUsers(app.admin, ['anna'])
    await app.admin.data('mutation { subscribe(userId: "anna", packageIds: ["plan", "more"]) { id } }')
    await record(app.admin, 'anna', 5)
    const homes = new Set(await cellOfUser('anna'))
    for (let i = 0, name = 'anna'; i < 12; i++) {
      await app.admin.data(`mutation { updateUser(id: "${name}", input: { id: "anna-${i}" }) { id } }`)
      name = `anna-${i}`
      expect(await usedBy(other?.admin as Client, name)).toBe(5 + i)
      await record(app.admin, name)
      const { subscriptions } = await app.admin.data(
        `{ subscriptions(userId: "${name}") { package { id } userId } }`,
      )
      expect(subscriptions.map((s: Data) => [s.package.id, s.userId])).toEqual([
        ['plan', name],
        ['more', name],
      ])
      for (const cell of await cellOfUser(name)) homes.add(cell)
    }
    expect(homes.size).toBeGreaterThan(1)
    expect(await unbalancedCounters(pool)).toBe(0)
  })

  it('does not lose what is recorded while an id changes', async () => {
    await createUsers(app.admin, ['runner'])
    await app.admin.data('mutation { subscribe(userId: "runner", packageIds: ["plan"]) { id } }')
    let [name, going, recorded] = ['runner', true, 0]
    const recording = Promise.all(
      servers().map(async ({ admin }) => {
        while (going) {
          const { data } = await admin.ask(
            `mutation { recordUsage(input: { userId: "${name}", featureId: "call", delta: 1 }) { recorded } }`,
          )
          if (data?.recordUsage?.recorded) recorded++
        }
      }),
    )
    for (let i = 0; i < 25; i++) {
      await app.admin.data(`mutation { updateUser(id: "${name}", input: { id: "runner-${i}" }) { id } }`)
      name = `runner-${i}`
    }
    going = false
    await recording
    expect(recorded).toBeGreaterThan(0)
    expect(await usedBy(app.admin, name)).toBe(recorded)
    expect(await unbalancedCounters(pool)).toBe(0)
  })

  it('gives an id to one user only, when a new user and a renamed one want it at once', async () => {
    for (let i = 0; i < 10; i++) {
      await createUsers(app.admin, [`from-${i}`])
      const answers = await Promise.all([
        one?.admin.ask(`mutation { updateUser(id: "from-${i}", input: { id: "wanted-${i}" }) { id } }`),
        other?.admin.ask(`mutation { createUser(input: { id: "wanted-${i}" }) { id } }`),
      ])
      expect(answers.filter((answer) => !answer?.errors)).toHaveLength(1)
      expect(await cellOfUser(`wanted-${i}`)).toHaveLength(1)
    }
  })

  it('gives a billing id to one user only, whatever cells they are in', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => `payer-${i}`)
    await createUsers(app.admin, ids)
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        ids.map((id, i) =>
          (servers()[i % 2] as TestServer).admin.ask(
            `mutation { updateUser(id: "${id}", input: { billingId: "cus_${round}" }) { id } }`,
          ),
        ),
      )
      expect(answers.filter(({ errors }) => !errors)).toHaveLength(1)
      for (const { errors } of answers)
        if (errors) expect(errors[0]?.message).toContain('Another user has the billingId')
      const { rows } = await pool.query(`select id from users where app_id = 'default' and billing_id = $1`, [
        `cus_${round}`,
      ])
      expect(rows).toHaveLength(1)
    }
    // What was given up can be had by another.
    const { users } = await app.admin.data('{ users(first: 500) { id billingId } }')
    const holder = users.find(({ billingId }: Data) => billingId === 'cus_4')
    const next = ids.find((id) => id !== holder.id)
    await app.admin.data(`mutation { updateUser(id: "${holder.id}", input: { billingId: null }) { id } }`)
    await app.admin.data(`mutation { updateUser(id: "${next}", input: { billingId: "cus_4" }) { id } }`)
  })

  it('records several users in one request with a key, all or nothing, once', async () => {
    const inputs = Array.from({ length: 10 }, (_, i) => ({ userId: `u${i}`, featureId: 'call', delta: 1 }))
    const before = await Promise.all(inputs.map(({ userId }) => usedBy(app.admin, userId)))
    const send = () =>
      app.admin
        .with({ 'Idempotency-Key': 'ten at once' })
        .data(
          'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }',
          {
            inputs,
          },
        )
    const [first, second] = [await send(), await send()]
    expect(second).toEqual(first)
    const after = await Promise.all(inputs.map(({ userId }) => usedBy(app.admin, userId)))
    expect(after).toEqual(before.map((used) => used + 1))
  })

  it('loads the sample and removes it again', async () => {
    await createApp(one as TestServer, 'sampled')
    const { loadSample } = await (one as TestServer).dashboard.data(
      'mutation { loadSample(appId: "sampled") { users subscriptions } }',
    )
    expect(loadSample.users).toBeGreaterThan(100)
    expect(await schemasWith('subscription', `app_id = 'sampled'`)).toEqual(['c0', 'c1', 'c2', 'c3'])
    expect(await unbalancedCounters(pool)).toBe(0)
    const { removeSample } = await (one as TestServer).dashboard.data(
      'mutation { removeSample(appId: "sampled") { users kept } }',
    )
    expect(removeSample).toEqual({ users: loadSample.users, kept: [] })
    for (const table of ['users', 'subscription', 'usage_counter', 'usage_ledger'])
      expect(await schemasWith(table, `app_id = 'sampled'`)).toEqual([])
  })

  it('deletes a user for good, and an app with all of its users', async () => {
    const admin = await createApp(one as TestServer, 'doomed')
    await createUsers(
      admin,
      Array.from({ length: 20 }, (_, i) => `d${i}`),
    )
    await admin.data('mutation { updateUser(id: "d0", input: { billingId: "cus_doomed" }) { id } }')
    const noted = `select from user_billing_id where billing_id = 'cus_doomed'`
    expect((await pool.query(noted)).rowCount).toBe(1)
    await admin.data('mutation { deleteUser(id: "d0") { id } }')
    expect((await pool.query(noted)).rowCount).toBe(0)
    expect(await schemasWith('users', `app_id = 'doomed' and id = 'd0'`)).toEqual([])
    expect(await schemasWith('users', `app_id = 'doomed'`)).toHaveLength(4)
    await (one as TestServer).dashboard.data('mutation { archiveApp(appId: "doomed") { id } }')
    await (one as TestServer).dashboard.data(
      'mutation { deleteApp(appId: "doomed", confirm: "doomed") { id } }',
    )
    const until = performance.now() + PATIENCE_MS
    while ((await schemasWith('users', `app_id = 'doomed'`)).length > 0) {
      expect(performance.now()).toBeLessThan(until)
      await delay(50)
    }
  })

  it('has the ledger of each cell kept: partitions open everywhere, and what is retired still counts', async () => {
    const { rows } = await pool.query<{ schema: string }>('select schema from cell order by id')
    const ledgers = rows.map(({ schema }) =>
      openPool(
        { connectionString: directly((one as TestServer).databaseUrl) },
        { max: 2, statementMs: Infinity, searchPath: `${schema}, public` },
        log,
      ),
    ) as [Pool, ...Pool[]]
    try {
      const kept = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: 0 }, never)
      expect(kept.opened).not.toBeNull()
      await record(app.admin, 'u1')
      const again = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: 0 }, never)
      expect(again.retired).toContain(kept.opened)
      for (const ledger of ledgers) expect(await unbalancedCounters(ledger)).toBe(0)
      expect(await unbalancedCounters(pool)).toBe(0)
      // A user whose entries were retired can be moved.
      const buckets = await readBuckets(pool)
      const bucket = bucketOf('default', 'u1')
      const from = buckets[bucket] ?? 0
      await moveBuckets(pool, [{ bucket, to: (from + 1) % 4 }], moving)
      expect(await unbalancedCounters(pool)).toBe(0)
      await record(app.admin, 'u1')
      expect(await unbalancedCounters(pool)).toBe(0)
    } finally {
      for (const ledger of ledgers) await ledger.end()
    }
  })

  it('is backed up as a whole, and restored into one cell', async () => {
    const target = await createEmptyDatabase()
    const [from, to] = [(one as TestServer).databaseUrl, target.url].map((url) =>
      openToolPool({ connectionString: directly(url) }, 'DATABASE_URL'),
    ) as [Pool, Pool]
    try {
      const loaded = await withContents(from, 'test', 'go on', (contents) =>
        load(contents, { pool: to, setting: 'DATABASE_URL', migrateJobs }, quiet),
      )
      expect(loaded.unbalanced).toBe(0)
      const people = 'select app_id, uid, id, billing_id from users order by uid'
      expect((await to.query(people)).rows).toEqual((await from.query(people)).rows)
      const restored = await startTestServer({ databaseUrl: target.url })
      try {
        expect(await usedBy(restored.admin, 'u2')).toBe(await usedBy(app.admin, 'u2'))
        await createUsers(adminClient(restored.url, API_KEY), ['after the restore'])
      } finally {
        await restored.stop()
      }
    } finally {
      await to.end()
      await from.end()
      await target.drop()
    }
  })

  it('stays whole when a move is cut short', async () => {
    const stopping = new AbortController()
    const moves = allOf(await readBuckets(pool), 0, 1)
    await moveBuckets(pool, moves, {
      ...moving,
      stopping: stopping.signal,
      progress: (done) => {
        if (done > 0) stopping.abort()
      },
    })
    const buckets = await readBuckets(pool)
    const gone = moves.filter(({ bucket }) => buckets[bucket] === 1)
    expect(gone.length).toBeGreaterThan(0)
    expect(gone.length).toBeLessThan(moves.length)
    expect(await unbalancedCounters(pool)).toBe(0)
    await moveBuckets(pool, allOf(await readBuckets(pool), 0, 1), moving)
    expect((await readBuckets(pool)).includes(0)).toBe(false)
    expect(await schemasWith('users', 'true')).not.toContain('c0')
  })
})

describe('buckets', () => {
  it('are the same in SQL', async () => {
    const database = await createDatabase()
    const pool = openPool({ connectionString: directly(database.url) }, { max: 1 }, log)
    try {
      const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((id) => !/\0|\p{Cs}/u.test(id))
      await fc.assert(
        fc.asyncProperty(text, text, async (appId, id) => {
          const { rows } = await pool.query('select bucket_of($1, $2) as bucket', [appId, id])
          expect(rows[0].bucket).toBe(bucketOf(appId, id))
        }),
        { numRuns: 200 },
      )
    } finally {
      await pool.end()
      await database.drop()
    }
  })

  it('property: are shared out evenly, and no more of them move than must', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(7), { minLength: 8, maxLength: 64 }),
        (cells, given) => {
          const buckets = given.map((cell) => cell % cells)
          const moves = evenly(buckets, cells)
          const after = [...buckets]
          for (const { bucket, to } of moves) after[bucket] = to
          const counts = Array.from({ length: cells }, (_, cell) => after.filter((c) => c === cell).length)
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
          const before = Array.from({ length: cells }, (_, cell) => buckets.filter((c) => c === cell).length)
          const least = Math.ceil(given.length / cells)
          const surplus = before.reduce((sum, count) => sum + Math.max(0, count - least), 0)
          expect(moves.length).toBeGreaterThanOrEqual(surplus)
          expect(moves.length).toBeLessThanOrEqual(surplus + cells)
          expect(new Set(moves.map(({ bucket }) => bucket)).size).toBe(moves.length)
        },
      ),
    )
  })

  it('of a split cell: every other one goes', () => {
    expect(half([0, 1, 0, 0, 1, 0], 0, 2)).toEqual([
      { bucket: 2, to: 2 },
      { bucket: 5, to: 2 },
    ])
  })
})
