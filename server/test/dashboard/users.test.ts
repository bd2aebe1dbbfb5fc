import { beforeAll, describe, expect, it } from 'vitest'
import { newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

async function onDatabase(sql: string): Promise<void> {
  await rowsOf({ connectionString: server.databaseUrl }, sql)
}

const newApp = () => newTestApp(server)

const USERS = `query ($appId: String!, $search: String, $first: Int, $after: String) {
  users(appId: $appId, search: $search, first: $first, after: $after) { next rows { id } }
}`

/** The ids on all pages of this size, in their order. */
async function found(
  { id: appId, dashboard }: TestApp,
  search: string | null,
  first = 50,
): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
    const { users }: Data = await dashboard.data(USERS, { appId, search, first, after })
    ids.push(...users.rows.map((row: Data) => row.id))
    after = users.next
  }
  return ids
}

describe('gap: one rule for an email address', () => {
  it('in the Admin API and the dashboard, when a user is created and when they are changed', async () => {
    const { id: appId, admin, dashboard } = await newApp()
    const both = [
      [admin, '', ''],
      [dashboard, '$appId: String!, ', 'appId: $appId, '],
    ] as const
    for (const [client, declared, passed] of both) {
      const create = `mutation (${declared}$input: CreateUserInput!) { createUser(${passed}input: $input) { email } }`
      const refused = await client.error(create, { appId, input: { id: 'bad', email: 'no address' } })
      expect(refused).toMatchObject({
        message: 'email is not a valid email address: "no address"',
        extensions: { code: 'BAD_USER_INPUT', field: 'email' },
      })
    }
    await admin.data('mutation { createUser(input: {id: "ann", email: "ann@example.com"}) { id } }')
    const update = (email: string) =>
      `mutation { updateUser(appId: "${appId}", id: "ann", input: { email: "${email}" }) { email } }`
    const again = await dashboard.error(update('two@at@example.com'))
    expect(again.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'email' })
    expect(await dashboard.data(update('a@b'))).toEqual({ updateUser: { email: 'a@b' } })
  })

  it('an address that breaks it, as a provider may report one, stays, and the rest can be changed', async () => {
    const { id: appId, admin, dashboard } = await newApp()
    await admin.data('mutation { createUser(input: {id: "old", email: "old@example.com"}) { id } }')
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update users set email = 'odd one' where app_id = $1`,
      [appId],
    )
    expect(await admin.data('{ user(id: "old") { email } }')).toEqual({ user: { email: 'odd one' } })
    expect(
      await admin.data('mutation { updateUser(id: "old", input: {name: "Older"}) { name email } }'),
    ).toEqual({ updateUser: { name: 'Older', email: 'odd one' } })
    const update = (input: string) =>
      `mutation { updateUser(appId: "${appId}", id: "old", input: { ${input} }) { name email } }`
    expect(await dashboard.data(update('name: "Old", email: "odd one"'))).toEqual({
      updateUser: { name: 'Old', email: 'odd one' },
    })
    const { extensions } = await dashboard.error(update('email: "odd two"'))
    expect(extensions.field).toBe('email')
  })
})

describe('gap: users in the dashboard', () => {
  const PEOPLE = [
    { id: 'ann', email: 'Ann@Example.com', billingId: 'cus_1' },
    { id: 'anna', email: 'zoe@example.com', billingId: 'cus_2' },
    { id: 'bob', email: 'annette@example.com', name: 'Robert Hannover' },
    { id: 'carl', billingId: 'ann_3', name: "Łucja O'Neill\\Überhaupt" },
    { id: 'Ä%_', email: 'ümit@example.com', billingId: 'cus_10' },
    { id: '7f3c9e', name: 'Grace van Lovelace' },
  ]
  let app: TestApp
  beforeAll(async () => {
    app = await newApp()
    for (const input of PEOPLE) {
      await app.dashboard.call('createUser', { input })
    }
  })

  const ALL = ['7f3c9e', 'Ä%_', 'carl', 'bob', 'anna', 'ann']
  const SEARCHES: [search: string | null, found: string[]][] = [
    [null, ALL],
    ['  ', ALL],
    // beginnings: of ids, then of addresses, billing ids and names
    ['ann', ['ann', 'anna', 'bob', 'carl']],
    ['cus_1', ['ann', 'Ä%_']],
    ['zoe@', ['anna']],
    ['Ä', ['Ä%_']],
    ['Ü', ['Ä%_']],
    ['gr', ['7f3c9e']],
    ['GRACE VAN', ['7f3c9e']],
    // any part of a word, whatever its case
    ['ANN', ['ann', 'bob', 'anna', 'carl']],
    ['hann', ['bob']],
    ['lov', ['7f3c9e']],
    ['ovela', ['7f3c9e']],
    ['OVELACE', ['7f3c9e']],
    ['ace', ['7f3c9e']],
    ['van lovelac', ['7f3c9e']],
    ['lovelace grace', ['7f3c9e']],
    ['c9e', ['7f3c9e']],
    ['example.com', ['ann', 'anna', 'bob', 'Ä%_']],
    ["o'neill\\ü", ['carl']],
    ['ŁUC', ['carl']],
    ['lovelace robert', []],
    ['velovelace', []],
    ['%', []],
    ['nn', []],
    ["'''", []],
    ['& | !', []],
    ['x'.repeat(1_000), []],
  ]
  it.for(SEARCHES)('a search for %j finds %j, whatever the size of a page', async ([search, ids]) => {
    expect(await found(app, search)).toEqual(ids)
    expect(await found(app, search, 1)).toEqual(ids)
    expect(await found(app, search, 2)).toEqual(ids)
  })

  it('finds an address longer than its index keeps of it', async () => {
    const [first, second] = ['a', 'b'].map((end) => `${'long'.repeat(40)}${end}@example.com`)
    for (const [id, email] of Object.entries({ first, second })) {
      await app.admin.call('createUser', { input: { id, email } })
    }
    expect(await found(app, first as string)).toEqual(['first'])
    expect(await found(app, 'longlong', 1)).toEqual(['first', 'second'])
  })

  it('leads to no page of users who were listed already, found in another way', async () => {
    const twins = await newApp()
    const ids = Array.from({ length: 20 }, (_, i) => `zed-${String(i).padStart(2, '0')}`)
    await twins.admin.data(
      `mutation { ${ids
        .map(
          (id, i) =>
            `u${i}: createUser(input: { id: "${id}", email: "${id}@example.com", billingId: "${id}", name: "${id}" }) { id }`,
        )
        .join(' ')} }`,
    )
    const page = async (first: number, after: string | null): Promise<Data> =>
      (await twins.dashboard.data(USERS, { appId: twins.id, search: 'zed', first, after })).users
    expect(await page(50, null)).toEqual({ next: null, rows: ids.map((id) => ({ id })) })
    const half = await page(10, null)
    expect(half.rows).toHaveLength(10)
    expect(await page(10, half.next)).toEqual({ next: null, rows: ids.slice(10).map((id) => ({ id })) })
  })

  it('finds only those of its app', async () => {
    const other = await newApp()
    await other.admin.data('mutation { createUser(input: { id: "g2", name: "Ada Lovelace" }) { id } }')
    expect(await found(other, 'lovelace')).toEqual(['g2'])
    expect(await found(app, 'lovelace')).toEqual(['7f3c9e'])
  })

  it('refuses a page that no page led to', async () => {
    for (const [search, after] of [
      [null, 'x'],
      ['ann', 'x'],
      ['ann', Buffer.from('["metadata","a",1]').toString('base64url')],
    ]) {
      const error = await app.dashboard.error(USERS, { appId: app.id, search, after })
      expect(error.message).toBe('after must be the `next` value of a previous page')
    }
  })

  it('changes what the Admin API changes, its id too', async () => {
    const updateUser = await app.dashboard.call('updateUser { id name email createdAt }', {
      id: 'bob',
      input: { id: 'robert', name: 'Robert' },
    })
    expect(updateUser).toMatchObject({ id: 'robert', name: 'Robert', email: 'annette@example.com' })
    const user = await app.dashboard.call('user { name createdAt }', { id: 'robert' })
    expect(user).toEqual({ name: 'Robert', createdAt: updateUser.createdAt })
  })
})

describe("gap: a user's page", () => {
  it('grants what credits and a pool pay for, as a check does', async () => {
    const app = await newApp()
    const { admin, dashboard } = app
    for (const id of ['token', 'image'])
      await admin.call('createFeature { id }', { input: { id, name: id, type: 'CONSUMABLE' } })
    await admin.call('updateFeature { id }', {
      id: 'token',
      input: { costs: [{ featureId: 'image', cost: 10 }] },
    })
    await publishPackage(app, 'plan', { calls: { limit: 3 } })
    await admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
    const granted = async () =>
      (
        await dashboard.call(
          'grantedFeatures { featureId access reasonCode creditsLeft poolLeft resetPeriod consumption { used budget remaining } }',
          { userId: 'ann' },
        )
      ).map(({ featureId, ...rest }: Data) => [featureId, rest])
    expect(await granted()).toEqual([])
    await admin.call('addCredit { id }', { input: { userId: 'ann', featureId: 'token', amount: 57 } })
    const none = { resetPeriod: null, access: true, reasonCode: 'WITHIN_BUDGET' }
    expect(Object.fromEntries(await granted())).toEqual({
      token: { ...none, creditsLeft: 57, poolLeft: null, consumption: { used: 0, budget: 0, remaining: 57 } },
      image: { ...none, creditsLeft: 0, poolLeft: 5, consumption: { used: 0, budget: 0, remaining: 5 } },
    })
    await admin.call('subscribe { id }', { userId: 'ann', packageIds: ['plan'] })
    await admin.call('addCredit { id }', { input: { userId: 'ann', featureId: 'calls', amount: 4 } })
    await admin.call('recordUsage { recorded }', { input: { userId: 'ann', featureId: 'calls', delta: 5 } })
    expect(Object.fromEntries(await granted()).calls).toEqual({
      ...{ access: true, reasonCode: 'WITHIN_BUDGET', creditsLeft: 2, poolLeft: null, resetPeriod: 'MONTH' },
      consumption: { used: 3, budget: 3, remaining: 2 },
    })
  })

  it('shows subscriptions, usage with its reset date, past periods and the ledger', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await admin.data('mutation { createFeature(input: { id: "sso", name: "SSO", type: BINARY }) { id } }')
    await admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
    await publishPackage(app, 'plan', {
      calls: { limit: 10 },
      seats: { limit: 3, resetPeriod: 'NEVER' },
      sso: {},
    } as object as Record<string, object>)
    await publishPackage(app, 'extra', { calls: { limit: 5 } }, true)
    const subscribe = await dashboard.call('subscribe { id package { id } }', {
      userId: 'ann',
      packageIds: ['plan', 'extra'],
    })
    expect(subscribe.map((s: Data) => s.package.id)).toEqual(['plan', 'extra'])
    const record = (input: object) =>
      dashboard.data(
        `mutation ($appId: String!, $input: CreateUsageEventInput!) {
          recordUsage(appId: $appId, input: $input) { recorded reason consumption { used budget } } }`,
        { appId, input: { userId: 'ann', ...input } },
      )
    const events = [
      { featureId: 'calls', delta: 4 },
      { featureId: 'seats', delta: 2 },
      { featureId: 'calls', delta: 9, action: 'SET' },
      { featureId: 'calls', delta: -2 },
    ]
    for (const event of events) expect((await record(event)).recordUsage.recorded).toBe(true)
    expect((await record({ featureId: 'calls', delta: 100 })).recordUsage.recorded).toBe(false)

    const { grantedFeatures, showUsage, subscriptions } = await dashboard.data(
      `query ($appId: String!) {
        grantedFeatures(appId: $appId, userId: "ann") {
          featureId type access reasonCode consumption { used budget } resetPeriod periodStart periodEnd source { text subject { id } } }
        showUsage(appId: $appId, userId: "ann", featureId: "calls") { current { periodEnd consumption { used } } past { periodStart } }
        subscriptions(appId: $appId, userId: "ann") { next rows { package { id } status } }
      }`,
      { appId },
    )
    const byId = Object.fromEntries(grantedFeatures.map((g: Data) => [g.featureId, g]))
    expect(byId.sso).toMatchObject({ access: true, consumption: null, periodEnd: null, resetPeriod: null })
    expect(byId.seats).toMatchObject({
      consumption: { used: 2, budget: 3 },
      resetPeriod: 'NEVER',
      periodEnd: null,
    })
    expect(byId.calls).toMatchObject({ reasonCode: 'WITHIN_BUDGET', consumption: { used: 7, budget: 15 } })
    expect(byId.calls.source).toEqual([
      { text: '15 = 10 ', subject: null },
      { text: 'plan', subject: { id: 'plan' } },
      { text: ' + 5 ', subject: null },
      { text: 'extra', subject: { id: 'extra' } },
    ])
    expect(showUsage.current).toEqual({ periodEnd: byId.calls.periodEnd, consumption: { used: 7 } })
    expect(subscriptions.rows.map((s: Data) => s.package.id)).toEqual(['extra', 'plan'])

    const LEDGER = `query ($appId: String!, $featureId: String, $after: String) {
      ledger(appId: $appId, userId: "ann", featureId: $featureId, first: 2, after: $after) { next rows { featureId action delta used } } }`
    const ledger = async (featureId: string | null) => {
      const rows: Data[] = []
      for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
        const { ledger }: Data = await dashboard.data(LEDGER, { appId, featureId, after })
        rows.push(...ledger.rows)
        after = ledger.next
      }
      return rows.map((row) => [row.featureId, row.action, row.delta, row.used])
    }
    const calls = [
      ['calls', 'ADD', -2, 7],
      ['calls', 'SET', 5, 9],
      ['calls', 'ADD', 4, 4],
    ]
    expect(await ledger('calls')).toEqual(calls)
    expect(await ledger(null)).toEqual([calls[0], calls[1], ['seats', 'ADD', 2, 2], calls[2]])

    // The end says what is missing there, and only of partitions whose entries are gone.
    await onDatabase(
      `insert into ledger_partition (block, opened_at, retired_at) values (8000, now(), now()), (8001, now(), null)`,
    )
    await onDatabase(
      `insert into ledger_base select app_id, user_uid, feature_id, reset_period, period_start, block, 3, entries
       from usage_counter, (values (8000, 1200), (8001, 7)) b (block, entries)
       where app_id = '${appId}' and feature_id = 'calls'`,
    )
    const older = async (featureId: string | null, after: string | null) =>
      dashboard.call('ledger { next olderEntries }', { userId: 'ann', featureId, first: 2, after })
    const first = await older('calls', null)
    expect(first).toEqual({ next: expect.any(String), olderEntries: 0 })
    expect(await older('calls', first.next)).toEqual({ next: null, olderEntries: 1200 })
    expect(await older('seats', null)).toEqual({ next: null, olderEntries: 0 })
    const { exportUser } = await admin.data('{ exportUser(id: "ann") }')
    expect(exportUser.retiredUsage).toEqual([
      expect.objectContaining({ featureId: 'calls', resetPeriod: 'MONTH', delta: 3, entries: 1200 }),
    ])
  })

  it("lists one package's subscriptions and creates tokens", async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    for (const id of ['ann', 'bob'])
      await admin.data(`mutation { createUser(input: { id: "${id}" }) { id } }`)
    await publishPackage(app, 'plan', { calls: {} })
    await publishPackage(app, 'extra', {}, true)
    await admin.data(`mutation {
      ann: subscribe(userId: "ann", packageIds: ["plan", "extra"]) { id }
      bob: subscribe(userId: "bob", packageIds: ["plan"]) { id } }`)
    const { subscriptions, all } = await dashboard.data(
      `query ($appId: String!) {
        subscriptions(appId: $appId, packageId: "plan", first: 1) { next rows { userId } }
        all: subscriptions(appId: $appId) { rows { userId package { id } } } }`,
      { appId },
    )
    expect(subscriptions).toEqual({ next: expect.any(String), rows: [{ userId: 'bob' }] })
    expect(all.rows).toHaveLength(3)
    const generateUserToken = await dashboard.call('generateUserToken { token }', { userId: 'ann' })
    expect(generateUserToken.token.split('.')).toHaveLength(3)
  })
})

it('gap: a plan that another one replaced was changed, not cancelled', async () => {
  const app = await newApp()
  await app.admin.data(`mutation {
    ann: createUser(input: { id: "ann" }) { id } bob: createUser(input: { id: "bob" }) { id } }`)
  for (const id of ['plan', 'pro']) await publishPackage(app, id, { calls: {} })
  await publishPackage(app, 'extra', {}, true)
  const { bob } = await app.admin.data(`mutation {
    ann: subscribe(userId: "ann", packageIds: ["plan", "extra"]) { id }
    bob: subscribe(userId: "bob", packageIds: ["plan"]) { id } }`)
  await app.admin.data(`mutation { changeSubscription(userId: "ann", packageId: "pro", when: NOW) { now } }`)
  await app.dashboard.call('cancelSubscription', { id: bob[0].id, atPeriodEnd: false })
  const { rows } = await app.dashboard.call(
    'subscriptions { rows { userId package { id } status replaced } }',
  )
  expect(rows.map((s: Data) => [s.userId, s.package.id, s.status, s.replaced]).sort()).toEqual([
    ['ann', 'extra', 'ACTIVE', false],
    ['ann', 'plan', 'CANCELLED', true],
    ['ann', 'pro', 'ACTIVE', false],
    ['bob', 'plan', 'CANCELLED', false],
  ])
})

describe('gap: long lists', () => {
  it('finds subscriptions by user, package, status and provider, and says what comes next', async () => {
    const app = await newApp()
    const { id: appId, dashboard } = app
    for (const [id, name] of Object.entries({ ada: 'Ada Lovelace', bob: 'Bob', eve: 'Eve', zoe: 'Zoe' })) {
      await dashboard.call('createUser', { input: { id, name } })
    }
    await publishPackage(app, 'plan', { calls: { limit: 10 } })
    await publishPackage(app, 'pro', { calls: { limit: 20 } })
    const subscribe = (userId: string, packageId: string) =>
      dashboard.data(
        'mutation ($appId: String!, $userId: String!, $packageId: String!) { subscribe(appId: $appId, userId: $userId, packageIds: [$packageId]) { id } }',
        { appId, userId, packageId },
      )
    await subscribe('ada', 'plan')
    await subscribe('bob', 'pro')
    const { subscribe: eves } = await subscribe('eve', 'pro')
    const cancel = (id: string) =>
      dashboard.data(
        'mutation ($appId: String!, $id: String!) { cancelSubscription(appId: $appId, id: $id, atPeriodEnd: false) { id } }',
        { appId, id },
      )
    await cancel(eves[0].id)
    await dashboard.call('changeSubscription', { userId: 'bob', packageId: 'plan', when: 'PERIOD_END' })
    const listed = async (filter: object) => {
      const subscriptions = await dashboard.call(
        'subscriptions { next total { count more } rows { userName package { id } nextEvent { kind packageName } } }',
        { ...filter },
      )
      expect(subscriptions.next).toBeNull()
      expect(subscriptions.total).toEqual({ count: subscriptions.rows.length, more: false })
      return subscriptions.rows.map((s: Data) => s.userName)
    }
    expect(await listed({})).toEqual(['Eve', 'Bob', 'Ada Lovelace'])
    expect(await listed({ order: 'OLDEST' })).toEqual(['Ada Lovelace', 'Bob', 'Eve'])
    expect(await listed({ search: 'lovelace' })).toEqual(['Ada Lovelace'])
    expect(await listed({ search: 'nobody' })).toEqual([])
    expect(await listed({ packageId: 'pro' })).toEqual(['Eve', 'Bob'])
    expect(await listed({ state: 'ACTIVE' })).toEqual(['Bob', 'Ada Lovelace'])
    expect(await listed({ state: 'CHANGING' })).toEqual(['Bob'])
    expect(await listed({ state: 'CANCELLED' })).toEqual(['Eve'])
    for (const state of ['TRIAL', 'ENDING', 'PAST_DUE', 'RENEWING'])
      expect(await listed({ state })).toEqual([])
    expect(await listed({ provider: 'sandbox' })).toEqual([])
    expect(await listed({ provider: '', state: 'CHANGING' })).toEqual(['Bob'])

    const listedUsers = async (filter: object): Promise<Data> =>
      dashboard.call('users { next total { count more } rows { id packages { id } } }', { ...filter })
    const users = async (filter: object) =>
      (await listedUsers(filter)).rows.map((u: Data) => `${u.id}: ${u.packages.map((p: Data) => p.id)}`)
    expect(await users({ order: 'OLDEST' })).toEqual(['ada: plan', 'bob: pro', 'eve: ', 'zoe: '])
    expect(await users({ order: 'NAME' })).toEqual(['ada: plan', 'bob: pro', 'eve: ', 'zoe: '])
    expect(await users({ packageId: 'pro' })).toEqual(['bob: pro'])
    expect(await users({ packageId: '' })).toEqual(['zoe: ', 'eve: '])

    // By the state of their subscriptions: each user once, however many they have.
    await publishPackage(app, 'extra', { calls: { limit: 5 } }, true)
    await subscribe('ada', 'extra')
    await subscribe('eve', 'plan')
    const { subscribe: again } = await subscribe('zoe', 'plan')
    await cancel(again[0].id)
    const { subscribe: once } = await subscribe('zoe', 'pro')
    await cancel(once[0].id)
    const total = async (filter: object) => (await listedUsers(filter)).total
    expect(await users({ state: 'ACTIVE' })).toEqual(['eve: plan', 'ada: plan,extra', 'bob: pro'])
    expect(await total({ state: 'ACTIVE' })).toEqual({ count: 3, more: false })
    expect(await users({ state: 'CHANGING' })).toEqual(['bob: pro'])
    expect(await users({ state: 'CANCELLED' })).toEqual(['zoe: '])
    expect(await total({ state: 'CANCELLED' })).toEqual({ count: 1, more: false })
    expect(await users({ state: 'CANCELLED', packageId: 'pro' })).toEqual(['zoe: ', 'eve: plan'])
    expect(await users({ state: 'ACTIVE', packageId: 'plan' })).toEqual(['eve: plan', 'ada: plan,extra'])
    for (const state of ['TRIAL', 'ENDING', 'PAST_DUE', 'RENEWING'])
      expect(await users({ state })).toEqual([])
    const oneByOne = async (filter: object) => {
      const ones: string[] = []
      for (let after: string | null = null, first = true; first || after; first = false) {
        const page: Data = await listedUsers({ ...filter, first: 1, after })
        ones.push(...page.rows.map((u: Data) => u.id))
        after = page.next
      }
      return ones
    }
    expect(await oneByOne({ state: 'ACTIVE' })).toEqual(['eve', 'ada', 'bob'])
    expect(await oneByOne({ order: 'OLDEST' })).toEqual(['ada', 'bob', 'eve', 'zoe'])
    expect(await oneByOne({ order: 'NAME' })).toEqual(['ada', 'bob', 'eve', 'zoe'])
    expect(await oneByOne({ order: 'NAME_DESC' })).toEqual(['zoe', 'eve', 'bob', 'ada'])
    const cursor = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')
    const wrong = [
      'no JSON',
      ...[null, ['Bob'], [1, 1], ['B', 1.5], ['\u0000', 1], ['\ud800', 1]].map(cursor),
    ]
    for (const after of wrong) {
      const { message, extensions } = await dashboard.error(
        'query ($appId: String!, $after: String) { users(appId: $appId, order: NAME, after: $after) { next } }',
        { appId, after },
      )
      expect([after, extensions.code, message]).toEqual([
        after,
        'BAD_USER_INPUT',
        'after must be the `next` value of a previous page',
      ])
    }
    const refused = await dashboard.error(
      'query ($appId: String!) { users(appId: $appId, packageId: "", state: TRIAL) { next } }',
      { appId },
    )
    expect(refused.message).toMatch(/^state cannot be combined with an empty packageId/)
  })
})
