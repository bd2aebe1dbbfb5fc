import Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOON, typesSince } from './examples.ts'
import { cardDeclined, rateLimited } from './refusals.ts'
import type { Outage } from './server.ts'
import { type StripeStandIn, startStripe } from './stand-in.ts'

let stripe: StripeStandIn
let sdk: Stripe

beforeEach(async () => {
  stripe = await startStripe({ now: NOON })
  sdk = stripe.sdk()
})
afterEach(() => stripe.stop())

describe('gap: billing, the Stripe stand-in as the official SDK sees it: its API', () => {
  it('keeps customers', async () => {
    const made = await sdk.customers.create({
      email: 'ann@example.com',
      name: 'Ann',
      metadata: { a: '1', b: '2' },
    })
    expect(made).toMatchObject({ object: 'customer', email: 'ann@example.com', metadata: { a: '1', b: '2' } })
    const changed = await sdk.customers.update(made.id, { name: 'Anne', metadata: { a: '', c: '3' } })
    expect(changed).toMatchObject({ name: 'Anne', metadata: { b: '2', c: '3' } })
    expect((await sdk.customers.list({ email: 'ann@example.com' })).data).toHaveLength(1)
    await sdk.customers.del(made.id)
    expect(await sdk.customers.retrieve(made.id)).toMatchObject({ id: made.id, deleted: true })
    await expect(sdk.customers.update(made.id, { name: 'x' })).rejects.toMatchObject({
      code: 'resource_missing',
    })
    expect(typesSince(stripe, 0)).toEqual(['customer.created', 'customer.updated', 'customer.deleted'])
  })

  it('keeps products and prices, looks them up and expands them', async () => {
    const product = await sdk.products.create({ name: 'Pro' })
    const monthly = await sdk.prices.create({
      product: product.id,
      unit_amount: 1250,
      currency: 'EUR',
      recurring: { interval: 'month' },
      lookup_key: 'pro-monthly',
    })
    const once = await sdk.prices.create({ currency: 'jpy', unit_amount: 500, product_data: { name: 'Hat' } })
    expect(monthly).toMatchObject({ type: 'recurring', currency: 'eur', recurring: { interval: 'month' } })
    expect(monthly.unit_amount_decimal?.toString()).toBe('1250')
    expect(once).toMatchObject({ type: 'one_time', recurring: null })
    const expanded = await sdk.prices.retrieve(monthly.id, { expand: ['product'] })
    expect(expanded.product).toMatchObject({ id: product.id, name: 'Pro' })
    const { data } = await sdk.prices.list({ lookup_keys: ['pro-monthly'], expand: ['data.product'] })
    expect(data.map(({ product }) => (product as Stripe.Product).name)).toEqual(['Pro'])
    await sdk.prices.update(monthly.id, { active: false })
    expect((await sdk.prices.list({ active: true })).data.map(({ id }) => id)).toEqual([once.id])
  })

  it('lists in pages, newest first', async () => {
    const made: string[] = []
    for (let count = 0; count < 25; count += 1)
      made.unshift((await sdk.customers.create({ name: `${count}` })).id)
    const first = await sdk.customers.list({ limit: 10 })
    expect(first).toMatchObject({ object: 'list', has_more: true })
    expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 10))
    const all: string[] = []
    for await (const { id } of sdk.customers.list({ limit: 10 })) all.push(id)
    expect(all).toEqual(made)
    const back = await sdk.customers.list({ limit: 5, ending_before: String(made[10]) })
    expect(back.data.map(({ id }) => id)).toEqual(made.slice(5, 10))
    await expect(sdk.customers.list({ starting_after: 'cus_no' })).rejects.toMatchObject({
      code: 'resource_missing',
    })
  })

  it('answers the same key the same, and refuses it for something else', async () => {
    const options = { idempotencyKey: 'once' }
    const first = await sdk.customers.create({ name: 'Ann' }, options)
    const again = await sdk.customers.create({ name: 'Ann' }, options)
    expect(again.id).toBe(first.id)
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true')
    expect(typesSince(stripe, 0)).toEqual(['customer.created'])
    const other = sdk.customers.create({ name: 'Bob' }, options)
    await expect(other).rejects.toBeInstanceOf(Stripe.errors.StripeIdempotencyError)
  })

  it('refuses another key, and what it does not know', async () => {
    await expect(stripe.sdk('sk_test_other').customers.list()).rejects.toBeInstanceOf(
      Stripe.errors.StripeAuthenticationError,
    )
    await expect(sdk.coupons.list()).rejects.toThrow('Unrecognized request URL')
    await expect(sdk.prices.retrieve('price_no')).rejects.toThrow("No such price: 'price_no'")
    const { id } = await sdk.customers.create()
    await expect(sdk.customers.retrieve(id, { expand: ['nonsense'] })).rejects.toThrow('cannot be expanded')
  })

  it.each([
    ['unreachable', { kind: 'unreachable' }, Stripe.errors.StripeConnectionError, 0],
    ['broken', { kind: 'broken' }, Stripe.errors.StripeAPIError, 0],
    ['declining', { kind: 'refused', refusal: cardDeclined() }, Stripe.errors.StripeCardError, 0],
    ['too busy', { kind: 'refused', refusal: rateLimited() }, Stripe.errors.StripeRateLimitError, 0],
    ['too slow', { kind: 'slow', milliseconds: 60_000 }, Stripe.errors.StripeConnectionError, 1],
  ] satisfies [string, Outage, unknown, number][])('can be %s', async (_, outage, error, made) => {
    const impatient = stripe.sdk(stripe.key, { maxNetworkRetries: 0, timeout: 200 })
    stripe.fail({ outage, method: 'POST', path: /customers/ })
    await expect(impatient.customers.create({ name: 'Ann' })).rejects.toBeInstanceOf(error)
    expect((await sdk.customers.list()).data).toHaveLength(made)
    stripe.fail(null)
    await sdk.customers.create({ name: 'Ann' })
    expect((await sdk.customers.list()).data).toHaveLength(made + 1)
  })

  it('can lose an answer, after which the SDK asks again and nothing happens twice', async () => {
    stripe.fail({ outage: { kind: 'answer lost' }, times: 1 })
    await stripe.sdk(stripe.key, { maxNetworkRetries: 2 }).customers.create({ name: 'Ann' })
    expect(stripe.asked.map(({ status }) => status)).toEqual([null, 200])
    expect(typesSince(stripe, 0)).toEqual(['customer.created'])
  })
})
