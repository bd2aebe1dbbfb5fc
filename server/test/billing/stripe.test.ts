import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'

// Every turn that a subscription can take at Stripe, and what it comes to here. The stand-in is asked by the official
// SDK, as Stripe would be, and sends signed notices.

const SECRET = 'whsec_of_these_tests'

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let unregister: () => void
/** Stripe's ids, by package */
const prices = new Map<string, string>()
beforeEach(async () => {
  shop = await openSandboxShop(server)
  await setAccount({ secretKey: stripe.key, webhookSecret: SECRET })
  unregister = stripe.register({ urls: [`${server.url}/webhooks/stripe/${shop.id}`], secret: SECRET })
  for (const name of ['plan', 'pro', 'extra', 'life']) {
    const price = stripe.sell({ name, amount: 1500, interval: name === 'life' ? null : 'month' })
    prices.set(name, price.id)
    await shop.importPrice(name, price.id)
  }
})

// Else every notice would go to the shops of all tests before it as well.
afterEach(() => unregister())

const setAccount = async (input: object) =>
  await shop.dashboard.call(
    'setProviderAccount { enabled source keyHint livemode webhookSecrets webhookUrl }',
    { provider: 'stripe', input },
  )

const sessionOf = (url: string) => /cs_\w+/.exec(url)?.[0] ?? ''

async function heard(): Promise<void> {
  await stripe.deliver()
  await jobsDone(server.databaseUrl)
}

/** Pays for a template; returns Stripe's id of the subscription. */
async function buy(template: string, userId: string | null = 'ann'): Promise<string> {
  const session = stripe.pay(sessionOf(await shop.link(template, userId)), {
    email: 'pat@example.com',
    name: 'Pat',
  })
  await heard()
  return typeof session.subscription === 'string' ? session.subscription : (session.subscription?.id ?? '')
}

