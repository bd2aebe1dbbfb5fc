import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { clockedApp } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

const DAY = 86_400_000

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
    expect(kinds('CHANGE')).toBeGreaterThan(0)
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

describe('gap: the playground', () => {
  const EXPLAIN = `query ($appId: String!, $userId: String!, $featureId: String!, $delta: Int) {
    explain(appId: $appId, userId: $userId, featureId: $featureId, delta: $delta) {
      access reason reasonCode consumption { used budget } periodEnd resetPeriod
      steps { step passed text } subscriptions { packageId live grant { limit } } } }`

  it('explains every kind of answer by the steps that lead to it, and agrees with canUseFeature', async () => {
    const app = await clockedApp(server)
    const { id: appId, admin, dashboard } = app
    await admin.data('mutation { createFeature(input: { id: "sso", name: "SSO", type: BINARY }) { id } }')
    await admin.data('mutation { createFeature(input: { id: "other", name: "O", type: BINARY }) { id } }')
    await publishPackage(app, 'plan', {
      call: { limit: 10 },
      over: { limit: 1, overageEnabled: true },
      free: {},
    })
    await publishPackage(app, 'extra', { call: { limit: 5 } }, true)
    await dashboard.data(
      `mutation ($appId: String!) { editPackage(appId: $appId, id: "plan", input: { features: [
        { id: "call", entitlement: { limit: 10 } }, { id: "over", entitlement: { limit: 1, overageEnabled: true } },
        { id: "free" }, { id: "sso" }] }) { id } publishPackage(appId: $appId, id: "plan") { id } }`,
      { appId },
    )
    await admin.data('mutation { createUser(input: { id: "none" }) { id } }')
    await app.subscribe('plan', 'extra')
    await app.use(12)
    await app.use(1, 'over')

    const ROWS: [userId: string, featureId: string, delta: number, code: string, last: string][] = [
      ['nobody', 'call', 1, 'USER_NOT_FOUND', 'USER'],
      ['ann', 'nothing', 1, 'FEATURE_NOT_FOUND', 'FEATURE'],
      ['none', 'call', 1, 'NO_SUBSCRIPTION', 'SUBSCRIPTIONS'],
      ['ann', 'other', 1, 'NOT_IN_PACKAGE', 'GRANTS'],
      ['ann', 'sso', 1, 'GRANTED', 'GRANTS'],
      ['ann', 'call', 3, 'WITHIN_BUDGET', 'USED'],
      ['ann', 'call', 4, 'LIMIT_EXCEEDED', 'USED'],
      ['ann', 'over', 1, 'OVERAGE', 'USED'],
      ['ann', 'free', 1, 'UNLIMITED', 'USED'],
    ]
    for (const [userId, featureId, delta, code, last] of ROWS) {
      const { explain } = await dashboard.data(EXPLAIN, { appId, userId, featureId, delta })
      const { canUseFeature } = await admin.data(
        `query ($userId: String!, $featureId: String!, $delta: Int) {
          canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) {
            access reason reasonCode consumption { used budget } } }`,
        { userId, featureId, delta },
      )
      expect(explain, code).toMatchObject(canUseFeature)
      expect(explain.reasonCode).toBe(code)
      const names = explain.steps.map(({ step }: Data) => step)
      expect(names.slice(-2), code).toEqual([last, 'ANSWER'])
      expect(explain.steps.at(-1)).toEqual({ step: 'ANSWER', passed: explain.access, text: explain.reason })
      expect(explain.steps.slice(0, -2).every(({ passed }: Data) => passed)).toBe(true)
    }
    const { explain } = await dashboard.data(EXPLAIN, { appId, userId: 'ann', featureId: 'call', delta: 1 })
    expect(explain.subscriptions).toEqual([
      { packageId: 'plan', live: true, grant: { limit: '10' } },
      { packageId: 'extra', live: true, grant: { limit: '5' } },
    ])
    expect(explain.consumption).toEqual({ used: 12, budget: 15 })
    expect(
      (await dashboard.error(EXPLAIN, { appId, userId: 'ann', featureId: 'call', delta: -1 })).message,
    ).toMatch(/^delta must not be negative/)
  })
})

