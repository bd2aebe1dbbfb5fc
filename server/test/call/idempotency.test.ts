import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unavailable } from '../../src/domain/errors.ts'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { mutate } from '../../src/operations/call/mutate.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { openPool } from '../../src/store/connection/database.ts'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Client } from '../harness/client.ts'
import { monotonic } from '../harness/clocks.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

// Invariants: with one key an effect happens once, and a repeated request gets the first answer, to the byte; with that
// key nothing else is ever done.

let server: TestServer
let app: TestApp
let apps = 0
/** ann's */
let subscription = ''
/** of those with version 2 of `plan`, which nobody has, to 1 */
let migration = ''
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

beforeEach(async () => {
  const id = `app-${++apps}`
  app = { id, admin: await createApp(server, id), dashboard: server.dashboard }
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await publishPackage(app, 'rival', { call: { limit: 10 } })
  const { subscribe } = await app.admin.data(`mutation {
    ann: createUser(input: { id: "ann" }) { id }
    bob: createUser(input: { id: "bob" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
    recordUsage(input: { userId: "ann", featureId: "call", delta: 4 }) { recorded }
  }`)
  subscription = subscribe[0].id
  await app.dashboard.data(`mutation {
    editPackage(appId: "${app.id}", id: "plan", input: { name: "plan" }) { id }
    publishPackage(appId: "${app.id}", id: "plan", for: NEW_ONLY) { id }
  }`)
  const { migrateSubscriptions } = await app.admin.data(
    'mutation { migrateSubscriptions(packageId: "plan", fromVersion: 2, toVersion: 1) { id } }',
  )
  migration = migrateSubscriptions.id
})

const keyed = (key: string): Client => app.admin.with({ 'Idempotency-Key': key })

const UNTIL = new Date(Date.now() + 20 * 86_400_000).toISOString()
const named = (operation: string) =>
  operation.replace('SUBSCRIPTION', subscription).replace('MIGRATION', migration).replace('UNTIL', UNTIL)

async function prepare({ before }: Row): Promise<void> {
  if (before === undefined) return
  await app.admin.data(`mutation { ${before} }`)
  const { subscriptions } = await app.admin.data('{ subscriptions(userId: "ann") { id } }')
  subscription = subscriptions.at(-1).id
}

async function textOf(client: Client, operation: string): Promise<string> {
  return (await client.post(JSON.stringify({ query: `mutation { ${named(operation)} }` }))).text()
}

const codeOf = async (client: Client, operation: string) =>
  (await client.error(`mutation { ${named(operation)} }`)).extensions.code

async function cancelAll(): Promise<void> {
  const { subscriptions } = await app.admin.data('{ subscriptions { id } }')
  for (const { id } of subscriptions) {
    await app.dashboard.data(
      `mutation { cancelSubscription(appId: "${app.id}", id: "${id}", atPeriodEnd: false) { id } }`,
    )
  }
}

interface Row {
  /** what it needs done before; SUBSCRIPTION is then ann's last one */
  before?: string
  operation: string
  /** part of the first answer, and so of all */
  answered: string
  /** what happens to the object before the request comes again */
  meanwhile: string
  /** shows how often it was done */
  effect: string
  once: unknown
}

const USED = 'canUseFeature(userId: "ann", featureId: "call") { consumption { used } }'
const used = (count: number) => ({ canUseFeature: { consumption: { used: count } } })