describe('gap: billing, a subscription at Stripe', () => {
  it('is created by a payment, with the payer’s customer', async () => {
    const ref = await buy('plan')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    const { user } = await shop.admin.data('{ user(id: "ann") { billingId email } }')
    expect(user).toEqual({ billingId: expect.stringMatching(/^cus_/), email: 'ann@example.com' })
    const [{ id }] = (await shop.billed()) as [{ id: string }]
    const subscription = await shop.dashboard.call('subscription { billing { provider ref status } }', { id })
    expect(subscription.billing).toEqual({ provider: 'stripe', ref, status: 'active' })
    await buy('extra')
    const { user: later } = await shop.admin.data('{ user(id: "ann") { billingId } }')
    expect(later.billingId).toBe(user.billingId)
  })

  it('makes its payer a user if the link named none, and follows changes of name and email', async () => {
    await buy('plan', null)
    const payers = async () => (await shop.admin.data('{ users { id billingId name email } }')).users.slice(1)
    const [payer] = await payers()
    expect(payer).toMatchObject({ name: 'Pat', email: 'pat@example.com' })
    expect(payer.id).toBe(payer.billingId)
    stripe.updateCustomer(payer.id, { email: 'new@example.com', name: 'Patricia' })
    await heard()
    expect(await payers()).toEqual([{ ...payer, name: 'Patricia', email: 'new@example.com' }])
    stripe.deleteCustomer(payer.id)
    await heard()
    expect(await payers()).toMatchObject([{ id: payer.id, billingId: null }])
    expect(await shop.subscriptions(payer.id)).toEqual(['plan CANCELLED'])
  })

  it('makes a payer a user whose name and email contain what cannot be stored', async () => {
    stripe.pay(sessionOf(await shop.link('plan', null)), {
      email: 'p\u0000at@example.com',
      name: 'P\u0000at',
    })
    await heard()
    const payers = async () => (await shop.admin.data('{ users { id name email } }')).users.slice(1)
    const [payer] = await payers()
    expect(payer).toMatchObject({ name: 'Pat', email: 'pat@example.com' })
    expect(await shop.subscriptions(payer.id)).toEqual(['plan ACTIVE'])
    stripe.updateCustomer(payer.id, { name: 'Pa\u0000tricia' })
    await heard()
    expect(await payers()).toEqual([{ ...payer, name: 'Patricia' }])
  })

  it('grants nothing until a payment that takes days has arrived', async () => {
    const session = stripe.payLater(sessionOf(await shop.link('plan')))
    await heard()
    expect(await shop.subscriptions()).toEqual([])
    stripe.settle(session.id, 'paid')
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
  })

  it.each(['plan', 'life'])('grants nothing when such a payment fails (%s)', async (template) => {
    const session = stripe.payLater(sessionOf(await shop.link(template)))
    stripe.settle(session.id, 'failed')
    await heard()
    expect(await shop.subscriptions()).toEqual([])
    const [row] = await rowsOf<{ state: string }>(
      { connectionString: server.databaseUrl },
      'select state from checkout_session where app_id = $1',
      [shop.id],
    )
    expect(row?.state).toMatch(/FAILED|AWAITING/)
  })

  it('lasts for good after a one-off payment', async () => {
    await buy('life', null)
    const { users } = await shop.admin.data('{ users { id } }')
    expect(await shop.subscriptions(users[1].id)).toEqual(['life ACTIVE'])
  })

  const TURNS: { turn: string; act(ref: string): void; comes: string[] }[] = [
    { turn: 'renewed', act: (ref) => stripe.renew(ref, 'paid'), comes: ['plan ACTIVE'] },
    { turn: 'ended', act: (ref) => stripe.cancel(ref), comes: ['plan CANCELLED'] },
    { turn: 'paused', act: (ref) => stripe.pause(ref), comes: ['plan CANCELLED'] },
    {
      turn: 'paused and resumed',
      act: (ref) => {
        stripe.pause(ref)
        stripe.resume(ref)
      },
      comes: ['plan ACTIVE'],
    },
    {
      turn: 'past due, within the grace time',
      act: (ref) => stripe.renew(ref, 'failed'),
      comes: ['plan ACTIVE'],
    },
  ]
  it.each(TURNS)('$turn', async ({ act, comes }) => {
    act(await buy('plan'))
    await heard()
    expect(await shop.subscriptions()).toEqual(comes)
  })

  it('becomes a new subscription when it resumes after a known pause', async () => {
    const ref = await buy('plan')
    stripe.pause(ref)
    await heard()
    stripe.resume(ref)
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'plan ACTIVE'])
  })

  it('ends with the grace time, and is there again once the invoice is paid', async () => {
    const ref = await buy('plan')
    stripe.renew(ref, 'failed')
    await heard()
    const [graced] = await shop.billed()
    expect(graced?.cancelAt).not.toBeNull()
    await shop.dashboard.data(`mutation { setGraceDays(appId: "${shop.id}", days: 0) { graceDays } }`)
    stripe.failInvoice(ref)
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED'])
    stripe.payInvoice(ref)
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect((await shop.billed())[1]?.cancelAt).toBeNull()
  })

  it('has its payments kept, paid or not, and its price counted a month', async () => {
    const figures = async () => {
      const { revenue, payments } = await shop.dashboard.data(
        `query ($appId: String!) {
          revenue(appId: $appId, fresh: true) {
            pastDue mrr { provider currency amount pastDue } payments { paid paidAmount failed failedAmount }
          }
          payments(appId: $appId, state: FAILED) { rows { userId amount currency } }
        }`,
        { appId: shop.id },
      )
      return { ...revenue, failed: payments.rows }
    }
    const ref = await buy('plan')
    await buy('life')
    const mrr = { provider: 'stripe', currency: 'usd', amount: 1500, pastDue: 0 }
    const paid = { paid: 2, paidAmount: 3000, failed: 0, failedAmount: 0 }
    expect(await figures()).toEqual({ pastDue: 0, mrr: [mrr], payments: [paid], failed: [] })
    stripe.renew(ref, 'failed')
    await heard()
    expect(await figures()).toEqual({
      pastDue: 1,
      mrr: [{ ...mrr, pastDue: 1500 }],
      payments: [{ ...paid, failed: 1, failedAmount: 1500 }],
      failed: [{ userId: 'ann', amount: 1500, currency: 'usd' }],
    })
    stripe.payInvoice(ref)
    await heard()
    expect(await figures()).toEqual({
      pastDue: 0,
      mrr: [mrr],
      payments: [{ ...paid, paid: 3, paidAmount: 4500 }],
      failed: [],
    })
  })

  it('is left as it is, and a person is told, when it is past due for a price of no package', async () => {
    const ref = await buy('plan')
    const [item] = stripe.world.subscription(ref).items.data
    const unknown = stripe.sell({ name: 'unknown', amount: 700 })
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: item?.id ?? '', price: unknown.id }] })
    stripe.renew(ref, 'failed')
    await heard()
    expect(await shop.notices('state lastError')).toContainEqual({
      state: 'FAILED',
      lastError: expect.stringMatching(new RegExp(`"${unknown.id}" does not belong to a package`)),
    })
    expect(await shop.billed()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
  })

  it('is left as it is, and a person is told, when two base plans are on the bill', async () => {
    const ref = await buy('plan')
    await stripe.sdk().subscriptions.update(ref, { items: [{ price: prices.get('pro') ?? '' }] })
    await heard()
    expect(await shop.notices('state lastError')).toContainEqual({
      state: 'FAILED',
      lastError:
        'The subscription contains several base plans: "plan" and "pro". Remove all but one at Stripe and replay this event.',
    })
    expect(await shop.billed()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
  })

  it('ends at the period’s end when set so there, unless that is undone', async () => {
    const ref = await buy('plan')
    stripe.cancel(ref, 'at period end')
    await heard()
    const [ending] = await shop.billed()
    expect(ending).toMatchObject({ status: 'ACTIVE', cancelAt: expect.any(String) })
    stripe.uncancel(ref)
    await heard()
    expect(await shop.billed()).toMatchObject([{ id: ending?.id, status: 'ACTIVE', cancelAt: null }])
  })

  it('is cancelled there when it is cancelled here', async () => {
    const ref = await buy('plan')
    const [plan] = await shop.billed()
    const { cancelAt } = await shop.cancel(plan?.id, true)
    expect(stripe.world.subscription(ref)).toMatchObject({ cancel_at_period_end: true, status: 'active' })
    expect(Date.parse(cancelAt) / 1000).toBe(stripe.world.subscription(ref).items.data[0]?.current_period_end)
    await shop.cancel(plan?.id, false)
    expect(stripe.world.subscription(ref).status).toBe('canceled')
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED'])
  })

  it('cannot be paid for by a link that was made while its user was deleted', async () => {
    const by = async () => {
      await shop.admin.data('mutation { deleteUser(id: "ann") { id } }')
    }
    stripe.fail({ outage: { kind: 'overtaken', by }, method: 'POST', path: /checkout\/sessions$/, times: 1 })
    expect((await shop.linkError('plan')).message).toMatch(/^The payment link no longer exists/)
    stripe.fail(null)
    const { data } = await stripe.sdk().checkout.sessions.list({ limit: 1 })
    expect(data.map(({ status }) => status)).toEqual(['expired'])
  })

  it('has a price of which the list at Stripe says whose it is', async () => {
    const { id } = stripe.sell({ name: 'other', amount: 100 })
    const providerPrices = await shop.dashboard.call('providerPrices { id packageId }', {
      provider: 'stripe',
    })
    const taken = providerPrices.flatMap(({ packageId }: Data) => packageId ?? [])
    expect(taken.toSorted()).toEqual(['extra', 'life', 'plan', 'pro'])
    expect(providerPrices).toContainEqual({ id, packageId: null })
  })

  it('cannot be cancelled here while Stripe is unreachable', async () => {
    await buy('plan')
    const [plan] = await shop.billed()
    stripe.fail({ outage: { kind: 'unreachable' } })
    const { extensions, message } = await shop.dashboard.error(
      `mutation { cancelSubscription(appId: "${shop.id}", id: "${plan?.id}") { id } }`,
    )
    stripe.fail(null)
    expect(extensions).toMatchObject({ code: 'BILLING_PROVIDER_ERROR', status: 502 })
    expect(message).toContain('is unreachable')
    expect(await shop.billed()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
  })

  it('is asked for 18 times while Stripe is unreachable; then its notice has failed', async () => {
    stripe.fail({ outage: { kind: 'unreachable' } })
    for (const attempts of [16, 17]) {
      await rowsOf(
        { connectionString: server.databaseUrl },
        `with n as (insert into notice (app_id, provider, event_id, type, payload, attempts)
           values ($1, 'stripe', 'evt_' || $2, 'customer.subscription.updated',
             '{"data":{"object":{"object":"subscription","id":"sub_1"}}}', $2::int) returning app_id, seq)
         select graphile_worker.add_job('handle-notice', json_build_object('appId', app_id, 'seq', seq)) from n`,
        [shop.id, attempts],
      )
    }
    await jobsDone(server.databaseUrl)
    stripe.fail(null)
    expect(await shop.notices('eventId state attempts lastError')).toEqual([
      {
        eventId: 'evt_17',
        state: 'FAILED',
        attempts: 18,
        lastError: expect.stringContaining('connection to Stripe'),
      },
      {
        eventId: 'evt_16',
        state: 'PENDING',
        attempts: 17,
        lastError: expect.stringContaining('connection to Stripe'),
      },
    ])
  })

  it('is replaced by the next plan, whichever of the two is heard of first', async () => {
    const [first, second] = [await shop.link('plan'), await shop.link('pro')]
    stripe.pay(sessionOf(first))
    stripe.advance(60)
    stripe.pay(sessionOf(second))
    await stripe.deliver({ shuffle: true })
    await jobsDone(server.databaseUrl)
    await heard()
    expect((await shop.subscriptions()).filter((s) => s.endsWith('ACTIVE'))).toEqual(['pro ACTIVE'])
    const { data } = await stripe.sdk().subscriptions.list({ status: 'active', limit: 100 })
    const mine = data.filter((s) => s.metadata.tollgate_session)
    expect(mine.length).toBeGreaterThan(0)
  })

  it('is found by reconciling when its notices were lost', async () => {
    stripe.pay(sessionOf(await shop.link('plan')))
    await stripe.deliver({ drop: 1 })
    expect(await shop.subscriptions()).toEqual([])
    const reconcileBilling = await shop.dashboard.call('reconcileBilling')
    expect(reconcileBilling).toBe(1)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
  })
})

