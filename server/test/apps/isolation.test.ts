import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import type { Answer, Client } from '../harness/client.ts'
import { adminClient, createApp, startTestServer, type TestServer } from '../harness/server.ts'

// Two apps, `left` and `right`, use the same ids for different things, and every text of an app contains its name: an
// answer to one that contains the other's name has leaked. `left` also has things that `right` does not.

type Side = 'left' | 'right'

const PAST = 'past { consumption { used budget } }'

const QUERIES: Record<string, string> = {
  feature: 'feature(id: "call") { name metadata packages { name } }',
  features: 'features { id name unitLabel metadata packages { name } }',
  canUseFeature: 'canUseFeature(userId: "ann", featureId: "call") { reason consumption { used budget } }',
  canUseFeatures:
    'canUseFeatures(userId: "ann", featureIds: ["call", "only"]) { reasonCode consumption { used } }',
  showUsage: `showUsage(userId: "ann", featureId: "call") { current { consumption { used budget } } ${PAST} }`,
  package: 'package(id: "plan") { name metadata features { name limit } }',
  packages:
    'packages { id name metadata features { name limit } } drafts: packages(status: "DRAFT") { id name }',
  migration: 'migration(id: "MIGRATION") { id subscriptions status }',
  user: 'user(id: "ann") { name email billingId metadata }',
  users: 'users { id name email billingId metadata }',
  exportUser: 'exportUser(id: "ann")',
  subscription: 'subscription(id: "SUBSCRIPTION") { id userId package { name } }',
  overrides: 'overrides(userId: "bob") { reason } anns: overrides(userId: "ann") { limit }',
  subscriptions: 'subscriptions { id userId packageVersion package { name } }',
}

