import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUsers, publishPackage, type TestApp } from '../harness/catalogue.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import type { Client, Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { watchStatements } from '../harness/statements.ts'

// A process that has changed a user's credits or reservations remembers what it was decided by, and the next call takes one
// statement. Invariant: what others, or time, have changed meanwhile decides all the same.

let first: TestServer
let second: TestServer
let app: TestApp
beforeAll(async () => {
  first = await startTestServer()
  second = await startTestServer({ databaseUrl: first.databaseUrl })
  app = { id: 'default', admin: second.admin, dashboard: second.dashboard.of('default') }
  await publishPackage(app, 'small', { call: { limit: 10, resetPeriod: 'MONTH' } })
  await publishPackage(app, 'large', { call: { limit: 100, resetPeriod: 'MONTH' } })
})
afterAll(async () => {
  await second?.stop()
  await first?.stop()
})

/** What is done with the feature `call` of a user, by way of a client. */
function ofUser(user: () => string) {
  const of = () => ({ userId: user(), featureId: 'call' })
  return {
    add: async (admin: Client, amount: number, more: Data = {}): Promise<string> =>
      (await admin.call('addCredit { id }', { input: { ...of(), amount, ...more } })).id,
    record: async (admin: Client, delta: number, more: Data = {}): Promise<boolean> =>
      (await admin.call('recordUsage { recorded }', { input: { ...of(), delta, ...more } })).recorded,
    reserve: (admin: Client, amount: number, more: Data = {}): Promise<Data> =>
      admin.call('reserveUsage { id reserved state createdAt expiresAt }', {
        input: { ...of(), amount, ...more },
      }),
    figures: async (admin: Client): Promise<Data> =>
      (await admin.call('canUseFeature { consumption { reserved remaining } }', of())).consumption,
  }
}
const settle = async (admin: Client, id: string, amount: number, more: Data = {}): Promise<Data> =>
  admin.call('settleReservation { settled state late }', { id, amount, ...more })

let user = ''
let users = 0
const { add, record, reserve, figures } = ofUser(() => user)

beforeEach(async () => {
  user = `user-${++users}`
  await createUsers(app.admin, [user])
  await app.admin.call('subscribe { id }', { userId: user, packageIds: ['small'] })
  await add(second.admin, 100)
  // What is read for the first call is remembered.
  expect(await record(first.admin, 5)).toBe(true)
})

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = []
  const stop = watchStatements(({ name }) => {
    if (name && /^(read-|write-)/.test(name)) names.push(name)
    return undefined
  })
  await work().finally(stop)
  return names
}

it.skipIf(onCluster || TEST_CELLS > 1)(
  'takes one statement for a record, a reservation and its settlement',
  async () => {
    const written = [expect.stringMatching(/^write-spending/)]
    expect(await statementsOf(() => record(first.admin, 1))).toEqual(written)
    let id = ''
    const reserving = async () => {
      id = (await reserve(first.admin, 10)).id
    }
    expect(await statementsOf(reserving)).toEqual(written)
    expect(await statementsOf(() => settle(first.admin, id, 4))).toEqual(written)
    expect(await figures(second.admin)).toEqual({ reserved: 0, remaining: 100 })
  },
)

it.skipIf(onCluster || TEST_CELLS > 1)('reads once after time has changed what it remembers', async () => {
  const written = expect.stringMatching(/^write-spending/)
  const { expiresAt } = await reserve(first.admin, 1, { ttlSeconds: 1 })
  expect(await record(first.admin, 1)).toBe(true)
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(expiresAt) + 100)
  expect(await statementsOf(() => record(first.admin, 1))).toEqual(['read-spenders', written])
  expect(await statementsOf(() => record(first.admin, 1))).toEqual([written])
})

it('refuses nothing by what it remembers', async () => {
  expect(await record(first.admin, 100)).toBe(true)
  await add(second.admin, 50)
  expect(await record(first.admin, 45)).toBe(true)
  expect(await reserve(first.admin, 10)).toMatchObject({ reserved: 10 })
  await add(second.admin, 5)
  expect(await reserve(first.admin, 5)).toMatchObject({ reserved: 5 })
  expect(await reserve(first.admin, 1)).toMatchObject({ reserved: 0 })
  expect(await record(first.admin, 1)).toBe(false)
})

