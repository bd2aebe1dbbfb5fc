import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../src/graphql/admin.ts'
import type { Answer, Client, Data } from './harness/client.ts'
import { createApp, startTestServer, type TestServer } from './harness/server.ts'

// Two apps, `left` and `right`, use the same ids for different things, and every text of an app's carries its name:
// an answer to one that holds the other's name has leaked. `left` also has things that `right` has not.

type Side = 'left' | 'right'

const PAST = 'past { consumption { used budget } }'

const QUERIES: Record<string, string> = {
  feature: 'feature(id: "call") { name metadata packages { name } }',
  features: 'features { id name unitLabel metadata packages { name } }',
  canUseFeature: 'canUseFeature(userId: "ann", featureId: "call") { reason consumption { used budget } }',
  canUseFeatures: 'canUseFeatures(userId: "ann", featureIds: ["call", "only"]) { reasonCode consumption { used } }',
  showUsage: `showUsage(userId: "ann", featureId: "call") { current { consumption { used budget } } ${PAST} }`,
  package: 'package(id: "plan") { name metadata features { name limit } }',
  packages: 'packages { id name metadata features { name limit } }',
  user: 'user(id: "ann") { name email billingId metadata }',
  users: 'users { id name email billingId metadata }',
  subscription: 'subscription(id: "SUBSCRIPTION") { id userId package { name } }',
  subscriptions: 'subscriptions { id userId package { name } }',
}

/** Each changes something in `right` by an id that `left` uses too; `untouched` says that it changes nothing. */
const MUTATIONS: Record<string, { operation: string; untouched?: true }> = {
  createFeature: { operation: 'createFeature(input: { id: "only", name: "right", type: BINARY }) { name }' },
  updateFeature: { operation: 'updateFeature(id: "call", input: { name: "right again" }) { name packages { name } }' },
  createPackage: { operation: 'createPackage(input: { id: "only", name: "right" }) { name }' },
  updatePackage: { operation: 'updatePackage(id: "plan", input: { metadata: { app: "right again" } }) { metadata }' },
  createUser: { operation: 'createUser(input: { id: "only", name: "right" }) { name }' },
  updateUser: { operation: 'updateUser(id: "ann", input: { name: "right again" }) { name email }' },
  subscribe: { operation: 'subscribe(userId: "bob", packageIds: ["plan"]) { userId package { name } }' },
  recordUsage: {
    operation: 'recordUsage(input: { userId: "ann", featureId: "call", delta: 2 }) { consumption { used budget } }',
  },
  recordUsages: {
    operation: 'recordUsages(inputs: { userId: "ann", featureId: "call", delta: 3 }) { consumption { used budget } }',
  },
  generateSubscriptionLink: {
    operation: `generateSubscriptionLink(
      userId: "ann", templateId: "left", successUrl: "https://a.example", cancelUrl: "https://a.example") { url }`,
    untouched: true,
  },
  generateUserToken: { operation: 'generateUserToken(userId: "ann") { token }', untouched: true },
}

let server: TestServer
const apps = {} as Record<Side, Client>
const subscriptionOf = {} as Record<Side, string>

async function furnish(side: Side, used: number, limit: number): Promise<void> {
  const { dashboard } = server
  apps[side] = await createApp(server, side)
  await apps[side].data(
    `mutation ($call: CreateFeatureInput!, $plan: CreatePackageInput!, $ann: CreateUserInput!, $bob: CreateUserInput!) {
      createFeature(input: $call) { id }
      createPackage(input: $plan) { id }
      ann: createUser(input: $ann) { id }
      bob: createUser(input: $bob) { id }
    }`,
    {
      call: { id: 'call', name: `${side} call`, unitLabel: side, type: 'CONSUMABLE', metadata: { app: side } },
      plan: {
        id: 'plan',
        name: `${side} plan`,
        metadata: { app: side },
        features: [{ id: 'call', entitlement: { limit } }],
      },
      ann: { id: 'ann', name: `${side} Ann`, email: `ann@${side}.example`, billingId: `cus_1`, metadata: { app: side } },
      bob: { id: 'bob', name: `${side} Bob` },
    },
  )
  await dashboard.data(`mutation { publishPackage(appId: "${side}", id: "plan") { id } }`)
  const { subscribe } = await apps[side].data(`mutation {
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
    recordUsage(input: { userId: "ann", featureId: "call", delta: ${used}, idempotencyKey: "first" }) { recorded }
  }`)
  subscriptionOf[side] = subscribe[0].id
}

beforeAll(async () => {
  server = await startTestServer()
  await furnish('left', 11, 1000)
  await furnish('right', 22, 2000)
  await apps.left.data(`mutation {
    createFeature(input: { id: "only", name: "left", type: CONSUMABLE }) { id }
    createPackage(input: { id: "only", name: "left" }) { id }
    createUser(input: { id: "only", name: "left" }) { id }
  }`)
  await server.dashboard.data('mutation { publishPackage(appId: "left", id: "only") { id } }')
})
afterAll(() => server.stop())

const ask = (side: Side, operation: string): Promise<Answer> =>
  apps[side].ask(operation.replace('SUBSCRIPTION', subscriptionOf[side]))

/** All that an app can see of itself. */
async function everything(side: Side): Promise<Data> {
  const seen: Data = {}
  for (const [name, query] of Object.entries(QUERIES)) seen[name] = (await ask(side, `{ ${query} }`)).data
  return seen
}

describe('two apps with the same ids', () => {
  it('every operation of the Admin API has its row here', () => {
    const schema = adminSchema()
    expect(Object.keys(QUERIES).sort()).toEqual(Object.keys(schema.getQueryType()?.getFields() ?? {}).sort())
    expect(Object.keys(MUTATIONS).sort()).toEqual(Object.keys(schema.getMutationType()?.getFields() ?? {}).sort())
  })

  it.each(Object.entries(QUERIES))('spec §5.1: %s answers each app from its own', async (name, query) => {
    const answers = { left: await ask('left', `{ ${query} }`), right: await ask('right', `{ ${query} }`) }
    for (const { errors } of Object.values(answers)) expect(errors).toBeUndefined()
    const [left, right] = [JSON.stringify(answers.left.data), JSON.stringify(answers.right.data)]
    expect(left).not.toContain('right')
    expect(right).not.toContain('left')
    expect(left).not.toBe(right)
    expect(answers.left.data?.[name]).toBeTruthy()
  })

  it('spec §4 mutation rule 4: usage of one app is not the other’s', async () => {
    const used = (side: Side) => ask(side, `{ ${QUERIES.canUseFeature} }`)
    expect((await used('left')).data?.canUseFeature.consumption).toEqual({ used: 11, budget: 1000 })
    expect((await used('right')).data?.canUseFeature.consumption).toEqual({ used: 22, budget: 2000 })
  })
})
