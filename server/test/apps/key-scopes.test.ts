import { type GraphQLNamedType, getNamedType, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { publishPackage } from '../harness/catalogue.ts'
import type { Answer, Client } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { exampleCalls } from '../harness/example-calls.ts'
import { adminClient, createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Which key may call what, written out: nothing here is read from the registry that the server goes by.

const SCOPES = ['READ', 'USAGE', 'CATALOGUE', 'ALL']

/** The scope that the error names, and the keys that may call the operation. */
const ANY = ['', 'READ', 'USAGE', 'CATALOGUE', 'ALL']
const READING = ['READ', 'READ', 'CATALOGUE', 'ALL']
const RECORDING = ['USAGE', 'USAGE', 'ALL']
const CHANGING_CATALOGUE = ['CATALOGUE', 'CATALOGUE', 'ALL']
const EVERYTHING = ['ALL', 'ALL']

const MATRIX: Record<string, string[]> = {
  canUseFeature: ANY,
  canUseFeatures: ANY,
  showUsage: ANY,
  reservations: ANY,

  events: READING,
  autoRecharges: READING,
  caps: READING,
  credits: READING,
  exportUser: READING,
  feature: READING,
  features: READING,
  migration: READING,
  overrides: READING,
  package: READING,
  packages: READING,
  subscription: READING,
  subscriptions: READING,
  usageSeries: READING,
  user: READING,
  users: READING,

  recordUsage: RECORDING,
  recordUsages: RECORDING,
  extendReservation: RECORDING,
  releaseReservation: RECORDING,
  reserveUsage: RECORDING,
  settleReservation: RECORDING,

  createFeature: CHANGING_CATALOGUE,
  createPackage: CHANGING_CATALOGUE,
  updateFeature: CHANGING_CATALOGUE,
  updatePackage: CHANGING_CATALOGUE,

  addCredit: EVERYTHING,
  cancelScheduledChange: EVERYTHING,
  cancelSubscription: EVERYTHING,
  changeSubscription: EVERYTHING,
  createUser: EVERYTHING,
  createWebhookEndpoint: EVERYTHING,
  deleteUser: EVERYTHING,
  deleteWebhookEndpoint: EVERYTHING,
  extendTrial: EVERYTHING,
  generateCreditLink: EVERYTHING,
  generateSubscriptionLink: EVERYTHING,
  generateUserToken: EVERYTHING,
  keepSubscription: EVERYTHING,
  migrateSubscriptions: EVERYTHING,
  removeOverride: EVERYTHING,
  resendEvents: EVERYTHING,
  resendFailedEvents: EVERYTHING,
  rotateWebhookSecret: EVERYTHING,
  sendTestEvent: EVERYTHING,
  setOverride: EVERYTHING,
  startTrial: EVERYTHING,
  subscribe: EVERYTHING,
  undoMigration: EVERYTHING,
  updateUser: EVERYTHING,
  updateWebhookEndpoint: EVERYTHING,
  webhookDeliveries: EVERYTHING,
  webhookEndpoints: EVERYTHING,
  setAutoRecharge: EVERYTHING,
  removeAutoRecharge: EVERYTHING,
  setCap: EVERYTHING,
  removeCap: EVERYTHING,
  voidCredit: EVERYTHING,
}

const CALLS = exampleCalls(adminSchema(), { email: 'somebody@example.com' })

const one = shared(startTestServer)
const other = shared(() => startTestServer({ databaseUrl: one.databaseUrl }))

interface Key {
  appId: string
  id: string
  /** on both processes */
  clients: Client[]
}

let apps = 0
/** A key with this scope, and the first key of its app, which may do everything. */
async function newKey(scope: string): Promise<Key & { admin: Client }> {
  const appId = `scoped-${++apps}`
  const admin = await createApp(one, appId)
  const { createApiKey } = await one.dashboard.data(
    `mutation ($appId: String!, $scope: ApiKeyScope) {
      createApiKey(appId: $appId, name: "scoped", scope: $scope) { id secret scope } }`,
    { appId, scope },
  )
  expect(createApiKey.scope).toBe(scope)
  const clients = [one, other].map(({ url }) => adminClient(url, createApiKey.secret))
  return { appId, id: createApiKey.id, clients, admin }
}

const setScope = ({ appId, id }: Key, scope: string) =>
  one.dashboard.data(
    `mutation ($appId: String!, $id: String!, $input: UpdateApiKeyInput!) {
      updateApiKey(appId: $appId, id: $id, input: $input) { scope } }`,
    { appId, id, input: { scope } },
  )

const FORBIDDEN =
  /^403 FORBIDDEN This operation requires an API key with the scope (\w+); this key has the scope (\w+)$/

/** The scopes that a refusal names; null: it got past the check, whatever else is wrong with the call. */
function refusalOf({ errors }: Answer): string[] | null {
  const [error] = errors ?? []
  const { status, code } = error?.extensions ?? {}
  return FORBIDDEN.exec(`${status} ${code} ${error?.message}`)?.slice(1) ?? null
}

const contentOf = (appId: string) =>
  Promise.all(
    ['feature', 'package', 'users', 'subscription', 'usage_ledger', 'idempotency', 'audit_entry'].map(
      (table) =>
        rowsOf({ connectionString: one.databaseUrl }, `select * from ${table} where app_id = $1`, [appId]),
    ),
  )

/** A user with a plan that grants 1,000 calls. */
async function meteredUser({ appId, admin }: { appId: string; admin: Client }): Promise<void> {
  const owner = { id: appId, admin, dashboard: one.dashboard.of(appId) }
  await publishPackage(owner, 'plan', { calls: { limit: 1_000 } })
  await admin.data(`mutation {
    createUser(input: { id: "ann" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
  }`)
}

const RECORD =
  'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 1 }) { recorded consumption { used } } }'
const CHECK = '{ canUseFeature(userId: "ann", featureId: "calls") { access } }'
const CREATE = 'mutation { createFeature(input: { id: "new", name: "New", type: BINARY }) { id } }'

describe('gap: the scope of an API key', () => {
  it('every operation of the Admin API has its row here', () => {
    expect(Object.keys(MATRIX).sort()).toEqual(CALLS.map(({ name }) => name).sort())
  })

  it.for(SCOPES)('%s allows what the matrix says, and nothing else', async (scope) => {
    const { appId, clients, admin } = await newKey(scope)
    await meteredUser({ appId, admin })
    const refused = CALLS.filter(({ name }) => !MATRIX[name]?.includes(scope, 1))
    const before = await contentOf(appId)
    for (const client of clients)
      for (const { name, query, variables } of refused) {
        const [needed] = MATRIX[name] ?? []
        expect([name, refusalOf(await client.ask(query, variables))]).toEqual([name, [needed, scope]])
        const keyed = client.with({ 'Idempotency-Key': `${name} again` })
        expect([name, refusalOf(await keyed.ask(query, variables))]).toEqual([name, [needed, scope]])
      }
    expect(await contentOf(appId)).toEqual(before)

    const allowed = CALLS.filter(({ name }) => MATRIX[name]?.includes(scope, 1))
    expect(allowed.length + refused.length).toBe(CALLS.length)
    for (const { name, query, variables } of allowed)
      expect([name, refusalOf((await clients[0]?.ask(query, variables)) ?? { status: 0 })]).toEqual([
        name,
        null,
      ])
  })

  it.for(SCOPES)('%s: introspection is for every key', async (scope) => {
    const { clients } = await newKey(scope)
    for (const client of clients) {
      const { __schema, __typename } = await client.data('{ __typename __schema { queryType { name } } }')
      expect([__typename, __schema.queryType.name]).toEqual(['Query', 'Query'])
    }
  })

  it('refuses one operation of a document, and answers the others', async () => {
    const { clients, appId, admin } = await newKey('USAGE')
    await meteredUser({ appId, admin })
    const { data, errors } = (await clients[0]?.ask(`{
      canUseFeature(userId: "ann", featureId: "calls") { access }
      user(id: "ann") { id }
    }`)) as Answer
    expect(data).toEqual({ canUseFeature: { access: true }, user: null })
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([[['user'], 'FORBIDDEN']])
  })

  it('USAGE sees usage alone: no user, package or subscription is behind what its operations return', () => {
    const reached = new Set<GraphQLNamedType>()
    const visit = (type: GraphQLNamedType): void => {
      if (reached.has(type)) return
      reached.add(type)
      if (isObjectType(type))
        for (const field of Object.values(type.getFields())) visit(getNamedType(field.type))
    }
    for (const root of [adminSchema().getQueryType(), adminSchema().getMutationType()])
      for (const field of Object.values(root?.getFields() ?? {}))
        if (MATRIX[field.name]?.includes('USAGE', 1)) visit(getNamedType(field.type))
    expect([...reached].flatMap((type) => (isObjectType(type) ? [type.name] : [])).sort()).toEqual([
      'CanUseFeatureData',
      'Consumption',
      'RecordedUsage',
      'Reservation',
      'ShowUsageData',
      'UsagePeriod',
      'UsageSource',
    ])
  })
})

describe('gap: another scope', () => {
  it('that is narrower applies to the next request of every process, also to usage that it remembers', async () => {
    const key = await newKey('ALL')
    await meteredUser(key)
    const record = async () => {
      for (const client of key.clients) for (let i = 0; i < 3; i++) await client.data(RECORD)
    }
    await record()
    await setScope(key, 'READ')
    for (const client of key.clients) {
      expect(refusalOf(await client.ask(RECORD))).toEqual(['USAGE', 'READ'])
      expect(refusalOf(await client.ask(CREATE))).toEqual(['CATALOGUE', 'READ'])
      expect(await client.data(CHECK)).toEqual({ canUseFeature: { access: true } })
    }
    await setScope(key, 'USAGE')
    await record()
    const { showUsage } = await key.admin.data(
      '{ showUsage(userId: "ann", featureId: "calls") { current { consumption { used } } } }',
    )
    expect(showUsage.current.consumption.used).toBe(12)
    for (const client of key.clients)
      expect(refusalOf(await client.ask('{ users { id } }'))?.[0]).toBe('READ')
  })

  it('that is wider applies to the next request of every process', async () => {
    const key = await newKey('READ')
    for (const client of key.clients) expect(refusalOf(await client.ask(CREATE))?.[0]).toBe('CATALOGUE')
    await setScope(key, 'CATALOGUE')
    for (const client of key.clients) expect(refusalOf(await client.ask(CREATE))).toBeNull()
  })

  it('does not repeat the refusal under its Idempotency-Key', async () => {
    const key = await newKey('READ')
    const clients = key.clients.map((client) => client.with({ 'Idempotency-Key': 'once' }))
    for (const client of clients) expect(refusalOf(await client.ask(CREATE))?.[0]).toBe('CATALOGUE')
    await setScope(key, 'CATALOGUE')
    for (const client of clients) expect(await client.data(CREATE)).toEqual({ createFeature: { id: 'new' } })
  })

  it('reaches the operation while it waits for its locks', async () => {
    const key = await newKey('CATALOGUE')
    const { Client: Connection } = (await import('pg')).default
    const holder = new Connection({ connectionString: one.databaseUrl })
    await holder.connect()
    try {
      // Allowed by what the process knows, and overtaken by a narrower scope before it decides.
      await key.clients[1]?.data('{ features { id } }')
      await holder.query('begin')
      await holder.query(`update api_key set scope = 'READ' where app_id = $1 and id = $2`, [
        key.appId,
        key.id,
      ])
      await holder.query('update app set version = version + 1 where id = $1', [key.appId])
      const creating = key.clients[1]?.ask(CREATE)
      await holder.query('commit')
      expect(refusalOf((await creating) as Answer)).toEqual(['CATALOGUE', 'READ'])
    } finally {
      await holder.end()
    }
    expect(await key.admin.data('{ features { id } }')).toEqual({ features: [] })
  })
})
