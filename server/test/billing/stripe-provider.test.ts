import type Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BillingProvider } from '../../src/billing/provider.ts'
import { stripeProvider } from '../../src/billing/stripe/stripe.ts'
import { A_DAY, NOON, subscribed } from '../stripe/examples.ts'
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
      standing: 'past due',
      pastDueSince: first.created * 1000,
    })
    stripe.payInvoice(ref)
    expect(await provider.fetchSubscription(ref)).toMatchObject({ standing: 'live', pastDueSince: null })
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
