import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_MUTATIONS, ADMIN_QUERIES } from '../../src/operations/registry/registry.ts'
import { bumpVersion } from '../../src/store/apps/apps.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { MUTATION_EXAMPLES } from '../examples/examples.ts'
import { newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { rowsOf, withConnection } from '../harness/database.ts'
import { adminClient, createApp, MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Two apps, `lima` and `oslo`, use the same ids for different things, and every text of an app contains its name: an
// answer to one that contains the other's name has leaked. `lima` also has things that `oslo` does not.

type Side = 'lima' | 'oslo'

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
let worlds: Record<Side, World>
beforeAll(async () => {
  worlds = { lima: await newWorld('lima', 11, 1000), oslo: await newWorld('oslo', 22, 2000) }
  const { lima } = worlds
  await lima.admin.data(`mutation {
    createFeature(input: { id: "only", name: "lima", type: CONSUMABLE }) { id }
    createPackage(input: { id: "only", name: "lima" }) { id }
    createUser(input: { id: "only", name: "lima", billingId: "cus_only" }) { id }
  }`)
  await server.dashboard.data(`mutation { publishPackage(appId: "${lima.id}", id: "only") { id } }`)
})

async function newWorld(side: Side, used: number, limit: number): Promise<World> {
  const id = `the-${side}`
  const app = { id, admin: await createApp(server, id), dashboard: server.dashboard.of(id) }
  const input = { userId: 'ann', featureId: 'calls', delta: used, action: 'SET', idempotencyKey: 'first' }
  const world = await furnishWorld(server, app, { text: side, limit })
  await world.admin.call('recordUsage', { input })
  return world
}

/** All that an app can see of itself, and of the user that an example creates. */
async function everything(side: Side, user = 'bob'): Promise<string> {
  const { id, admin, migration } = worlds[side]
  // The catalogue is read again instead of from memory.
  await withConnection({ connectionString: server.databaseUrl }, (db) =>
    bumpVersion(db as unknown as HomeDb, id),
  )
  const lists = await admin.data(`{
    features { id name unitLabel metadata packages { name } }
    packages { id name metadata features { name limit } } drafts: packages(status: "DRAFT") { id name metadata }
    migration(id: "${migration}") { subscriptions status }
    users { id name email billingId metadata }
    subscriptions { id userId status cancelAt trialEndsAt quantity packageVersion package { name } }
    canUseFeature(userId: "ann", featureId: "calls") { reason consumption { used budget } }
    exportUser(id: "ann")
  }`)
  // The user need not exist.
  const ofUser = await admin.ask(`{
    exportUser(id: "${user}") canUseFeature(userId: "${user}", featureId: "calls") { reason consumption { used } }
  }`)
  // Deliveries change by themselves; the audit log shows what was asked for.
  const webhooks = await rowsOf(
    { connectionString: server.databaseUrl },
    `select json_build_array(
       (select json_agg(w order by w.id) from (
          select id, url, types, description, enabled, secret from webhook_endpoint where app_id = $1) w),
       (select json_agg(a order by a.seq) from (
          select seq, operation, subject_id from audit_entry where app_id = $1 and subject_kind = 'webhookEndpoint') a))`,
    [id],
  )
  // The checks above are denials too, which are written a few seconds later.
  return JSON.stringify([lists, ofUser, webhooks], (key, value) => (key === 'denials' ? undefined : value))
}

describe('two apps with the same ids', () => {
  it.each(ADMIN_QUERIES)('spec §5.1: %s answers each app from its own', async (name) => {
    const ask = async (side: Side) => {
      const { client, document, variables } = await readyCall('admin', name, newTurn(worlds[side], name))
      return client.data(document, variables)
    }
    const [lima, oslo] = [await ask('lima'), await ask('oslo')]
    expect(lima[name]).toBeTruthy()
    expect(lima).not.toEqual(oslo)
    expect(JSON.stringify(lima)).not.toContain('oslo')
    expect(JSON.stringify(oslo)).not.toContain('lima')
  })

  it('spec §4 mutation rule 4: what one app has used is not counted for the other', async () => {
    const check = '{ canUseFeature(userId: "ann", featureId: "calls") { consumption { used budget } } }'
    const used = async (side: Side) => (await worlds[side].admin.data(check)).canUseFeature.consumption
    // With the limits of two add-ons and of an override.
    expect(await used('lima')).toEqual({ used: 11, budget: 1015 })
    expect(await used('oslo')).toEqual({ used: 22, budget: 2015 })
  })

  it.each(ADMIN_MUTATIONS)('spec §5.1: %s in one app leaves the other as it was', async (name) => {
    const turns = { lima: newTurn(worlds.lima, name), oslo: newTurn(worlds.oslo, name) }
    await readyCall('admin', name, turns.lima)
    const { client, document, variables } = await readyCall('admin', name, turns.oslo)
    const state = async (side: Side) => everything(side, turns.oslo.user)
    const before = { lima: await state('lima'), oslo: await state('oslo') }
    expect(JSON.stringify(await client.data(document, variables))).not.toContain('lima')
    expect(await state('lima')).toBe(before.lima)
    if (MUTATION_EXAMPLES[name].changesNothing) expect(await state('oslo')).toBe(before.oslo)
    else expect(await state('oslo')).not.toBe(before.oslo)
  })
})

describe('what only the other app has', () => {
  const NOT_FOUND = [
    ['feature(id: "only") { id }', 'FEATURE_NOT_FOUND'],
    ['package(id: "only") { id }', 'PACKAGE_NOT_FOUND'],
    ['user(id: "only") { id }', 'USER_NOT_FOUND'],
    ['subscription(id: "OTHER") { id }', 'SUBSCRIPTION_NOT_FOUND'],
    ['migration(id: "MIGRATION") { id }', 'MIGRATION_NOT_FOUND'],
    ['showUsage(userId: "only", featureId: "calls") { past { periodStart } }', 'USER_NOT_FOUND'],
    ['showUsage(userId: "ann", featureId: "only") { past { periodStart } }', 'FEATURE_NOT_FOUND'],
    ['features(after: "only") { id }', 'BAD_USER_INPUT'],
    ['packages(after: "only") { id }', 'BAD_USER_INPUT'],
    ['users(after: "only") { id }', 'BAD_USER_INPUT'],
    ['subscriptions(after: "OTHER") { id }', 'BAD_USER_INPUT'],
  ] as const
  it.each(NOT_FOUND)('spec §4 query rule 4: %s is %s', async (query, code) => {
    const mine = query.replace('OTHER', worlds.lima.subscription).replace('MIGRATION', worlds.lima.migration)
    expect((await worlds.lima.admin.ask(`{ ${mine} }`)).errors).toBeUndefined()
    expect((await worlds.oslo.admin.error(`{ ${mine} }`)).extensions.code).toBe(code)
  })

  it('spec §4 queries table: a user of the other app has no subscriptions here', async () => {
    const { subscriptions } = await worlds.oslo.admin.data('{ subscriptions(userId: "only") { id } }')
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
    const before = await everything('lima')
    expect((await worlds.oslo.admin.error(`mutation { ${mutation} }`)).extensions.code).toBe(code)
    expect(await everything('lima')).toBe(before)
  })

  it('gap: access: a user or a feature of the other app is unknown to canUseFeature and recordUsage', async () => {
    const { data } = await worlds.oslo.admin.ask(`{
      user: canUseFeature(userId: "only", featureId: "calls") { reasonCode }
      feature: canUseFeature(userId: "ann", featureId: "only") { reasonCode }
      batch: canUseFeatures(userId: "ann", featureIds: ["only"]) { reasonCode }
    }`)
    expect(data).toEqual({
      user: { reasonCode: 'USER_NOT_FOUND' },
      feature: { reasonCode: 'FEATURE_NOT_FOUND' },
      batch: [{ reasonCode: 'FEATURE_NOT_FOUND' }],
    })
    expect(
      await worlds.oslo.admin.data(`mutation {
        user: recordUsage(input: { userId: "only", featureId: "calls", delta: 1 }) { recorded }
        feature: recordUsage(input: { userId: "ann", featureId: "only", delta: 1 }) { recorded }
      }`),
    ).toEqual({ user: { recorded: false }, feature: { recorded: false } })
  })
})

describe('credentials and keys', () => {
  it('gap: idempotency: one key in two apps is two keys, in the header and in the event', async () => {
    const query = `mutation {
      createUser(input: { id: "new" }) { id }
      recordUsage(input: { userId: "ann", featureId: "calls", delta: 1 }) { consumption { used } }
      again: recordUsage(input: { userId: "ann", featureId: "calls", delta: 1, idempotencyKey: "shared" }) {
        consumption { used }
      }
    }`
    const keyed = (side: Side) => worlds[side].admin.with({ 'Idempotency-Key': 'shared' }).data(query)
    const first = { lima: await keyed('lima'), oslo: await keyed('oslo') }
    expect(first.lima).toMatchObject({ again: { consumption: { used: 13 } } })
    expect(first.oslo).toMatchObject({ again: { consumption: { used: 24 } } })
    expect({ lima: await keyed('lima'), oslo: await keyed('oslo') }).toEqual(first)
  })

  it('spec §4 mutation rule 7: a user token names its app and its user, and is no key', async () => {
    const tokenOf = async (side: Side) => {
      const generateUserToken = await worlds[side].admin.call('generateUserToken { token }', {
        userId: 'ann',
      })
      return String(generateUserToken.token)
    }
    const tokens = { lima: await tokenOf('lima'), oslo: await tokenOf('oslo') }
    const claims = { lima: decodeJwt(tokens.lima), oslo: decodeJwt(tokens.oslo) }
    expect(claims.lima.app).toBe(worlds.lima.id)
    expect(claims.oslo.app).toBe(worlds.oslo.id)
    expect(claims.lima.sub).not.toBe(claims.oslo.sub)
    const impostor = adminClient(server.url, tokens.lima)
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
    const { apiKeys } = await server.dashboard.data(`{ apiKeys(appId: "${worlds.lima.id}") { id } }`)
    const before = await everything('lima')
    const { extensions } = await server.dashboard.error(
      `mutation { ${mutation} }`
        .replace('RIGHT', worlds.oslo.id)
        .replace('SUBSCRIPTION', worlds.lima.subscription)
        .replace('KEY', apiKeys[0].id),
    )
    expect(extensions.code).toBe(code)
    expect(await everything('lima')).toBe(before)
  })
})
