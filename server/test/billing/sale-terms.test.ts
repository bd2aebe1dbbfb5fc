import type Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { subscriptionOf } from '../stripe/invoices.ts'
import { jobsDone } from './jobs-done.ts'
import { FAILING_CARD, GOOD_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'

// Payment links that may be tried before they are paid, and links that take promotion codes.

const SECRET = 'whsec_of_these_tests'
const START = Date.UTC(2090, 0, 15)
const DAY = 86_400_000

const { server, stripe } = serverWithStripe({ now: START / 1000 })
let shop: SandboxShop
let unregister: () => void
beforeEach(async () => {
  shop = await openSandboxShop(server, { testClock: true })
  await shop.useStripe(stripe, SECRET)
  unregister = stripe.register({ urls: [`${server.url}/webhooks/stripe/${shop.id}`], secret: SECRET })
  await shop.advance(iso(stripe.world.now * 1000))
})
afterEach(() => unregister())

const iso = (time: number) => new Date(time).toISOString()

const subscriptions = async (): Promise<Data[]> =>
  await shop.admin.call(
    'subscriptions { package { id } status startedAt cancelAt cancelledAt trialEndsAt }',
    { userId: 'ann' },
  )

const tryOut = (more: Data = {}) => shop.template('try', ['plan'], undefined, { trialDays: 14, ...more })

describe('gap: billing, a trial of a payment link in the sandbox', () => {
  it('is free until it ends, then charged, and usage is counted from there', async () => {
    await tryOut()
    const page = await (await fetch(await shop.link('try'))).text()
    expect(page).toContain('14 days free')
    expect(page).toContain('then $12.00 per month')
    expect(page).toContain('Card number')
    const { now } = await started()
    const trialEndsAt = iso(now + 14 * DAY)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', trialEndsAt, cancelAt: null }])
    expect(await shop.canUse()).toMatchObject({ access: true })
    await shop.advance(trialEndsAt)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', trialEndsAt, cancelAt: null }])
    expect(await invoices()).toEqual([0, 1200])
    // What was paid then lasts for a month from there, and not from the first day of the trial.
    await shop.advance(iso(now + (14 + 27) * DAY))
    expect(await invoices()).toEqual([0, 1200])
    await shop.advance(iso(now + (14 + 32) * DAY))
    expect(await invoices()).toEqual([0, 1200, 1200])
  })

  it('without a card asks for none, and ends when it is over, by the clock', async () => {
    await tryOut({ trialNeedsCard: false })
    const url = await shop.link('try')
    expect(await (await fetch(url)).text()).not.toContain('Card number')
    expect((await shop.submit(url, {})).status).toBe(303)
    await jobsDone(server.databaseUrl)
    const [made] = await subscriptions()
    expect(made).toMatchObject({ status: 'ACTIVE', cancelAt: made?.trialEndsAt })
    await shop.advance(String(made?.trialEndsAt))
    expect(await subscriptions()).toMatchObject([{ status: 'CANCELLED', cancelledAt: made?.trialEndsAt }])
    expect(await invoices()).toEqual([0])
  })

  it('ends in the days of grace where its card does not pay', async () => {
    await tryOut()
    await shop.buy('try', 'ann', FAILING_CARD)
    const [made] = await subscriptions()
    await shop.advance(String(made?.trialEndsAt))
    const end = Date.parse(String(made?.trialEndsAt)) + 7 * DAY
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', cancelAt: iso(end) }])
  })

  it('is given once: another link for the same package is paid at once', async () => {
    await tryOut()
    await shop.buy('try')
    const [{ id }] = (await shop.billed()) as [{ id: string }]
    await shop.cancel(id, false)
    await jobsDone(server.databaseUrl)
    const ended = await rowsOf(
      { connectionString: server.databaseUrl },
      'select status from provider_subscription where app_id = $1',
      [shop.id],
    )
    expect(ended).toEqual([{ status: 'canceled' }])
    expect(await (await fetch(await shop.link('try'))).text()).toContain('Total today</dt><dd>$12.00')
    await shop.admin.data('mutation { createUser(input: { id: "bob" }) { id } }')
    expect(await (await fetch(await shop.link('try', 'bob'))).text()).toContain('14 days free')
  })

  it('is given once: links that were made before and promise it are closed, others are not', async () => {
    await tryOut()
    await shop.template('with extra', ['plan', 'extra'], undefined, { trialDays: 30 })
    await shop.template('try pro', ['pro'], undefined, { trialDays: 14 })
    const [again, more, pro, paid] = [
      await shop.link('try'),
      await shop.link('with extra'),
      await shop.link('try pro'),
      await shop.link('plan'),
    ]
    await shop.buy('try')
    for (const url of [again, more]) {
      expect(await (await fetch(url)).text()).toContain('expired')
      expect((await shop.submit(url, GOOD_CARD)).status).not.toBe(303)
    }
    expect(await (await fetch(pro)).text()).toContain('14 days free')
    expect(await (await fetch(paid)).text()).toContain('Total today</dt><dd>$12.00')
    await jobsDone(server.databaseUrl)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE' }])
  })

  it('is not promised any more where one was given by hand', async () => {
    await tryOut()
    const url = await shop.link('try')
    await shop.admin.data('mutation { startTrial(userId: "ann", packageId: "plan", days: 3) { id } }')
    await jobsDone(server.databaseUrl)
    expect(await (await fetch(url)).text()).toContain('expired')
  })

  it('is given to somebody who has had the package without one', async () => {
    await tryOut()
    const subscribe = await shop.admin.call('subscribe { id }', { userId: 'ann', packageIds: ['plan'] })
    await shop.admin.call('cancelSubscription', { id: subscribe[0].id })
    expect(await (await fetch(await shop.link('try'))).text()).toContain('14 days free')
  })

  it('is refused for what is paid once, before anyone asks for a link', async () => {
    await shop.template('never', ['life'], undefined, { trialDays: 3 })
    const billingTemplate = await shop.dashboard.call(
      'billingTemplate { problem trialDays trialNeedsCard promotionCodes }',
      { id: 'never' },
    )
    expect(billingTemplate).toEqual({
      problem: expect.stringMatching(/One-off prices do not support trials/),
      trialDays: 3,
      trialNeedsCard: true,
      promotionCodes: false,
    })
    expect((await shop.linkError('never')).message).toMatch(/One-off prices do not support trials/)
  })

  async function started(): Promise<{ now: number }> {
    await shop.buy('try', 'ann', GOOD_CARD)
    const [made] = await subscriptions()
    return { now: Date.parse(String(made?.startedAt)) }
  }

  async function invoices(): Promise<number[]> {
    const rows = await rowsOf<{ due: string }>(
      { connectionString: server.databaseUrl },
      'select due from sandbox_invoice where app_id = $1 order by number',
      [shop.id],
    )
    return rows.map(({ due }) => Number(due))
  }
})

describe('gap: billing, a trial of a payment link at Stripe', () => {
  const linked = async () => /cs_\w+/.exec(await shop.link('at stripe'))?.[0] ?? ''
  const sold = async (terms: Data) => {
    const { id } = stripe.sell({ name: 'plan', amount: 1500 })
    await shop.importPrice('plan', id)
    await shop.template('at stripe', ['plan'], [id], terms)
    return stripe.world.session(await linked())
  }
  const heard = async () => {
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
  }
  /** Both clocks, on by so many days. */
  const later = async (days: number) => {
    stripe.advance(days * 86_400)
    await shop.advance(iso(stripe.world.now * 1000))
    await heard()
  }

  it('is Stripe’s own, with a card that is charged when it ends', async () => {
    const session = await sold({ trialDays: 7 })
    expect(session.payment_method_collection).toBe('always')
    stripe.pay(session.id)
    await heard()
    const trialEndsAt = iso((stripe.world.now + 7 * 86_400) * 1000)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', trialEndsAt, cancelAt: null }])
    await later(8)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', trialEndsAt, cancelAt: null }])
    expect([...stripe.world.invoices.values()].at(-1)).toMatchObject({ total: 1500, status: 'paid' })
  })

  it('without a card ends when it is over', async () => {
    const session = await sold({ trialDays: 7, trialNeedsCard: false })
    expect(session.payment_method_collection).toBe('if_required')
    stripe.pay(session.id, { method: null })
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE' }])
    await later(8)
    expect(await subscriptions()).toMatchObject([{ status: 'CANCELLED' }])
  })

  it('is given once: a link that was made before is closed at Stripe', async () => {
    const session = await sold({ trialDays: 7 })
    const other = await linked()
    stripe.pay(session.id)
    await heard()
    expect(stripe.world.session(other).status).toBe('expired')
    expect(() => stripe.pay(other)).toThrow()
  })

  it('is given once: of a link that could not be closed in time nothing comes, and nothing is charged', async () => {
    const [first, second] = [await sold({ trialDays: 7 }), await linked()]
    stripe.fail({ outage: { kind: 'broken' }, path: /expire$/ })
    const { subscription: one } = stripe.pay(first.id)
    const trialEndsAt = iso((stripe.world.now + 7 * 86_400) * 1000)
    await heard()
    await later(0.5)
    const { subscription: other } = stripe.pay(second)
    await heard()
    stripe.fail(null)
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', trialEndsAt }, { status: 'CANCELLED' }])
    const statuses = [one, other].map((ref) => stripe.world.subscription(String(ref)).status)
    expect(statuses).toEqual(['trialing', 'canceled'])
    expect((await shop.notices()).filter(({ state }) => state === 'FAILED')).toEqual([])
    await later(8)
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE' }, { status: 'CANCELLED' }])
    const isTheirs = (invoice: Stripe.Invoice) => [one, other].includes(subscriptionOf(invoice))
    const paid = [...stripe.world.invoices.values()].filter(isTheirs).map(({ amount_paid }) => amount_paid)
    expect(paid.filter((amount) => amount > 0)).toEqual([1500])
  })

  it('is given once: one that was over before we heard of it counts, and the shop is told', async () => {
    const [first, second] = [await sold({ trialDays: 7 }), await linked()]
    stripe.cancel(String(stripe.pay(first.id).subscription))
    stripe.fail({ outage: { kind: 'broken' }, path: /expire$/ })
    await heard()
    const { subscription } = stripe.pay(second)
    stripe.fail(null)
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'CANCELLED' }, { status: 'CANCELLED' }])
    expect(stripe.world.subscription(String(subscription)).status).toBe('canceled')
    const told = (await shop.notices()).filter(({ state }) => state === 'FAILED')
    expect(told).toMatchObject([
      { lastError: expect.stringMatching(/already had a trial of "plan".*a new payment link/) },
    ])
  })

  it('takes promotion codes where the template says so, and not otherwise', async () => {
    expect((await sold({ promotionCodes: true })).allow_promotion_codes).toBe(true)
    await shop.template('plain', ['plan'])
    const plain = /cs_\w+/.exec(await shop.link('plain'))?.[0] ?? ''
    expect(stripe.world.session(plain).allow_promotion_codes).toBeNull()
  })
})