const MUTATIONS: Record<string, Row> = {
  createFeature: {
    operation:
      'createFeature(input: { id: "seat", name: "Seat", type: CONSUMABLE }) { id name packages { id } }',
    answered: '"name":"Seat","packages":[]',
    meanwhile: 'updateFeature(id: "seat", input: { name: "Chair" }) { id }',
    effect: 'feature(id: "seat") { name }',
    once: { feature: { name: 'Chair' } },
  },
  updateFeature: {
    operation: 'updateFeature(id: "call", input: { name: "Ring" }) { name packages { id } }',
    answered: '"name":"Ring","packages":[{"id":"plan"},{"id":"rival"}]',
    meanwhile: 'updateFeature(id: "call", input: { name: "Shout" }) { id }',
    effect: 'feature(id: "call") { name }',
    once: { feature: { name: 'Shout' } },
  },
  createPackage: {
    operation: `createPackage(input: { id: "new", name: "New", features: { id: "call", entitlement: { limit: 7 } } }) {
      status updatedAt features { id limit }
    }`,
    answered: '"status":"DRAFT"',
    meanwhile: 'updatePackage(id: "new", input: { metadata: { changed: true } }) { id }',
    effect: 'package(id: "new") { metadata }',
    once: { package: { metadata: { changed: true } } },
  },
  updatePackage: {
    operation:
      'updatePackage(id: "plan", input: { metadata: { __proto__: { a: 1 }, b: [1, null] } }) { metadata }',
    answered: '{"__proto__":{"a":1},"b":[1,null]}',
    meanwhile: 'updatePackage(id: "plan", input: { metadata: { changed: true } }) { id }',
    effect: 'package(id: "plan") { metadata }',
    once: { package: { metadata: { changed: true } } },
  },
  createUser: {
    operation:
      'createUser(input: { id: "eve", name: "Eve", email: "eve@example.com" }) { id name billingId metadata }',
    answered: '"name":"Eve","billingId":null,"metadata":{}',
    meanwhile: 'updateUser(id: "eve", input: { id: "eva", name: "Eva" }) { id }',
    effect: 'users { id }',
    once: { users: [{ id: 'ann' }, { id: 'bob' }, { id: 'eva' }] },
  },
  updateUser: {
    operation: 'updateUser(id: "bob", input: { id: "rob", name: "Rob" }) { id name }',
    answered: '"id":"rob","name":"Rob"',
    meanwhile: 'updateUser(id: "rob", input: { id: "bert", name: "Bert" }) { id }',
    effect: 'users { id name }',
    once: {
      users: [
        { id: 'ann', name: null },
        { id: 'bert', name: 'Bert' },
      ],
    },
  },
  deleteUser: {
    operation: 'deleteUser(id: "bob") { id }',
    answered: '"id":"bob"',
    meanwhile: 'createUser(input: { id: "bob" }) { id }',
    effect: 'users { id }',
    once: { users: [{ id: 'ann' }, { id: 'bob' }] },
  },
  subscribe: {
    operation:
      'subscribe(userId: "bob", packageIds: ["plan"]) { id userId status startedAt package { id updatedAt } }',
    answered: '"userId":"bob","status":"ACTIVE"',
    meanwhile: 'updateUser(id: "bob", input: { id: "rob" }) { id }',
    effect: 'subscriptions { userId package { id } }',
    once: {
      subscriptions: [
        { userId: 'ann', package: { id: 'plan' } },
        { userId: 'rob', package: { id: 'plan' } },
      ],
    },
  },
  cancelSubscription: {
    operation: 'cancelSubscription(id: "SUBSCRIPTION") { status cancelAt }',
    answered: '"status":"ACTIVE","cancelAt":"2',
    meanwhile: 'keepSubscription(id: "SUBSCRIPTION") { id }',
    effect: 'subscriptions { status cancelAt }',
    once: { subscriptions: [{ status: 'ACTIVE', cancelAt: null }] },
  },
  keepSubscription: {
    operation: 'keepSubscription(id: "SUBSCRIPTION") { status cancelAt }',
    answered: '"status":"ACTIVE","cancelAt":null',
    meanwhile: 'cancelSubscription(id: "SUBSCRIPTION", atPeriodEnd: false) { id }',
    effect: 'subscriptions { status }',
    once: { subscriptions: [{ status: 'CANCELLED' }] },
  },
  setOverride: {
    operation:
      'setOverride(input: { userId: "bob", featureId: "call", mode: REPLACE, limit: 5, reason: "r" }) { limit startedAt reason }',
    answered: '"limit":5,"startedAt":"2',
    meanwhile: 'setOverride(input: { userId: "bob", featureId: "call", mode: UNLIMITED }) { mode }',
    effect: 'overrides(userId: "bob") { mode }',
    once: { overrides: [{ mode: 'UNLIMITED' }] },
  },
  removeOverride: {
    operation: 'removeOverride(userId: "bob", featureId: "call") { limit }',
    answered: '"removeOverride":null',
    meanwhile: 'setOverride(input: { userId: "bob", featureId: "call", mode: UNLIMITED }) { mode }',
    effect: 'overrides(userId: "bob") { mode }',
    once: { overrides: [{ mode: 'UNLIMITED' }] },
  },
  migrateSubscriptions: {
    operation: 'migrateSubscriptions(packageId: "plan", fromVersion: 1, toVersion: 2) { id status moved }',
    answered: '"status":"DONE","moved":1',
    meanwhile: 'migrateSubscriptions(packageId: "plan", fromVersion: 2, toVersion: 1) { id }',
    effect: 'subscriptions { packageVersion }',
    once: { subscriptions: [{ packageVersion: 1 }] },
  },
  undoMigration: {
    operation: 'undoMigration(id: "MIGRATION") { status undoneAt }',
    answered: '"status":"UNDONE","undoneAt":"2',
    meanwhile: 'migrateSubscriptions(packageId: "plan", fromVersion: 1, toVersion: 2) { id }',
    effect: 'subscriptions { packageVersion }',
    once: { subscriptions: [{ packageVersion: 2 }] },
  },
  changeSubscription: {
    operation:
      'changeSubscription(userId: "ann", packageId: "rival") { now to { id } subscription { status package { id } } }',
    answered: '"now":true,"to":{"id":"rival"},"subscription":{"status":"ACTIVE","package":{"id":"rival"}}',
    meanwhile: 'changeSubscription(userId: "ann", packageId: "plan") { now }',
    effect: 'subscriptions { status package { id } }',
    once: {
      subscriptions: [
        { status: 'CANCELLED', package: { id: 'plan' } },
        { status: 'CANCELLED', package: { id: 'rival' } },
        { status: 'ACTIVE', package: { id: 'plan' } },
      ],
    },
  },
  cancelScheduledChange: {
    before: 'changeSubscription(userId: "ann", packageId: "rival", when: PERIOD_END) { now }',
    operation: 'cancelScheduledChange(userId: "ann") { status cancelAt }',
    answered: '"status":"ACTIVE","cancelAt":null',
    meanwhile: 'changeSubscription(userId: "ann", packageId: "rival", when: NOW) { now }',
    effect: 'subscriptions { status package { id } }',
    once: {
      subscriptions: [
        { status: 'CANCELLED', package: { id: 'plan' } },
        { status: 'ACTIVE', package: { id: 'rival' } },
      ],
    },
  },
  startTrial: {
    operation: 'startTrial(userId: "bob", packageId: "plan", days: 9) { userId status package { id } }',
    answered: '"userId":"bob","status":"ACTIVE","package":{"id":"plan"}',
    meanwhile: 'changeSubscription(userId: "bob", packageId: "rival", when: NOW) { now }',
    effect: 'subscriptions(userId: "bob") { status package { id } }',
    once: {
      subscriptions: [
        { status: 'CANCELLED', package: { id: 'plan' } },
        { status: 'ACTIVE', package: { id: 'rival' } },
      ],
    },
  },
  extendTrial: {
    before: 'startTrial(userId: "ann", packageId: "rival", days: 9) { id }',
    operation: 'extendTrial(id: "SUBSCRIPTION", until: "UNTIL") { status trialEndsAt }',
    answered: '"status":"ACTIVE","trialEndsAt":"2',
    meanwhile: 'cancelSubscription(id: "SUBSCRIPTION", atPeriodEnd: false) { id }',
    effect: 'subscriptions { status }',
    once: { subscriptions: [{ status: 'CANCELLED' }, { status: 'CANCELLED' }] },
  },
  recordUsage: {
    operation:
      'recordUsage(input: { userId: "ann", featureId: "call", delta: 2 }) { recorded reason consumption { used budget } }',
    answered: '"recorded":true,"reason":null,"consumption":{"used":6,"budget":10}',
    meanwhile: 'recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { recorded }',
    effect: USED,
    once: used(7),
  },
  recordUsages: {
    operation: `recordUsages(inputs: [
      { userId: "ann", featureId: "call", delta: 2 }, { userId: "ann", featureId: "call", delta: 9 }
    ]) { recorded reason consumption { used } }`,
    answered: '"recorded":false,"reason":"Limit exceeded: 6 of 10 used, 9 requested."',
    meanwhile: 'recordUsage(input: { userId: "ann", featureId: "call", delta: -6 }) { recorded }',
    effect: USED,
    once: used(0),
  },
  generateSubscriptionLink: {
    operation: `generateSubscriptionLink(
      userId: "bob", templateId: "none", successUrl: "https://a.example", cancelUrl: "https://a.example") { url }`,
    answered: 'SUBSCRIPTION_LINK_ERROR',
    meanwhile: 'updateUser(id: "bob", input: { id: "rob" }) { id }',
    effect: 'user(id: "rob") { id }',
    once: { user: { id: 'rob' } },
  },
  generateUserToken: {
    operation: 'generateUserToken(userId: "bob") { token }',
    answered: '"token":"ey',
    meanwhile: 'updateUser(id: "bob", input: { id: "rob" }) { id }',
    effect: 'user(id: "rob") { id }',
    once: { user: { id: 'rob' } },
  },
}

