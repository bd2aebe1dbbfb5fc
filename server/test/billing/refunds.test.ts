import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { Refusal } from '../stripe/refusals.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'
import { NOTICES } from './stripe-shop.ts'

// What becomes of a subscription whose payment is refunded or disputed at Stripe.

const SECRET = 'whsec_of_these_tests'

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let customers: Customers

const explained = async (): Promise<string> => {
  const explain = await shop.dashboard.call('explain { steps { step text } }', {
    userId: customers.user,
    featureId: 'call',
  })
  return explain.steps.find(({ step }: { step: string }) => step === 'SUBSCRIPTIONS').text
}

describe('gap: billing, refunds and disputes at Stripe', () => {
  let unregister: () => void
  beforeAll(async () => {
    shop = await openSandboxShop(server)
    customers = new Customers(shop, server.databaseUrl)
    await shop.useStripe(stripe, SECRET)
    const urls = [`${server.url}/webhooks/stripe/${shop.id}`]
    unregister = stripe.register({ urls, secret: SECRET, types: NOTICES })
    for (const name of ['plan', 'pro', 'extra', 'life']) {
      const price = stripe.sell({ name, amount: 1500, interval: name === 'life' ? null : 'month' })
      await shop.importPrice(name, price.id)
    }
  })
  beforeEach(() => customers.next())
  afterEach(() => stripe.fail(null))
  afterAll(() => unregister())

  async function heard(): Promise<void> {
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
  }

  /** Nobody is told of what waits; the providers are asked about everything. */
  async function reconciled(): Promise<void> {
    await stripe.deliver({ drop: 1 })
    await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
    await jobsDone(server.databaseUrl)
  }

  /** Pays for a template; returns the subscription and the payment. */
  async function buy(template: string): Promise<{ ref: string; payment: string }> {
    const session = stripe.pay(/cs_\w+/.exec(await shop.link(template, customers.user))?.[0] ?? '')
    await heard()
    const ref = String(session.subscription ?? '')
    return { ref, payment: session.payment_intent ? String(session.payment_intent) : paymentOf(ref) }
  }

  const refundNotices = async () => (await shop.notices()).filter(({ type }) => type.includes('refund'))

  const paymentOf = (ref: string) => String(stripe.payments(ref)[0])

  it('shows a full refund on the subscription, and keeps access unless the app says otherwise', async () => {
    const billingSettings = await shop.dashboard.call('billingSettings { accessAfterRefund }')
    expect(billingSettings.accessAfterRefund).toBe('KEEP')
    const { payment } = await buy('plan')
    expect(await customers.reversals()).toEqual([[]])
    stripe.refund(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toEqual([
      [{ paymentRef: payment, amount: 1500, refunded: 1500, dispute: null }],
    ])
  })

  it('ends access where the app says so, and says why; the next payment starts a new subscription', async () => {
    await customers.access('END')
    const { ref, payment } = await buy('plan')
    stripe.refund(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    expect(await shop.canUse(customers.user)).toMatchObject({ access: false, reasonCode: 'NO_SUBSCRIPTION' })
    expect(await explained()).toMatch(
      /^No live subscription; 1 ended\. plan ended because its payment was refunded in full at [\d-]+ [\d:]+ UTC\.$/,
    )
    expect(stripe.world.subscription(ref).status).toBe('active')
    stripe.renew(ref, 'paid')
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect(await explained()).not.toContain('refunded')
  })

  it('counts partial refunds together', async () => {
    await customers.access('END')
    const { payment } = await buy('plan')
    stripe.refund(payment, 1000)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toMatchObject([[{ amount: 1500, refunded: 1000 }]])
    stripe.refund(payment, 500)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
  })

  it.each([
    'failed',
    'canceled',
  ] as const)('gives access back if the refund %s, and keeps usage', async (how) => {
    await customers.access('END')
    const { payment } = await buy('plan')
    await shop.admin.call('recordUsage', { input: { userId: customers.user, featureId: 'call', delta: 4 } })
    const refund = stripe.refund(payment)
    await heard()
    stripe.takeRefundBack(refund, how)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect(await customers.reversals()).toEqual([[], []])
    const canUseFeature = await shop.admin.call('canUseFeature { consumption { used } }', {
      userId: customers.user,
      featureId: 'call',
    })
    expect(canUseFeature.consumption.used).toBe(4)
  })

  it('keeps access when an earlier period is refunded or disputed', async () => {
    await customers.access('END')
    const { ref, payment } = await buy('plan')
    stripe.renew(ref, 'paid')
    stripe.refund(payment, 700)
    stripe.dispute(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toMatchObject([
      [{ paymentRef: payment, refunded: 700, dispute: { state: 'OPEN' } }],
    ])
  })

  it('ends access when all invoices of the running period are refunded, not when one of them is', async () => {
    await customers.access('END')
    const { ref, payment } = await buy('plan')
    const dear = stripe.sell({ name: 'dear', amount: 9000 })
    await shop.importPrice('pro', dear.id)
    const [item] = stripe.world.subscription(ref).items.data
    await stripe.sdk().subscriptions.update(ref, {
      items: [{ id: String(item?.id), price: dear.id }],
      proration_behavior: 'always_invoice',
    })
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'pro ACTIVE'])
    const upgrade = paymentOf(ref)
    stripe.refund(upgrade)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'pro ACTIVE'])
    expect(await customers.reversals()).toMatchObject([[], [{ paymentRef: upgrade }]])
    stripe.refund(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'pro CANCELLED'])
    expect(await customers.reversals()).toMatchObject([[{ paymentRef: payment }], [{ paymentRef: upgrade }]])
  })

  it('ends a one-off purchase, and gives it back as a new one', async () => {
    await customers.access('END')
    const { payment } = await buy('life')
    const refund = stripe.refund(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED'])
    stripe.takeRefundBack(refund)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED', 'life ACTIVE'])
    stripe.dispute(payment)
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED', 'life CANCELLED'])
  })

  it('never gives back a one-off purchase that someone has cancelled', async () => {
    await customers.access('END')
    const { payment } = await buy('life')
    const [{ id }] = (await shop.billed(customers.user)) as [{ id: string }]
    await shop.cancel(id, false)
    const refund = stripe.refund(payment)
    await heard()
    stripe.takeRefundBack(refund)
    await heard()
    await reconciled()
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED'])
  })

  it('waits while the bank only asks, ends with the dispute, and comes back when it is won', async () => {
    await customers.access('END')
    const { payment } = await buy('plan')
    const dispute = stripe.dispute(payment, { status: 'warning_needs_response' })
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toMatchObject([[{ refunded: 0, dispute: { state: 'INQUIRY' } }]])
    stripe.decide(dispute, 'needs_response')
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    expect(await explained()).toContain('plan ended because its payment was disputed at ')
    stripe.decide(dispute, 'under_review')
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    stripe.decide(dispute, 'won')
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect((await customers.reversals()).at(-1)).toMatchObject([{ dispute: { state: 'WON' } }])
  })

  it('stays over when a dispute about the rest of a partly refunded charge is lost', async () => {
    await customers.access('END')
    const { payment } = await buy('plan')
    stripe.refund(payment, 500)
    stripe.decide(stripe.dispute(payment, { amount: 1000 }), 'lost')
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    expect(await customers.reversals()).toMatchObject([[{ refunded: 500, dispute: { state: 'LOST' } }]])
  })

  it('asks what is so, however often and in whatever order notices come', async () => {
    await customers.access('END')
    const { payment } = await buy('plan')
    const refund = stripe.refund(payment)
    stripe.takeRefundBack(refund)
    stripe.refund(payment, 100)
    await stripe.deliver({ copies: [2, 3], shuffle: true, atOnce: 4 })
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toMatchObject([[{ refunded: 100 }]])
  })

  it('is found by reconciliation where no notice came: live, ended and one-off', async () => {
    await customers.access('KEEP')
    const [live, ended] = [await buy('plan'), await buy('extra')]
    stripe.cancel(ended.ref)
    await heard()
    stripe.refund(live.payment, 1)
    stripe.refund(ended.payment, 2)
    await reconciled()
    expect((await customers.reversals()).map((of) => of.map(({ refunded }) => refunded))).toEqual([[1], [2]])
    const once = await buy('life')
    stripe.refund(once.payment, 3)
    await reconciled()
    expect((await customers.reversals()).at(-1)).toMatchObject([{ refunded: 3 }])
  })

  it('also decides about earlier refunds when the app changes its mind, both ways', async () => {
    await customers.access('KEEP')
    const [base, extra] = [await buy('plan'), await buy('extra')]
    stripe.refund(base.payment)
    stripe.refund(extra.payment, 1)
    await heard()
    await customers.access('END')
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'extra CANCELLED'])
    await customers.access('KEEP')
    expect(await shop.subscriptions(customers.user)).toEqual([
      'plan CANCELLED',
      'extra CANCELLED',
      'plan ACTIVE',
    ])
  })

  it('does not concern what the customer was charged for besides', async () => {
    await customers.access('END')
    const { ref } = await buy('plan')
    const sdk = stripe.sdk()
    const customer = String(stripe.world.subscription(ref).customer)
    await sdk.invoiceItems.create({ customer, amount: 700, currency: 'usd' })
    const { id } = await sdk.invoices.create({ customer })
    await sdk.invoices.pay(String(id))
    const [other] = (await sdk.invoicePayments.list({ invoice: String(id) })).data
    stripe.refund(String(other?.payment.payment_intent))
    await heard()
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await customers.reversals()).toEqual([[]])
    expect((await refundNotices()).filter(({ state }) => state !== 'DONE')).toEqual([])
  })

  it('follows the rest with a key that may not read charges, and says so when a refund is reported', async () => {
    const forbidden = new Refusal(403, 'invalid_request_error', 'The key lacks rak_charge_read.')
    stripe.fail({ outage: { kind: 'refused', refusal: forbidden }, path: /charges|invoice_payments/ })
    const { ref, payment } = await buy('plan')
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    stripe.cancel(ref, 'at period end')
    stripe.refund(payment)
    await heard()
    expect(await shop.billed(customers.user)).toMatchObject([{ cancelAt: expect.any(String) }])
    const failed = (await refundNotices()).filter(({ state }) => state === 'FAILED')
    expect(failed.map(({ type }) => type).sort()).toEqual(['charge.refunded', 'refund.created'])
    expect(failed[0]?.lastError).toContain('rak_charge_read')
    stripe.fail(null)
    await shop.dashboard.data(`mutation { replayFailedNotices(appId: "${shop.id}") }`)
    await jobsDone(server.databaseUrl)
    expect(await customers.reversals()).toMatchObject([[{ refunded: 1500 }]])
  })

  it('reads a bounded number of charges', async () => {
    const { ref, payment } = await buy('plan')
    for (let count = 0; count < 350; count++) stripe.renew(ref, 'paid')
    await stripe.deliver({ drop: 1 })
    stripe.refund(payment)
    stripe.refund(paymentOf(ref), 1)
    const before = stripe.asked.length
    await heard()
    const asked = stripe.asked.slice(before).map(({ path }) => path)
    // The first charge is too old to be found. Notices may ask at the same time, and then again.
    expect(await customers.reversals()).toMatchObject([[{ refunded: 1 }]])
    const [charges, invoices] = ['charges', 'invoices'].map(
      (list) => asked.filter((path) => path === `/v1/${list}`).length,
    )
    expect(invoices).toBeGreaterThanOrEqual(4)
    // Three pages of charges each time; invoices are also read for the payments that are kept.
    expect((charges ?? 0) % 3).toBe(0)
    expect(charges).toBeLessThanOrEqual(3 * (invoices ?? 0))
  })

  it('keeps no letters of the customer, and brings no deleted user back', async () => {
    const { payment } = await buy('plan')
    stripe.dispute(payment)
    await heard()
    const kept = async () =>
      JSON.stringify(
        await rowsOf(
          { connectionString: server.databaseUrl },
          `select payload from notice where app_id = $1 and type like 'charge.%'`,
          [shop.id],
        ),
      )
    expect(await kept()).toContain(payment)
    expect(await kept()).not.toContain('letters.example')
    await shop.admin.call('deleteUser', { id: customers.user })
    await heard()
    const everybody = async () => (await shop.admin.data('{ users { id } }')).users
    const left = await everybody()
    stripe.decide(String([...stripe.world.disputes.keys()].at(-1)), 'won')
    await heard()
    expect(await everybody()).toEqual(left)
    expect(await kept()).not.toContain('letters.example')
  })
})
