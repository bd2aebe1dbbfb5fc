import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { FAILING_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

const server = shared(startTestServer)
let shop: SandboxShop

const DAY = 86_400_000

async function revenue(days = 30, fresh = true): Promise<Data> {
  return shop.dashboard.call(
    'revenue { asOf from new changed cancelled pastDue trialing plans { packageId isAddon active trialing pastDue unpaid } mrr { provider currency decimals amount pastDue } payments { provider currency decimals paid paidAmount failed failedAmount refunded refundedAmount } }',
    { days, fresh },
  )
}

async function listed(list: string, days = 30): Promise<string[]> {
  const seen: string[] = []
  let after: string | null = null
  do {
    const revenueList: Data = await shop.dashboard.call(
      'revenueList { rows { userId packageId fromPackageName } next }',
      { list, days, first: 1, after },
    )
    for (const { userId, packageId, fromPackageName: from } of revenueList.rows) {
      seen.push(`${userId}: ${from === null ? '' : `${from} → `}${packageId}`)
    }
    after = revenueList.next
  } while (after !== null)
  return seen
}

/** How many subscriptions to a package are listed in each state. */
async function inState(packageId: string): Promise<Record<string, number>> {
  const answer = await shop.dashboard.data(
    `query ($appId: String!, $packageId: String!) {
      live: subscriptions(appId: $appId, packageId: $packageId, state: LIVE) { rows { id } }
      active: subscriptions(appId: $appId, packageId: $packageId, state: ACTIVE) { rows { id } }
      trialing: subscriptions(appId: $appId, packageId: $packageId, state: TRIAL) { rows { id } }
      pastDue: subscriptions(appId: $appId, packageId: $packageId, state: PAST_DUE) { rows { id } } }`,
    { appId: shop.id, packageId },
  )
  return Object.fromEntries(Object.entries<Data>(answer).map(([state, { rows }]) => [state, rows.length]))
}

/** Asked for one by one. */
async function paid(state: string, days = 30): Promise<string[]> {
  const seen: string[] = []
  let after: string | null = null
  do {
    const payments: Data = await shop.dashboard.call('payments { rows { userId amount currency } next }', {
      state,
      days,
      first: 1,
      after,
    })
    for (const { userId, amount, currency } of payments.rows) seen.push(`${userId} ${amount} ${currency}`)
    after = payments.next
  } while (after !== null)
  return seen
}

/** What the monthly recurring revenue is made of, asked for one by one. */
async function recurring(): Promise<string[]> {
  const seen: string[] = []
  let after: string | null = null
  do {
    const mrrList: Data = await shop.dashboard.call(
      'mrrList { rows { userId packageNames amount currency pastDue } next }',
      { first: 1, after },
    )
    for (const { userId, packageNames, amount, currency, pastDue } of mrrList.rows) {
      seen.push(`${userId} ${packageNames.join(', ')} ${amount} ${currency} ${pastDue}`)
    }
    after = mrrList.next
  } while (after !== null)
  return seen.sort()
}

async function refund(userId: string, amount: number): Promise<void> {
  const subscriptionId = (await shop.billed(userId)).at(-1)?.id
  const at = { appId: shop.id, subscriptionId }
  const sandboxPayments = await shop.dashboard.call('sandboxPayments { paymentRef }', at)
  await shop.dashboard.data(
    `mutation ($appId: String!, $subscriptionId: String!, $paymentRef: String!, $amount: SafeInt) {
      reverseSandboxPayment(appId: $appId, subscriptionId: $subscriptionId, paymentRef: $paymentRef,
        action: REFUND, amount: $amount) { refunded } }`,
    { ...at, amount, paymentRef: sandboxPayments[0].paymentRef },
  )
  await jobsDone(server.databaseUrl)
}

const addUser = (id: string) => shop.admin.data(`mutation { createUser(input: { id: "${id}" }) { id } }`)
const now = async () =>
  Date.parse(
    (await shop.dashboard.data('{ apps { id now } }')).apps.find((app: Data) => app.id === shop.id).now,
  )
const later = async (days: number) => shop.advance(new Date((await now()) + days * DAY).toISOString())

describe('gap: revenue', () => {
  it('follows subscriptions as they begin, change, fail and end, each figure with its list', async () => {
    shop = await openSandboxShop(server, { testClock: true })
    for (const id of ['bob', 'cat', 'dan', 'eve']) await addUser(id)
    expect(await revenue()).toMatchObject({
      new: 0,
      changed: 0,
      cancelled: 0,
      plans: [],
      mrr: [],
      payments: [],
    })

    await shop.buy('both', 'ann')
    await shop.buy('plan', 'bob', FAILING_CARD)
    await shop.buy('life', 'cat')
    await shop.admin.data('mutation { subscribe(userId: "dan", packageIds: ["plan"]) { id } }')
    await shop.template('tried', ['pro'], undefined, { trialDays: 40 })
    await shop.buy('tried', 'eve')
    expect(await revenue()).toMatchObject({
      new: 6,
      changed: 0,
      cancelled: 0,
      pastDue: 0,
      trialing: 1,
      plans: [
        { packageId: 'plan', isAddon: false, active: 3, trialing: 0, pastDue: 0, unpaid: 1 },
        { packageId: 'life', active: 1, unpaid: 0 },
        { packageId: 'pro', active: 0, trialing: 1 },
        { packageId: 'extra', isAddon: true, active: 1 },
      ],
      // ann 14.00 and bob 12.00; what is paid once, given or tried costs nothing a month
      mrr: [{ provider: 'sandbox', currency: 'usd', decimals: 2, amount: 2600, pastDue: 0 }],
      payments: [{ paid: 3, paidAmount: 1400 + 1200 + 9900, failed: 0, failedAmount: 0 }],
    })
    expect((await listed('NEW')).sort()).toEqual([
      'ann: extra',
      'ann: plan',
      'bob: plan',
      'cat: life',
      'dan: plan',
      'eve: pro',
    ])
    expect(await listed('TRIALING')).toEqual(['eve: pro'])
    expect(await inState('pro')).toEqual({ live: 1, active: 0, trialing: 1, pastDue: 0 })
    expect((await paid('PAID')).sort()).toEqual(['ann 1400 usd', 'bob 1200 usd', 'cat 9900 usd'])

    await later(1)
    await shop.admin.call('changeSubscription', { userId: 'ann', packageId: 'pro', when: 'NOW' })
    await shop.cancel((await shop.billed('dan'))[0]?.id, false)
    expect(await revenue()).toMatchObject({
      new: 6,
      changed: 1,
      cancelled: 1,
      // ann 30.00 and 2.00, bob 12.00
      mrr: [{ amount: 4400, pastDue: 0 }],
    })
    expect(await listed('CHANGED')).toEqual(['ann: plan → pro'])
    expect(await listed('CANCELLED')).toEqual(['dan: plan'])

    // bob's card fails to renew, ann's pays.
    await later(32)
    expect(await revenue(7)).toMatchObject({
      new: 0,
      changed: 0,
      cancelled: 0,
      pastDue: 1,
      plans: expect.arrayContaining([
        expect.objectContaining({ packageId: 'pro', active: 1, trialing: 1, pastDue: 0 }),
        expect.objectContaining({ packageId: 'plan', active: 0, trialing: 0, pastDue: 1 }),
      ]),
      mrr: [{ amount: 4400, pastDue: 1200 }],
      payments: [{ paid: 1, paidAmount: 3200, failed: 1, failedAmount: 1200 }],
    })
    expect(await listed('PAST_DUE', 7)).toEqual(['bob: plan'])
    // Each figure leads to a list of as many.
    expect(await inState('plan')).toEqual({ live: 1, active: 0, trialing: 0, pastDue: 1 })
    expect(await inState('pro')).toEqual({ live: 2, active: 1, trialing: 1, pastDue: 0 })
    expect(await paid('FAILED', 7)).toEqual(['bob 1200 usd'])
    expect(await paid('PAID', 7)).toEqual(['ann 3200 usd'])
    expect(await recurring()).toEqual(['ann pro, extra 3200 usd 0', 'bob plan 1200 usd 1200'])

    // 5.00 of ann's last payment is given back: what was paid stays what was paid.
    await refund('ann', 500)
    expect(await revenue(7)).toMatchObject({
      mrr: [{ amount: 4400 }],
      payments: [{ paid: 1, paidAmount: 3200, refunded: 1, refundedAmount: 500 }],
    })
    expect(await paid('REFUNDED', 7)).toEqual(['ann 500 usd'])
    await refund('cat', 100)
    expect((await paid('REFUNDED', 7)).sort()).toEqual(['ann 500 usd', 'cat 100 usd'])

    // The grace time is over, and eve's trial.
    await later(10)
    expect(await revenue(7)).toMatchObject({ pastDue: 0, trialing: 0, mrr: [{ amount: 6200, pastDue: 0 }] })

    await shop.admin.data('mutation { deleteUser(id: "ann") { id } }')
    expect((await paid('PAID', 365)).some((payment) => payment.startsWith('ann'))).toBe(false)
  })

  it('a plan that is to follow is not paid for yet', async () => {
    shop = await openSandboxShop(server)
    await shop.buy('pro')
    await shop.admin.call('changeSubscription', { userId: 'ann', packageId: 'plan', when: 'PERIOD_END' })
    await jobsDone(server.databaseUrl)
    expect(await recurring()).toEqual(['ann pro 3000 usd 0'])
  })

  it('is always current for a small app', async () => {
    shop = await openSandboxShop(server)
    expect(await revenue(30, false)).toMatchObject({ new: 0, plans: [] })
    await shop.buy('plan')
    expect(await revenue(30, false)).toMatchObject({ new: 1, plans: [{ packageId: 'plan', active: 1 }] })
    // Another request that is making them does not mean that those of earlier have to do.
    const other = new pg.Client(server.databaseUrl)
    await other.connect()
    await other.query('begin')
    await other.query(`select pg_advisory_xact_lock(hashtext('tollgate revenue'), hashtext($1))`, [shop.id])
    await shop.cancel((await shop.billed())[0]?.id, false)
    expect(await revenue(30, false)).toMatchObject({ cancelled: 1, plans: [] })
    await other.end()
  })

  it('keeps figures of a large app for some minutes, and makes them again when asked, or when the clock was moved', async () => {
    shop = await openSandboxShop(server, { testClock: true })
    const keepAsLarge = async () => {
      await revenue(30, true)
      await rowsOf(
        { connectionString: server.databaseUrl },
        `update revenue_figures set figures = (figures::jsonb || '{"changed": 10001}')::json where app_id = $1`,
        [shop.id],
      )
    }
    await keepAsLarge()
    await shop.buy('plan')
    expect((await revenue(30, false)).new).toBe(0)
    expect((await revenue(30, true)).new).toBe(1)
    await keepAsLarge()
    await later(31)
    expect((await revenue(30, false)).new).toBe(0)
    await keepAsLarge()
    const age = `update revenue_figures set made_at = made_at - interval '6 minutes' where app_id = $1`
    await shop.admin.data('mutation { createUser(input: { id: "late" }) { id } }')
    await shop.buy('plan', 'late')
    expect((await revenue(30, false)).new).toBe(0)
    await rowsOf({ connectionString: server.databaseUrl }, age, [shop.id])
    expect((await revenue(30, false)).new).toBe(1)
  })

  it.each([
    ['{ revenue(appId: "none") { new } }', 'APP_NOT_FOUND'],
    ['{ revenue(appId: "default", days: 31) { new } }', 'BAD_USER_INPUT'],
    ['{ revenueList(appId: "default", list: NEW, days: 0) { next } }', 'BAD_USER_INPUT'],
    ['{ revenueList(appId: "default", list: NEW, after: "1") { next } }', 'BAD_USER_INPUT'],
    ['{ payments(appId: "default", state: PAID, first: 0) { next } }', 'BAD_USER_INPUT'],
  ])('refuses %s', async (query, code) => {
    expect((await server.dashboard.error(query)).extensions.code).toBe(code)
  })
})