describe('gap: billing, the account at Stripe', () => {
  const forge = async (secret: string) => {
    const payload = JSON.stringify({ id: `evt_${Math.random()}`, type: 'x', data: { object: {} } })
    const header = stripe.sdk().webhooks.generateTestHeaderString({ payload, secret })
    const { status } = await fetch(`${server.url}/webhooks/stripe/${shop.id}`, {
      method: 'POST',
      headers: { 'Stripe-Signature': header },
      body: payload,
    })
    return status
  }

  it('is shown without its secrets, which are kept sealed', async () => {
    const shown = await setAccount({})
    expect(shown).toEqual({
      enabled: true,
      source: 'DASHBOARD',
      keyHint: stripe.key.slice(-4),
      livemode: false,
      webhookSecrets: 1,
      webhookUrl: `${server.url}/webhooks/stripe/${shop.id}`,
    })
    const rows = await rowsOf<{ all: string }>(
      { connectionString: server.databaseUrl },
      `select encode(secret_key, 'escape') || encode(webhook_secret, 'escape') as all from provider_account`,
    )
    for (const { all } of rows) expect(all).not.toMatch(/sk_test|whsec/)
  })

  it('accepts the former signing secret beside the new one until it is dropped', async () => {
    expect(await forge(SECRET)).toBe(200)
    expect((await setAccount({ webhookSecret: 'whsec_the_next' })).webhookSecrets).toBe(2)
    expect([await forge(SECRET), await forge('whsec_the_next'), await forge('whsec_no')]).toEqual([
      200, 200, 400,
    ])
    expect((await setAccount({ dropPreviousWebhookSecret: true })).webhookSecrets).toBe(1)
    expect([await forge(SECRET), await forge('whsec_the_next')]).toEqual([400, 200])
  })

  it('sealed secrets of one app do not open for another', async () => {
    const other = await openSandboxShop(server)
    await rowsOf(
      { connectionString: server.databaseUrl },
      `insert into provider_account (app_id, provider, secret_key, webhook_secret)
       select $2, provider, secret_key, webhook_secret from provider_account where app_id = $1`,
      [shop.id, other.id],
    )
    const { extensions } = await other.dashboard.error(
      `{ providerAccounts(appId: "${other.id}") { keyHint } }`,
    )
    expect(extensions.code).toBe('INTERNAL_SERVER_ERROR')
  })

  const WRONG = [
    [{ secretKey: 'pk_test_public' }, /starts with sk_ or rk_/],
    [{ webhookSecret: 'secret' }, /starts with whsec_/],
  ] as const
  it.each(WRONG)('refuses %j', async (input, says) => {
    const { message } = await shop.dashboard.error(
      `mutation ($appId: String!, $input: ProviderAccountInput!) {
        setProviderAccount(appId: $appId, provider: "stripe", input: $input) { enabled }
      }`,
      { appId: shop.id, input },
    )
    expect(message).toMatch(says)
  })

  it('can be tried, and forgotten', async () => {
    const test = async () =>
      await shop.dashboard.call('testProviderAccount { ok message }', { provider: 'stripe' })
    expect(await test()).toMatchObject({ ok: true })
    await setAccount({ secretKey: 'sk_test_wrong_key' })
    expect(await test()).toMatchObject({
      ok: false,
      message: expect.stringContaining('secret key is not valid'),
    })
    const removeProviderAccount = await shop.dashboard.call(
      'removeProviderAccount { source webhookSecrets keyHint }',
      { provider: 'stripe' },
    )
    expect(removeProviderAccount).toEqual({ source: 'NONE', webhookSecrets: 0, keyHint: null })
    expect(await forge(SECRET)).toBe(400)
  })
})
