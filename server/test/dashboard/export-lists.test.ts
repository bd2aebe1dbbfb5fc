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
    const all = await rowsIn('subscriptions', { app: 'exported', order: 'OLDEST' })
    expect(all.map(({ userId }) => userId)).toEqual(['ada', 'bob'])
  })

  it('cover usage, payments, revenue, webhook events and deliveries, with their filters', async () => {
    const app = 'exported'
    const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text, [app])
    for (const id of ['calls', 'other'])
      await server.dashboard.data(
        'mutation ($appId: String!, $input: CreateFeatureInput!) { createFeature(appId: $appId, input: $input) { id } }',
        { appId: app, input: { id, name: id, type: 'CONSUMABLE' } },
      )
    await sql(`insert into usage_ledger (app_id, user_uid, feature_id, reset_period, action, delta, used, period_start, recorded_at)
      select app_id, uid, f, 'MONTH', 'ADD', -1, i, '2026-01-01', now() from users, generate_series(1, 600) i, unnest('{calls,other}'::text[]) f
      where app_id = $1 and id = 'ada'`)
    const entries = await rowsIn('ledger', { app, userId: 'ada', featureId: 'calls' })
    expect(entries).toHaveLength(600)
    expect(entries[0]).toMatchObject({ user: 'ada', feature: 'calls', change: '-1', totalAfter: '600' })
    expect(await rowsIn('ledger', { app, userId: 'ada' })).toHaveLength(1_200)
    expect((await download('ledger', { app, userId: 'nobody' })).status).toBe(404)
    expect((await download('ledger', { app })).status).toBe(400)

    await sql(`insert into notice (app_id, provider, event_id, type, payload, state, last_error)
      select $1, 'sandbox', 'evt-' || i, 'paid', '{}', case when i <= 450 then 'FAILED' else 'DONE' end, '=1+1'
      from generate_series(1, 500) i`)
    const failed = await rowsIn('webhook-events', { app, state: 'FAILED' })
    expect(new Set(failed.map(({ eventId }) => eventId)).size).toBe(450)
    expect(failed[0]).toMatchObject({ eventId: 'evt-450', provider: 'sandbox', lastError: `'=1+1` })
    expect((await download('webhook-events', { app, state: 'LOST' })).status).toBe(400)

    await sql(`insert into webhook_endpoint (app_id, id, url, types, secret, enabled)
      values ($1, 'we', 'https://crm.invalid', '{}', '', true)`)
    await sql(`insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, state, attempts, due_at, log)
      select $1, 'we', 'evt-' || i, 'user.created', 'FAILED', 2, null, '[{"at": 0, "durationMs": 1, "status": 500, "error": null, "body": ""}]'
      from generate_series(1, 250) i`)
    const deliveries = await rowsIn('deliveries', { app, endpointId: 'we', state: 'FAILED' })
    expect(deliveries).toHaveLength(250)
    expect(deliveries[0]).toMatchObject({ eventId: 'evt-250', attempts: '2', lastStatus: '500' })

    expect(await rowsIn('revenue', { app, list: 'NEW', days: '30' })).toMatchObject([
      { package: 'plan' },
      { package: 'plan' },
    ])
    expect(await rowsIn('mrr', { app })).toMatchObject([{ userId: 'ada', amount: '21.00', currency: 'usd' }])
    expect(await rowsIn('payments', { app, state: 'PAID' })).toEqual([])
    expect((await download('payments', { app, days: 'many' })).status).toBe(400)
  })

  it('are for members, of an app that exists, and noted in the audit log', async () => {
    await createApp(server, 'noted')
    await rowsIn('users', { app: 'noted' })
    await rowsIn('subscriptions', { app: 'noted' })
    await rowsIn('payments', { app: 'noted' })
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "noted", first: 3) { rows { sentence } } }',
    )
    expect(auditLog.rows.map(({ sentence }: { sentence: string }) => sentence)).toEqual([
      'exported the list of payments',
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
