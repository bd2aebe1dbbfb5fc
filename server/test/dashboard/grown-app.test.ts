import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REVENUE_LISTS } from '../../src/store/revenue-lists.ts'
import { SUBSCRIPTION_STATES } from '../../src/store/subscription-list.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

// PostgreSQL's statistics are of a time when this app had next to nothing, as after an import, or for long in a database of
// many apps. A plan for so few takes longer for these many than any answer may.

const CUSTOMERS = 30_000

let server: TestServer
const sql = (text: string, values: unknown[] = []) =>
  rowsOf({ connectionString: server.databaseUrl }, text, values)

beforeAll(async () => {
  server = await startTestServer()
  for (const table of ['users', 'subscription', 'provider_subscription', 'payment'])
    await sql(`alter table ${table} set (autovacuum_enabled = false)`)
  await sell('small', 50)
  await sql('analyze')
  await sell('grown', CUSTOMERS)
})
afterAll(() => server?.stop())

/** Each customer has changed their plan, ended an add-on, and is charged for another, which is past due. */
async function sell(app: string, customers: number): Promise<void> {
  const admin = await createApp(server, app)
  await admin.data(`mutation {
    plan: createPackage(input: { id: "plan", name: "Plan" }) { id }
    extra: createPackage(input: { id: "extra", name: "Extra", isAddon: true }) { id } }`)
  await server.dashboard.data(
    `mutation ($app: String!) {
      plan: publishPackage(appId: $app, id: "plan") { id }
      extra: publishPackage(appId: $app, id: "extra") { id }
      createPrice(appId: $app, packageId: "extra", input: { id: "price", amount: 900, currency: "usd", interval: "month" }) { id }
    }`,
    { app },
  )
  await sql(
    `insert into users (app_id, id, name, metadata)
     select $1, 'user-' || i, 'User ' || i, '{}' from generate_series(1, $2::int) i`,
    [app, customers],
  )
  await sql(
    `insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, past_due_since, live, price_ids,
       quantities, billing_state)
     select app_id, 'sandbox', 'sub-' || uid, uid, 'past_due', now(), now() - interval '1 day', true, '{price}', '{1}',
       'past due' from users where app_id = $1`,
    [app],
  )
  await sql(
    `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at, provider,
       provider_ref)
     select u.app_id, u.app_id || kind || uid, uid, package, addon, day - began, day - began, day - ended,
       case when kind = 'billed' then 'sandbox' end, case when kind = 'billed' then 'sub-' || uid end
     from users u, date_trunc('day', now()) day, (values
       ('before', 'plan', false, interval '400 days', interval '9 days'),
       ('after', 'plan', false, interval '9 days', null),
       ('ended', 'extra', true, interval '400 days', interval '8 days'),
       ('billed', 'extra', true, interval '7 days', null)) s (kind, package, addon, began, ended)
     where u.app_id = $1`,
    [app],
  )
  await sql(
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select app_id, 'sandbox', 'in-' || uid, uid, 'sub-' || uid, 'PAID', 900, 'usd', now() - interval '1 day'
     from users where app_id = $1`,
    [app],
  )
}

describe('gap: lists: an app that has grown since the statistics were made', () => {
  it('has its figures', async () => {
    const { revenue } = await server.dashboard.data(`{ revenue(appId: "grown", days: 30) {
      new changed cancelled pastDue mrr { amount } payments { paid } } }`)
    expect(revenue).toEqual({
      new: CUSTOMERS,
      changed: CUSTOMERS,
      cancelled: CUSTOMERS,
      pastDue: CUSTOMERS,
      mrr: [{ amount: 900 * CUSTOMERS }],
      payments: [{ paid: CUSTOMERS }],
    })
  })

  it.each([
    ...REVENUE_LISTS.map((list) => `revenueList(appId: "grown", list: ${list}, days: 30) { next }`),
    'mrrList(appId: "grown") { next }',
    'payments(appId: "grown", state: PAID, days: 30) { next }',
    ...SUBSCRIPTION_STATES.flatMap((state) => [
      `subscriptions(appId: "grown", state: ${state}) { next total { count } }`,
      `users(appId: "grown", state: ${state}, packageId: "plan") { next total { count } }`,
    ]),
    'users(appId: "grown", packageId: "") { next }',
    'users(appId: "grown", search: "ser") { next }',
  ])('answers %s', async (field) => {
    expect(await server.dashboard.data(`{ ${field} }`)).toBeTruthy()
  })
})
