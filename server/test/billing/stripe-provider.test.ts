import type Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BillingProvider } from '../../src/billing/provider.ts'
import { stripeProvider } from '../../src/billing/stripe/stripe.ts'
import { A_DAY, NOON, subscribed } from '../stripe/examples.ts'
import { subscriptionOf } from '../stripe/invoices.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'

// What our side makes of things that a test account at Stripe does not show on demand.

let stripe: StripeStandIn
let provider: BillingProvider
beforeEach(async () => {
  stripe = await startStripe({ now: NOON })
  provider = stripeProvider(stripe.sdk())
})
afterEach(() => stripe.stop())

describe('gap: billing, a price at Stripe that no package can have', () => {
  const recurring = (more: Partial<Stripe.Price.Recurring>): Partial<Stripe.Price> => ({
    recurring: {
      interval: 'month',
      interval_count: 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
      ...more,
    },
  })
  const CASES: [string, Partial<Stripe.Price>, RegExp][] = [
    ['metered', recurring({ usage_type: 'metered', meter: 'mtr_1' }), /is metered/],
    ['of no fixed amount', { unit_amount: null }, /has no fixed amount/],
    ['charged every three months', recurring({ interval_count: 3 }), /is charged every 3 months/],
  ]
  it.each(CASES)('%s', async (_, change, says) => {
    const good = stripe.sell({ name: 'Good', amount: 900 })
    const price = stripe.sell({ name: 'Bad', amount: 900 })
    Object.assign(price, change)
    await expect(provider.fetchPrice(price.id)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(says),
    })
    expect((await provider.listPrices()).map(({ id }) => id)).toEqual([good.id])
  })

  it('is told from one that is paid every month, or once', async () => {
    const once = stripe.sell({ name: 'Once', amount: 900, interval: null })
    const monthly = stripe.sell({ name: 'Monthly', amount: 900 })
    const listed = await provider.listPrices()
    expect(listed.map(({ id, interval }) => [id, interval])).toEqual([
      [monthly.id, 'month'],
      [once.id, null],
    ])
  })
})

describe('gap: billing, a change at Stripe with a discount', () => {
  const halfway = async (proration_discounts: 'included' | 'itemized') => {
    const ref = await subscribed(stripe)
    stripe.update(ref, { billing_mode: { type: 'flexible', flexible: { proration_discounts } } })
    stripe.discount(ref, 20)
    stripe.renew(ref)
    const [item] = stripe.world.subscription(ref).items.data
    if (!item) throw new Error('nothing on the bill')
    stripe.world.setClock((item.current_period_start + item.current_period_end) / 2)
    return { ref, from: item.price.id }
  }
  const lastDue = (ref: string) =>
    [...stripe.world.invoices.values()].filter((one) => subscriptionOf(one) === ref).at(-1)?.total

  it.each(['included', 'itemized'] as const)('is previewed as it is charged: %s', async (shown) => {
    const { ref, from } = await halfway(shown)
    const to = stripe.sell({ name: 'Dearer', amount: 4_000 }).id
    const quote = await provider.previewChange(ref, { from, to, quantity: 1 }, 'now')
    expect(quote).toEqual({ credit: 360, charge: 1_600, currency: 'usd' })
    await provider.changePrice(ref, { from, to, quantity: 1 }, 'now')
    expect(lastDue(ref)).toBe(quote.charge - quote.credit)
  })

  it('is previewed so for a new interval, and for the next period', async () => {
    const { ref, from } = await halfway('included')
    const yearly = stripe.sell({ name: 'Yearly', amount: 9_000, interval: 'year' }).id
    expect(await provider.previewChange(ref, { from, to: yearly, quantity: 1 }, 'now')).toMatchObject({
      charge: 7_200,
    })
    const to = stripe.sell({ name: 'Cheaper', amount: 400 }).id
    const quote = await provider.previewChange(ref, { from, to, quantity: 2 }, 'period end')
    expect(quote).toEqual({ credit: 0, charge: 640, currency: 'usd' })
    await provider.changePrice(ref, { from, to, quantity: 2 }, 'period end')
    stripe.advance(31 * A_DAY)
    expect(lastDue(ref)).toBe(quote.charge)
  })
})

