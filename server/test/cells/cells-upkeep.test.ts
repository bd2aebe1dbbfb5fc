import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { addCells, allOf, evenly, half, moveBuckets, removeCell } from '../../src/operations/upkeep/cells.ts'
import { distribute, moveToWorker } from '../../src/operations/upkeep/remote-cells.ts'
import { migrateJobs } from '../../src/start/background.ts'
import { bucketOf } from '../../src/store/cells/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { openToolPool } from '../../src/store/connection/tool-connection.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { withContents } from '../../src/tools/backup/contents.ts'
import { load } from '../../src/tools/backup/load.ts'
import { createUsers } from '../harness/catalogue.ts'
import { MOVING, openCellServers } from '../harness/cells.ts'
import { createDatabase, createEmptyDatabase, directly, rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { API_KEY, adminClient, createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const log = pino({ level: 'silent' })
const quiet = () => {}

describe('what looks after several cells', () => {
  const cells = shared(openCellServers)
  beforeAll(async () => {
    const users = Array.from({ length: 20 }, (_, i) => `u${i}`)
    await createUsers(cells.app.admin, users)
    for (const id of users) {
      await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
      await cells.record(cells.app.admin, id, 2)
    }
    await cells.spread(4)
  })

  it('loads the sample and removes it again', async () => {
    await createApp(cells.servers[0], 'sampled')
    const loadSample = await cells.servers[0].dashboard.call('loadSample { users subscriptions }', {
      appId: 'sampled',
    })
    expect(loadSample.users).toBeGreaterThan(100)
    expect(await cells.cellsWith('subscription', `app_id = 'sampled'`)).toEqual(['c0', 'c1', 'c2', 'c3'])
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    const removeSample = await cells.servers[0].dashboard.call('removeSample { users kept }', {
      appId: 'sampled',
    })
    expect(removeSample).toEqual({ users: loadSample.users, kept: [] })
    for (const table of ['users', 'subscription', 'usage_counter', 'usage_ledger'])
      expect(await cells.cellsWith(table, `app_id = 'sampled'`)).toEqual([])
  })

  it('deletes a user for good, and an app with all of its users', async () => {
    const admin = await createApp(cells.servers[0], 'doomed')
    await createUsers(
      admin,
      Array.from({ length: 20 }, (_, i) => `d${i}`),
    )
    await cells.servers[0].dashboard.call('updateUser', {
      appId: 'doomed',
      id: 'd0',
      input: { billingId: 'cus_doomed' },
    })
    const noted = `select from user_billing_id where billing_id = 'cus_doomed'`
    expect((await cells.pool.query(noted)).rowCount).toBe(1)
    await admin.data('mutation { deleteUser(id: "d0") { id } }')
    expect((await cells.pool.query(noted)).rowCount).toBe(0)
    expect(await cells.cellsWith('users', `app_id = 'doomed' and id = 'd0'`)).toEqual([])
    expect(await cells.cellsWith('users', `app_id = 'doomed'`)).toHaveLength(4)
    await cells.servers[0].dashboard.data('mutation { archiveApp(appId: "doomed") { id } }')
    await cells.servers[0].dashboard.data('mutation { deleteApp(appId: "doomed", confirm: "doomed") { id } }')
    const until = performance.now() + PATIENCE_MS
    while ((await cells.cellsWith('users', `app_id = 'doomed'`)).length > 0) {
      expect(performance.now()).toBeLessThan(until)
      await delay(50)
    }
  })

  it('is backed up as a whole, and restored into one cell', async () => {
    const target = await createEmptyDatabase()
    const [from, to] = [cells.servers[0].databaseUrl, target.url].map((url) =>
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
        expect(await cells.usedBy(restored.admin, 'u2')).toBe(await cells.usedBy(cells.app.admin, 'u2'))
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
    const moves = allOf(await readBuckets(cells.pool), 0, 1)
    await moveBuckets(cells.pool, moves, {
      ...MOVING,
      stopping: stopping.signal,
      progress: (done) => {
        if (done > 0) stopping.abort()
      },
    })
    const buckets = await readBuckets(cells.pool)
    const gone = moves.filter(({ bucket }) => buckets[bucket] === 1)
    expect(gone.length).toBeGreaterThan(0)
    expect(gone.length).toBeLessThan(moves.length)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    await moveBuckets(cells.pool, allOf(await readBuckets(cells.pool), 0, 1), MOVING)
    expect((await readBuckets(cells.pool)).includes(0)).toBe(false)
    expect(await cells.cellsWith('users', 'true')).not.toContain('c0')
  })

  it('says what is missing before a cell can be put on another server', async () => {
    await expect(distribute(cells.pool, 1, () => {})).rejects.toThrow(
      'The database lacks the extension citus. Cells on other servers require Citus',
    )
    await expect(moveToWorker(cells.pool, 1, 'other:5432')).rejects.toThrow('lacks the extension citus')
  })

  it('removes the last cell once it is empty, while calls go on, with what deleted users have used', async () => {
    await expect(removeCell(cells.pool, 2, quiet)).rejects.toThrow('Only the last cell, 3, can be removed.')
    await expect(removeCell(cells.pool, 3, quiet)).rejects.toThrow('Cell 3 contains users')
    await createUsers(cells.app.admin, ['leaver'])
    await cells.app.admin.data('mutation { subscribe(userId: "leaver", packageIds: ["plan"]) { id } }')
    await moveBuckets(cells.pool, [{ bucket: bucketOf('default', 'leaver'), to: 3 }], MOVING)
    await cells.record(cells.app.admin, 'leaver', 3)
    await cells.app.admin.data('mutation { deleteUser(id: "leaver") { id } }')
    const entries = async () =>
      (await cells.pool.query('select app_id, user_uid, delta from usage_ledger order by seq')).rows
    await moveBuckets(cells.pool, allOf(await readBuckets(cells.pool), 3, 2), MOVING)
    expect(await cells.cellsWith('usage_ledger', 'true')).toContain('c3')
    const before = await entries()
    let [going, calls] = [true, 0]
    const load = Promise.all(
      cells.servers.map(async ({ admin }) => {
        // Many at once, which are asked in all cells.
        for (; going; calls++)
          await Promise.all(Array.from({ length: 20 }, (_, i) => cells.usedBy(admin, `u${i}`)))
      }),
    )
    let removed = 0
    try {
      await removeCell(cells.pool, 3, quiet)
      removed = calls
      const until = performance.now() + PATIENCE_MS
      while (calls < removed + 20 && performance.now() < until) await Promise.race([load, delay(10)])
    } finally {
      going = false
      await load
    }
    expect(calls).toBeGreaterThanOrEqual(removed + 20)
    expect((await cells.pool.query('select schema from cell order by id')).rows).toEqual(
      ['c0', 'c1', 'c2'].map((schema) => ({ schema })),
    )
    expect((await cells.pool.query(`select from pg_namespace where nspname = 'c3'`)).rowCount).toBe(0)
    expect(await entries()).toEqual(before)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    expect(await addCells(cells.pool, 1, quiet)).toBe(4)
    await moveBuckets(cells.pool, evenly(await readBuckets(cells.pool), 4), MOVING)
    await cells.record(cells.app.admin, 'u1')
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })
})

it('creates cells that the service can use, whoever adds them', async () => {
  const database = await createEmptyDatabase()
  const owner = `owner_${randomBytes(6).toString('hex')}`
  const name = new URL(database.url).pathname.slice(1)
  const ask = (sql: string) => rowsOf({ connectionString: database.url }, sql)
  await ask(`create role ${owner} login password 'secret'`)
  await ask(`alter database ${name} owner to ${owner}; alter schema public owner to ${owner}`)
  const url = new URL(directly(database.url))
  url.username = owner
  url.password = 'secret'
  const server = await startTestServer({ databaseUrl: url.href })
  const superuser = openPool({ connectionString: directly(database.url) }, { max: 2 }, log)
  try {
    const users = Array.from({ length: 8 }, (_, i) => `u${i}`)
    await createUsers(server.admin, users.slice(0, 4))
    await addCells(superuser, 3, quiet)
    await moveBuckets(superuser, evenly(await readBuckets(superuser), 4), MOVING)
    await createUsers(server.admin, users.slice(4))
    const { users: found } = await server.admin.data('{ users { id } }')
    expect(found).toEqual(users.map((id) => ({ id })))
  } finally {
    await superuser.end()
    await server.stop()
    await ask(`drop owned by ${owner} cascade`)
    await database.drop()
    await rowsOf({ connectionString: inject('postgresUrl') }, `drop role ${owner}`)
  }
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
