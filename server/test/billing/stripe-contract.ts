import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/billing/provider.ts'
import { stripeClient } from '../../src/billing/stripe/client.ts'
import { stripeProvider } from '../../src/billing/stripe/stripe.ts'
import type { Package } from '../../src/domain/package.ts'

export interface Account {
  key: string
  /** null: Stripe's own */
  apiBase: string | null
}

const PLAN = {
  id: 'plan',
  name: 'Plan',
  status: 'PUBLISHED',
  isAddon: false,
  archived: false,
  metadata: {},
  features: [],
  prices: [],
  draft: null,
  version: 1,
  history: 1,
  scheduled: null,
  updatedAt: 0,
} satisfies Package
const PRICE = { provider: 'stripe', amount: 900, currency: 'usd', interval: 'month' } as const
const URLS = { success_url: 'https://shop.example/done', cancel_url: 'https://shop.example/back' }

/**
 * What the provider relies on, asked of a Stripe: of the stand-in by every run, and of Stripe itself where a key is
 * given, so that the stand-in is held to what Stripe does. Nothing here needs a browser or a webhook.
 */
export function describeStripe(name: string, account: () => Account): void {
  describe(`gap: billing, what we rely on, by ${name}`, () => {
    // Answers are kept under an idempotency key for a day: another run has other ones.
    const run = `tollgate-test-${Date.now()}`
    let sdk: Stripe
    let provider: ReturnType<typeof stripeProvider>
    let products: string[]
    let customer: string
    let monthly: Stripe.Price
    let yearly: Stripe.Price
    let euro: Stripe.Price
    let once: Stripe.Price

    beforeAll(async () => {
      sdk = await stripeClient(account().key, account().apiBase)
      provider = stripeProvider(sdk)
      products = []
      const price = async (label: string, params: Partial<Stripe.PriceCreateParams>) => {
        const product = await sdk.products.create({ name: `${run} ${label}` })
        products.push(product.id)
        return sdk.prices.create({ product: product.id, unit_amount: 900, currency: 'usd', ...params })
      }
      monthly = await price('monthly', { recurring: { interval: 'month' } })
      yearly = await price('yearly', { recurring: { interval: 'year' } })
      euro = await price('euro', { recurring: { interval: 'month' }, currency: 'eur' })
      once = await price('once', {})
      const made = await sdk.customers.create({
        name: run,
        email: 'ann@example.com',
        payment_method: 'pm_card_visa',
        invoice_settings: { default_payment_method: 'pm_card_visa' },
      })
      customer = made.id
    })

    afterAll(async () => {
      await sdk.customers.del(customer)
      for (const price of [monthly, yearly, euro, once]) await sdk.prices.update(price.id, { active: false })
      for (const product of products) await sdk.products.update(product, { active: false })
    })

    const subscribed = (more: Partial<Stripe.SubscriptionCreateParams> = {}) =>
      sdk.subscriptions.create({ customer, items: [{ price: monthly.id }], ...more })

    const checkout = (more: Stripe.Checkout.SessionCreateParams = {}) =>
      sdk.checkout.sessions.create({
        mode: 'subscription',
        line_items: [{ price: monthly.id, quantity: 1 }],
        ...URLS,
        ...more,
      })

    it('tells what a price is', async () => {
      expect(await provider.fetchPrice(monthly.id)).toEqual({
        id: monthly.id,
        provider: 'stripe',
        amount: 900,
        currency: 'usd',
        interval: 'month',
        productName: `${run} monthly`,
      })
      expect(await provider.fetchPrice(once.id)).toMatchObject({ interval: null })
      expect(await provider.fetchPrice('price_that_is_not_there')).toBeNull()
      expect((await provider.listPrices()).map(({ id }) => id)).toEqual(
        expect.arrayContaining([monthly.id, once.id]),
      )
    })

    it('keeps a checkout session, and makes it once for a key', async () => {
      const params: Stripe.Checkout.SessionCreateParams = {
        mode: 'subscription',
        line_items: [{ price: monthly.id, quantity: 1 }],
        client_reference_id: `${run}-reference`,
        customer,
        ...URLS,
      }
      const options = { idempotencyKey: `${run}-once` }
      const first = await sdk.checkout.sessions.create(params, options)
      const again = await sdk.checkout.sessions.create(params, options)
      expect([again.id, first.url]).toEqual([first.id, expect.stringMatching(/^https?:\/\//)])
      const other = sdk.checkout.sessions.create({ ...params, client_reference_id: 'other' }, options)
      await expect(other).rejects.toBeInstanceOf(Stripe.errors.StripeIdempotencyError)
      expect(await provider.fetchCheckout(first.id)).toMatchObject({
        ref: first.id,
        sessionId: `${run}-reference`,
        state: 'OPEN',
        subscriptionRef: null,
      })
      await sdk.checkout.sessions.expire(first.id)
      expect(await provider.fetchCheckout(first.id)).toMatchObject({ state: 'EXPIRED' })
      await expect(sdk.checkout.sessions.expire(first.id)).rejects.toMatchObject({ statusCode: 400 })
      expect(await provider.fetchCheckout('cs_test_that_is_not_there')).toBeNull()
    })

    it('makes one link for one id of ours, however often it is asked for', async () => {
      const request = (id: string) => ({
        id: `${run}-${id}`,
        items: [{ name: PLAN.name, price: { ...PRICE, id: monthly.id }, quantity: 1 }] as const,
        terms: { trialDays: null, trialNeedsCard: true, promotionCodes: false },
        user: { billingId: customer, email: 'ann@example.com' },
        successUrl: URLS.success_url,
        cancelUrl: URLS.cancel_url,
      })
      const first = await provider.createCheckout(request('one'))
      expect(await provider.createCheckout(request('one'))).toEqual(first)
      expect((await provider.createCheckout(request('other'))).ref).not.toBe(first.ref)
    })

    it('offers a trial without a card, and promotion codes', async () => {
      const session = await checkout({
        customer,
        allow_promotion_codes: true,
        payment_method_collection: 'if_required',
        subscription_data: {
          trial_period_days: 14,
          trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
        },
      })
      expect(session).toMatchObject({
        status: 'open',
        allow_promotion_codes: true,
        payment_method_collection: 'if_required',
      })
      await sdk.checkout.sessions.expire(session.id)
    })

    const REFUSED: [string, () => Stripe.Checkout.SessionCreateParams][] = [
      ['an unknown price', () => ({ line_items: [{ price: 'price_that_is_not_there', quantity: 1 }] })],
      ['an unknown customer', () => ({ customer: 'cus_that_is_not_there' })],
      ['no recurring price', () => ({ line_items: [{ price: once.id, quantity: 1 }] })],
      ['a recurring price, once', () => ({ mode: 'payment' })],
      [
        'two currencies',
        () => ({ line_items: [monthly, euro].map(({ id }) => ({ price: id, quantity: 1 })) }),
      ],
      [
        'two intervals',
        () => ({ line_items: [monthly, yearly].map(({ id }) => ({ price: id, quantity: 1 })) }),
      ],
      ['customer and email', () => ({ customer, customer_email: 'ann@example.com' })],
      ['customer_creation for a subscription', () => ({ customer_creation: 'always' })],
      ['an address that is none', () => ({ success_url: 'nowhere' })],
    ]
    it.each(REFUSED)('refuses a checkout session with %s', async (_, change) => {
      const refusal = await checkout(change()).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError)
      expect(refusal).toMatchObject({ statusCode: 400, requestId: expect.stringMatching(/^req_/) })
    })

    it('tells how a subscription stands', async () => {
      const made = await subscribed({ metadata: { tollgate_session: 'ours' } })
      const [item] = made.items.data
      expect(await provider.fetchSubscription(made.id)).toMatchObject({
        ref: made.id,
        sessionId: 'ours',
        customer: { ref: customer, email: 'ann@example.com', name: run },
        status: 'active',
        billingStatus: 'live',
        final: false,
        items: [{ priceId: monthly.id, quantity: 1 }],
        scheduled: null,
        trialEndsAt: null,
        anchor: made.billing_cycle_anchor * 1000,
        paidUntil: Number(item?.current_period_end) * 1000,
        cancelAt: null,
        endedAt: null,
      })
      expect(await provider.fetchSubscription('sub_that_is_not_there')).toBeNull()
    })

    it('ends a subscription with its period, or at once', async () => {
      const made = await subscribed()
      await provider.cancel(made.id, 'period end')
      const ending = await provider.fetchSubscription(made.id)
      expect(ending).toMatchObject({ billingStatus: 'live', cancelAt: ending?.paidUntil })
      await provider.cancel(made.id, 'now')
      expect(await provider.fetchSubscription(made.id)).toMatchObject({ billingStatus: 'ended', final: true })
      await provider.cancel(made.id, 'now')
      await expect(sdk.subscriptions.cancel(made.id)).rejects.toMatchObject({ code: 'resource_missing' })
    })

    it('takes back the end of a subscription, whichever way it was set', async () => {
      const made = await subscribed()
      const fetched = () => provider.fetchSubscription(made.id)
      await provider.keep(made.id)
      await provider.cancel(made.id, 'period end')
      await provider.keep(made.id)
      expect(await fetched()).toMatchObject({ billingStatus: 'live', cancelAt: null })
      const [item] = made.items.data
      await sdk.subscriptions.update(made.id, { cancel_at: Number(item?.current_period_end) + 86_400 })
      await provider.keep(made.id)
      expect(await fetched()).toMatchObject({ billingStatus: 'live', cancelAt: null })
      await provider.cancel(made.id, 'now')
      await provider.keep(made.id)
      expect(await fetched()).toMatchObject({ billingStatus: 'ended', final: true })
    })

    it('takes one price off a subscription, and puts it back once', async () => {
      const extra = await sdk.prices.create({
        product: String(monthly.product),
        unit_amount: 100,
        currency: 'usd',
        recurring: { interval: 'month' },
      })
      const made = await subscribed({ items: [{ price: monthly.id }, { price: extra.id }] })
      await provider.dropPrice(made.id, extra.id)
      expect(await provider.fetchSubscription(made.id)).toMatchObject({
        items: [{ priceId: monthly.id }],
      })
      await provider.addPrice(made.id, extra.id, 1)
      await provider.addPrice(made.id, extra.id, 1)
      const both = await provider.fetchSubscription(made.id)
      expect(both?.items.map(({ priceId }) => priceId).toSorted()).toEqual([monthly.id, extra.id].toSorted())
      await provider.dropPrice(made.id, extra.id)
      // Nothing is given back for it, nor charged.
      expect((await sdk.invoiceItems.list({ customer, pending: true })).data).toEqual([])
      await provider.cancel(made.id, 'now')
      await sdk.prices.update(extra.id, { active: false })
    })

    it('has nothing to collect from a card that is declined', async () => {
      const poor = await sdk.customers.create({
        payment_method: 'pm_card_chargeCustomerFail',
        invoice_settings: { default_payment_method: 'pm_card_chargeCustomerFail' },
      })
      const made = await subscribed({ customer: poor.id, payment_behavior: 'allow_incomplete' })
      expect(await provider.fetchSubscription(made.id)).toMatchObject({
        status: 'incomplete',
        billingStatus: 'never',
      })
      await sdk.customers.del(poor.id)
      expect(await provider.fetchCustomer(poor.id)).toBeNull()
    })

    it('tells of a trial, and of a pause where nothing can be collected after it', async () => {
      const { id } = await sdk.customers.create()
      const made = await subscribed({
        customer: id,
        trial_period_days: 7,
        trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
      })
      expect(await provider.fetchSubscription(made.id)).toMatchObject({
        status: 'trialing',
        billingStatus: 'live',
      })
      await sdk.subscriptions.update(made.id, { trial_end: 'now' })
      expect(await provider.fetchSubscription(made.id)).toMatchObject({
        status: 'paused',
        billingStatus: 'paused',
      })
      await sdk.customers.del(id)
    })

    it('refuses a key that is not its own', async () => {
      const stranger = stripeProvider(await stripeClient('sk_test_of_nobody', account().apiBase))
      const refusal = await stranger.fetchPrice(monthly.id).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(ProviderError)
      expect(refusal).toMatchObject({ kind: 'refused', message: expect.stringContaining('secret key') })
    })
  })
}
