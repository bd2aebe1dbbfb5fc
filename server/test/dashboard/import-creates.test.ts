import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { type Importing, startImporting } from '../harness/import.ts'

let imports: Importing
beforeAll(async () => {
  imports = await startImporting()
})
afterAll(() => imports?.server.stop())

/** With a published plan, a draft and an add-on. */
async function newApp(): Promise<TestApp> {
  const app = await imports.newApp()
  await app.admin.data(`mutation {
    createFeature(input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id }
    pro: createPackage(input: { id: "pro", name: "Pro", isAddon: false, features: [
      { id: "calls", entitlement: { limit: 10, resetPeriod: MONTH } }] }) { id }
    draft: createPackage(input: { id: "draft", name: "Draft", isAddon: false }) { id }
    addon: createPackage(input: { id: "addon", name: "Add-on", isAddon: true }) { id }
  }`)
  for (const id of ['pro', 'addon']) await app.dashboard.call('publishPackage', { id })
  return app
}

async function moved(app: TestApp, id: string, way: 'apply' | 'undo'): Promise<Data> {
  const variables = { appId: app.id, id }
  await app.dashboard.data(
    `mutation ($appId: String!, $id: String!) { ${way}UserImport(appId: $appId, id: $id) { id } }`,
    variables,
  )
  for (;;) {
    const { userImport } = await app.dashboard.data(
      `query ($appId: String!, $id: String!) { userImport(appId: $appId, id: $id) {
        state changed newUsers applied created refused undone removed kept failure } }`,
      variables,
    )
    if (!/ING$/.test(userImport.state)) return userImport
    await delay(20)
  }
}

const rowsOfImport = async ({ id: appId, dashboard }: TestApp, id: string): Promise<Data[]> => {
  const { userImportRows } = await dashboard.data(
    `query ($appId: String!, $id: String!) { userImportRows(appId: $appId, id: $id) { rows {
      line userId outcome problem message newName plan newMetadata } } }`,
    { appId, id },
  )
  return userImportRows.rows
}

const userOf = async ({ admin }: TestApp, id: string): Promise<Data | null> => {
  const { data } = await admin.ask(
    'query ($id: String!) { user(id: $id) { id name email billingId metadata } subscriptions(userId: $id) { package { id } } }',
    { id },
  )
  return data?.user && { ...data.user, plans: data.subscriptions.map((s: Data) => s.package.id) }
}

const FILE = `id,name,email,billingId,plan,metadata
dora,Dora Maar,dora@example.com,cus_dora,pro,"{""team"":""a""}"
emil,,,,,
ann,Ann Lee,,,,"{""seen"":1}"
`

