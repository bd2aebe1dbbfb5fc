import { beforeAll, describe, expect, it } from 'vitest'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import { type Client, type Data, signedIn } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { API_KEY, adminClient, OWNER, spawnServer } from '../harness/server.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { fillVersions, type Migrated, migrateAndKill } from '../schema/migration-under-kills.ts'

const servers = shared(() => openServers(2))
/** as each of the two serves it */
let dashboards: [Client, Client]
beforeAll(async () => {
  dashboards = [servers.app.dashboard, await signedIn(servers.url(1), OWNER)]
})

describe('gap: versions on two processes', () => {
  it('both answer alike at every instant while the clock passes the ends of periods', async () => {
    const id = 'walked'
    await dashboards[0].data('mutation { createApp(id: "walked", name: "W", testClock: true) { id } }')
    const createApiKey = await dashboards[0].call('createApiKey { secret }', { appId: 'walked', name: 'k' })
    const admins = [0, 1].map((i) => servers.admin(i, createApiKey.secret)) as [Client, Client]
    const app: TestApp = { id, admin: admins[0], dashboard: dashboards[0] }
    const advance = (to: string) =>
      dashboards[0].data(`mutation { advanceClock(appId: "walked", to: "${to}") { id } }`)
    const join = (userId: string, process: 0 | 1) =>
      admins[process].data(`mutation {
        createUser(input: { id: "${userId}" }) { id }
        subscribe(userId: "${userId}", packageIds: ["plan"]) { id }
      }`)
    const republish = (process: 0 | 1, limit: number, reach: string) =>
      dashboards[process].data(`mutation {
        editPackage(appId: "walked", id: "plan", input: {
          features: [{ id: "call", entitlement: { limit: ${limit} } }] }) { id }
        publishPackage(appId: "walked", id: "plan", for: ${reach}) { id }
      }`)
    /** As both processes say, or it fails. */
    const held = async (): Promise<string> => {
      const users = ['ann', 'bob', 'cem']
      const fields = users.map(
        (user) =>
          `${user}: canUseFeature(userId: "${user}", featureId: "call") { consumption { budget used } }`,
      )
      const answers = await Promise.all(
        admins.map((admin) => admin.data(`{ ${fields.join(' ')} subscriptions { packageVersion } }`)),
      )
      expect(answers[0]).toEqual(answers[1])
      const [{ subscriptions, ...checks }] = answers as [Data]
      return users
        .map((user, i) => {
          const { consumption } = checks[user] ?? {}
          return `${subscriptions[i]?.packageVersion ?? '-'}:${consumption?.used ?? '-'}/${consumption?.budget ?? '-'}`
        })
        .join(' ')
    }

    await advance('2030-01-31T00:00:00Z')
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await join('ann', 0)
    await advance('2030-02-15T00:00:00Z')
    await join('bob', 1)
    for (const user of ['ann', 'bob']) {
      await admins[1].call('recordUsage', { input: { userId: user, featureId: 'call', delta: 3 } })
    }
    await republish(1, 20, 'AT_PERIOD_END')
    await join('cem', 0)
    expect(await held()).toBe('1:3/10 1:3/10 2:0/20')
    await advance('2030-02-27T23:59:59.999Z')
    expect(await held()).toBe('1:3/10 1:3/10 2:0/20')
    await advance('2030-02-28T00:00:00Z')
    expect(await held()).toBe('2:0/20 1:3/10 2:0/20')
    // bob, whose move to 2 is still to come, goes to 3 instead, at once; ann and cem have 2 already.
    await republish(0, 30, 'NEW_ONLY')
    const migrateSubscriptions = await admins[1].call('migrateSubscriptions { id moved }', {
      packageId: 'plan',
      fromVersion: 1,
      toVersion: 3,
    })
    expect(migrateSubscriptions.moved).toBe(1)
    expect(await held()).toBe('2:0/20 3:3/30 2:0/20')
    await advance('2030-03-15T00:00:00Z')
    expect(await held()).toBe('2:0/20 3:0/30 2:0/20')
    await admins[0].call('migrateSubscriptions', {
      packageId: 'plan',
      fromVersion: 2,
      toVersion: 3,
      when: 'PERIOD_END',
    })
    await advance('2030-03-30T23:59:59.999Z')
    expect(await held()).toBe('2:0/20 3:0/30 2:0/20')
    await advance('2030-03-31T00:00:00Z')
    expect(await held()).toBe('3:0/30 3:0/30 2:0/20')
    await advance('2030-04-15T00:00:00Z')
    expect(await held()).toBe('3:0/30 3:0/30 3:0/30')
  })

  it('a migration on a process that is killed has moved everybody or nobody, is completed once, and undone', async () => {
    const migrated: Migrated = {
      subscriptions: 500,
      nodes: [
        { admin: servers.admin(0), dashboard: dashboards[0] },
        { admin: servers.admin(1), dashboard: dashboards[1] },
      ],
      sql: (text, values) => rowsOf({ connectionString: servers.database.url }, text, values),
      async start() {
        const env = { DATABASE_URL: servers.database.url, TOLLGATE_LOG_LEVEL: 'error' }
        const { url, kill } = await spawnServer(env)
        return { admin: adminClient(url, API_KEY), kill: () => kill('SIGKILL') }
      },
    }
    await fillVersions(migrated)
    for (const moment of [0.4, 0.8]) await migrateAndKill(migrated, `killed at ${moment}`, moment)
  })
})
