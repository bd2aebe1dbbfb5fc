import Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { A_DAY, NOON, openCheckout, subscribed, typesSince } from './examples.ts'
import { type StripeStandIn, startStripe } from './stand-in.ts'

let stripe: StripeStandIn
let sdk: Stripe

beforeEach(async () => {
  stripe = await startStripe({ now: NOON })
  sdk = stripe.sdk()
})
afterEach(() => stripe.stop())

describe('gap: billing, the Stripe stand-in as the official SDK sees it: subscriptions', () => {
  it('renews, fails to, and recovers', async () => {
    const id = await subscribed(stripe)
    const before = stripe.events.length
    stripe.renew(id)
    const march = Date.UTC(2026, 2, 31, 12) / 1000
    const { items } = await sdk.subscriptions.retrieve(id)
    expect(items.data[0]?.current_period_end).toBe(march)
    stripe.renew(id, 'failed')
    expect(await sdk.subscriptions.retrieve(id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'past_due',
      latest_invoice: { status: 'open', attempt_count: 1 },
    })
    stripe.payInvoice(id)
    expect(await sdk.subscriptions.retrieve(id)).toMatchObject({ status: 'active' })
    expect((await sdk.invoices.list({ subscription: id })).data.map(({ status }) => status)).toEqual([
      'paid',
      'paid',
      'paid',
    ])
    expect(typesSince(stripe, before)).toEqual([
      ...['invoice.created', 'customer.subscription.updated'],
      ...['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded'],
      ...['invoice.created', 'customer.subscription.updated', 'invoice.finalized', 'invoice.payment_failed'],
      ...['customer.subscription.updated', 'invoice.paid', 'invoice.payment_succeeded'],
      'customer.subscription.updated',
    ])
  })

  it('pauses, resumes and cancels', async () => {
    const id = await subscribed(stripe)
    const before = stripe.events.length
    await sdk.subscriptions.update(id, { pause_collection: { behavior: 'void' } })
    expect(await sdk.subscriptions.update(id, { pause_collection: '' })).toMatchObject({
      pause_collection: null,
    })
    stripe.pause(id)
    expect(await sdk.subscriptions.retrieve(id)).toMatchObject({ status: 'paused' })
    await sdk.subscriptions.resume(id)
    const ending = await sdk.subscriptions.update(id, { cancel_at_period_end: true })
    expect(ending.cancel_at).toBe(ending.items.data[0]?.current_period_end)
    expect(await sdk.subscriptions.update(id, { cancel_at_period_end: false })).toMatchObject({
      cancel_at: null,
    })
    expect(await sdk.subscriptions.cancel(id)).toMatchObject({ status: 'canceled', ended_at: NOON })
    await expect(sdk.subscriptions.cancel(id)).rejects.toMatchObject({
      code: 'resource_missing',
      statusCode: 404,
    })
    expect((await sdk.subscriptions.list()).data).toEqual([])
    expect((await sdk.subscriptions.list({ status: 'all' })).data).toHaveLength(1)
    const updated = 'customer.subscription.updated'
    expect(typesSince(stripe, before)).toEqual([
      ...[
        updated,
        updated,
        'customer.subscription.paused',
        'customer.subscription.resumed',
        updated,
        updated,
      ],
      'customer.subscription.deleted',
    ])
  })

  it('changes what is subscribed to', async () => {
    const id = await subscribed(stripe)
    const { items } = await sdk.subscriptions.retrieve(id)
    const [bigger, seats] = [
      stripe.sell({ name: 'Max', amount: 2000 }),
      stripe.sell({ name: 'Seats', amount: 100 }),
    ]
    await sdk.subscriptions.update(id, {
      items: [
        { id: String(items.data[0]?.id), price: bigger.id },
        { price: seats.id, quantity: 3 },
      ],
    })
    const changed = await sdk.subscriptions.retrieve(id)
    expect(changed.items.data.map(({ price, quantity }) => [price.id, quantity])).toEqual([
      [bigger.id, 1],
      [seats.id, 3],
    ])
  })

  it('ends with its customer everything that is paid for', async () => {
    const id = await subscribed(stripe)
    const before = stripe.events.length
    await sdk.customers.del(String(stripe.world.subscription(id).customer))
    expect(await sdk.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect(typesSince(stripe, before)).toEqual(['customer.subscription.deleted', 'customer.deleted'])
  })

  it('moves with its clock: renewals, ends, and expiries', async () => {
    const [renewing, ending] = [await subscribed(stripe), await subscribed(stripe)]
    await sdk.subscriptions.update(ending, { cancel_at_period_end: true })
    const open = await openCheckout(stripe)
    const before = stripe.events.length
    stripe.advance(70 * A_DAY)
    expect(await sdk.checkout.sessions.retrieve(open.id)).toMatchObject({ status: 'expired' })
    expect(await sdk.subscriptions.retrieve(ending)).toMatchObject({ status: 'canceled' })
    expect((await sdk.invoices.list({ subscription: renewing })).data).toHaveLength(3)
    expect(typesSince(stripe, before).slice(0, 1)).toEqual(['checkout.session.expired'])
    const times = stripe.events.map(({ created }) => created)
    expect(times).toEqual([...times].sort((a, b) => a - b))
  })

  it('gives up a subscription whose payments keep failing', async () => {
    const id = await subscribed(stripe)
    stripe.update(id, { default_payment_method: stripe.paymentMethod('declines') })
    stripe.advance(60 * A_DAY)
    expect(await sdk.subscriptions.retrieve(id)).toMatchObject({
      status: 'canceled',
      cancellation_details: { reason: 'payment_failed' },
    })
    expect(typesSince(stripe, 0).filter((type) => type === 'invoice.payment_failed')).toHaveLength(4)
  })

  it('keeps events, which say what changed', async () => {
    const id = await subscribed(stripe)
    stripe.cancel(id, 'at period end')
    const { data } = await sdk.events.list({
      types: ['customer.subscription.updated', 'customer.subscription.created'],
    })
    const [updated, created] = data
    expect([updated?.type, created?.type]).toEqual([
      'customer.subscription.updated',
      'customer.subscription.created',
    ])
    expect(updated?.data.previous_attributes).toMatchObject({ cancel_at_period_end: false, cancel_at: null })
    expect(await sdk.events.retrieve(String(updated?.id))).toMatchObject({ api_version: Stripe.API_VERSION })
    await expect(sdk.events.retrieve('evt_no')).rejects.toMatchObject({ statusCode: 404 })
  })
})
