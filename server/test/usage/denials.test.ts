import { describe, expect, it } from 'vitest'
import { newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const denialsOf = async ({ id: appId, dashboard }: TestApp, id: string, page: object = {}): Promise<Data> => {
  const { featureDenials } = await dashboard.data(
    `query ($appId: String!, $id: String!, $first: Int, $after: String) {
      featureDenials(appId: $appId, id: $id, first: $first, after: $after) {
        next rows { userId userName kind reason times firstAt at } } }`,
    { appId, id, ...page },
  )
  return featureDenials
}

/** Ann has 2 calls, bob has no plan. */
async function newApp(): Promise<TestApp> {
  const app = await newTestApp(server)
  await app.admin.data(`mutation {
    ann: createUser(input: { id: "ann", name: "Ann" }) { id } bob: createUser(input: { id: "bob" }) { id } }`)
  await publishPackage(app, 'plan', { calls: { limit: 2 } })
  await app.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
  return app
}

const check = ({ admin }: TestApp, userId: string, delta = 1) =>
  admin.data(
    'query ($userId: String!, $delta: Int) { canUseFeature(userId: $userId, featureId: "calls", delta: $delta) { access } }',
    { userId, delta },
  )

describe('gap: denials of a feature', () => {
  it('say who, how often, when and why, the latest reason of each user first', async () => {
    const app = await newApp()
    await check(app, 'ann', 2)
    await check(app, 'bob')
    await check(app, 'bob')
    expect((await denialsOf(app, 'calls')).rows).toEqual([
      {
        userId: 'bob',
        userName: null,
        kind: 'CHECK',
        reason: 'The user has no active subscription.',
        times: 2,
        firstAt: expect.any(String),
        at: expect.any(String),
      },
    ])
    await check(app, 'ann', 3)
    await app.admin.data(
      'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 3 }) { recorded } }',
    )
    const { rows } = await denialsOf(app, 'calls')
    expect(rows.map((row: Data) => [row.userId, row.kind, row.times])).toEqual([
      ['ann', 'RECORD', 2],
      ['bob', 'CHECK', 2],
    ])
    expect(rows[0].reason).toMatch(/^Limit reached/)
    await check(app, 'bob')
    const again = (await denialsOf(app, 'calls')).rows[0]
    expect([again.userId, again.times, again.firstAt]).toEqual(['bob', 3, rows[1].firstAt])
    expect(Date.parse(again.at)).toBeGreaterThan(Date.parse(rows[1].at))
  })

  it('are read page by page, and of one app', async () => {
    const app = await newApp()
    const other = await newApp()
    for (const userId of ['ann', 'bob']) await check(app, userId, 9)
    const first = await denialsOf(app, 'calls', { first: 1 })
    expect(first).toMatchObject({ next: expect.any(String), rows: [{}] })
    const second = await denialsOf(app, 'calls', { first: 1, after: first.next })
    expect([second.next, first.rows[0].userId, second.rows[0].userId].sort()).toEqual(
      ['ann', 'bob', null].sort(),
    )
    expect((await denialsOf(other, 'calls')).rows).toEqual([])
    const { message } = await app.dashboard.error(
      'query ($appId: String!) { featureDenials(appId: $appId, id: "calls", after: "x") { next } }',
      { appId: app.id },
    )
    expect(message).toMatch(/^after must be/)
  })

  it('have no one who does not exist, and no one who was deleted', async () => {
    const app = await newApp()
    await check(app, 'nobody')
    await check(app, 'bob')
    await app.admin.data('query { canUseFeature(userId: "ann", featureId: "nothing") { access } }')
    expect((await denialsOf(app, 'calls')).rows).toMatchObject([{ userId: 'bob' }])
    await app.admin.data('mutation { updateUser(id: "bob", input: { id: "bill" }) { id } }')
    expect((await denialsOf(app, 'calls')).rows).toMatchObject([{ userId: 'bill' }])
    await app.admin.data('mutation { deleteUser(id: "bill") { id } }')
    expect((await denialsOf(app, 'calls')).rows).toEqual([])
  })
})