describe('a mutation with an Idempotency-Key', () => {
  it('every mutation of the Admin API has its row here', () => {
    expect(Object.keys(MUTATIONS).sort()).toEqual(
      Object.keys(adminSchema().getMutationType()?.getFields() ?? {}).sort(),
    )
  })

  it.each(
    Object.entries(MUTATIONS),
  )('gap: idempotency: %s is done once and answered alike', async (_, row) => {
    await prepare(row)
    const first = await textOf(keyed('k'), row.operation)
    expect(first).toContain(row.answered)
    await app.admin.data(`mutation { ${named(row.meanwhile)} }`)
    expect(await textOf(keyed('k'), row.operation)).toBe(first)
    expect(await app.admin.data(`{ ${row.effect} }`)).toEqual(row.once)
  })

  it.each(
    Object.entries(MUTATIONS),
  )('gap: idempotency: a key that %s used is refused to another request', async (_, row) => {
    await prepare(row)
    const first = await textOf(keyed('k'), row.operation)
    const { extensions } = await keyed('k').error('mutation { createUser(input: { id: "other" }) { id } }')
    expect(extensions).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED', type: 'Error', status: 409 })
    expect((await app.admin.error('{ user(id: "other") { id } }')).extensions.code).toBe('USER_NOT_FOUND')
    expect(await textOf(keyed('k'), row.operation)).toBe(first)
  })

  it.each(
    Object.entries(MUTATIONS),
  )('gap: idempotency: %s with a key that was used is refused', async (_, row) => {
    await prepare(row)
    await keyed('k').data('mutation { createUser(input: { id: "other" }) { id } }')
    const before = await app.admin.data(
      `{ users { id name } features { name } packages { metadata } ${USED} }`,
    )
    expect(await codeOf(keyed('k'), row.operation)).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(
      await app.admin.data(`{ users { id name } features { name } packages { metadata } ${USED} }`),
    ).toEqual(before)
  })

  const REFUSALS = [
    {
      name: 'a taken id',
      operation: 'createUser(input: { id: "bob" }) { id }',
      refusal: 'already exists',
      meanwhile: () => app.admin.data('mutation { updateUser(id: "bob", input: { id: "rob" }) { id } }'),
    },
    {
      name: 'a second base plan',
      operation: 'subscribe(userId: "ann", packageIds: ["rival"]) { id }',
      refusal: 'Cannot subscribe to multiple tiers',
      meanwhile: cancelAll,
    },
    {
      name: 'an unknown user',
      operation: 'generateUserToken(userId: "eve") { token }',
      refusal: 'USER_NOT_FOUND',
      meanwhile: () => app.admin.data('mutation { createUser(input: { id: "eve" }) { id } }'),
    },
    {
      name: 'usage that does not fit',
      operation: 'recordUsage(input: { userId: "ann", featureId: "call", delta: 7 }) { recorded reason }',
      refusal: '"recorded":false',
      meanwhile: () =>
        app.admin.data(
          'mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: -4 }) { recorded } }',
        ),
    },
    {
      name: 'usage without a subscription',
      operation: 'recordUsage(input: { userId: "bob", featureId: "call", delta: 1 }) { recorded reason }',
      refusal: '"recorded":false',
      meanwhile: () => app.admin.data('mutation { subscribe(userId: "bob", packageIds: ["plan"]) { id } }'),
    },
  ]
  it.each(
    REFUSALS,
  )('gap: idempotency: $name stays refused under its key, and passes under another', async (row) => {
    const first = await textOf(keyed('k'), row.operation)
    expect(first).toContain(row.refusal)
    await row.meanwhile()
    expect(await textOf(keyed('k'), row.operation)).toBe(first)
    expect(await textOf(keyed('new'), row.operation)).not.toContain(row.refusal)
  })

  it('gap: idempotency: the answers of several mutations in one request are all repeated', async () => {
    const operation = `
      a: createUser(input: { id: "eve" }) { id }
      b: createUser(input: { id: "eve" }) { id }
      c: recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
      __proto__: recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
      d: recordUsages(inputs: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }`
    const first = await textOf(keyed('k'), operation)
    expect(first).toContain(
      '"c":{"consumption":{"used":5}},"__proto__":{"consumption":{"used":6}},"d":[{"consumption":{"used":7}}]',
    )
    expect(first).toContain('already exists')
    await app.admin.data('mutation { updateUser(id: "eve", input: { id: "eva" }) { id } }')
    expect(await textOf(keyed('k'), operation)).toBe(first)
    expect(await app.admin.data(`{ ${USED} }`)).toEqual(used(7))
  })
})

