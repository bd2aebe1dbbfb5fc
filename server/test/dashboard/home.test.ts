import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

let apps = 0
async function newApp(): Promise<TestApp> {
  const id = `home-${++apps}`
  return { id, admin: await createApp(server, id), dashboard: server.dashboard }
}

const rows = <Row extends object>(sql: string, values: unknown[] = []) =>
  rowsOf<Row & Record<string, unknown>>({ connectionString: server.databaseUrl }, sql, values)

describe('gap: the first minute', () => {
  it('the checklist fills itself in as things happen', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    const done = async () => {
      const { checklist } = await dashboard.data(
        `query ($appId: String!) { checklist(appId: $appId) { feature package published user subscription check } }`,
        { appId },
      )
      return Object.keys(checklist).filter((name) => checklist[name])
    }
    const STEPS: [mutation: string, done: string[]][] = [
      ['createFeature(input: { id: "f", name: "F", type: BINARY }) { id }', ['feature']],
      ['createPackage(input: { id: "p", name: "P", features: { id: "f" } }) { id }', ['feature', 'package']],
      ['createUser(input: { id: "u" }) { id }', ['feature', 'package', 'user']],
    ]
    expect(await done()).toEqual([])
    for (const [mutation, expected] of STEPS) {
      await admin.data(`mutation { ${mutation} }`)
      expect(await done()).toEqual(expected)
    }
    await dashboard.data('mutation ($appId: String!) { publishPackage(appId: $appId, id: "p") { id } }', {
      appId,
    })
    await admin.data('mutation { subscribe(userId: "u", packageIds: ["p"]) { id } }')
    expect(await done()).toEqual(['feature', 'package', 'published', 'user', 'subscription'])
    await admin.data('{ canUseFeature(userId: "u", featureId: "f") { access } }')
    expect(await done()).toHaveLength(6)
  })
})

describe('gap: the home page', () => {
  it('counts checks and records, and shows who is close to a limit and what happened', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'plan', { calls: { limit: 10 }, seats: {} })
    const uses = { low: 1, high: 9, middle: 5 }
    for (const [id, delta] of Object.entries(uses)) {
      await admin.data(
        `mutation ($id: String!, $input: CreateUsageEventInput!) {
          createUser(input: { id: $id }) { id }
          subscribe(userId: $id, packageIds: ["plan"]) { id }
          recordUsage(input: $input) { recorded } }`,
        { id, input: { userId: id, featureId: 'calls', delta } },
      )
    }
    await admin.data('{ canUseFeatures(userId: "low", featureIds: ["calls", "seats"]) { access } }')
    await admin.data(
      'mutation { recordUsage(input: { userId: "low", featureId: "seats", delta: 3 }) { recorded } }',
    )
    const [now] = await rows<{ now: Date }>('select now()')
    const time = Number(now?.now)
    const { nearLimits, latestEvents, activity, hours } = await dashboard.data(
      `query ($appId: String!, $from: String!, $to: String!) {
        nearLimits(appId: $appId) { userId featureId used budget periodEnd }
        latestEvents(appId: $appId, first: 50) { id kind at text userId featureId packageId }
        activity(appId: $appId, from: $from, to: $to, interval: MINUTE) { at checks records }
        hours: activity(appId: $appId, from: $from, to: $to, interval: HOUR) { at checks records }
      }`,
      { appId, from: new Date(time - 300_000).toISOString(), to: new Date(time + 60_000).toISOString() },
    )
    expect(nearLimits.map((n: Data) => [n.userId, n.featureId, n.used, n.budget])).toEqual([
      ['high', 'calls', 9, 10],
      ['middle', 'calls', 5, 10],
      ['low', 'calls', 1, 10],
    ])
    const kinds = (kind: string) => latestEvents.filter((event: Data) => event.kind === kind).length
    expect([kinds('USAGE'), kinds('SUBSCRIBED'), kinds('CANCELLED')]).toEqual([4, 3, 0])
    const texts = latestEvents.filter((event: Data) => event.kind === 'CHANGE').map(({ text }: Data) => text)
    expect(texts[0]).toBe('owner@example.com published the package plan')
    const times = latestEvents.map((event: Data) => event.at)
    expect(times).toEqual([...times].sort().reverse())
    for (const points of [activity, hours]) {
      const sum = (name: string) => points.reduce((total: number, point: Data) => total + point[name], 0)
      expect([sum('checks'), sum('records')]).toEqual([2, 4])
    }
    expect(activity.length).toBeGreaterThanOrEqual(6)
  })

  it('adds what several processes have counted', async () => {
    const app = await newApp()
    const { createApiKey } = await server.dashboard.data(
      'mutation ($appId: String!) { createApiKey(appId: $appId, name: "k") { secret } }',
      { appId: app.id },
    )
    const second = await startTestServer({ databaseUrl: server.databaseUrl })
    const check = '{ canUseFeature(userId: "u", featureId: "f") { access } }'
    await app.admin.data(check)
    await second.admin.with({ Authorization: createApiKey.secret }).data(check)
    await second.admin.with({ Authorization: createApiKey.secret }).data(check)
    // What it has not written yet, it writes as it stops.
    await second.stop()
    await server.dashboard.data('query ($appId: String!) { latestEvents(appId: $appId) { id } }', {
      appId: app.id,
    })
    const [found] = await rows<{ checks: string }>(
      'select sum(checks) as checks from activity where app_id = $1',
      [app.id],
    )
    expect(Number(found?.checks)).toBe(3)
  })
})
