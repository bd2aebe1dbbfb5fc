import { beforeAll, describe, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'

// What one process has answered, every other process knows: no answer is ever stale.

describe('two processes on one database', () => {
  const servers = shared(() => openServers(2))
  beforeAll(async () => {
    await publishPackage(servers.app, 'plan', { call: { limit: 1000 } })
    await createUsers(servers.admin(0), ['ann'])
    await servers.admin(0).data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
  })

  const checkOn = async (process: number) => {
    const canUseFeature = await servers
      .admin(process)
      .call('canUseFeature { consumption { used budget } }', { userId: 'ann', featureId: 'call' })
    return canUseFeature.consumption
  }

  it('gap: consistency: usage recorded by one is seen by the next check on the other', async () => {
    const { used } = await checkOn(0)
    for (let i = 1; i <= 100; i++) {
      await servers.admin(i).call('recordUsage', { input: { userId: 'ann', featureId: 'call', delta: 1 } })
      expect(await checkOn(i + 1)).toMatchObject({ used: used + i })
    }
  })

  it('spec §4 mutation rule 1: a limit published through one holds for the next check on the other', async () => {
    for (let limit = 501; limit <= 520; limit++) {
      await servers.app.dashboard.data(
        `mutation ($features: [EditPackageFeatureInput!]!) {
          editPackage(appId: "default", id: "plan", input: { features: $features }) { id }
          publishPackage(appId: "default", id: "plan") { id }
        }`,
        { features: [{ id: 'call', entitlement: { limit } }] },
      )
      expect(await checkOn(1)).toMatchObject({ budget: limit })
    }
  })

  it('gap: consistency: a user, a feature and a subscription made by one are there for the other', async () => {
    await servers.admin(0).data(`mutation {
      createUser(input: { id: "bob" }) { id }
      createFeature(input: { id: "export", name: "Export", type: BINARY }) { id }
      createPackage(input: { id: "pro", name: "Pro", features: { id: "export" } }) { id }
    }`)
    await servers.app.dashboard.data('mutation { publishPackage(appId: "default", id: "pro") { id } }')
    await servers.admin(0).data('mutation { subscribe(userId: "bob", packageIds: ["pro"]) { id } }')
    const canUseFeature = await servers
      .admin(1)
      .call('canUseFeature { access reasonCode }', { userId: 'bob', featureId: 'export' })
    expect(canUseFeature).toEqual({ access: true, reasonCode: 'GRANTED' })
  })

  const ASKED = [
    'query { features { id } }',
    'query { feature(id: "call") { id } }',
    'query { packages { id } }',
    'query { users { id } }',
    'query { user(id: "nobody") { id } }',
    'query { subscriptions { id } }',
    'query { subscriptions(userId: "nobody") { id } }',
    'query { subscription(id: "nothing") { id } }',
    'query { showUsage(userId: "nobody", featureId: "call") { past { periodStart } } }',
    'query { canUseFeature(userId: "ann", featureId: "call") { access } }',
    'query { canUseFeatures(userId: "ann", featureIds: ["call"]) { access } }',
    'mutation { createUser(input: { id: "late" }) { id } }',
    'mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { recorded } }',
    'mutation { subscribe(userId: "nobody", packageIds: ["plan"]) { id } }',
    'mutation { generateUserToken(userId: "ann") { token } }',
  ]
  it.each(
    ASKED,
  )('spec §5.3: a key revoked through one is refused at once by the other: %s', async (query) => {
    const createApiKey = await servers.app.dashboard.call('createApiKey { id secret }', {
      appId: 'default',
      name: 'short-lived',
    })
    const other = servers.admin(1, createApiKey.secret)
    expect(await other.data('{ canUseFeature(userId: "ann", featureId: "call") { reasonCode } }')).toEqual({
      canUseFeature: { reasonCode: 'WITHIN_BUDGET' },
    })
    await servers.app.dashboard.call('revokeApiKey', { appId: 'default', id: createApiKey.id })
    expect((await other.error(query)).extensions.code).toBe('UNAUTHENTICATED')
    expect(await servers.admin(1).data('{ users { id } }')).not.toMatchObject({
      users: expect.arrayContaining([{ id: 'late' }]),
    })
  })
})
