import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'
import { NOTICES } from './stripe-shop.ts'

// What the dashboard shows and does about the money of one subscription: its price, its history, payments and refunds.

const SECRET = 'whsec_of_these_tests'
const PAYMENTS = `{ ref provider state amount refunded disputeState subscriptionId packageNames }`

const { server, stripe } = serverWithStripe()
let shop: SandboxShop

const payments = (id: string): Promise<Data[]> =>
  shop.dashboard.call(`subscriptionPayments ${PAYMENTS}`, { id })

/** As sentences with who did it, newest first. */
async function history(id: string): Promise<string[]> {
  const lines: Data[] = await shop.dashboard.call('subscriptionHistory { kind parts { text } by { text } }', {
    id,
  })
  return lines.map(({ parts, by }) => {
    const text = parts.map((part: Data) => part.text).join('')
    return by ? `${text} by ${by.text}` : text
  })
}

describe('gap: money of one subscription, in the sandbox', () => {
  beforeEach(async () => {
    shop = await openSandboxShop(server, { testClock: true })
  })

  const only = async (): Promise<Data> => (await shop.billed()).at(-1) as Data
  const preview = (given: Data) =>
    shop.dashboard.data(
      `query ($appId: String!, $packageId: String!, $priceId: String, $quantity: Int, $when: ChangeTime = NOW) {
        changePreview(appId: $appId, userId: "ann", packageId: $packageId, priceId: $priceId, quantity: $quantity, when: $when) {
          credit charge currency quotedBy
          limits { featureId usedNow used before { budget resetPeriod overageEnabled } after { budget resetPeriod } } } }`,
      { appId: shop.id, ...given },
    )

  it('previews every limit before and after with current usage', async () => {
    await publishPackage(shop, 'rich', { call: { limit: 500 }, seat: { limit: 3, resetPeriod: 'NEVER' } })
    await shop.admin.data(`mutation {
      subscribe(userId: "ann", packageIds: ["plan"]) { id }
      recordUsage(input: { userId: "ann", featureId: "call", delta: 7 }) { recorded }
    }`)
    const { changePreview } = await preview({ packageId: 'rich' })
    expect(changePreview.limits).toEqual([
      {
        featureId: 'call',
        usedNow: 7,
        used: 7,
        before: { budget: 10, resetPeriod: 'MONTH', overageEnabled: false },
        after: { budget: 500, resetPeriod: 'MONTH' },
      },
      { featureId: 'seat', usedNow: null, used: 0, before: null, after: { budget: 3, resetPeriod: 'NEVER' } },
    ])
  })

  it('previews a scheduled change with the usage of this period and of the one that starts with it', async () => {
    await publishPackage(shop, 'small', { call: { limit: 5 } })
    await shop.admin.data(`mutation {
      subscribe(userId: "ann", packageIds: ["plan"]) { id }
      recordUsage(input: { userId: "ann", featureId: "call", delta: 7 }) { recorded }
    }`)
    const { changePreview } = await preview({ packageId: 'small', when: 'PERIOD_END' })
    expect(changePreview.limits).toEqual([
      expect.objectContaining({ featureId: 'call', usedNow: 7, used: 0 }),
    ])
  })

  it('changes only the price of a plan, from monthly to yearly, and back at the end of the period', async () => {
    const yearly = await shop.price('plan', { amount: 12_000, currency: 'usd', interval: 'year' })
    await shop.buy('plan')
    const monthly = (await shop.dashboard.call('prices { id amount }', { packageId: 'plan' }))[0]
    const shown = async () =>
      shop.dashboard.call('subscription { price { id } scheduled { packageId } quantity }', {
        id: (await only()).id,
      })
    // The template names no price, so its link asked for the default one.
    expect(await shown()).toMatchObject({ price: { id: yearly.id } })
    await expect(preview({ packageId: 'plan', priceId: yearly.id })).rejects.toThrow(
      'already has the package',
    )
    await expect(preview({ packageId: 'plan', priceId: 'none' })).rejects.toThrow(
      'is not a live recurring price of',
    )
    const { changePreview } = await preview({ packageId: 'plan', priceId: monthly.id })
    expect(changePreview).toMatchObject({ credit: 12_000, charge: 1_200, quotedBy: 'sandbox' })

    const change = async (priceId: string, when: string) => {
      const made = await shop.dashboard.data(
        `mutation ($appId: String!, $priceId: String!, $when: ChangeTime!) {
          changeSubscription(appId: $appId, userId: "ann", packageId: "plan", priceId: $priceId, when: $when) { now } }`,
        { appId: shop.id, priceId, when },
      )
      await jobsDone(server.databaseUrl)
      return made.changeSubscription.now
    }
    expect(await change(monthly.id, 'NOW')).toBe(true)
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect(await shown()).toMatchObject({ price: { id: monthly.id }, quantity: 1 })
    // At the end of the period it is the provider's to do, and the subscription stays the same.
    expect(await change(yearly.id, 'PERIOD_END')).toBe(false)
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect(await shown()).toMatchObject({ price: { id: monthly.id }, scheduled: null })
    const { id } = await only()
    await shop.advance(
      new Date(Date.parse((await shop.billed()).at(-1)?.startedAt) + 32 * 86_400_000).toISOString(),
    )
    expect(await only()).toMatchObject({ id, status: 'ACTIVE', cancelAt: null })
    expect(await shown()).toMatchObject({ price: { id: yearly.id } })
  })

  it('tells the history of a subscription with its payments and who did what', async () => {
    await shop.buy('plan')
    const { id } = await only()
    await shop.cancel(id, true)
    await shop.keep(id)
    await shop.advance(new Date(Date.parse((await only()).startedAt) + 15 * 86_400_000).toISOString())
    await shop.admin.call('changeSubscription', { userId: 'ann', packageId: 'pro', when: 'NOW' })
    await jobsDone(server.databaseUrl)
    const next = await only()
    const told = await history(id)
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Changed to pro/),
        expect.stringMatching(/^Scheduled to end on .* by owner@example.com$/),
        'Scheduled end reverted by owner@example.com',
        'Paid $12.00',
        expect.stringMatching(/^Started plan/),
      ]),
    )
    expect(await history(next.id)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Changed from plan to pro/),
        expect.stringMatching(/^Paid \$/),
      ]),
    )
    expect(await payments(id)).toMatchObject([{ amount: 1_200, packageNames: ['plan'], subscriptionId: id }])
    expect(await payments(next.id)).toMatchObject([{ packageNames: ['pro'] }])
    const all = await shop.dashboard.call(`userPayments { next rows ${PAYMENTS} }`, {
      userId: 'ann',
      first: 1,
    })
    expect(all).toMatchObject({ next: expect.any(String), rows: [{ packageNames: ['pro'] }] })
    const rest = await shop.dashboard.call(`userPayments { next rows ${PAYMENTS} }`, {
      userId: 'ann',
      first: 1,
      after: all.next,
    })
    expect(rest).toMatchObject({ next: null, rows: [{ amount: 1_200 }] })
  })

  it('refunds once however often the same request comes, and never more than was paid', async () => {
    await shop.buy('plan')
    const { id } = await only()
    const [{ ref } = { ref: '' }] = await payments(id)
    const refund = (amount: number | null, key: string, paymentRef = ref) =>
      shop.dashboard.call('refundPayment { amount refunded remaining }', {
        subscriptionId: id,
        paymentRef,
        amount,
        reason: 'REQUESTED_BY_CUSTOMER',
        key,
      })
    expect(await refund(500, 'a')).toEqual({ amount: 1_200, refunded: 500, remaining: 700 })
    expect(await refund(500, 'a')).toEqual({ amount: 1_200, refunded: 500, remaining: 700 })
    await expect(refund(800, 'b')).rejects.toThrow('the amount must be from 1 to 700')
    await expect(refund(0, 'b')).rejects.toThrow('amount must be from 1 to 1200')
    await expect(refund(1, 'b', 'in_of_somebody')).rejects.toThrow('Payment not found for this subscription')
    expect(await refund(null, 'c')).toMatchObject({ remaining: 0 })
    await jobsDone(server.databaseUrl)
    expect(await payments(id)).toMatchObject([{ refunded: 1_200, state: 'PAID' }])
    expect(await history(id)).toContain('Refunded $12.00')
  })
})

