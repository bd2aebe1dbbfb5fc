import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUsers, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Client, Data } from '../harness/client.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { watchStatements } from '../harness/statements.ts'

// A process that has recorded usage of a user remembers what it was decided by, and the next event takes one statement.
// Invariant: what others have changed meanwhile decides all the same.

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used budget } }
}`

let first: TestServer
let second: TestServer
let app: TestApp
beforeAll(async () => {
  first = await startTestServer()
  second = await startTestServer({ databaseUrl: first.databaseUrl })
  app = { id: 'default', admin: second.admin, dashboard: second.dashboard.of('default') }
  await publishPackage(app, 'small', { call: { limit: 10, resetPeriod: 'MONTH' } })
  await publishPackage(app, 'large', { call: { limit: 100, resetPeriod: 'MONTH' } })
  await publishPackage(app, 'more', { call: { limit: 5, resetPeriod: 'MONTH' } }, true)
})
afterAll(async () => {
  await second?.stop()
  await first?.stop()
})

let user = ''
let users = 0
beforeEach(async () => {
  user = `user-${++users}`
  await createUsers(app.admin, [user])
  await app.admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["small"]) { id } }`)
  // The counter is created, then read, and remembered from then on.
  for (const used of [1, 2]) expect(await record(first.admin)).toEqual(recorded(used, 10))
})

async function record(admin: Client, input: Data = {}): Promise<Data> {
  const { recordUsage } = await admin.data(RECORD, {
    input: { userId: user, featureId: 'call', delta: 1, ...input },
  })
  return recordUsage
}
const recorded = (used: number, budget: number) => ({ recorded: true, consumption: { used, budget } })
const refused = (used: number, budget: number) => ({ recorded: false, consumption: { used, budget } })

/** The statements of the hot path that something sends. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = []
  const stop = watchStatements(({ name }) => {
    if (name && /^(read-holding|write-usage|read-idempotency)/.test(name)) names.push(name)
    return undefined
  })
  await work().finally(stop)
  return names
}

it.skipIf(onCluster)('takes one statement for a counter that it remembers', async () => {
  expect(await statementsOf(() => record(first.admin))).toEqual(['write-usage'])
  expect(await statementsOf(() => record(first.admin, { idempotencyKey: `key of ${user}` }))).toEqual([
    'write-usage',
  ])
})

it('answers a key that was used before with the first answer, and counts once', async () => {
  const key = { idempotencyKey: `used twice by ${user}` }
  expect(await record(first.admin, key)).toEqual(recorded(3, 10))
  expect(await record(first.admin, key)).toEqual(recorded(3, 10))
  expect(await record(second.admin, key)).toEqual(recorded(3, 10))
  expect(await record(first.admin)).toEqual(recorded(4, 10))
})

it('counts on from what another process has recorded', async () => {
  expect(await record(second.admin, { delta: 3 })).toEqual(recorded(5, 10))
  expect(await record(first.admin)).toEqual(recorded(6, 10))
  expect(await record(second.admin, { action: 'SET', delta: 9 })).toEqual(recorded(9, 10))
  expect(await record(first.admin)).toEqual(recorded(10, 10))
})

it('refuses nothing by what it remembers', async () => {
  expect(await record(first.admin, { delta: 8 })).toEqual(recorded(10, 10))
  expect(await record(second.admin, { delta: -5 })).toEqual(recorded(5, 10))
  expect(await record(first.admin, { delta: 4 })).toEqual(recorded(9, 10))
  expect(await record(first.admin, { delta: 2 })).toEqual(refused(9, 10))
})

it('records events of one counter together, all or none from memory', async () => {
  const results = await Promise.all(Array.from({ length: 12 }, () => record(first.admin)))
  expect(results.filter((one) => one.recorded)).toHaveLength(8)
  expect(await record(second.admin, { delta: 0 })).toEqual(recorded(10, 10))
})

const none = { recorded: false, consumption: null }

describe('decides by what another process has changed:', () => {
  const OVERRIDE = 'mutation ($input: OverrideInput!) { setOverride(input: $input) { featureId } }'
  const changes: { what: string; change: () => Promise<unknown>; delta?: number; answer: Data }[] = [
    {
      what: 'a smaller budget by another plan',
      change: async () => {
        await app.admin.data(`mutation { changeSubscription(userId: "${user}", packageId: "large", when: NOW) {
          subscription { id } } }`)
        await record(second.admin, { delta: 18 })
        await app.admin.data(`mutation { changeSubscription(userId: "${user}", packageId: "small", when: NOW) {
          subscription { id } } }`)
      },
      answer: refused(20, 10),
    },
    {
      what: 'an add-on',
      change: () => app.admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["more"]) { id } }`),
      delta: 12,
      answer: recorded(14, 15),
    },
    {
      what: 'a cancelled plan',
      change: async () => {
        const { subscriptions } = await app.admin.data(`{ subscriptions(userId: "${user}") { id } }`)
        await app.admin.data(
          `mutation { cancelSubscription(id: "${subscriptions[0].id}", atPeriodEnd: false) { id } }`,
        )
      },
      answer: none,
    },
    {
      what: 'another id of the user',
      change: () =>
        app.admin.data(`mutation { updateUser(id: "${user}", input: { id: "${user}-new" }) { id } }`),
      answer: none,
    },
    {
      what: 'a deleted user',
      change: () => app.admin.data(`mutation { deleteUser(id: "${user}") { id } }`),
      answer: none,
    },
    {
      what: 'an override',
      change: () =>
        app.admin.data(OVERRIDE, { input: { userId: user, featureId: 'call', mode: 'REPLACE', limit: 2 } }),
      answer: refused(2, 2),
    },
  ]
  it.each(changes)('$what', async ({ change, delta = 1, answer }) => {
    await change()
    expect(await record(first.admin, { delta })).toEqual(answer)
  })

  it('a published package', async () => {
    await publishPackage(app, `own-${user}`, { call: { limit: 50, resetPeriod: 'MONTH' } })
    await app.admin.data(`mutation { changeSubscription(userId: "${user}", packageId: "own-${user}", when: NOW) {
      subscription { id } } }`)
    expect(await record(first.admin)).toEqual(recorded(3, 50))
    expect(await record(first.admin)).toEqual(recorded(4, 50))
    await app.dashboard.data(
      `mutation ($id: String!) {
        editPackage(appId: "default", id: $id, input: {
          features: { id: "call", entitlement: { limit: 4, resetPeriod: MONTH } }
        }) { id }
        publishPackage(appId: "default", id: $id) { id }
      }`,
      { id: `own-${user}` },
    )
    expect(await record(first.admin)).toEqual(refused(4, 4))
  })
})
