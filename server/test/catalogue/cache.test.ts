import { beforeAll, describe, expect, it } from 'vitest'
import { KEY_CONFIRMED_MS } from '../../src/store/apps/app-cache.ts'
import { publishPackage } from '../harness/catalogue.ts'
import type { Client, Data } from '../harness/client.ts'
import { movable } from '../harness/clocks.ts'
import { adminClient, startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'

// Catalogues and keys are cached in memory, yet nothing stale is ever answered: what one server has acknowledged
// applies to the next request on another. Only requests that need no query rely on a time limit.

const time = movable()
const one = shared(startTestServer)
const other = shared(() =>
  startTestServer({ databaseUrl: one.databaseUrl, clocks: { monotonic: time.monotonic } }),
)
beforeAll(async () => {
  await publishPackage({ id: 'default', ...one }, 'plan', { calls: { limit: 10 } })
  await one.admin.data(`mutation {
    createUser(input: { id: "ann" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
  }`)
})

const publishLimit = (limit: number) =>
  one.dashboard.data(
    `mutation ($features: [EditPackageFeatureInput!]!) {
      editPackage(appId: "default", id: "plan", input: { features: $features }) { id }
      publishPackage(appId: "default", id: "plan") { id }
    }`,
    { features: [{ id: 'calls', entitlement: { limit } }] },
  )

const budgetOn = async ({ admin }: TestServer): Promise<number> => {
  const canUseFeature = await admin.call('canUseFeature { consumption { budget } }', {
    userId: 'ann',
    featureId: 'calls',
  })
  return canUseFeature.consumption.budget
}

describe('the catalogue in memory', () => {
  const SEEN: { change: string; make(): Promise<Data>; query: string; data: object }[] = [
    {
      change: 'createFeature',
      make: () =>
        one.admin.data('mutation { createFeature(input: { id: "export", name: "E", type: BINARY }) { id } }'),
      query: '{ canUseFeature(userId: "ann", featureId: "export") { reasonCode } }',
      data: { canUseFeature: { reasonCode: 'NOT_IN_PACKAGE' } },
    },
    {
      change: 'updateFeature',
      make: () =>
        one.admin.data('mutation { updateFeature(id: "calls", input: { name: "Renamed" }) { id } }'),
      query: '{ feature(id: "calls") { name } }',
      data: { feature: { name: 'Renamed' } },
    },
    {
      change: 'updatePackage',
      make: () =>
        one.admin.data('mutation { updatePackage(id: "plan", input: { metadata: { a: 1 } }) { id } }'),
      query: '{ subscriptions { package { metadata } } }',
      data: { subscriptions: [{ package: { metadata: { a: 1 } } }] },
    },
    {
      change: 'createPackage',
      make: () => one.admin.data('mutation { createPackage(input: { id: "new", name: "New" }) { id } }'),
      query: '{ packages(status: "DRAFT") { id } }',
      data: { packages: [{ id: 'new' }] },
    },
    {
      change: 'publishPackage',
      make: () => publishPackage({ id: 'default', ...one }, 'extra', {}, true).then(() => ({})),
      query: 'mutation { subscribe(userId: "ann", packageIds: ["extra"]) { status } }',
      data: { subscribe: [{ status: 'ACTIVE' }] },
    },
    {
      change: 'a lower limit',
      make: () => publishLimit(5),
      query: 'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 6 }) { recorded } }',
      data: { recordUsage: { recorded: false } },
    },
    {
      change: 'a higher limit',
      make: () => publishLimit(7),
      query: 'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 7 }) { recorded } }',
      data: { recordUsage: { recorded: true } },
    },
  ]
  it.each(SEEN)('gap: consistency: $change on one server holds for the next request on the other', async ({
    make,
    query,
    data,
  }) => {
    await budgetOn(other)
    await make()
    expect(await other.admin.data(query)).toEqual(data)
  })

  it('gap: consistency: checks under way while a limit changes see the old one or the new one', async () => {
    let begun = 100
    let acknowledged = 100
    let publishing = true
    await publishLimit(100)
    const check = async () => {
      while (publishing) {
        const atLeast = acknowledged
        const budget = await budgetOn(other)
        expect(budget).toBeGreaterThanOrEqual(atLeast)
        expect(budget).toBeLessThanOrEqual(begun)
      }
    }
    const checking = Promise.all([check(), check(), check(), check(), check(), check(), check(), check()])
    while (begun < 120) {
      await publishLimit(++begun)
      acknowledged = begun
    }
    publishing = false
    await checking
  })

  it('gap: consistency: a change that was not committed is never answered from', async () => {
    const create = (id: string) =>
      `mutation { createFeature(input: { id: "${id}", name: "N", type: BINARY }) { id } }`
    const stop = watchStatements(({ text }) =>
      text === 'commit' ? new Error('the connection broke') : undefined,
    )
    const lost = await one.admin.error(create('lost'))
    stop()
    expect(lost.extensions.code).toBe('INTERNAL_SERVER_ERROR')
    expect((await one.admin.error('{ feature(id: "lost") { id } }')).extensions.code).toBe(
      'FEATURE_NOT_FOUND',
    )
    // The other server's change takes the version that the lost one would have had.
    await other.admin.data(create('found'))
    expect(await one.admin.data('{ feature(id: "found") { id } }')).toEqual({ feature: { id: 'found' } })
    expect((await one.admin.error('{ feature(id: "lost") { id } }')).extensions.code).toBe(
      'FEATURE_NOT_FOUND',
    )
  })
})

describe('keys in memory', () => {
  async function newKey(): Promise<{ id: string; secret: string; client: Client }> {
    const createApiKey = await one.dashboard.call('createApiKey { id secret }', {
      appId: 'default',
      name: 'short-lived',
    })
    return { ...createApiKey, client: adminClient(other.url, createApiKey.secret) }
  }
  const revoke = (id: string) =>
    one.dashboard.data('mutation ($id: String!) { revokeApiKey(appId: "default", id: $id) { id } }', { id })

  const codeOf = async (client: Client, query: string) =>
    (await client.ask(query)).errors?.[0]?.extensions.code

  it('spec §5.3: a new key is good at once on the other server', async () => {
    const { client } = await newKey()
    expect(await codeOf(client, '{ packages { id } }')).toBeUndefined()
  })

  const ASKED = [
    'query { packages { id } }',
    'query { canUseFeature(userId: "ann", featureId: "calls") { access } }',
    'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 1 }) { recorded } }',
    'mutation { createFeature(input: { id: "late", name: "L", type: BINARY }) { id } }',
  ]
  it.each(ASKED)('spec §5.3: a revoked key is refused at once on the other server: %s', async (query) => {
    const { id, client } = await newKey()
    await client.data('{ packages { id } }')
    await revoke(id)
    expect(await codeOf(client, query)).toBe('UNAUTHENTICATED')
  })

  const SILENT = ['{ __typename }', '{ __schema { queryType { name } } }', '{ nothing }', 'no document', '']
  it(`spec §5.3: a revoked key learns nothing more after ${KEY_CONFIRMED_MS} ms, however busy its app is`, async () => {
    const keys = await Promise.all(SILENT.map(async (query) => ({ query, ...(await newKey()) })))
    for (const { client } of keys) await client.data('{ packages { id } }')
    for (const { id } of keys) await revoke(id)
    // Neither other keys nor repeated requests extend it.
    for (let ms = 0; ms < KEY_CONFIRMED_MS; ms += 50) {
      await other.admin.data('{ packages { id } }')
      await other.admin.data('{ __typename }')
      for (const { client, query } of keys) await client.ask(query)
      time.passes(50)
    }
    const codes = await Promise.all(keys.map(({ client, query }) => codeOf(client, query)))
    expect(codes).toEqual(SILENT.map(() => 'UNAUTHENTICATED'))
  })
})
