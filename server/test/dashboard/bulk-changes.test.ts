import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Client, Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))
const sql = (text: string, values: unknown[] = []) =>
  rowsOf({ connectionString: server.databaseUrl }, text, values)

const ONE = `id title state undoable rows changing done refused undone kept problem memberEmail skipped { message count }`

const start = async (appId: string, input: object): Promise<Data> =>
  (
    await server.dashboard.data(
      `mutation ($appId: String!, $input: BulkChangeInput!) { startBulkChange(appId: $appId, input: $input) { ${ONE} } }`,
      { appId, input },
    )
  ).startBulkChange
const find = async (appId: string, id: string): Promise<Data> =>
  (
    await server.dashboard.data(
      `query ($appId: String!, $id: String!) { bulkChange(appId: $appId, id: $id) { ${ONE} } }`,
      { appId, id },
    )
  ).bulkChange
const settled = (appId: string, id: string): Promise<Data> =>
  vi.waitFor(
    async () => {
      const found = await find(appId, id)
      expect(found.state).not.toMatch(/ING$/)
      return found
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
const begin = async (way: 'apply' | 'undo', appId: string, id: string): Promise<Data> => {
  await server.dashboard.data(
    `mutation ($appId: String!, $id: String!) { ${way}BulkChange(appId: $appId, id: $id) { id } }`,
    { appId, id },
  )
  return settled(appId, id)
}
const rowsIn = async (appId: string, id: string): Promise<Record<string, [string, string | null]>> => {
  const { bulkChangeRows } = await server.dashboard.data(
    `query ($appId: String!, $id: String!) { bulkChangeRows(appId: $appId, id: $id, first: 500) { rows { userId outcome message } } }`,
    { appId, id },
  )
  return Object.fromEntries(bulkChangeRows.rows.map((row: Data) => [row.userId, [row.outcome, row.message]]))
}
const planOf = async (admin: Client, userId: string): Promise<Data | undefined> => {
  const { subscriptions } = await admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { id status cancelAt trialEndsAt package { id } scheduled { packageId } } }',
    { userId },
  )
  return subscriptions.find(({ status }: Data) => status === 'ACTIVE')
}

/** Users a to f: a, b and c have the plan free, d has pro, e is charged by a provider, f has no plan. */
async function shop(id: string): Promise<Client> {
  const admin = await createApp(server, id)
  await admin.data(
    'mutation { createFeature(input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id } }',
  )
  for (const [plan, limit] of [
    ['free', 10],
    ['pro', 100],
  ]) {
    await admin.data(
      'mutation ($id: String!, $limit: SafeInt) { createPackage(input: { id: $id, name: $id, features: [{ id: "calls", entitlement: { limit: $limit } }] }) { id } }',
      { id: plan, limit },
    )
    await server.dashboard.data(
      'mutation ($app: String!, $id: String!) { publishPackage(appId: $app, id: $id) { id } }',
      { app: id, id: plan },
    )
  }
  for (const user of ['a', 'b', 'c', 'd', 'e', 'f'])
    await admin.data('mutation ($id: String!) { createUser(input: { id: $id, name: $id }) { id } }', {
      id: user,
    })
  for (const user of ['a', 'b', 'c', 'd', 'e'])
    await admin.data(
      'mutation ($id: String!, $plan: String!) { subscribe(userId: $id, packageIds: [$plan]) { id } }',
      { id: user, plan: user === 'd' ? 'pro' : 'free' },
    )
  await sql(
    `insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
     select app_id, 'sandbox', 'bill', uid, 'active', now(), true from users where app_id = $1 and id = 'e'`,
    [id],
  )
  await sql(
    `update subscription set provider = 'sandbox', provider_ref = 'bill'
     where app_id = $1 and user_uid = (select uid from users where app_id = $1 and id = 'e')`,
    [id],
  )
  return admin
}

const USERS = { list: 'USERS' }
const TO_PRO = { changePlan: { packageId: 'pro', when: 'NOW' } }

