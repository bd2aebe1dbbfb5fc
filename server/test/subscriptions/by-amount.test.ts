import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  const admin = await createApp(server, 'shop')
  await admin.data(`mutation {
    plan: createPackage(input: { id: "plan", name: "Plan" }) { id }
    extra: createPackage(input: { id: "extra", name: "Extra", isAddon: true }) { id } }`)
  const price = (id: string, packageId: string, amount: number, currency: string) =>
    `${id}: createPrice(appId: "shop", packageId: "${packageId}",
      input: { id: "${id}", amount: ${amount}, currency: "${currency}", interval: "month" }) { id }`
  await server.dashboard.data(`mutation {
    one: publishPackage(appId: "shop", id: "plan") { id }
    two: publishPackage(appId: "shop", id: "extra") { id }
    ${price('nine', 'plan', 900, 'usd')} ${price('many', 'plan', 250, 'usd')}
    ${price('euro', 'plan', 100, 'eur')} ${price('addon', 'extra', 400, 'usd')} }`)
  // Users with one bill each. The add-on of bob is on the bill of his plan.
  const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text)
  await sql(`insert into users (app_id, id, metadata)
    select 'shop', id, '{}' from unnest('{ann,bob,cyd,dan,eve}'::text[]) with ordinality x (id, n) order by n`)
  await sql(`insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, price_ids, quantities)
    select 'shop', 'sandbox', u.id, uid, 'active', now(), true, prices::text[], counts::bigint[] from users u join (values
      ('ann', '{nine}', '{1}'), ('bob', '{addon,nine}', '{1,1}'), ('cyd', '{euro}', '{1}'), ('dan', '{many}', '{4}'))
      b (id, prices, counts) using (id) where u.app_id = 'shop'`)
  await sql(`insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, quantity, provider, provider_ref)
    select 'shop', s.id, u.uid, s.package, s.package = 'extra', now(), now(), s.many,
      case when s.person <> 'eve' then 'sandbox' end, case when s.person <> 'eve' then s.person end
    from (values (1, 'ann', 'ann', 'plan', 1), (2, 'bob', 'bob', 'plan', 1), (3, 'bob-extra', 'bob', 'extra', 1),
      (4, 'cyd', 'cyd', 'plan', 1), (5, 'dan', 'dan', 'plan', 4), (6, 'eve', 'eve', 'plan', 1))
      s (n, id, person, package, many) join users u on u.app_id = 'shop' and u.id = s.person order by n`)
})
afterAll(() => server?.stop())

const list = (variables: object): Promise<Data> =>
  server.dashboard.call('subscriptions { next rows { id } }', { appId: 'shop', ...variables })

/** The ids of all pages. */
async function walk(order: string, first: number, filter: object = {}): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = null, pages = 0; ; pages++) {
    expect(pages).toBeLessThan(10)
    const { rows, next } = await list({ order, first, after, ...filter })
    ids.push(...rows.map(({ id }: Data) => id))
    if (next === null) return ids
    after = next
  }
}

describe('gap: long lists: subscriptions by amount', () => {
  const UP = ['eve', 'cyd', 'bob-extra', 'ann', 'bob', 'dan']

  it.each([
    1, 2, 4, 50,
  ])('are sorted within a currency, with their quantity, in pages of %i', async (first) => {
    expect(await walk('AMOUNT', first)).toEqual(UP)
    expect(await walk('AMOUNT_DESC', first)).toEqual(UP.toReversed())
  })

  it('are filtered as in every other order', async () => {
    expect(await walk('AMOUNT_DESC', 2, { packageId: 'extra' })).toEqual(['bob-extra'])
    expect(await walk('AMOUNT_DESC', 2, { provider: '' })).toEqual(['eve'])
    expect(await walk('AMOUNT_DESC', 2, { userId: 'bob' })).toEqual(['bob', 'bob-extra'])
  })

  it.each([
    '1',
    'bm9uc2Vuc2U',
    'WyJ1c2QiLDEsMV0',
    'WyJ1c2QiLCItMSIsMV0',
  ])('refuse a cursor of another list: %s', async (after) => {
    const { errors } = await server.dashboard.ask(
      `{ subscriptions(appId: "shop", order: AMOUNT, after: "${after}") { next } }`,
    )
    expect(errors?.[0]).toMatchObject({
      message: 'after must be the `next` value of a previous page',
      extensions: { code: 'BAD_USER_INPUT' },
    })
  })
})

describe('gap: long lists: a user without a name', () => {
  it('is titled by the email in the lists of subscriptions and payments', async () => {
    await rowsOf(
      { connectionString: server.databaseUrl },
      `with paid as (update users set email = 'ann@example.com' where app_id = 'shop' and id = 'ann' returning uid)
       insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
       select 'shop', 'sandbox', 'in-ann', uid, 'ann', 'PAID', 900, 'usd', now() - interval '1 hour' from paid`,
    )
    const { subscriptions } = await server.dashboard.data(
      '{ subscriptions(appId: "shop", userId: "ann") { rows { userName } } }',
    )
    expect(subscriptions.rows).toEqual([{ userName: 'ann@example.com' }])
    const { payments, mrrList } = await server.dashboard.data(
      '{ payments(appId: "shop", state: PAID, days: 30) { rows { userName } } mrrList(appId: "shop") { rows { userId userName } } }',
    )
    expect(payments.rows).toEqual([{ userName: 'ann@example.com' }])
    expect(mrrList.rows).toContainEqual({ userId: 'ann', userName: 'ann@example.com' })
    expect(mrrList.rows).toContainEqual({ userId: 'cyd', userName: null })
  })
})