it('goes on from what another process has recorded, reserved and settled', async () => {
  const { id } = await reserve(first.admin, 20)
  expect(await record(second.admin, 30)).toBe(true)
  expect(await reserve(second.admin, 10)).toMatchObject({ reserved: 10 })
  expect(await settle(first.admin, id, 5, { final: false })).toMatchObject({ settled: 5, state: 'HELD' })
  expect(await settle(second.admin, id, 6, { final: false })).toMatchObject({ settled: 11, state: 'HELD' })
  expect(await settle(first.admin, id, 7)).toMatchObject({ settled: 18, state: 'SETTLED' })
  expect(await figures(first.admin)).toEqual({ reserved: 10, remaining: 47 })
  expect(await figures(second.admin)).toEqual({ reserved: 10, remaining: 47 })
})

it('answers an id or a key that was used before with the first answer, and holds once', async () => {
  const made = await reserve(second.admin, 10, { id: `id of ${user}` })
  expect(await record(first.admin, 1)).toBe(true)
  expect(await reserve(first.admin, 10, { id: `id of ${user}` })).toEqual(made)
  const key = { idempotencyKey: `key of ${user}` }
  for (const { admin } of [second, first, first]) expect(await record(admin, 3, key)).toBe(true)
  expect(await record(first.admin, 1)).toBe(true)
  expect(await figures(first.admin)).toEqual({ reserved: 10, remaining: 90 })
})

it('decides calls that arrive together one after the other', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, () => reserve(first.admin, 10)))
  expect(made.filter(({ reserved }) => reserved === 10)).toHaveLength(10)
  await Promise.all(made.filter(({ reserved }) => reserved > 0).map(({ id }) => settle(first.admin, id, 9)))
  expect(await figures(second.admin)).toEqual({ reserved: 0, remaining: 15 })
})

it('decides once for a user of whom one feature is remembered and another is read', async () => {
  for (const id of ['shared', 'one', 'other'])
    await app.admin.call('createFeature { id }', { input: { id, name: id, type: 'CONSUMABLE' } })
  const costs = ['one', 'other'].map((featureId) => ({ featureId, cost: 1 }))
  await app.admin.call('updateFeature', { id: 'shared', input: { costs } })
  const use = async (featureId: string, delta: number): Promise<boolean> =>
    (await first.admin.call('recordUsage { recorded }', { input: { userId: user, featureId, delta } }))
      .recorded
  for (let round = 0; round < 10; round++) {
    user = `of a pool ${round}`
    await createUsers(app.admin, [user])
    await add(second.admin, 15, { featureId: 'shared' })
    for (const featureId of ['other', 'one']) expect(await use(featureId, 1)).toBe(true)
    await add(second.admin, 1, { featureId: 'call' })
    expect(await use('one', 1)).toBe(true)
    // The first two occupy the lane, so that the others share a batch.
    const made = await Promise.all([use('one', 0), use('other', 0), use('one', 10), use('other', 10)])
    expect(made.filter((one) => one)).toHaveLength(3)
  }
})

describe('decides by what another process has changed:', () => {
  const changes: { what: string; change: () => Promise<unknown>; fits: number }[] = [
    {
      what: 'a voided credit',
      change: async () => {
        const [{ id }] = await app.admin.call('credits { id }', { userId: user })
        await app.admin.call('voidCredit { id }', { id })
      },
      fits: 5,
    },
    {
      what: 'another plan',
      change: () =>
        app.admin.call('changeSubscription { subscription { id } }', {
          userId: user,
          packageId: 'large',
          when: 'NOW',
        }),
      fits: 195,
    },
    {
      what: 'an override',
      change: () =>
        app.admin.call('setOverride { featureId }', {
          input: { userId: user, featureId: 'call', mode: 'REPLACE', limit: 7 },
        }),
      fits: 102,
    },
    {
      what: 'a cap',
      change: () =>
        app.admin.call('setCap { limit }', {
          input: { userId: user, featureId: 'call', limit: 6, period: 'YEAR' },
        }),
      fits: 6,
    },
    { what: 'a reservation', change: () => reserve(second.admin, 60), fits: 45 },
  ]
  it.each(changes)('$what', async ({ change, fits }) => {
    await change()
    expect(await record(first.admin, fits + 1)).toBe(false)
    expect(await record(first.admin, fits)).toBe(true)
  })

  it('a deleted user, also with a successor of the same id', async () => {
    const { id } = await reserve(first.admin, 10)
    await app.admin.call('deleteUser', { id: user })
    expect(await record(first.admin, 1)).toBe(false)
    await createUsers(app.admin, [user])
    await expect(settle(first.admin, id, 1)).rejects.toThrow('RESERVATION_NOT_FOUND')
    expect(await record(first.admin, 1)).toBe(false)
  })
})

