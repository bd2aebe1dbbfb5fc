import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { sessionCookie } from '../harness/import.ts'
import { createApp, OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))
let cookie: string
beforeAll(async () => {
  cookie = await sessionCookie(server)
})

const download = (
  list: string,
  query: Record<string, string>,
  headers: Record<string, string> = { Cookie: cookie },
) => fetch(`${server.url}/dashboard/export/${list}?${new URLSearchParams(query)}`, { headers })
const rowsIn = async (list: string, query: Record<string, string>): Promise<Record<string, string>[]> =>
  parse(await (await download(list, query)).text(), { columns: true, bom: true })

/** An app with 1,203 users, which are three pages of an export. */
async function fill(app: string): Promise<void> {
  const admin = await createApp(server, app)
  await server.dashboard.data(
    `mutation ($appId: String!) {
    createPackage(appId: $appId, input: { id: "plan", name: "Plan" }) { id }
    publishPackage(appId: $appId, id: "plan") { id }
    createPrice(appId: $appId, packageId: "plan", input: { id: "price", amount: 1050, currency: "usd", interval: "month" }) { id }
  }`,
    { appId: app },
  )
  await admin.data(`mutation {
    ada: createUser(input: { id: "ada", name: "=HYPERLINK(\\"https://evil.example\\")", email: "ada@example.com" }) { id }
    bob: createUser(input: { id: "bob", name: "Bob, \\"the builder\\"" }) { id }
    cyd: createUser(input: { id: "cyd" }) { id }
    subscribe(userId: "ada", packageIds: ["plan"], quantities: [2]) { id }
    startTrial(userId: "bob", packageId: "plan", days: 9) { id }
  }`)
  const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text, [app])
  await sql(
    `insert into users (app_id, id, metadata) select $1, 'user-' || i, '{}' from generate_series(1, 1200) i`,
  )
  await sql(`insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, price_ids, quantities)
    select app_id, 'sandbox', 'bill', uid, 'active', now(), true, '{price}', '{2}' from users where app_id = $1 and id = 'ada'`)
  await sql(`update subscription set provider = 'sandbox', provider_ref = 'bill'
    where app_id = $1 and user_uid = (select uid from users where app_id = $1 and id = 'ada')`)
}

describe('gap: lists as CSV', () => {
  beforeAll(() => fill('exported'))

  it('have every user of the list, whatever the number of pages, with plan and formulas as text', async () => {
    const response = await download('users', { app: 'exported', order: 'OLDEST' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="users.csv"')
    const text = await response.text()
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"")"`)
    const rows: Record<string, string>[] = parse(text, { columns: true, bom: true })
    expect(rows).toHaveLength(1_203)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1_203)
    expect(rows[0]).toMatchObject({ id: 'ada', email: 'ada@example.com', packages: 'plan', trialEndsAt: '' })
    expect(rows[1]).toMatchObject({ id: 'bob', name: 'Bob, "the builder"', packages: 'plan' })
    expect(rows[1]?.trialEndsAt).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(rows[2]).toMatchObject({ id: 'cyd', packages: '', subscription: '' })
  })

  it('keep the filters of the page', async () => {
    expect((await rowsIn('users', { app: 'exported', state: 'TRIAL' })).map(({ id }) => id)).toEqual(['bob'])
    expect((await rowsIn('users', { app: 'exported', packageId: '' })).length).toBe(1_201)
    expect((await rowsIn('users', { app: 'exported', search: 'builder' })).map(({ id }) => id)).toEqual([
      'bob',
    ])
    expect(await rowsIn('subscriptions', { app: 'exported', provider: 'sandbox' })).toMatchObject([
      { userId: 'ada', package: 'plan', quantity: '2', amount: '21.00', currency: 'usd', interval: 'month' },
    ])
    const all = await rowsIn('subscriptions', { app: 'exported', oldestFirst: 'true' })
    expect(all.map(({ userId }) => userId)).toEqual(['ada', 'bob'])
  })

  it('are for members, of an app that exists, and noted in the audit log', async () => {
    await createApp(server, 'noted')
    await rowsIn('users', { app: 'noted' })
    await rowsIn('subscriptions', { app: 'noted' })
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "noted", first: 2) { rows { sentence } } }',
    )
    expect(auditLog.rows.map(({ sentence }: { sentence: string }) => sentence)).toEqual([
      'exported the list of subscriptions',
      'exported the list of users',
    ])
    expect((await download('users', { app: 'exported' }, {})).status).toBe(401)
    expect((await download('users', { app: 'nowhere' })).status).toBe(404)
    expect((await download('users', {})).status).toBe(400)
    const wrong = await download('subscriptions', { app: 'exported', state: 'GONE' })
    expect([wrong.status, ((await wrong.json()) as Data).errors[0].message]).toEqual([
      400,
      expect.stringContaining('state must be one of LIVE, ACTIVE'),
    ])
  })
})