/** What each does to `right` by an id that `left` uses too. */
const MUTATIONS: Record<string, { operation: string; changes: boolean; refused?: string }> = {
  createFeature: {
    operation: 'createFeature(input: { id: "only", name: "right", type: BINARY }) { name }',
    changes: true,
  },
  updateFeature: {
    operation: 'updateFeature(id: "call", input: { name: "right again" }) { name packages { name } }',
    changes: true,
  },
  createPackage: { operation: 'createPackage(input: { id: "only", name: "right" }) { name }', changes: true },
  updatePackage: {
    operation: 'updatePackage(id: "plan", input: { metadata: { app: "right again" } }) { metadata }',
    changes: true,
  },
  createUser: { operation: 'createUser(input: { id: "only", name: "right" }) { name }', changes: true },
  updateUser: {
    operation: 'updateUser(id: "ann", input: { name: "right again" }) { name email }',
    changes: true,
  },
  subscribe: {
    operation: 'subscribe(userId: "bob", packageIds: ["plan"]) { userId package { name } }',
    changes: true,
  },
  cancelSubscription: {
    operation: 'cancelSubscription(id: "SUBSCRIPTION", atPeriodEnd: false) { status }',
    changes: true,
  },
  deleteUser: { operation: 'deleteUser(id: "eve") { id }', changes: true },
  // It kept what nobody had cancelled; that it was called is in the export, from the audit log.
  keepSubscription: { operation: 'keepSubscription(id: "SUBSCRIPTION") { status }', changes: true },
  setOverride: {
    operation:
      'setOverride(input: { userId: "ann", featureId: "call", mode: ADD, limit: 5 }) { userId featureId limit }',
    changes: true,
  },
  removeOverride: {
    operation: 'removeOverride(userId: "bob", featureId: "call") { reason }',
    changes: true,
  },
  migrateSubscriptions: {
    operation: 'migrateSubscriptions(packageId: "plan", fromVersion: 1, toVersion: 2) { moved }',
    changes: true,
  },
  undoMigration: { operation: 'undoMigration(id: "MIGRATION") { status }', changes: true },
  changeSubscription: {
    operation:
      'changeSubscription(userId: "ann", packageId: "plan", quantity: 2) { from { name } subscription { quantity } }',
    changes: true,
  },
  cancelScheduledChange: {
    operation: 'cancelScheduledChange(userId: "ann") { id }',
    changes: false,
    refused: 'BAD_USER_INPUT',
  },
  startTrial: {
    operation: 'startTrial(userId: "bob", packageId: "plan", days: 1) { userId package { name } }',
    changes: true,
  },
  extendTrial: {
    operation: 'extendTrial(id: "SUBSCRIPTION", until: "2099-01-01T00:00:00Z") { id }',
    changes: false,
    refused: 'BAD_USER_INPUT',
  },
  recordUsage: {
    operation:
      'recordUsage(input: { userId: "ann", featureId: "call", delta: 2 }) { consumption { used budget } }',
    changes: true,
  },
  recordUsages: {
    operation:
      'recordUsages(inputs: { userId: "ann", featureId: "call", delta: 3 }) { consumption { used budget } }',
    changes: true,
  },
  generateSubscriptionLink: {
    operation: `generateSubscriptionLink(
      userId: "ann", templateId: "none", successUrl: "https://a.example", cancelUrl: "https://a.example") { url }`,
    changes: false,
    refused: 'SUBSCRIPTION_LINK_ERROR',
  },
  generateUserToken: { operation: 'generateUserToken(userId: "ann") { token }', changes: false },
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

interface App {
  id: string
  admin: Client
  subscription: string
  migration: string
}
let apps: Record<Side, App>
let pairs = 0
async function furnishBoth(): Promise<void> {
  pairs += 1
  apps = { left: await furnished('left', 11, 1000), right: await furnished('right', 22, 2000) }
  await apps.left.admin.data(`mutation {
    createFeature(input: { id: "only", name: "left", type: CONSUMABLE }) { id }
    createPackage(input: { id: "only", name: "left" }) { id }
    createUser(input: { id: "only", name: "left", billingId: "cus_only" }) { id }
  }`)
  await server.dashboard.data(`mutation { publishPackage(appId: "${apps.left.id}", id: "only") { id } }`)
}

async function furnished(side: Side, used: number, limit: number): Promise<App> {
  const id = `${side}-${pairs}`
  const admin = await createApp(server, id)
  const texts = { name: side, metadata: { app: side } }
  await admin.data(
    `mutation ($call: CreateFeatureInput!, $plan: CreatePackageInput!, $ann: CreateUserInput!) {
      createFeature(input: $call) { id }
      createPackage(input: $plan) { id }
      ann: createUser(input: $ann) { id }
      bob: createUser(input: { id: "bob" }) { id }
      eve: createUser(input: { id: "eve" }) { id }
    }`,
    {
      call: { id: 'call', type: 'CONSUMABLE', unitLabel: side, ...texts },
      plan: { id: 'plan', features: [{ id: 'call', entitlement: { limit } }], ...texts },
      ann: { id: 'ann', email: `ann@${side}.example`, billingId: 'cus_1', ...texts },
    },
  )
  await server.dashboard.data(`mutation { publishPackage(appId: "${id}", id: "plan") { id } }`)
  const { subscribe } = await admin.data(`mutation {
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
    recordUsage(input: { userId: "ann", featureId: "call", delta: ${used}, idempotencyKey: "first" }) { recorded }
    setOverride(input: { userId: "bob", featureId: "call", mode: DENY, reason: "${side}" }) { mode }
  }`)
  // The next version grants the same, and nobody has it.
  await server.dashboard.data(`mutation {
    editPackage(appId: "${id}", id: "plan", input: { name: "${side}" }) { id }
    publishPackage(appId: "${id}", id: "plan", for: NEW_ONLY) { id }
  }`)
  const { migrateSubscriptions } = await admin.data(
    'mutation { migrateSubscriptions(packageId: "plan", fromVersion: 2, toVersion: 1) { id } }',
  )
  return { id, admin, subscription: subscribe[0].id, migration: migrateSubscriptions.id }
}

const ask = (side: Side, operation: string): Promise<Answer> =>
  apps[side].admin.ask(
    operation.replace('SUBSCRIPTION', apps[side].subscription).replace('MIGRATION', apps[side].migration),
  )

/** All that an app can see of itself. */
async function everything(side: Side): Promise<string> {
  const { data, errors } = await ask(side, `{ ${Object.values(QUERIES).join(' ')} }`)
  expect(errors).toBeUndefined()
  return JSON.stringify(data)
}

describe('reading in two apps with the same ids', () => {
  beforeAll(furnishBoth)

  it('every operation of the Admin API has its row here', () => {
    const fieldsOf = (type: Type) => Object.keys(type?.getFields() ?? {}).sort()
    type Type = ReturnType<ReturnType<typeof adminSchema>['getQueryType']>
    expect(Object.keys(QUERIES).sort()).toEqual(fieldsOf(adminSchema().getQueryType()))
    expect(Object.keys(MUTATIONS).sort()).toEqual(fieldsOf(adminSchema().getMutationType()))
  })

  it.each(Object.entries(QUERIES))('spec §5.1: %s answers each app from its own', async (name, query) => {
    const [left, right] = [await ask('left', `{ ${query} }`), await ask('right', `{ ${query} }`)]
    expect(left.errors ?? right.errors).toBeUndefined()
    expect(left.data?.[name]).toBeTruthy()
    expect(left.data).not.toEqual(right.data)
    expect(JSON.stringify(left)).not.toContain('right')
    expect(JSON.stringify(right)).not.toContain('left')
  })

  it('spec §4 mutation rule 4: what one app has used is not counted for the other', async () => {
    const used = async (side: Side) => (await ask(side, `{ ${QUERIES.canUseFeature} }`)).data?.canUseFeature
    expect((await used('left')).consumption).toEqual({ used: 11, budget: 1000 })
    expect((await used('right')).consumption).toEqual({ used: 22, budget: 2000 })
  })
})

describe('writing in two apps with the same ids', () => {
  beforeEach(furnishBoth)

  it.each(
    Object.entries(MUTATIONS),
  )('spec §5.1: %s in one app leaves the other as it was', async (_, row) => {
    const before = { left: await everything('left'), right: await everything('right') }
    const answer = await ask('right', `mutation { ${row.operation} }`)
    expect(answer.errors?.map((error) => error.extensions.code)).toEqual(row.refused && [row.refused])
    expect(JSON.stringify(answer)).not.toContain('left')
    expect(await everything('left')).toBe(before.left)
    if (row.changes) expect(await everything('right')).not.toBe(before.right)
    else expect(await everything('right')).toBe(before.right)
  })
})

describe('what only the other app has', () => {
  beforeAll(furnishBoth)

  const NOT_FOUND = [
    ['feature(id: "only") { id }', 'FEATURE_NOT_FOUND'],
    ['package(id: "only") { id }', 'PACKAGE_NOT_FOUND'],
    ['user(id: "only") { id }', 'USER_NOT_FOUND'],
    ['subscription(id: "OTHER") { id }', 'SUBSCRIPTION_NOT_FOUND'],
    ['migration(id: "MIGRATION") { id }', 'MIGRATION_NOT_FOUND'],
    ['showUsage(userId: "only", featureId: "call") { past { periodStart } }', 'USER_NOT_FOUND'],
    ['showUsage(userId: "ann", featureId: "only") { past { periodStart } }', 'FEATURE_NOT_FOUND'],
    ['features(after: "only") { id }', 'BAD_USER_INPUT'],
    ['packages(after: "only") { id }', 'BAD_USER_INPUT'],
    ['users(after: "only") { id }', 'BAD_USER_INPUT'],
    ['subscriptions(after: "OTHER") { id }', 'BAD_USER_INPUT'],
  ] as const
  it.each(NOT_FOUND)('spec §4 query rule 4: %s is %s', async (query, code) => {
    const mine = query.replace('OTHER', apps.left.subscription).replace('MIGRATION', apps.left.migration)
    expect((await apps.left.admin.ask(`{ ${mine} }`)).errors).toBeUndefined()
    expect((await apps.right.admin.error(`{ ${mine} }`)).extensions.code).toBe(code)
  })

  it('spec §4 queries table: a user of the other app has no subscriptions here', async () => {
    const { subscriptions } = await apps.right.admin.data('{ subscriptions(userId: "only") { id } }')
    expect(subscriptions).toEqual([])
  })

  const REFUSED = [
    ['updateFeature(id: "only", input: { name: "x" }) { id }', 'FEATURE_NOT_FOUND'],
    ['updatePackage(id: "only", input: { metadata: {} }) { id }', 'PACKAGE_NOT_FOUND'],
    ['updateUser(id: "only", input: { name: "x" }) { id }', 'USER_NOT_FOUND'],
    ['createPackage(input: { id: "new", name: "x", features: { id: "only" } }) { id }', 'FEATURE_NOT_FOUND'],
    ['subscribe(userId: "only", packageIds: ["plan"]) { id }', 'USER_NOT_FOUND'],
    ['subscribe(userId: "bob", packageIds: ["only"]) { id }', 'BAD_USER_INPUT'],
    ['generateUserToken(userId: "only") { token }', 'USER_NOT_FOUND'],
  ] as const
  it.each(REFUSED)('spec §4: %s is refused with %s', async (mutation, code) => {
    const before = await everything('left')
    expect((await apps.right.admin.error(`mutation { ${mutation} }`)).extensions.code).toBe(code)
    expect(await everything('left')).toBe(before)
  })

  it('gap: access: a user or a feature of the other app is unknown to canUseFeature and recordUsage', async () => {
    const { data } = await apps.right.admin.ask(`{
      user: canUseFeature(userId: "only", featureId: "call") { reasonCode }
      feature: canUseFeature(userId: "ann", featureId: "only") { reasonCode }
      batch: canUseFeatures(userId: "ann", featureIds: ["only"]) { reasonCode }
    }`)
    expect(data).toEqual({
      user: { reasonCode: 'USER_NOT_FOUND' },
      feature: { reasonCode: 'FEATURE_NOT_FOUND' },
      batch: [{ reasonCode: 'FEATURE_NOT_FOUND' }],
    })
    expect(
      await apps.right.admin.data(`mutation {
        user: recordUsage(input: { userId: "only", featureId: "call", delta: 1 }) { recorded }
        feature: recordUsage(input: { userId: "ann", featureId: "only", delta: 1 }) { recorded }
      }`),
    ).toEqual({ user: { recorded: false }, feature: { recorded: false } })
  })
})

describe('credentials and keys', () => {
  beforeAll(furnishBoth)

  it('gap: idempotency: one key in two apps is two keys, in the header and in the event', async () => {
    const query = `mutation {
      createUser(input: { id: "new" }) { id }
      recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
      again: recordUsage(input: { userId: "ann", featureId: "call", delta: 1, idempotencyKey: "shared" }) {
        consumption { used }
      }
    }`
    const keyed = (side: Side) => apps[side].admin.with({ 'Idempotency-Key': 'shared' }).data(query)
    const first = { left: await keyed('left'), right: await keyed('right') }
    expect(first.left).toMatchObject({ again: { consumption: { used: 13 } } })
    expect(first.right).toMatchObject({ again: { consumption: { used: 24 } } })
    expect({ left: await keyed('left'), right: await keyed('right') }).toEqual(first)
  })

  it('spec §4 mutation rule 7: a user token names its app and its user, and is no key', async () => {
    const tokenOf = async (side: Side) => {
      const { generateUserToken } = await apps[side].admin.data(
        'mutation { generateUserToken(userId: "ann") { token } }',
      )
      return String(generateUserToken.token)
    }
    const tokens = { left: await tokenOf('left'), right: await tokenOf('right') }
    const claims = { left: decodeJwt(tokens.left), right: decodeJwt(tokens.right) }
    expect(claims.left.app).toBe(apps.left.id)
    expect(claims.right.app).toBe(apps.right.id)
    expect(claims.left.sub).not.toBe(claims.right.sub)
    const impostor = adminClient(server.url, tokens.left)
    expect((await impostor.error('{ users { id } }')).extensions.code).toBe('UNAUTHENTICATED')
  })

  const DASHBOARD = [
    [
      'cancelSubscription(appId: "RIGHT", id: "SUBSCRIPTION", atPeriodEnd: false) { id }',
      'SUBSCRIPTION_NOT_FOUND',
    ],
    ['publishPackage(appId: "RIGHT", id: "only") { id }', 'PACKAGE_NOT_FOUND'],
    ['editPackage(appId: "RIGHT", id: "only", input: { name: "x" }) { id }', 'PACKAGE_NOT_FOUND'],
    ['revokeApiKey(appId: "RIGHT", id: "KEY") { id }', 'API_KEY_NOT_FOUND'],
  ] as const
  it.each(DASHBOARD)('gap: dashboard: %s with an id of the other app is %s', async (mutation, code) => {
    const { apiKeys } = await server.dashboard.data(`{ apiKeys(appId: "${apps.left.id}") { id } }`)
    const before = await everything('left')
    const { extensions } = await server.dashboard.error(
      `mutation { ${mutation} }`
        .replace('RIGHT', apps.right.id)
        .replace('SUBSCRIPTION', apps.left.subscription)
        .replace('KEY', apiKeys[0].id),
    )
    expect(extensions.code).toBe(code)
    expect(await everything('left')).toBe(before)
  })
})