describe('gap: the sample catalogue', () => {
  const LOAD = 'mutation ($appId: String!) { loadSample(appId: $appId) { features packages users } }'
  const REMOVE = 'mutation ($appId: String!) { removeSample(appId: $appId) { features packages users kept } }'
  const TABLES = [
    'feature',
    'package',
    'package_feature',
    'users',
    'subscription',
    'usage_counter',
    'usage_ledger',
    'recent_usage',
    'activity',
    'sample_activity',
    'sample_item',
  ]
  const counts = async (appId: string) => {
    const selects = TABLES.map(
      (table) => `(select count(*) from ${table} where app_id = $1)::int as ${table}`,
    )
    const [row] = await rows<Record<string, number>>(`select ${selects.join(', ')}`, [appId])
    return row
  }

  it('is loaded once, is alive, and goes without a trace', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'own', { calls: { limit: 1 } })
    await admin.data('mutation { createUser(input: { id: "own" }) { id } }')
    const before = await counts(appId)
    expect((await dashboard.data(LOAD, { appId })).loadSample).toEqual({
      features: 6,
      packages: 4,
      users: 200,
    })
    expect((await dashboard.error(LOAD, { appId })).message).toBe('The sample catalogue is loaded already')

    const { packages } = await admin.data('{ packages { id status } }')
    expect(packages.map(({ id }: Data) => id)).toContain('demo-business')
    const broken = await rows(
      `select 1 from usage_counter c where app_id = $1 and used <> (select sum(delta) from usage_ledger l
        where l.app_id = c.app_id and l.user_uid = c.user_uid and l.feature_id = c.feature_id
          and l.reset_period = c.reset_period and l.period_start = c.period_start)`,
      [appId],
    )
    expect(broken).toEqual([])
    const { subscriptions } = await dashboard.data(
      'query ($appId: String!) { subscriptions(appId: $appId, first: 200) { rows { userId status } } }',
      { appId },
    )
    const active = subscriptions.rows.filter(({ status }: Data) => status === 'ACTIVE')
    expect(active.length).toBeGreaterThan(100)
    const { showUsage } = await dashboard.data(
      `query ($appId: String!, $userId: String!) { showUsage(appId: $appId, userId: $userId, featureId: "demo-api-calls") {
        current { consumption { used budget } } past { consumption { used } } } }`,
      { appId, userId: subscriptions.rows.at(-1).userId },
    )
    expect(showUsage.current ?? showUsage.past).toBeTruthy()

    expect((await dashboard.data(REMOVE, { appId })).removeSample).toEqual({
      features: 6,
      packages: 4,
      users: 200,
      kept: [],
    })
    expect(await counts(appId)).toEqual(before)
    expect((await dashboard.data(LOAD, { appId })).loadSample.users).toBe(200)
  })

  it('brings the home page to life, and leaves what the app itself did', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'own', { calls: { limit: 1 } })
    await admin.data(`mutation { createUser(input: { id: "own" }) { id }
      subscribe(userId: "own", packageIds: ["own"]) { id }
      recordUsage(input: { userId: "own", featureId: "calls", delta: 1 }) { recorded } }`)
    const now = Date.now()
    const home = () =>
      dashboard.data(
        `query ($appId: String!, $from: String!, $to: String!) {
          activity(appId: $appId, from: $from, to: $to, interval: DAY) { checks records }
          nearLimits(appId: $appId, first: 500) { userId used budget }
          latestEvents(appId: $appId, first: 50) { id kind userId }
          checklist(appId: $appId) { check } }`,
        { appId, from: new Date(now - 28 * DAY).toISOString(), to: new Date(now).toISOString() },
      )
    // What was counted in memory is written down by asking, and in the chart by the next question.
    await home()
    const before = await home()
    await dashboard.data(LOAD, { appId })

    const { activity, nearLimits, latestEvents, checklist } = await home()
    // Today may have begun a moment ago.
    const days = activity.slice(0, -1)
    expect(days.every(({ checks, records }: Data) => checks > records && records > 0)).toBe(true)
    const near = nearLimits.filter(({ used, budget }: Data) => used >= 0.8 * budget && used <= budget)
    expect(near.length).toBeGreaterThan(5)
    expect(new Set(near.map(({ used, budget }: Data) => used / budget)).size).toBeGreaterThan(2)
    const lively = latestEvents.filter(({ kind, userId }: Data) => kind === 'USAGE' && userId !== 'own')
    expect(lively.length).toBeGreaterThan(5)
    // The first real question is still to be asked.
    expect(checklist).toEqual({ check: false })

    await dashboard.data(REMOVE, { appId })
    const after = await home()
    const ofOwn = ({ latestEvents, ...panels }: Data) => ({
      ...panels,
      latestEvents: latestEvents.filter(({ id }: Data) => !id.startsWith('change:')),
    })
    expect(ofOwn(after)).toEqual(ofOwn(before))
  })

  it('leaves what something else has come to rely on', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await dashboard.data(LOAD, { appId })
    await admin.data('mutation { createUser(input: { id: "real" }) { id } }')
    await admin.data('mutation { subscribe(userId: "real", packageIds: ["demo-free"]) { id } }')
    const { removeSample } = await dashboard.data(REMOVE, { appId })
    expect(removeSample).toMatchObject({ packages: 3, users: 200, features: 3 })
    expect(removeSample.kept).toEqual(['demo-free', 'demo-api-calls', 'demo-reports', 'demo-seats'])
    const { canUseFeature } = await admin.data(
      '{ canUseFeature(userId: "real", featureId: "demo-api-calls") { reasonCode } }',
    )
    expect(canUseFeature.reasonCode).toBe('WITHIN_BUDGET')
  })

  it('names the users who stay by their ids', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await dashboard.data(LOAD, { appId })
    const { users } = await admin.data('{ users(first: 1) { id } }')
    await publishPackage(app, 'own', {})
    await dashboard.data(
      `mutation ($appId: String!) {
        createPrice(appId: $appId, packageId: "own", input: { amount: 100, currency: "eur" }) { id }
        createBillingTemplate(appId: $appId, input: { id: "own", name: "Own", packageIds: ["own"] }) { id }
      }`,
      { appId },
    )
    await admin.data(
      `mutation ($userId: String!) { generateSubscriptionLink(userId: $userId, templateId: "own",
        successUrl: "https://shop.example/paid", cancelUrl: "https://shop.example/back") { url } }`,
      { userId: users[0].id },
    )
    const { removeSample } = await dashboard.data(REMOVE, { appId })
    expect(removeSample.users).toBe(199)
    expect(removeSample.kept[0]).toBe(users[0].id)
  })
})

