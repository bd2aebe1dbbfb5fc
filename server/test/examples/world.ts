import type { TestApp } from '../harness/catalogue.ts'
import { rowsOf } from '../harness/database.ts'
import { forEach, named } from '../harness/many.ts'
import type { TestServer } from '../harness/server.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'

/** An app with one of everything that an answer may show. */
export interface World extends TestApp {
  server: Pick<TestServer, 'url' | 'databaseUrl'>
  stripe: StripeStandIn | null
  /** ann's, of the plan */
  subscription: string
  /** of those with version 2 of the plan, whom there are none of, to version 1 */
  migration: string
  /** a webhook endpoint, for a type of event that hardly ever happens */
  endpoint: string
  /** one that is disabled, with a delivery */
  quietEndpoint: string
  count: number
}

interface Options {
  /** part of all names and other texts */
  text?: string
  /** of the plan's consumable features */
  limit?: number
  /** how many further features, add-ons and users there are, named f1, a1 and u1 on */
  count?: number
  stripe?: StripeStandIn
}

export async function furnishWorld(
  server: World['server'],
  app: TestApp,
  { text = 'Some', limit = 10, count = 2, stripe }: Options = {},
): Promise<World> {
  const { id: appId, admin, dashboard } = app
  const texts = { name: text, metadata: { app: text, nested: { deep: [1, null] } } }
  const consumable = `name: "${text}", type: CONSUMABLE`
  await admin.data(
    `mutation ($calls: CreateFeatureInput!, $ann: CreateUserInput!) {
      calls: createFeature(input: $calls) { id }
      seats: createFeature(input: { id: "seats", ${consumable} }) { id }
      storage: createFeature(input: { id: "storage", ${consumable} }) { id }
      export: createFeature(input: { id: "export", name: "${text}", type: BINARY }) { id }
      ann: createUser(input: $ann) { id }
      bob: createUser(input: { id: "bob" }) { id }
    }`,
    {
      calls: { id: 'calls', type: 'CONSUMABLE', unitLabel: text, unitLabelPlural: text, ...texts },
      ann: { id: 'ann', email: `ann@${text}.example`, billingId: 'cus_1', ...texts },
    },
  )
  await forEach(admin, named('f', count), (id) => `createFeature(input: { id: "${id}", ${consumable} })`)
  await forEach(admin, named('u', count), (id) => `createUser(input: { id: "${id}", name: "${text}" })`)
  await admin.data(
    `mutation ($plan: CreatePackageInput!) {
      createPackage(input: $plan) { id }
      rival: createPackage(input: { id: "rival", name: "${text}", features: { id: "calls" } }) { id }
      draft: createPackage(input: { id: "draft", name: "${text}" }) { id }
    }`,
    {
      plan: {
        id: 'plan',
        ...texts,
        features: [
          ...['calls', ...named('f', count)].map((id) => ({ id, entitlement: { limit } })),
          { id: 'seats', entitlement: { limit: 2, resetPeriod: 'NEVER', overageEnabled: true } },
          { id: 'storage' },
          { id: 'export' },
        ],
      },
    },
  )
  const addon = `name: "${text}", isAddon: true, features: { id: "calls", entitlement: { limit: 5 } }`
  await forEach(admin, named('a', count), (id) => `createPackage(input: { id: "${id}", ${addon} })`)
  const published = ['plan', 'rival', ...named('a', count)]
  await forEach(dashboard, published, (id) => `publishPackage(appId: "${appId}", id: "${id}")`)
  const { subscribe } = await admin.data(
    `mutation ($packageIds: [String!]!) {
      subscribe(userId: "ann", packageIds: $packageIds) { id }
      bobs: subscribe(userId: "bob", packageIds: "plan") { id }
      recordUsage(input: { userId: "ann", featureId: "calls", delta: 3 }) { recorded }
      setOverride(input: { userId: "ann", featureId: "calls", mode: ADD, limit: 5, reason: "${text}" }) { mode }
      addCredit(input: { id: "${appId}-ann", userId: "ann", featureId: "storage", amount: 9, reason: "${text}" }) { id }
      reserveUsage(input: { id: "${appId}-held", userId: "ann", featureId: "storage", amount: 2 }) { id }
      setCap(input: { userId: "ann", featureId: "storage", entity: "team:${appId}", limit: 90, period: YEAR }) { limit }
      another: setOverride(input: { userId: "bob", featureId: "seats", mode: DENY, reason: "${text}" }) { mode }
    }`,
    { packageIds: ['plan', ...named('a', count)] },
  )
  // The next version grants the same, and nobody has it.
  await dashboard.data(`mutation {
    editPackage(appId: "${appId}", id: "plan", input: { name: "${text}" }) { id }
    publishPackage(appId: "${appId}", id: "plan", for: NEW_ONLY) { id }
    createPrice(appId: "${appId}", packageId: "plan", input: {
      id: "price_plan", amount: 1200, currency: "usd", interval: "month" }) { id }
    pack: createPrice(appId: "${appId}", input: {
      id: "price_pack", amount: 500, currency: "usd", credits: { featureId: "storage", units: 100, expiresDays: 30 } }) { id }
    createBillingTemplate(appId: "${appId}", input: { id: "plan", name: "${text}", packageIds: "plan" }) { id }
  }`)
  await admin.call('setAutoRecharge { state }', {
    input: { userId: 'ann', featureId: 'storage', below: 1, upTo: limit, priceId: 'price_pack' },
  })
  const migrateSubscriptions = await admin.call('migrateSubscriptions { id }', {
    packageId: 'plan',
    fromVersion: 2,
    toVersion: 1,
  })
  await dashboard.call('editPackage', { id: 'plan', input: { name: `Next ${text}` } })
  return {
    ...app,
    server,
    stripe: stripe ?? null,
    subscription: subscribe[0].id,
    migration: migrateSubscriptions.id,
    ...(await furnishEndpoints(server, app, text)),
    count,
  }
}

async function furnishEndpoints(
  { databaseUrl }: World['server'],
  { id: appId, admin }: TestApp,
  text: string,
): Promise<Pick<World, 'endpoint' | 'quietEndpoint'>> {
  const { endpoint, quiet } = await admin.data(
    `mutation ($input: CreateWebhookEndpointInput!) {
      endpoint: createWebhookEndpoint(input: $input) { id }
      quiet: createWebhookEndpoint(input: $input) { id }
    }`,
    { input: { url: 'https://world.invalid/hooks', types: ['feature.deleted'], description: text } },
  )
  await admin.call('updateWebhookEndpoint { id }', { id: quiet.id, input: { enabled: false } })
  const attempt = { at: 0, durationMs: 12, status: 200, error: null, body: text }
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, state, attempts, due_at, log)
     values ($1, $2, 'evt_' || $3, 'webhook.test', 'SUCCEEDED', 1, null, $4)`,
    [appId, quiet.id, text, JSON.stringify([attempt])],
  )
  return { endpoint: endpoint.id, quietEndpoint: quiet.id }
}