describe('gap: bulk changes', () => {
  let admin: Client
  beforeAll(async () => {
    admin = await shop('bulk')
  })

  it('show in numbers what will change and why the rest cannot, change each user by an operation of their own, and undo it', async () => {
    const started = await start('bulk', { of: USERS, ...TO_PRO })
    const checked = await settled('bulk', started.id)
    expect(checked).toMatchObject({
      title: 'Change plan to pro',
      state: 'CHECKED',
      rows: 6,
      changing: 3,
      done: 0,
    })
    expect(Object.fromEntries(checked.skipped.map(({ message, count }: Data) => [message, count]))).toEqual({
      'No plan': 1,
      'Already on this plan': 1,
      'Charged by a billing provider; change it on the page of the user, where the provider quotes the cost': 1,
    })
    expect((await planOf(admin, 'a'))?.package.id).toBe('free')

    // Meanwhile one of them is changed by somebody else.
    await admin.data('mutation { changeSubscription(userId: "c", packageId: "pro", when: NOW) { now } }')
    const applied = await begin('apply', 'bulk', started.id)
    expect(applied).toMatchObject({ state: 'APPLIED', done: 2, refused: 1 })
    expect((await rowsIn('bulk', started.id)).c).toEqual(['REFUSED', 'Changed since'])
    for (const user of ['a', 'b']) expect((await planOf(admin, user))?.package.id).toBe('pro')
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "bulk", operation: "changeSubscription") { rows { subjectId memberEmail } } }',
    )
    const byMember = auditLog.rows.filter(({ memberEmail }: Data) => memberEmail === applied.memberEmail)
    expect(byMember.map(({ subjectId }: Data) => subjectId).sort()).toEqual(['a', 'b'])

    await admin.data('mutation { changeSubscription(userId: "b", packageId: "free", when: NOW) { now } }')
    const undone = await begin('undo', 'bulk', started.id)
    expect(undone).toMatchObject({ state: 'UNDONE', undone: 1, kept: 1 })
    expect((await rowsIn('bulk', started.id)).b).toEqual(['KEPT', 'Changed since'])
    expect((await planOf(admin, 'a'))?.package.id).toBe('free')
  })

  it('take effect once, even if a step is interrupted before it could note it', async () => {
    const { id } = await start('bulk', {
      of: { ...USERS, ids: ['a'] },
      setOverride: { featureId: 'calls', mode: 'ADD', limit: 5 },
    })
    await settled('bulk', id)
    await begin('apply', 'bulk', id)
    await sql(`update bulk_change_row set outcome = 'CHANGE' where app_id = 'bulk' and bulk_id = $1`, [id])
    await sql(`update bulk_change set state = 'CHECKED', done = 0 where app_id = 'bulk' and id = $1`, [id])
    expect(await begin('apply', 'bulk', id)).toMatchObject({ state: 'APPLIED', done: 1, refused: 0 })
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "bulk", operation: "setOverride") { rows { subjectId } } }',
    )
    expect(auditLog.rows).toHaveLength(1)
    const { overrides } = await admin.data('{ overrides(userId: "a") { mode limit } }')
    expect(overrides).toEqual([{ mode: 'ADD', limit: 5 }])
    const again = await start('bulk', {
      of: { ...USERS, ids: ['a', 'b'] },
      setOverride: { featureId: 'calls', mode: 'UNLIMITED' },
    })
    expect(await settled('bulk', again.id)).toMatchObject({
      changing: 1,
      skipped: [{ message: 'Has an override of this feature', count: 1 }],
    })
    expect(await begin('undo', 'bulk', id)).toMatchObject({ undone: 1 })
    expect((await admin.data('{ overrides(userId: "a") { mode } }')).overrides).toEqual([])
  })

  it('start trials, and cancel subscriptions of the list with its filter; the rest of the list stays', async () => {
    const shop2 = await shop('bulk2')
    const trial = await start('bulk2', { of: USERS, startTrial: { packageId: 'pro', days: 7 } })
    expect(await settled('bulk2', trial.id)).toMatchObject({
      changing: 1,
      skipped: [{ message: 'Has a plan', count: 5 }],
    })
    await begin('apply', 'bulk2', trial.id)
    expect(await planOf(shop2, 'f')).toMatchObject({
      package: { id: 'pro' },
      trialEndsAt: expect.any(String),
    })
    await begin('undo', 'bulk2', trial.id)
    expect(await planOf(shop2, 'f')).toBeUndefined()
    const once = await start('bulk2', {
      of: { ...USERS, ids: ['f'] },
      startTrial: { packageId: 'pro', days: 7 },
    })
    expect((await settled('bulk2', once.id)).skipped).toEqual([
      { message: 'Had a trial of this plan', count: 1 },
    ])

    const cancel = await start('bulk2', {
      of: { list: 'SUBSCRIPTIONS', packageId: 'free', state: 'LIVE', provider: '' },
      cancel: { atPeriodEnd: true },
    })
    expect(await settled('bulk2', cancel.id)).toMatchObject({
      title: 'Cancel at the end of the period',
      changing: 3,
    })
    await begin('apply', 'bulk2', cancel.id)
    expect((await planOf(shop2, 'a'))?.cancelAt).not.toBeNull()
    expect((await planOf(shop2, 'd'))?.cancelAt).toBeNull()
    await begin('undo', 'bulk2', cancel.id)
    expect((await planOf(shop2, 'a'))?.cancelAt).toBeNull()
    // What names users is kept no longer than the check takes.
    const [row] = await sql(`select request::text from bulk_change where app_id = 'bulk2' and id = $1`, [
      once.id,
    ])
    expect(row?.request).not.toContain('"f"')
  })

  it('cover lists of several pages, in steps that follow each other', async () => {
    await createApp(server, 'long')
    await sql(
      `insert into users (app_id, id, metadata) select 'long', 'user-' || i, '{}' from generate_series(1, 1030) i`,
    )
    await server.dashboard.data(
      'mutation { createFeature(appId: "long", input: { id: "sso", name: "SSO", type: BINARY }) { id } }',
    )
    const { id } = await start('long', { of: USERS, setOverride: { featureId: 'sso', mode: 'GRANT' } })
    expect(await settled('long', id)).toMatchObject({ rows: 1_030, changing: 1_030 })
    await sql(
      `update bulk_change_row set outcome = 'SKIP' where app_id = 'long' and bulk_id = $1 and number > 120`,
      [id],
    )
    expect(await begin('apply', 'long', id)).toMatchObject({ state: 'APPLIED', done: 120 })
  })

  it('are refused as a whole for what no user could have', async () => {
    const refused: [object, RegExp][] = [
      [{ of: USERS }, /^Exactly one of changePlan, startTrial, cancel and setOverride is required/],
      [{ of: USERS, ...TO_PRO, cancel: {} }, /^Exactly one of/],
      [{ of: USERS, changePlan: { packageId: 'none' } }, /^Package not found/],
      [{ of: USERS, startTrial: { packageId: 'pro', days: 0 } }, /^days must be/],
      [{ of: USERS, setOverride: { featureId: 'calls', mode: 'ADD' } }, /limit/],
      [{ of: USERS, setOverride: { featureId: 'calls', mode: 'MORE' } }, /^mode must be one of REPLACE/],
      [{ of: { ...USERS, state: 'GONE' }, ...TO_PRO }, /^state must be one of LIVE/],
      [{ of: { ...USERS, ids: [] }, ...TO_PRO }, /^ids must contain from 1 to 500 ids/],
    ]
    for (const [input, says] of refused) {
      const { message } = await server.dashboard.error(
        'mutation ($input: BulkChangeInput!) { startBulkChange(appId: "bulk", input: $input) { id } }',
        { input },
      )
      expect(message).toMatch(says)
    }
    const { id } = await start('bulk', { of: { ...USERS, ids: ['a'] }, cancel: { atPeriodEnd: false } })
    await settled('bulk', id)
    const undo = 'mutation ($id: String!) { undoBulkChange(appId: "bulk", id: $id) { id } }'
    expect((await server.dashboard.error(undo, { id })).message).toMatch(/^This change is CHECKED\. Only/)
    await begin('apply', 'bulk', id)
    expect((await server.dashboard.error(undo, { id })).message).toMatch(/cannot be restored/)
    expect((await server.dashboard.error(undo, { id: 'none' })).extensions.code).toBe('BULK_CHANGE_NOT_FOUND')
  })
})