describe('gap: an import creates users', () => {
  it('with their plan, updates the others, and removes the new ones when undone', async () => {
    const app = await newApp()
    const other = await newApp()
    await imports.send(other, FILE)
    const before = await userOf(app, 'ann')
    const checked = await imports.send(app, FILE, { dryRun: '1', import: 'new' })
    expect(checked).toMatchObject({ rows: 3, changed: 1, created: 2, unchanged: 0, bad: 0 })
    expect(await userOf(app, 'dora')).toBeNull()
    expect((await rowsOfImport(app, 'new')).map(({ outcome }) => outcome)).toEqual([
      'CREATE',
      'CREATE',
      'CHANGE',
    ])

    expect(await moved(app, 'new', 'apply')).toMatchObject({
      state: 'APPLIED',
      applied: 1,
      created: 2,
      refused: 0,
    })
    expect(await userOf(app, 'dora')).toEqual({
      id: 'dora',
      name: 'Dora Maar',
      email: 'dora@example.com',
      billingId: 'cus_dora',
      metadata: { team: 'a' },
      plans: ['pro'],
    })
    expect(await userOf(app, 'emil')).toMatchObject({ name: null, email: null, metadata: {}, plans: [] })
    expect(await userOf(app, 'ann')).toMatchObject({
      name: 'Ann Lee',
      email: 'ann@old.example',
      metadata: { seen: 1 },
    })
    const can = 'query { canUseFeature(userId: "dora", featureId: "calls") { access } }'
    expect((await app.admin.data(can)).canUseFeature.access).toBe(true)

    expect(await moved(app, 'new', 'undo')).toMatchObject({
      state: 'UNDONE',
      undone: 1,
      removed: 2,
      kept: 0,
    })
    expect([await userOf(app, 'dora'), await userOf(app, 'emil')]).toEqual([null, null])
    expect(await userOf(other, 'dora')).toMatchObject({ name: 'Dora Maar', plans: ['pro'] })
    expect(await userOf(app, 'ann')).toEqual(before)
    expect((await rowsOfImport(app, 'new')).map(({ outcome }) => outcome)).toEqual([
      'UNDONE',
      'UNDONE',
      'UNDONE',
    ])
  })

  it('keeps new users to whom something has happened since', async () => {
    const app = await newApp()
    const ids = ['still', 'used', 'renamed', 'subscribed', 'cancelled', 'overridden', 'paying']
    const file = `id,name,plan\n${ids.map((id) => `${id},N,${id === 'subscribed' ? '' : 'pro'}`).join('\n')}\n`
    expect(await imports.send(app, file, { import: 'kept' })).toMatchObject({ created: 7, bad: 0 })
    await app.admin.data(`mutation {
      recordUsage(input: { userId: "used", featureId: "calls", delta: 1 }) { recorded }
      updateUser(id: "renamed", input: { name: "Other" }) { id }
      subscribe(userId: "subscribed", packageIds: ["pro"]) { id }
      setOverride(input: { userId: "overridden", featureId: "calls", mode: DENY }) { userId }
    }`)
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "cancelled") { id } }')
    await app.dashboard.call('cancelSubscription', { id: subscriptions[0].id, atPeriodEnd: false })
    await rowsOf(
      { connectionString: imports.server.databaseUrl },
      `insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, made_at, paid_at, live)
       select app_id, 'stripe', 'sub_1', uid, 'cus_1', 'active', now(), now(), true from users
       where app_id = $1 and id = 'paying'`,
      [app.id],
    )
    expect(await moved(app, 'kept', 'undo')).toMatchObject({ removed: 1, kept: 6 })
    const left = await Promise.all(ids.map(async (id) => ((await userOf(app, id)) ? id : null)))
    expect(left.filter((id) => id !== null)).toEqual(ids.slice(1))
    expect((await rowsOfImport(app, 'kept')).map(({ outcome, problem }) => [outcome, problem])).toEqual([
      ['UNDONE', null],
      ...Array.from({ length: 6 }, () => ['KEPT', 'CHANGED_SINCE']),
    ])
  })

  const BAD: [row: string, problem: string, message: RegExp][] = [
    ['x,X,,,nowhere,', 'BAD_PLAN', /^Plan not found: "nowhere"$/],
    ['x,X,,,draft,', 'BAD_PLAN', /^The plan "draft" is not published$/],
    ['x,X,,,addon,', 'BAD_PLAN', /^"addon" is an add-on/],
    ['ann,X,,,pro,', 'PLAN_DIFFERS', /^An import does not change the plans of existing users$/],
    ['x,X,,,,[1]', 'BAD_METADATA', /^metadata must be a JSON object/],
    ['x,X,,,,{', 'BAD_METADATA', /^metadata must be a JSON object/],
    ['x,X,,,,"{""n"":9007199254740993}"', 'BAD_METADATA', /beyond 2\^53-1/],
    ['x,X,,cus_ann,,', 'BILLING_ID_TAKEN', /./],
    ['x,X,,cus_first,,', 'DUPLICATE_BILLING_ID', /./],
    ['first,X,,,,', 'DUPLICATE_ID', /^An earlier row has the same id$/],
    [`x,${'n'.repeat(1_025)},,,,`, 'TOO_LONG', /^name must be at most/],
    ['x,a\u0000b,,,,', 'BAD_NAME', /NUL/],
    ['x,X,,,pr\u0000o,', 'BAD_PLAN', /^Plan not found: "pr/],
    ['x,X,,,,{"a":"\u0000"}', 'BAD_METADATA', /^metadata must be a JSON object/],
    ['ann,X,,,pr\u0000o,', 'BAD_PLAN', /^Plan not found: "pr/],
  ]
  it.for(BAD)('names what is wrong with %j: %s', async ([row, problem, message]) => {
    const app = await newApp()
    const answer = await imports.send(
      app,
      `id,name,email,billingId,plan,metadata\nfirst,F,,cus_first,,\n${row}\n`,
    )
    expect(answer).toMatchObject({ rows: 2, created: 1, changed: 0, bad: 1 })
    expect(answer.badRows).toEqual([
      { line: 3, id: expect.any(String), problem, message: expect.stringMatching(message) },
    ])
  })

  it('leaves a user alone whose id or billing id is taken before it is applied', async () => {
    const app = await newApp()
    await imports.send(app, 'id,name,billingId,plan\ngus,Gus,,pro\nhal,Hal,cus_hal,\nivy,Ivy,,pro\n', {
      dryRun: '1',
      import: 'late',
    })
    await app.admin.data(`mutation {
      gus: createUser(input: { id: "gus", name: "Other" }) { id }
      other: createUser(input: { id: "other", billingId: "cus_hal" }) { id }
    }`)
    await app.dashboard.call('archivePackage', { id: 'pro' })
    expect(await moved(app, 'late', 'apply')).toMatchObject({ state: 'APPLIED', created: 0, refused: 3 })
    expect((await rowsOfImport(app, 'late')).map(({ problem }) => problem)).toEqual([
      'BAD_PLAN',
      'BILLING_ID_TAKEN',
      'BAD_PLAN',
    ])
    expect(await userOf(app, 'gus')).toMatchObject({ name: 'Other', plans: [] })
    expect(await userOf(app, 'ivy')).toBeNull()
  })

  it('reports unknown ids as invalid with create=no, and without a name, plan or metadata', async () => {
    const app = await newApp()
    const invalid = { created: 0, bad: 1, badRows: [{ problem: 'UNKNOWN_USER' }] }
    expect(await imports.send(app, 'id,name\nnew,N\n', { create: 'no' })).toMatchObject(invalid)
    expect(await imports.send(app, 'id,email\nnew,n@example.com\n')).toMatchObject(invalid)
    expect(await imports.send(app, 'id\nnew\n', { create: '1' })).toMatchObject({ created: 1, bad: 0 })
    expect((await imports.send(app, 'id\nnew\n')).status).toBe(400)
  })

  it('takes no new users in an archived app', async () => {
    const app = await newApp()
    await imports.send(app, FILE, { dryRun: '1', import: 'before' })
    await app.dashboard.call('archiveApp { id }')
    expect(await imports.send(app, FILE, { create: '1' })).toMatchObject({
      status: 400,
      errors: [{ message: expect.stringContaining('is archived') }],
    })
    const { message } = await app.dashboard.error(
      'mutation ($appId: String!) { applyUserImport(appId: $appId, id: "before") { id } }',
      { appId: app.id },
    )
    expect(message).toContain('is archived')
  })

  it('a deletion clears the row of a new user, also one that was not applied', async () => {
    const app = await newApp()
    await imports.send(app, FILE, { import: 'applied' })
    const later = FILE.replaceAll('dora', 'frida').replaceAll('Dora', 'Frida')
    await imports.send(app, later, { dryRun: '1', import: 'later' })
    await app.admin.data('mutation { createUser(input: { id: "frida" }) { id } }')
    for (const id of ['dora', 'frida'])
      await app.admin.data('mutation ($id: String!) { deleteUser(id: $id) { id } }', { id })
    const left = await rowsOf<{ row: string }>(
      { connectionString: imports.server.databaseUrl },
      'select row_to_json(r)::text as row from user_import_row r where app_id = $1',
      [app.id],
    )
    expect(left).toHaveLength(6)
    expect(left.map(({ row }) => row).filter((row) => /dora|frida/i.test(row))).toEqual([])
    // What is erased is not created.
    expect(await moved(app, 'later', 'apply')).toMatchObject({ state: 'APPLIED', created: 0, refused: 1 })
  })
})
