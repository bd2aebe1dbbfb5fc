import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REVENUE_LISTS } from '../../src/store/billing/revenue-lists.ts'
import { SUBSCRIPTION_STATES } from '../../src/store/subscriptions/subscription-list.ts'
import { directly, rowsOf } from '../harness/database.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

// PostgreSQL plans by what it knows of a table. A plan for next to nothing takes longer for many than any answer may.

const TABLES = ['users', 'subscription', 'provider_subscription', 'payment']

/** Those of each cell, where there are several. */
async function tables(): Promise<string[]> {
  const rows = await sql(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relname = any($1) order by 1`,
    [TABLES],
  )
  return rows.map(({ name }) => name)
}

let server: TestServer
const sql = (text: string, values: unknown[] = []) =>
  rowsOf({ connectionString: server.databaseUrl }, text, values)

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

const LISTS = [
  ...REVENUE_LISTS.map((list) => `revenueList(appId: "grown", list: ${list}, days: 30) { next }`),
  'mrrList(appId: "grown") { next }',
  'payments(appId: "grown", state: PAID, days: 30) { next }',
  ...SUBSCRIPTION_STATES.flatMap((state) => [
    `subscriptions(appId: "grown", state: ${state}) { next total { count } }`,
    `users(appId: "grown", state: ${state}, packageId: "plan") { next total { count } }`,
  ]),
  'users(appId: "grown", packageId: "") { next }',
  'users(appId: "grown", search: "ser") { next }',
]

const hasAnswers = (customers: number) => {
  it('has its figures', async () => {
    const revenue = await server.dashboard.call(
      'revenue { new changed cancelled pastDue mrr { amount } payments { paid } }',
      { appId: 'grown', days: 30 },
    )
    expect(revenue).toEqual({
      new: customers,
      changed: customers,
      cancelled: customers,
      pastDue: customers,
      mrr: [{ amount: 900 * customers }],
      payments: [{ paid: customers }],
    })
  })

  it.each(LISTS)('answers %s', async (field) => {
    expect(await server.dashboard.data(`{ ${field} }`)).toBeTruthy()
  })
}

describe('gap: lists: an app that has grown in a database of many, whose statistics know nothing of it', () => {
  const CUSTOMERS = 30_000
  let hold: pg.Client
  beforeAll(async () => {
    server = await startTestServer()
    await sell('small', 50)
    await sql('analyze')
    // Nobody analyzes them meanwhile, neither the service nor autovacuum.
    hold = new pg.Client(directly(server.databaseUrl))
    await hold.connect()
    await hold.query(`begin; lock table ${TABLES.join(', ')} in share update exclusive mode`)
    await sell('grown', CUSTOMERS)
  })
  afterAll(async () => {
    await hold?.end()
    await server?.stop()
  })
  hasAnswers(CUSTOMERS)
})

describe('gap: lists: an installation that is filled at once', () => {
  const CUSTOMERS = 4_000
  beforeAll(async () => {
    server = await startTestServer()
    for (const table of await tables()) await sql(`alter table ${table} set (autovacuum_enabled = false)`)
    await sell('grown', CUSTOMERS)
  })
  afterAll(() => server?.stop())

  it('is analyzed within seconds, by the service itself', async () => {
    await expect
      .poll(async () => {
        const analyzed = await sql(
          'select relid::regclass::text as name from pg_stat_user_tables where last_analyze is not null',
        )
        return analyzed.map(({ name }) => name)
      })
      .toEqual(expect.arrayContaining(await tables()))
  })
  hasAnswers(CUSTOMERS)
})