describe('decides by what time has changed:', () => {
  let clocked: ClockedApp
  const ann = ofUser(() => 'ann')
  beforeEach(async () => {
    clocked = await clockedApp(first)
    await publishPackage(clocked, 'plan', { call: { limit: 10, resetPeriod: 'MONTH' } })
    await clocked.advance('2091-03-14T22:30:00.000Z')
    await clocked.subscribe('plan')
  })

  const fits = async (units: number) => {
    expect(await ann.record(clocked.admin, units + 1)).toBe(false)
    expect(await ann.record(clocked.admin, units)).toBe(true)
  }

  it('a credit that expires, and one that begins', async () => {
    await ann.add(clocked.admin, 50, { expiresAt: '2091-03-15T00:00:00.000Z' })
    await ann.add(clocked.admin, 30, { effectiveAt: '2091-03-15T12:00:00.000Z' })
    expect(await ann.record(clocked.admin, 1)).toBe(true)
    await clocked.advance('2091-03-15T00:00:00.000Z')
    await fits(10)
    await clocked.advance('2091-03-15T12:00:00.000Z')
    await fits(30)
  })

  it('a reservation that expires', async () => {
    await ann.add(clocked.admin, 50)
    const { id, createdAt, expiresAt } = await ann.reserve(clocked.admin, 55, { ttlSeconds: 60 })
    expect([createdAt, expiresAt]).toEqual(['2091-03-14T22:30:00.000Z', '2091-03-14T22:31:00.000Z'])
    expect(await ann.record(clocked.admin, 1)).toBe(true)
    await clocked.advance('2091-03-14T22:30:59.999Z')
    expect(await ann.record(clocked.admin, 5)).toBe(false)
    expect(await ann.reserve(clocked.admin, 1)).toMatchObject({ createdAt: '2091-03-14T22:30:59.999Z' })
    await clocked.advance('2091-03-14T22:31:00.000Z')
    expect(await settle(clocked.admin, id, 20)).toMatchObject({ settled: 20, late: true })
    await fits(38)
  })

  it('the window of a cap, and the period of the plan', async () => {
    await ann.add(clocked.admin, 1_000)
    const cap = { userId: 'ann', featureId: 'call', limit: 20, period: 'HOUR' }
    await clocked.admin.call('setCap { limit }', { input: cap })
    await fits(20)
    await clocked.advance('2091-03-14T23:00:00.000Z')
    await fits(20)
    await clocked.advance('2091-04-14T22:30:00.000Z')
    await fits(20)
    expect(await ann.figures(clocked.admin)).toEqual({ reserved: 0, remaining: 0 })
  })
})

it('gives a reservation the time of the database', async () => {
  const before = Date.now()
  const made = [await reserve(first.admin, 1), await reserve(first.admin, 1, { ttlSeconds: 60 })]
  const after = Date.now()
  for (const [i, { createdAt, expiresAt }] of made.entries()) {
    const [from, until] = [Date.parse(createdAt), Date.parse(expiresAt)]
    expect(from).toBeGreaterThanOrEqual(before - 1_000)
    expect(from).toBeLessThanOrEqual(after + 1)
    expect(until - from).toBe(i === 0 ? 300_000 : 60_000)
  }
})
