import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { addCells, evenly, moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { bucketOf } from '../../src/store/cells/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { createUsers } from '../harness/catalogue.ts'
import { MOVING, openCellServers } from '../harness/cells.ts'
import type { Data } from '../harness/client.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import type { TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const quiet = () => {}

describe('users who are spread over cells', () => {
  const cells = shared(openCellServers)

  /** Users who use something all the time, on both servers, until it is stopped; and what they should have used. */
  async function use30(prefix: string) {
    const users = Array.from({ length: 30 }, (_, i) => `${prefix}${i}`)
    const used = new Map<string, number>()
    for (const id of users) used.set(id, await cells.usedBy(cells.app.admin, id))
    let [going, calls] = [true, 0]
    let failed: unknown = null
    const run = Promise.all(
      users.map(async (id, i) => {
        for (let n = 0; going; n++) {
          const { admin } = cells.servers[(i + n) % 2] as TestServer
          const now = await cells.record(admin, id)
          const before = used.get(id) ?? 0
          expect([id, now]).toEqual([id, before + 1])
          used.set(id, before + 1)
          expect([id, await cells.usedBy((cells.servers[n % 2] as TestServer).admin, id)]).toEqual([
            id,
            before + 1,
          ])
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
    await createUsers(cells.app.admin, users)
    for (const id of users)
      await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
    const load = await use30('u')
    await reach(load, 60)
    expect(await addCells(cells.pool, 3, quiet)).toBe(4)
    const after = load.calls
    await reach(load, after + 60)
    await moveBuckets(cells.pool, evenly(await readBuckets(cells.pool), 4), MOVING)
    const moved = load.calls
    await reach(load, moved + 60)
    await load.stop()
    for (const id of users) {
      expect(await cells.cellsOfUser(id)).toHaveLength(1)
      for (const { admin } of cells.servers)
        expect([id, await cells.usedBy(admin, id)]).toEqual([id, load.used.get(id)])
    }
    const homes = new Set((await Promise.all(users.map(cells.cellsOfUser))).flat())
    expect([...homes].sort()).toEqual(['c0', 'c1', 'c2', 'c3'])
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('moves users back and forth under load without losing anything', async () => {
    const load = await use30('u')
    for (let round = 0; round < 3; round++) {
      const buckets = await readBuckets(cells.pool)
      const moves = load.users.map((id) => {
        const bucket = bucketOf('default', id)
        return { bucket, to: ((buckets[bucket] ?? 0) + 1) % 4 }
      })
      await moveBuckets(cells.pool, [...new Map(moves.map((move) => [move.bucket, move])).values()], MOVING)
      const moved = load.calls
      await reach(load, moved + 60)
    }
    await load.stop()
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('keeps the order of lists and the numbers of users, whatever cell they are in', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `ordered-${i}`)
    await createUsers(cells.app.admin, ids)
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const users: Data = await cells.app.admin.call('users { id }', { first: 7, after })
      if (users.length === 0) break
      seen.push(...users.map(({ id }: Data) => id))
      after = users.at(-1).id
    }
    expect(seen.filter((id) => id.startsWith('ordered-'))).toEqual(ids)
  })

  it('takes a user along whose id changes, with everything that is theirs', async () => {
    await createUsers(cells.app.admin, ['anna'])
    await cells.app.admin.data('mutation { subscribe(userId: "anna", packageIds: ["plan", "more"]) { id } }')
    await cells.record(cells.app.admin, 'anna', 5)
    const homes = new Set(await cells.cellsOfUser('anna'))
    for (let i = 0, name = 'anna'; i < 12; i++) {
      await cells.app.admin.data(`mutation { updateUser(id: "${name}", input: { id: "anna-${i}" }) { id } }`)
      name = `anna-${i}`
      expect(await cells.usedBy(cells.servers[1].admin, name)).toBe(5 + i)
      await cells.record(cells.app.admin, name)
      const subscriptions = await cells.app.admin.call('subscriptions { package { id } userId }', {
        userId: name,
      })
      expect(subscriptions.map((s: Data) => [s.package.id, s.userId])).toEqual([
        ['plan', name],
        ['more', name],
      ])
      for (const cell of await cells.cellsOfUser(name)) homes.add(cell)
    }
    expect(homes.size).toBeGreaterThan(1)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('does not lose what is recorded while an id changes', async () => {
    await createUsers(cells.app.admin, ['runner'])
    await cells.app.admin.data('mutation { subscribe(userId: "runner", packageIds: ["plan"]) { id } }')
    let [name, going, recorded] = ['runner', true, 0]
    const recording = Promise.all(
      cells.servers.map(async ({ admin }) => {
        while (going) {
          const { data } = await admin.ask(
            `mutation { recordUsage(input: { userId: "${name}", featureId: "call", delta: 1 }) { recorded } }`,
          )
          if (data?.recordUsage?.recorded) recorded++
        }
      }),
    )
    for (let i = 0; i < 25 || (recorded === 0 && i < 500); i++) {
      await cells.app.admin.call('updateUser', { id: name, input: { id: `runner-${i}` } })
      name = `runner-${i}`
    }
    going = false
    await recording
    expect(recorded).toBeGreaterThan(0)
    expect(await cells.usedBy(cells.app.admin, name)).toBe(recorded)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('gives an id to one user only, when a new user and a renamed one want it at once', async () => {
    for (let i = 0; i < 10; i++) {
      await createUsers(cells.app.admin, [`from-${i}`])
      const answers = await Promise.all([
        cells.servers[0].admin.ask(
          `mutation { updateUser(id: "from-${i}", input: { id: "wanted-${i}" }) { id } }`,
        ),
        cells.servers[1].admin.ask(`mutation { createUser(input: { id: "wanted-${i}" }) { id } }`),
      ])
      expect(answers.filter((answer) => !answer?.errors)).toHaveLength(1)
      expect(await cells.cellsOfUser(`wanted-${i}`)).toHaveLength(1)
    }
  })

  it('gives a billing id to one user only, whatever cells they are in', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => `payer-${i}`)
    await createUsers(cells.app.admin, ids)
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        ids.map((id, i) =>
          (cells.servers[i % 2] as TestServer).dashboard.ask(
            `mutation { updateUser(appId: "default", id: "${id}", input: { billingId: "cus_${round}" }) { id } }`,
          ),
        ),
      )
      expect(answers.filter(({ errors }) => !errors)).toHaveLength(1)
      for (const { errors } of answers)
        if (errors) expect(errors[0]?.message).toContain('Another user already has the billingId')
      const { rows } = await cells.pool.query(
        `select id from users where app_id = 'default' and billing_id = $1`,
        [`cus_${round}`],
      )
      expect(rows).toHaveLength(1)
    }
    // What was given up can be had by another.
    const { users } = await cells.app.admin.data('{ users(first: 500) { id billingId } }')
    const holder = users.find(({ billingId }: Data) => billingId === 'cus_4')
    const next = ids.find((id) => id !== holder.id)
    await cells.app.dashboard.call('updateUser', {
      appId: 'default',
      id: holder.id,
      input: { billingId: null },
    })
    await cells.app.dashboard.call('updateUser', {
      appId: 'default',
      id: next,
      input: { billingId: 'cus_4' },
    })
  })

  it('records several users in one request with a key, all or nothing, once', async () => {
    const inputs = Array.from({ length: 10 }, (_, i) => ({ userId: `u${i}`, featureId: 'call', delta: 1 }))
    const before = await Promise.all(inputs.map(({ userId }) => cells.usedBy(cells.app.admin, userId)))
    const send = () =>
      cells.app.admin
        .with({ 'Idempotency-Key': 'ten at once' })
        .data(
          'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }',
          {
            inputs,
          },
        )
    const [first, second] = [await send(), await send()]
    expect(second).toEqual(first)
    const after = await Promise.all(inputs.map(({ userId }) => cells.usedBy(cells.app.admin, userId)))
    expect(after).toEqual(before.map((used) => used + 1))
  })

  it('keeps the answer to a refused call with a key', async () => {
    const send = (delta: number) =>
      cells.app.admin
        .with({ 'Idempotency-Key': 'too much' })
        .data(
          `mutation { recordUsage(input: { userId: "u1", featureId: "call", delta: ${delta} }) { recorded reason } }`,
        )
    const first = await send(9_000_000)
    expect(first.recordUsage.recorded).toBe(false)
    expect(await send(9_000_000)).toEqual(first)
    const { errors } = await cells.app.admin
      .with({ 'Idempotency-Key': 'too much' })
      .ask('mutation { recordUsage(input: { userId: "u2", featureId: "call", delta: 1 }) { recorded } }')
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['IDEMPOTENCY_KEY_REUSED'])
  })

  it('with more cells than one statement is for, has each call written once, whatever becomes of the others', async () => {
    await addCells(cells.pool, 6, quiet)
    const users = Array.from({ length: 30 }, (_, i) => `u${i}`)
    const moving = users.slice(0, 10).map((id, i) => [bucketOf('default', id), 8 + (i % 2)] as const)
    await moveBuckets(
      cells.pool,
      [...new Map(moving)].map(([bucket, to]) => ({ bucket, to })),
      MOVING,
    )
    const homeOf = new Map<string, string>()
    for (const id of users) homeOf.set(id, (await cells.cellsOfUser(id))[0] ?? '')
    // Those of the first eight cells are written by one statement, those of the last two by another.
    const isOfLast = (id: string) => ['c8', 'c9'].includes(homeOf.get(id) ?? '')
    const [last, others] = [users.filter(isOfLast), users.filter((id) => !isOfLast(id))]
    expect(last).not.toEqual([])
    const { admin } = cells.servers[0]
    const used = new Map<string, number>()
    for (const id of users) used.set(id, await cells.usedBy(admin, id))
    await cells.pool.query(`create function no_more() returns trigger language plpgsql as $$
      begin raise 'no more'; end $$`)
    for (const cell of ['c8', 'c9'])
      await cells.pool.query(
        `create trigger no_more before insert on ${cell}.usage_ledger for each row execute function no_more()`,
      )
    const outcomes = await Promise.allSettled(users.map((id) => cells.record(admin, id)))
    for (const cell of ['c8', 'c9']) await cells.pool.query(`drop trigger no_more on ${cell}.usage_ledger`)
    expect(users.filter((_, i) => outcomes[i]?.status === 'rejected')).toEqual(last)
    for (const id of others)
      expect([id, await cells.usedBy(admin, id)]).toEqual([id, (used.get(id) ?? 0) + 1])
    for (const id of last) expect([id, await cells.record(admin, id)]).toEqual([id, (used.get(id) ?? 0) + 1])
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })
})