describe('an Idempotency-Key elsewhere', () => {
  it('gap: idempotency: queries neither use nor take a key', async () => {
    const read = () => keyed('k').data(`{ ${USED} }`)
    expect(await read()).toEqual(used(4))
    await app.admin.data(`mutation { ${MUTATIONS.recordUsage?.operation} }`)
    expect(await read()).toEqual(used(6))
    await keyed('k').data('mutation { createUser(input: { id: "eve" }) { id } }')
    expect(await read()).toEqual(used(6))
  })

  const LENGTHS = [
    { key: '', code: 'BAD_REQUEST' },
    { key: 'k', code: undefined },
    { key: 'k'.repeat(255), code: undefined },
    { key: 'k'.repeat(256), code: 'BAD_REQUEST' },
  ]
  it.each(LENGTHS)('gap: idempotency: a header of $key.length characters', async ({ key, code }) => {
    const { errors } = await keyed(key).ask('mutation { createUser(input: { id: "eve" }) { id } }')
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(code && [code])
    const { users } = await app.admin.data('{ users { id } }')
    expect(users).toHaveLength(code ? 2 : 3)
  })
})

describe('a call that may work a moment later', () => {
  it('gap: idempotency: is done when its key comes again', async () => {
    const pool = openPool({ connectionString: server.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
    const call = {
      service: { pool, apps: new AppCache(monotonic) } as Service,
      appId: app.id,
      actor: { kind: 'user' as const, uid: 0, userId: '', tokenKey: '' },
      deadline: null,
      idempotency: { key: 'later', request: Buffer.from('the same'), field: 'field' },
    }
    const busy = async () => {
      throw unavailable('busy')
    }
    try {
      await expect(mutate(call, busy)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect(await mutate(call, async () => 'done')).toBe('done')
      expect(await mutate(call, busy)).toBe('done')
    } finally {
      await pool.end()
    }
  })
})
