import { describe, expect, it } from 'vitest'
import { createUsers, newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const newApp = () => newTestApp(server)

const rows = <Row extends object>(sql: string, values: unknown[] = []) =>
  rowsOf<Row & Record<string, unknown>>({ connectionString: server.databaseUrl }, sql, values)

describe('gap: the first minute', () => {
  it('the checklist fills itself in as things happen', async () => {
    const app = await newApp()
    const { admin, dashboard } = app
    const done = async () => {
      const checklist = await dashboard.call(
        'checklist { feature package published user subscription check }',
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
    await dashboard.call('publishPackage', { id: 'p' })
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
    await admin.call('recordUsage', { input: { userId: 'low', featureId: 'seats', delta: 3 } })
    const [now] = await rows<{ now: Date }>('select now()')
    const time = Number(now?.now)
    const { nearLimits, latestEvents, activity, hours } = await dashboard.data(
      `query ($appId: String!, $from: String!, $to: String!) {
        nearLimits(appId: $appId) { userId featureId used budget periodEnd }
        latestEvents(appId: $appId, first: 50) { id kind at text userId featureId packageId parts { text subject { kind id } } }
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
    // Names lead to what they name.
    const leads = (text: string) =>
      latestEvents
        .find((event: Data) => event.text === text)
        ?.parts.flatMap(({ text, subject }: Data) =>
          subject ? [`${subject.kind} ${subject.id}: ${text}`] : [],
        )
    expect(leads('owner@example.com published the package plan')).toEqual([
      'MEMBER owner@example.com: owner@example.com',
      'PACKAGE plan: plan',
    ])
    expect(leads('low subscribed to plan')).toEqual(['USER low: low', 'PACKAGE plan: plan'])
    expect(leads('high has used 9 of 10 of calls')).toEqual(['USER high: high', 'FEATURE calls: calls'])
    const times = latestEvents.map((event: Data) => event.at)
    expect(times).toEqual([...times].sort().reverse())
    for (const points of [activity, hours]) {
      const sum = (name: string) => points.reduce((total: number, point: Data) => total + point[name], 0)
      expect([sum('checks'), sum('records')]).toEqual([2, 4])
    }
    expect(activity.length).toBeGreaterThanOrEqual(6)
  })

  it('includes usage recorded in the dashboard and in batches', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'plan', { calls: { limit: 10 } })
    await createUsers(admin, ['by-hand', 'first', 'second', 'third', 'fourth'])
    await admin.data(`mutation {
      a: subscribe(userId: "by-hand", packageIds: ["plan"]) { id }
      b: subscribe(userId: "first", packageIds: ["plan"]) { id }
      c: subscribe(userId: "second", packageIds: ["plan"]) { id }
      d: subscribe(userId: "third", packageIds: ["plan"]) { id }
      e: subscribe(userId: "fourth", packageIds: ["plan"]) { id } }`)
    await dashboard.call('recordUsage', { input: { userId: 'by-hand', featureId: 'calls', delta: 9 } })
    const batch = () =>
      admin.with({ 'Idempotency-Key': 'batch-1' }).data(`mutation { recordUsages(inputs: [
        { userId: "first", featureId: "calls", delta: 7 }
        { userId: "second", featureId: "calls", delta: 5 }]) { recorded } }`)
    await batch()
    await batch()
    await admin.call('recordUsages', {
      inputs: [
        { userId: 'third', featureId: 'calls', delta: 3 },
        { userId: 'fourth', featureId: 'calls', delta: 1 },
      ],
    })
    const [row] = await rows<{ now: Date }>('select now()')
    const time = Number(row?.now)
    const { nearLimits, activity } = await dashboard.data(
      `query ($appId: String!, $from: String!, $to: String!) {
        nearLimits(appId: $appId) { userId used }
        activity(appId: $appId, from: $from, to: $to, interval: HOUR) { records } }`,
      { appId, from: new Date(time - 3_600_000).toISOString(), to: new Date(time + 60_000).toISOString() },
    )
    expect(nearLimits).toEqual([
      { userId: 'by-hand', used: 9 },
      { userId: 'first', used: 7 },
      { userId: 'second', used: 5 },
      { userId: 'third', used: 3 },
      { userId: 'fourth', used: 1 },
    ])
    // Calls are counted, including those of the repeated batch.
    expect(activity.reduce((sum: number, { records }: Data) => sum + records, 0)).toBe(7)
  })

  it('shows the usage of a user with a new id, and not as that of who has the former one', async () => {
    const app = await newApp()
    const { admin, dashboard } = app
    await publishPackage(app, 'plan', { calls: { limit: 10 } })
    await createUsers(admin, ['ann', 'ben'])
    await admin.data(`mutation {
      subscribe(userId: "ann", packageIds: ["plan"]) { id }
      recordUsage(input: { userId: "ann", featureId: "calls", delta: 4 }) { recorded } }`)
    const usage = async () => {
      const latestEvents = await dashboard.call('latestEvents { kind text userId }')
      return latestEvents.filter(({ kind }: Data) => kind === 'USAGE')
    }
    expect(await usage()).toMatchObject([{ userId: 'ann', text: 'ann has used 4 of 10 of calls' }])
    await admin.data(`mutation {
      updateUser(id: "ann", input: { id: "anna" }) { id }
      other: updateUser(id: "ben", input: { id: "ann" }) { id } }`)
    expect(await usage()).toMatchObject([{ userId: 'anna', text: 'anna has used 4 of 10 of calls' }])
  })

  it('says that a feature was used that only credits pay for, and nothing of refused usage', async () => {
    const app = await newApp()
    const { admin, dashboard } = app
    const feature = { id: 'token', name: 'Tokens', type: 'CONSUMABLE' }
    await admin.call('createFeature', { input: feature })
    await createUsers(admin, ['ann', 'ben'])
    for (const userId of ['ann', 'ben'])
      await admin.call('addCredit', { input: { userId, featureId: 'token', amount: 5 } })
    const record = (userId: string, delta: number) =>
      admin.call('recordUsage { recorded }', { input: { userId, featureId: 'token', delta } })
    expect(await record('ann', 3)).toEqual({ recorded: true })
    expect(await record('ben', 6)).toEqual({ recorded: false })
    const latestEvents = await dashboard.call('latestEvents { kind text }')
    expect(latestEvents.filter(({ kind }: Data) => kind === 'USAGE')).toEqual([
      { kind: 'USAGE', text: 'ann used Tokens' },
    ])
  })

  it('adds what several processes have counted', async () => {
    const app = await newApp()
    const createApiKey = await server.dashboard.call('createApiKey { secret }', { appId: app.id, name: 'k' })
    const second = await startTestServer({ databaseUrl: server.databaseUrl })
    const check = '{ canUseFeature(userId: "u", featureId: "f") { access } }'
    await app.admin.data(check)
    await second.admin.with({ Authorization: createApiKey.secret }).data(check)
    await second.admin.with({ Authorization: createApiKey.secret }).data(check)
    // What it has not written yet, it writes as it stops.
    await second.stop()
    await server.dashboard.call('latestEvents', { appId: app.id })
    const [found] = await rows<{ checks: string }>(
      'select sum(checks) as checks from activity where app_id = $1',
      [app.id],
    )
    expect(Number(found?.checks)).toBe(3)
  })
})

describe('gap: a feature’s page', () => {
  const ACTIVITY = `query ($appId: String!, $id: String!, $from: String!, $to: String!, $interval: FeatureInterval!) {
    featureActivity(appId: $appId, id: $id, from: $from, to: $to, interval: $interval) {
      at checks denied records units refused } }`
  const CALLED = ['checks', 'denied', 'records', 'units', 'refused']

  async function calls({ id: appId, dashboard }: TestApp, id: string): Promise<number[]> {
    const [now] = await rows<{ now: Date }>('select now()')
    const time = Number(now?.now)
    const sums = []
    for (const interval of ['HOUR', 'DAY']) {
      const { featureActivity } = await dashboard.data(ACTIVITY, {
        ...{ appId, id, interval },
        from: new Date(time - 3_600_000).toISOString(),
        to: new Date(time + 3_600_000).toISOString(),
      })
      sums.push(CALLED.map((name) => featureActivity.reduce((total: number, p: Data) => total + p[name], 0)))
    }
    expect(sums[1]).toEqual(sums[0])
    return sums[0] ?? []
  }

  const record = (userId: string, delta: number, more = {}) => ({
    input: { userId, featureId: 'calls', delta, ...more },
  })
  const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'

  it('counts checks, denials, what was recorded and what was refused, each once', async () => {
    const app = await newApp()
    const { admin, dashboard, id: appId } = app
    await publishPackage(app, 'plan', { calls: { limit: 10 }, sso: {} })
    await admin.data(
      'mutation { createUser(input: { id: "u" }) { id } createFeature(input: { id: "other", name: "O", type: BINARY }) { id } }',
    )
    await admin.data('mutation { subscribe(userId: "u", packageIds: ["plan"]) { id } }')
    expect(await calls(app, 'calls')).toEqual([0, 0, 0, 0, 0])

    await admin.data('{ canUseFeatures(userId: "u", featureIds: ["calls", "other", "unknown"]) { access } }')
    await admin.data('{ canUseFeature(userId: "u", featureId: "calls", delta: 11) { access } }')
    await admin.data('{ canUseFeature(userId: "nobody", featureId: "calls") { access } }')
    await admin.data(RECORD, record('u', 4))
    await admin.data(RECORD, record('u', 7))
    await admin.data(RECORD, record('u', -1))
    // An event that comes again is not counted again, whichever key protects it.
    for (const _ of [1, 2]) {
      await admin.data(RECORD, record('u', 2, { idempotencyKey: 'e1' }))
      await admin.with({ 'Idempotency-Key': 'r1' }).data(RECORD, record('u', 1))
      await admin.with({ 'Idempotency-Key': 'r2' }).data(RECORD, record('u', 1, { idempotencyKey: 'e2' }))
      await admin.with({ 'Idempotency-Key': 'r3' }).data(RECORD, record('u', 50, { idempotencyKey: 'e3' }))
    }
    await dashboard.call('recordUsage', { ...record('u', 1) })
    expect(await calls(app, 'calls')).toEqual([3, 2, 6, 8, 2])
    expect(await calls(app, 'other')).toEqual([1, 1, 0, 0, 0])
    expect(
      await rows('select from feature_activity where app_id = $1 and feature_id = $2', [appId, 'unknown']),
    ).toEqual([])

    await admin.data('{ canUseFeature(userId: "u", featureId: "other") { access } }')
    await dashboard.call('deleteFeature', { id: 'other' })
    await dashboard.data('query ($appId: String!) { latestEvents(appId: $appId) { id } }', { appId })
    expect(
      await rows('select from feature_activity where app_id = $1 and feature_id = $2', [appId, 'other']),
    ).toEqual([])
  })

  const HOLDERS = `query ($appId: String!, $id: String!, $packageId: String, $first: Int, $after: String) {
    featurePackages(appId: $appId, id: $id) {
      package { id } version grant { limit } subscribers moreSubscribers }
    featureUsers(appId: $appId, id: $id, packageId: $packageId, first: $first, after: $after) {
      next rows { userId packageId denied overridden used budget } }
    featureOverrides(appId: $appId, id: $id) { next rows { userName override { userId mode limit reason } } } }`

  it('shows who has it: by which version of which package, how much they have used, and by override', async () => {
    const app = await newApp()
    const { admin, dashboard, id: appId } = app
    await publishPackage(app, 'plan', { calls: { limit: 10 }, sso: {} })
    await publishPackage(app, 'more', { calls: { limit: 5 } }, true)
    await publishPackage(app, 'bare', { sso: {} })
    await createUsers(admin, ['ann', 'ben', 'cas', 'dee'])
    await admin.data(`mutation {
      a: subscribe(userId: "ann", packageIds: ["plan", "more"]) { id }
      b: subscribe(userId: "ben", packageIds: ["plan"]) { id }
      c: subscribe(userId: "cas", packageIds: ["bare", "more"]) { id }
      ended: subscribe(userId: "dee", packageIds: ["plan"]) { id } }`)
    const subscriptions = await dashboard.call('subscriptions { rows { id } }', { userId: 'dee' })
    await dashboard.call('cancelSubscription', { id: subscriptions.rows[0].id, atPeriodEnd: false })
    await admin.data(RECORD, record('ann', 12))
    await admin.data(`mutation {
      b: setOverride(input: { userId: "ben", featureId: "calls", mode: DENY, reason: "abuse" }) { mode }
      d: setOverride(input: { userId: "dee", featureId: "calls", mode: REPLACE, limit: 3 }) { mode }
      a: setOverride(input: { userId: "ann", featureId: "sso", mode: DENY }) { mode } }`)
    // Those who have version 1 keep it: version 2 does not grant calls.
    await dashboard.data(
      `mutation ($appId: String!) {
      editPackage(appId: $appId, id: "plan", input: { features: [{ id: "sso" }] }) { id }
      publishPackage(appId: $appId, id: "plan", for: NEW_ONLY) { id } }`,
      { appId },
    )
    await admin.data(
      'mutation { createUser(input: { id: "eve" }) { id } subscribe(userId: "eve", packageIds: ["plan"]) { id } }',
    )

    const of = async (more = {}) => dashboard.data(HOLDERS, { appId, id: 'calls', ...more })
    const all = await of()
    expect(all.featurePackages).toEqual([
      { package: { id: 'plan' }, version: 1, grant: { limit: '10' }, subscribers: 2, moreSubscribers: false },
      { package: { id: 'more' }, version: 1, grant: { limit: '5' }, subscribers: 2, moreSubscribers: false },
    ])
    const ben = { userId: 'ben', packageId: 'plan', denied: true, overridden: true, used: null, budget: null }
    const ann = { userId: 'ann', packageId: 'plan', denied: false, overridden: false, used: 12, budget: 15 }
    const cas = { userId: 'cas', packageId: 'more', denied: false, overridden: false, used: 0, budget: 5 }
    expect(all.featureUsers).toEqual({ next: null, rows: [ben, ann, cas] })
    expect(all.featureOverrides).toEqual({
      next: null,
      rows: [
        { userName: null, override: { userId: 'dee', mode: 'REPLACE', limit: 3, reason: null } },
        { userName: null, override: { userId: 'ben', mode: 'DENY', limit: null, reason: 'abuse' } },
      ],
    })
    expect((await of({ packageId: 'more' })).featureUsers.rows.map((u: Data) => u.userId)).toEqual([
      'cas',
      'ann',
    ])

    const paged: string[] = []
    let after: string | null = null
    do {
      const { featureUsers }: Data = await of({ first: 1, after })
      paged.push(...featureUsers.rows.map((u: Data) => u.userId))
      after = featureUsers.next
    } while (after !== null)
    expect(paged).toEqual(['ben', 'ann', 'cas'])
    expect((await dashboard.error(HOLDERS, { appId, id: 'calls', after: 'x' })).extensions.code).toBe(
      'BAD_USER_INPUT',
    )
    const unknown = await dashboard.ask(HOLDERS, { appId, id: 'none' })
    expect(new Set(unknown.errors?.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['FEATURE_NOT_FOUND']),
    )
  })
})