describe('gap: billing, payments that are due at Stripe', () => {
  it('are due since the first of them that is unpaid', async () => {
    const ref = await subscribed(stripe)
    const first = stripe.renew(ref, 'failed')
    // The clock alone: Stripe would try the first one again on its way. A list that is asked for plainly has ten.
    for (let more = 1; more <= 10; more++) {
      stripe.world.setClock(NOON + more * A_DAY)
      expect(stripe.renew(ref, 'failed').created).toBeGreaterThan(first.created)
    }
    expect(await provider.fetchSubscription(ref)).toMatchObject({
      billingStatus: 'past due',
      pastDueSince: first.created * 1000,
    })
    stripe.payInvoice(ref)
    expect(await provider.fetchSubscription(ref)).toMatchObject({ billingStatus: 'live', pastDueSince: null })
  })

  it('are due when an invoice says so, where the payer is sent one', async () => {
    const ref = await subscribed(stripe)
    const invoice = stripe.renew(ref, 'failed')
    invoice.collection_method = 'send_invoice'
    invoice.due_date = invoice.created + 30 * A_DAY
    expect(await provider.fetchSubscription(ref)).toMatchObject({ pastDueSince: invoice.due_date * 1000 })
  })
})

describe('gap: billing, a change at Stripe that replaces a scheduled one', () => {
  const price = (amount: number) => stripe.sell({ name: 'Plan', amount }).id
  const priceOf = async (ref: string) => {
    const now = await provider.fetchSubscription(ref)
    return [now?.items[0]?.priceId, now?.scheduled?.items[0]?.priceId]
  }

  it('is made, where only the answer is lost', async () => {
    const ref = await subscribed(stripe)
    const [from = ''] = await priceOf(ref)
    const [cheap, dear] = [price(100), price(9_000)]
    await provider.changePrice(ref, { from, to: cheap, quantity: 1 }, 'period end')
    stripe.fail({
      method: 'POST',
      path: new RegExp(`subscriptions/${ref}`),
      outage: { kind: 'answer lost' },
      times: 2,
    })
    const once = stripeProvider(stripe.sdk(stripe.key, { maxNetworkRetries: 1 }))
    const asked = once.changePrice(ref, { from, to: dear, quantity: 1 }, 'now')
    await expect(asked).rejects.toMatchObject({ kind: 'unreachable' })
    expect(await priceOf(ref)).toEqual([dear, undefined])
  })
})

describe('gap: billing, a checkout at Stripe that is closed', () => {
  it('cannot be paid any more, and closing it again changes nothing', async () => {
    const price = stripe.sell({ name: 'Plan', amount: 900 })
    const session = await stripe.sdk().checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price.id, quantity: 1 }],
      success_url: 'https://shop.example/paid',
    })
    const status = async () => (await stripe.sdk().checkout.sessions.retrieve(session.id)).status
    expect(await status()).toBe('open')
    await provider.closeCheckout(session.id)
    expect(await status()).toBe('expired')
    await provider.closeCheckout(session.id)
    await provider.closeCheckout('cs_unknown')
  })
})

describe('gap: billing, who paid at Stripe', () => {
  it('is whom Stripe knows now, or what they entered once it has forgotten them', async () => {
    const sdk = stripe.sdk()
    const price = stripe.sell({ name: 'Plan', amount: 900 })
    const session = await sdk.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price.id, quantity: 1 }],
      success_url: 'https://shop.example/paid',
    })
    stripe.pay(session.id, { name: 'Ann', email: 'ann@example.com' })
    const ref = (await sdk.checkout.sessions.retrieve(session.id)).customer as string
    const payer = async () => (await provider.fetchCheckout(session.id))?.customer
    expect(await payer()).toEqual({ ref, name: 'Ann', email: 'ann@example.com' })
    await sdk.customers.update(ref, { name: 'Ann Berg', email: 'berg@example.com' })
    expect(await payer()).toEqual({ ref, name: 'Ann Berg', email: 'berg@example.com' })
    await sdk.customers.del(ref)
    expect(await payer()).toEqual({ ref, name: 'Ann', email: 'ann@example.com' })
  })
})
