import Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { A_DAY, NOON, openCheckout, typesSince, URLS } from './examples.ts'
import { type StripeStandIn, startStripe } from './stand-in.ts'

let stripe: StripeStandIn
let sdk: Stripe

beforeEach(async () => {
  stripe = await startStripe({ now: NOON })
  sdk = stripe.sdk()
})
afterEach(() => stripe.stop())

describe('gap: billing, the Stripe stand-in as the official SDK sees it: Checkout', () => {
  it('sells a subscription through Checkout', async () => {
    const [plan, addon, setup] = [
      stripe.sell({ name: 'Pro', amount: 900 }),
      stripe.sell({ name: 'Seats', amount: 300 }),
      stripe.sell({ name: 'Setup', amount: 1000, interval: null }),
    ]
    const session = await sdk.checkout.sessions.create({
      mode: 'subscription',
      client_reference_id: 'our-session',
      customer_email: 'ann@example.com',
      line_items: [
        { price: plan.id, quantity: 1 },
        { price: addon.id, quantity: 2 },
        { price: setup.id, quantity: 1 },
      ],
      metadata: { ours: 'session' },
      subscription_data: { metadata: { ours: 'subscription' } },
      ...URLS,
    })
    expect(session).toMatchObject({
      status: 'open',
      payment_status: 'unpaid',
      amount_total: 2500,
      customer: null,
    })
    expect(session.url).toContain(stripe.url)
    const items = await sdk.checkout.sessions.listLineItems(session.id)
    expect(items.data.map(({ price }) => price?.id)).toEqual([plan.id, addon.id, setup.id])

    stripe.pay(session.id, { name: 'Ann' })
    const paid = await sdk.checkout.sessions.retrieve(session.id, {
      expand: ['subscription.latest_invoice', 'customer', 'line_items'],
    })
    expect(paid).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      client_reference_id: 'our-session',
      metadata: { ours: 'session' },
      url: null,
      customer: { email: 'ann@example.com', name: 'Ann' },
      customer_details: { email: 'ann@example.com' },
      subscription: { status: 'active', metadata: { ours: 'subscription' }, billing_cycle_anchor: NOON },
    })
    expect(paid.line_items?.data).toHaveLength(3)
    const subscription = paid.subscription as Stripe.Subscription
    expect(subscription.items.data.map(({ price, quantity }) => [price.id, quantity])).toEqual([
      [plan.id, 1],
      [addon.id, 2],
    ])
    // 31 January and a month: the last day of February.
    const february = Date.UTC(2026, 1, 28, 12) / 1000
    expect(subscription.items.data[0]).toMatchObject({
      current_period_start: NOON,
      current_period_end: february,
    })
    expect(subscription.latest_invoice).toMatchObject({
      status: 'paid',
      total: 2500,
      billing_reason: 'subscription_create',
    })
    const invoice = subscription.latest_invoice as Stripe.Invoice
    expect(invoice.parent?.subscription_details?.subscription).toBe(subscription.id)
    expect(typesSince(stripe, 6)).toEqual([
      'customer.created',
      'payment_method.attached',
      'invoice.created',
      'customer.subscription.created',
      'invoice.finalized',
      'invoice.paid',
      'invoice.payment_succeeded',
      'checkout.session.completed',
    ])
  })

  it('takes a single payment, with a customer only if requested', async () => {
    const hat = stripe.sell({ name: 'Hat', amount: 700, interval: null })
    const create = (more: Stripe.Checkout.SessionCreateParams) =>
      sdk.checkout.sessions.create({
        mode: 'payment',
        line_items: [{ price: hat.id, quantity: 1 }],
        ...URLS,
        ...more,
      })
    const [guest, known] = [await create({}), await create({ customer_creation: 'always' })]
    expect(stripe.pay(guest.id)).toMatchObject({ payment_status: 'paid', customer: null, subscription: null })
    expect(stripe.pay(known.id, { email: 'ann@example.com' }).customer).toMatch(/^cus_/)
    const intent = String(stripe.world.session(known.id).payment_intent)
    expect(await sdk.paymentIntents.retrieve(intent)).toMatchObject({
      status: 'succeeded',
      amount_received: 700,
    })
  })

  it('asks nothing for what costs nothing, and nothing yet during a trial', async () => {
    const free = stripe.sell({ name: 'Free', amount: 0 })
    const pro = stripe.sell({ name: 'Pro', amount: 900 })
    const create = (price: string, trial?: number) =>
      sdk.checkout.sessions.create({
        mode: 'subscription',
        line_items: [{ price, quantity: 1 }],
        ...(trial && { subscription_data: { trial_period_days: trial } }),
        ...URLS,
      })
    const [gratis, trial] = [await create(free.id), await create(pro.id, 7)]
    expect(stripe.pay(gratis.id)).toMatchObject({ payment_status: 'no_payment_required' })
    expect(stripe.pay(trial.id)).toMatchObject({ payment_status: 'no_payment_required' })
    const trialing = String(stripe.world.session(trial.id).subscription)
    expect(await sdk.subscriptions.retrieve(trialing)).toMatchObject({
      status: 'trialing',
      trial_end: NOON + 7 * A_DAY,
    })
    stripe.advance(8 * A_DAY)
    expect(await sdk.subscriptions.retrieve(trialing)).toMatchObject({ status: 'active' })
  })

  it.each([
    ['paid', 'paid', 'checkout.session.async_payment_succeeded', 'active'],
    ['failed', 'unpaid', 'checkout.session.async_payment_failed', 'past_due'],
  ] as const)('settles a delayed payment: %s', async (outcome, paymentStatus, type, status) => {
    const session = await openCheckout(stripe)
    expect(stripe.payLater(session.id)).toMatchObject({ status: 'complete', payment_status: 'unpaid' })
    stripe.settle(session.id, outcome)
    const settled = await sdk.checkout.sessions.retrieve(session.id, { expand: ['subscription'] })
    expect(settled).toMatchObject({ payment_status: paymentStatus, subscription: { status } })
    expect(typesSince(stripe, 0)).toContain(type)
  })

  it('declines a card and leaves the session open', async () => {
    const session = await openCheckout(stripe)
    const method = stripe.paymentMethod('declines')
    expect(() => stripe.pay(session.id, { method })).toThrow('declined')
    expect(await sdk.checkout.sessions.retrieve(session.id)).toMatchObject({ status: 'open' })
    await sdk.checkout.sessions.expire(session.id)
    expect(typesSince(stripe, 2)).toEqual(['checkout.session.expired'])
    await expect(sdk.checkout.sessions.expire(session.id)).rejects.toThrow('open')
  })

  const prices = () => ({
    monthly: stripe.sell({ name: 'Pro', amount: 900 }).id,
    yearly: stripe.sell({ name: 'Year', amount: 9000, interval: 'year' }).id,
    euro: stripe.sell({ name: 'Euro', amount: 900, currency: 'eur' }).id,
    once: stripe.sell({ name: 'Hat', amount: 900, interval: null }).id,
  })

  const REFUSED: [string, (prices: Record<string, string>) => object, string][] = [
    ['an unknown price', () => ({ line_items: [{ price: 'price_no', quantity: 1 }] }), 'No such price'],
    ['no recurring price', ({ once }) => ({ line_items: [{ price: once, quantity: 1 }] }), 'recurring price'],
    ['a recurring price once', () => ({ mode: 'payment' }), 'recurring price'],
    [
      'two currencies',
      ({ monthly, euro }) => ({
        line_items: [
          { price: monthly, quantity: 1 },
          { price: euro, quantity: 1 },
        ],
      }),
      'currency',
    ],
    [
      'two intervals',
      ({ monthly, yearly }) => ({
        line_items: [
          { price: monthly, quantity: 1 },
          { price: yearly, quantity: 1 },
        ],
      }),
      'billing intervals',
    ],
    ['no success_url', () => ({ success_url: undefined }), 'Missing required param: success_url'],
    ['a script as a URL', () => ({ success_url: 'javascript:alert(1)' }), 'Not a valid URL'],
    ['customer and email', () => ({ customer: 'cus_1', customer_email: 'a@b.c' }), 'only specify one'],
    ['customer_creation', () => ({ customer_creation: 'always' }), 'customer_creation'],
    ['an unknown customer', () => ({ customer: 'cus_no' }), 'No such customer'],
    ['too long a reference', () => ({ client_reference_id: 'x'.repeat(201) }), 'too long'],
    ['too long a metadata value', () => ({ metadata: { a: 'x'.repeat(501) } }), '500 characters'],
    ['an unknown parameter', () => ({ nonsense: 1 }), 'Received unknown parameter: nonsense'],
    ['an unknown nested one', () => ({ subscription_data: { odd: 1 } }), 'subscription_data[odd]'],
  ]

  it.each(REFUSED)('refuses a checkout with %s', async (_, change, message) => {
    const known = prices()
    const params = {
      mode: 'subscription',
      line_items: [{ price: known.monthly, quantity: 1 }],
      ...URLS,
      ...change(known),
    } as Stripe.Checkout.SessionCreateParams
    const refusal = await sdk.checkout.sessions.create(params).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError)
    expect(refusal).toMatchObject({ statusCode: 400, message: expect.stringContaining(message) })
    expect((refusal as Stripe.errors.StripeError).requestId).toMatch(/^req_/)
  })

  it('has a page to pay on', async () => {
    const session = await sdk.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: stripe.sell({ name: 'Pro', amount: 900 }).id, quantity: 1 }],
      ...URLS,
      success_url: 'https://shop.test/done?id={CHECKOUT_SESSION_ID}',
    })
    expect(await (await fetch(String(session.url))).text()).toContain('Pay')
    const post = (action: string) => fetch(`${session.url}/${action}`, { method: 'POST', redirect: 'manual' })
    expect((await post('cancel')).headers.get('location')).toBe(URLS.cancel_url)
    for (const _ of ['once', 'twice']) {
      expect((await post('pay')).headers.get('location')).toBe(`https://shop.test/done?id=${session.id}`)
    }
    expect(typesSince(stripe, 0).filter((type) => type === 'checkout.session.completed')).toHaveLength(1)
  })
})