describe('gap: money of one subscription, at Stripe', () => {
  let customers: Customers
  let unregister: () => void
  beforeAll(async () => {
    shop = await openSandboxShop(server)
    customers = new Customers(shop, server.databaseUrl)
    await shop.useStripe(stripe, SECRET)
    const urls = [`${server.url}/webhooks/stripe/${shop.id}`]
    unregister = stripe.register({ urls, secret: SECRET, types: NOTICES })
    for (const name of ['plan', 'life']) {
      const price = stripe.sell({ name, amount: 1500, interval: name === 'life' ? null : 'month' })
      await shop.importPrice(name, price.id)
    }
  })
  beforeEach(() => customers.next())
  afterAll(() => unregister())

  it.each(['plan', 'life'])('refunds a payment for %s in part, with its reason', async (template) => {
    stripe.pay(/cs_\w+/.exec(await shop.link(template, customers.user))?.[0] ?? '')
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
    const [{ id } = { id: '' }] = await shop.billed(customers.user)
    const [{ ref } = { ref: '' }] = await payments(id)
    const at = { subscriptionId: id, paymentRef: ref }
    expect(await shop.dashboard.call('refundPreview { provider amount refunded remaining }', at)).toEqual({
      provider: 'stripe',
      amount: 1_500,
      refunded: 0,
      remaining: 1_500,
    })
    const refund = () =>
      shop.dashboard.call('refundPayment { refunded remaining }', {
        ...at,
        amount: 600,
        reason: 'DUPLICATE',
        key: 'once',
      })
    expect(await refund()).toEqual({ refunded: 600, remaining: 900 })
    // The same request again, as after an answer that was lost.
    expect(await refund()).toEqual({ refunded: 600, remaining: 900 })
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
    expect(await payments(id)).toMatchObject([{ ref, amount: 1_500, refunded: 600 }])
    expect(await history(id)).toContain('Refunded $6.00 of $15.00')
  })
})
