import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createUsers } from '../harness/catalogue.ts'
import { type CellServers, openCellServers } from '../harness/cells.ts'
import { Client, type Data } from '../harness/client.ts'
import { createDatabase } from '../harness/database.ts'

// Users on other servers, by Citus, in statements that also read or write tables of this server.

const hasCitus = inject('clusterUrls').length > 0
if (!hasCitus)
  console.log('Not run without a Citus cluster (TOLLGATE_TEST_CITUS_URL): users on other servers.')

describe.runIf(hasCitus)('gap: users on other servers', () => {
  let cells: CellServers
  beforeAll(async () => {
    cells = await openCellServers(createDatabase())
  })
  afterAll(() => cells?.close())

  const isRemote = (schema: string) => schema === 'c2' || schema === 'c3'

  it('answers the token of a user of another server until its key is revoked', async () => {
    const users = Array.from({ length: 12 }, (_, i) => `token-${i}`)
    await createUsers(cells.app.admin, users)
    const homes = await Promise.all(users.map((user) => cells.cellsOfUser(user)))
    const id = users[homes.findIndex(([home]) => isRemote(home ?? ''))]
    const { generateUserToken } = await cells.app.admin.data(
      `mutation { generateUserToken(userId: "${id}") { token } }`,
    )
    const client = new Client(`${cells.servers[1].url}/client/graphql`, {
      Authorization: generateUserToken.token,
    })
    expect(await client.data('{ me { id } }')).toEqual({ me: { id } })
    const { tokenKeys } = await cells.app.dashboard.data('{ tokenKeys(appId: "default") { id } }')
    for (const key of tokenKeys as Data[])
      await cells.app.dashboard.data(`mutation { revokeTokenKey(appId: "default", id: "${key.id}") { id } }`)
    expect((await client.ask('{ me { id } }')).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  it('logs what an application changes of users of any server, before and after', async () => {
    await createUsers(cells.app.admin, ['logged'])
    const latest = async () => {
      const { auditLog } = await cells.app.dashboard.data(
        '{ auditLog(appId: "default", actorKind: API_KEY, first: 1) { rows { operation before after } } }',
      )
      return auditLog.rows[0] as Data
    }
    const homes = new Set<string>()
    for (let i = 0, name = 'logged'; i < 12; i++) {
      const before = name
      name = `logged-${i}`
      await cells.app.admin.data(`mutation { updateUser(id: "${before}", input: { id: "${name}" }) { id } }`)
      expect(await latest()).toMatchObject({ before: { id: before }, after: { id: name } })
      const { subscribe } = await cells.app.admin.data(
        `mutation { subscribe(userId: "${name}", packageIds: ["plan"]) { id } }`,
      )
      const [{ id }] = subscribe
      const held = (await latest()).after.subscriptions as Data[]
      expect(held.filter(({ cancelledAt }) => cancelledAt === null)).toMatchObject([{ id }])
      await cells.app.admin.data(`mutation { cancelSubscription(id: "${id}", atPeriodEnd: false) { id } }`)
      expect(await latest()).toMatchObject({
        before: { cancelledAt: null },
        after: { userId: name, cancelledAt: expect.any(String) },
      })
      for (const home of await cells.cellsOfUser(name)) homes.add(home)
    }
    expect([...homes].filter(isRemote)).not.toEqual([])
    expect(homes.size).toBeGreaterThan(2)
  })
})