describe('gap: copying a catalogue', () => {
  const DIFF = `features { id change message } packages { id change message after }`
  const shown = ({ features, packages }: Data) =>
    Object.fromEntries([...features, ...packages].map(({ id, change }: Data) => [id, change]))

  it('shows first what it would do, and does just that', async () => {
    const [from, to] = [await newApp(), await newApp()]
    await publishPackage(from, 'plan', { calls: { limit: 10 }, seats: { limit: 2 } })
    await publishPackage(from, 'same', { calls: { limit: 1 } })
    await publishPackage(from, 'fresh', { calls: { limit: 1 } }, true)
    await publishPackage(to, 'plan', { calls: { limit: 5 } })
    await publishPackage(to, 'same', { calls: { limit: 1 } })
    await from.admin.data(
      'mutation { createFeature(input: { id: "odd", name: "Odd", type: BINARY }) { id } }',
    )
    await to.admin.data(
      'mutation { createFeature(input: { id: "odd", name: "Odd", type: CONSUMABLE }) { id } }',
    )

    const variables = { appId: to.id, fromAppId: from.id }
    const { catalogueDiff } = await server.dashboard.data(
      `query ($appId: String!, $fromAppId: String!) { catalogueDiff(appId: $appId, fromAppId: $fromAppId) { ${DIFF} } }`,
      variables,
    )
    const expected = {
      calls: 'SAME',
      seats: 'ADD',
      odd: 'CONFLICT',
      plan: 'CHANGE',
      same: 'SAME',
      fresh: 'ADD',
    }
    expect(shown(catalogueDiff)).toEqual(expected)
    const copy = `mutation ($appId: String!, $fromAppId: String!) { copyCatalogue(appId: $appId, fromAppId: $fromAppId) { ${DIFF} } }`
    const { copyCatalogue } = await server.dashboard.data(copy, variables)
    expect(copyCatalogue).toEqual(catalogueDiff)

    const { packages } = await server.dashboard.data(
      'query ($appId: String!) { packages(appId: $appId) { id status grants { id limit } draft { grants { id limit } } } }',
      { appId: to.id },
    )
    const byId = Object.fromEntries(packages.map((p: Data) => [p.id, p]))
    expect(byId.plan).toMatchObject({
      status: 'PUBLISHED',
      grants: [{ id: 'calls', limit: '5' }],
      draft: {
        grants: [
          { id: 'calls', limit: '10' },
          { id: 'seats', limit: '2' },
        ],
      },
    })
    expect(byId.fresh).toMatchObject({ status: 'DRAFT', draft: null })
    expect(byId.same.draft).toBeNull()
    const again = await server.dashboard.data(copy, variables)
    expect(shown(again.copyCatalogue)).toEqual({ ...expected, seats: 'SAME', plan: 'SAME', fresh: 'SAME' })
    const { message } = await server.dashboard.error(copy, { appId: to.id, fromAppId: to.id })
    expect(message).toBe('fromAppId must be another app')
  })
})
