import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { type FollowedShop, openFollowedShop } from './followed-shop.ts'
import { jobsDone } from './jobs-done.ts'
import { serverWithStripe } from './server-with-stripe.ts'

// What is changed at Stripe, by its own dashboard or customer portal, and what that comes to here.

const DAY = 86_400

const { server, stripe } = serverWithStripe({ now: Date.UTC(2090, 0, 15) / 1000 })
let here: FollowedShop
beforeEach(async () => {
  here = await openFollowedShop(server, stripe)
})
afterEach(() => here.close())

/** Both clocks go on by a month. */
async function month(): Promise<void> {
  stripe.advance(32 * DAY)
  await here.together()
  await here.heard()
}

const billed = async (): Promise<string[]> => {
  const [{ id }] = (await here.shop.billed()) as [{ id: string }]
  const subscription = await here.shop.dashboard.call('subscription { billing { status } }', { id })
  return [subscription.billing.status]
}

const itemOf = (ref: string) => String(stripe.world.subscription(ref).items.data[0]?.id)

const record = (delta: number, featureId = 'call') =>
  here.shop.admin.data(
    'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }',
    { input: { userId: 'ann', featureId, delta } },
  )

const consumption = async (featureId = 'call') => {
  const canUseFeature = await here.shop.admin.call('canUseFeature { consumption { budget used } }', {
    userId: 'ann',
    featureId,
  })
  return canUseFeature.consumption
}

describe('gap: billing, a change made at Stripe', () => {
  it('of the quantity multiplies the limits, and back', async () => {
    const ref = await here.buy()
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 3 }] })
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([{ status: 'ACTIVE', quantity: 3 }])
    expect(await consumption()).toEqual({ budget: 30, used: 0 })
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 1 }] })
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([{ quantity: 1 }])
  })

  it('of the quantity is followed though more is in use: it is a fact', async () => {
    const { shop } = here
    await publishPackage(shop, 'team', { seat: { limit: 10, resetPeriod: 'NEVER' } })
    const { id: price } = stripe.sell({ name: 'team', amount: 900 })
    await shop.importPrice('team', price)
    await shop.template('team', ['team'], [price])
    const ref = await here.buy('team')
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 2 }] })
    await here.heard()
    await record(15, 'seat')
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 1 }] })
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([{ status: 'ACTIVE', quantity: 1 }])
    expect(await consumption('seat')).toEqual({ budget: 10, used: 15 })
  })

  it('of the quantity of an add-on stays when its end is taken back', async () => {
    await here.shop.template(
      'with extra',
      ['plan', 'extra'],
      [String(here.prices.plan), String(here.prices.extra)],
    )
    const ref = await here.buy('with extra')
    const items = () => stripe.world.subscription(ref).items.data
    const extra = () => items().find(({ price }) => price.id === here.prices.extra)
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: String(extra()?.id), quantity: 3 }] })
    await here.heard()
    const [, addon] = await here.shop.billed()
    await here.shop.cancel(addon?.id, true)
    expect(items()).toHaveLength(1)
    await here.shop.keep(addon?.id)
    await here.heard()
    expect(extra()).toMatchObject({ quantity: 3 })
    expect(await here.subscriptions()).toMatchObject([{ quantity: 1 }, { quantity: 3, cancelAt: null }])
  })

  it.each([
    true,
    false,
  ])('add-ons on one bill end one after the other, the last with the bill: at the period’s end %s', async (atPeriodEnd) => {
    await publishPackage(here.shop, 'more', {}, true)
    const { id: more } = stripe.sell({ name: 'more', amount: 300 })
    await here.shop.importPrice('more', more)
    await here.shop.template('add-ons', ['extra', 'more'], [String(here.prices.extra), more])
    await here.shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
    const ref = await here.buy('add-ons')
    await here.together()
    const [, first, last] = await here.shop.billed()
    await here.shop.cancel(first?.id, true)
    await here.shop.cancel(last?.id, atPeriodEnd)
    await here.heard()
    // What is paid for until its end lasts until then, whatever becomes of the other.
    const ends = expect.any(String)
    expect(await here.subscriptions()).toMatchObject([
      { status: 'ACTIVE', cancelAt: null },
      { status: 'ACTIVE', cancelAt: ends, package: { id: 'extra' } },
      { status: atPeriodEnd ? 'ACTIVE' : 'CANCELLED', package: { id: 'more' } },
    ])
    await month()
    expect(await here.shop.subscriptions()).toEqual(['plan ACTIVE', 'extra CANCELLED', 'more CANCELLED'])
    expect(stripe.world.subscription(ref).status).toBe('canceled')
  })

  it('that voids a failed invoice makes it no failed payment any more', async () => {
    await here.shop.template('on trial', ['plan'], [String(here.prices.plan)], { trialDays: 7 })
    const ref = await here.buy('on trial')
    const failed = async () => {
      const payments = await here.shop.dashboard.call('payments { rows { amount } }', {
        state: 'FAILED',
        days: 30,
      })
      return payments.rows
    }
    const method = String(stripe.world.subscription(ref).default_payment_method)
    stripe.world.behaviours.set(method, 'declines')
    stripe.advance(7 * DAY + 60)
    await here.together()
    await here.heard()
    expect(await failed()).toEqual([{ amount: 1500 }])
    const invoice = stripe.world.invoice(String(stripe.world.subscription(ref).latest_invoice))
    stripe.world.change('invoice.voided', invoice, { status: 'void' })
    await here.heard()
    expect(await failed()).toEqual([])
  })

  it.each([
    'pro',
    'pro yearly',
  ])('of the price to %s is one plan after the other, and keeps usage', async (name) => {
    const ref = await here.buy()
    await record(4)
    await here.together()
    const items = [{ id: itemOf(ref), price: String(here.prices[name]) }]
    await stripe.sdk().subscriptions.update(ref, { items, proration_behavior: 'always_invoice' })
    await here.heard()
    const [old, plan, ...more] = await here.subscriptions()
    expect([old?.status, plan?.status, plan?.package.id, more]).toEqual(['CANCELLED', 'ACTIVE', 'pro', []])
    expect(old?.cancelledAt).toBe(plan?.startedAt)
    expect(await consumption()).toEqual({ budget: 100, used: 4 })
  })

  it('for the period’s end is shown, happens by the clock alone, and keeps usage', async () => {
    const ref = await here.buy()
    const sdk = stripe.sdk()
    const schedule = await sdk.subscriptionSchedules.create({ from_subscription: ref })
    const [current] = schedule.phases
    const phases = [
      {
        items: [{ price: String(here.prices.plan), quantity: 1 }],
        start_date: Number(current?.start_date),
        end_date: Number(current?.end_date),
      },
      {
        items: [{ price: String(here.prices.pro), quantity: 2 }],
        duration: { interval: 'month' as const, interval_count: 1 },
      },
    ]
    const options = { end_behavior: 'release', proration_behavior: 'none' } as const
    await sdk.subscriptionSchedules.update(schedule.id, { ...options, phases })
    await here.heard()
    const at = new Date(Number(current?.end_date) * 1000).toISOString()
    const planned = { status: 'ACTIVE', package: { id: 'plan' }, scheduled: { packageId: 'pro', at } }
    expect(await here.subscriptions()).toMatchObject([planned])

    await sdk.subscriptionSchedules.release(schedule.id)
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([{ status: 'ACTIVE', scheduled: null, cancelAt: null }])

    const again = await sdk.subscriptionSchedules.create({ from_subscription: ref })
    await sdk.subscriptionSchedules.update(again.id, { ...options, phases })
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([planned])
    // Stripe's clock stands still: nobody has said anything when the moment comes.
    await here.shop.advance(at)
    const [old, successor, ...more] = await here.subscriptions()
    expect([old?.status, successor?.status, more]).toEqual(['CANCELLED', 'ACTIVE', []])
    expect(successor).toMatchObject({ package: { id: 'pro' }, quantity: 2, startedAt: at, scheduled: null })
    expect(old?.cancelledAt).toBe(at)

    // And when Stripe gets to it, or is asked before it has, nothing changes any more.
    for (const seconds of [0, 32 * DAY]) {
      stripe.advance(seconds)
      await here.shop.dashboard.data(`mutation { reconcileBilling(appId: "${here.shop.id}") }`)
      await jobsDone(server.databaseUrl)
      await here.heard()
      expect(await here.subscriptions()).toMatchObject([
        { status: 'CANCELLED' },
        { status: 'ACTIVE', startedAt: at },
      ])
    }
  })

  it('of the quantity for the period’s end keeps the version of the package', async () => {
    const ref = await here.buy()
    const { id } = here.shop
    await here.shop.dashboard.data(
      `mutation ($id: String!, $features: [EditPackageFeatureInput!]!) {
        editPackage(appId: $id, id: "plan", input: { features: $features }) { id }
        publishPackage(appId: $id, id: "plan", for: NEW_ONLY) { id }
      }`,
      { id, features: [{ id: 'call', entitlement: { limit: 1 } }] },
    )
    const sdk = stripe.sdk()
    const schedule = await sdk.subscriptionSchedules.create({ from_subscription: ref })
    const [current] = schedule.phases
    const price = String(here.prices.plan)
    const [start_date, end_date] = [Number(current?.start_date), Number(current?.end_date)]
    await sdk.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [
        { items: [{ price, quantity: 1 }], start_date, end_date },
        { items: [{ price, quantity: 2 }], duration: { interval: 'month', interval_count: 1 } },
      ],
    })
    await here.heard()
    await here.shop.advance(new Date(end_date * 1000).toISOString())
    expect((await here.subscriptions()).at(-1)).toMatchObject({ status: 'ACTIVE', quantity: 2 })
    expect(await consumption()).toEqual({ budget: 20, used: 0 })
  })

  it.each([
    'keep_as_draft',
    'mark_uncollectible',
  ] as const)('that pauses its collection (%s) is shown, and keeps access', async (behavior) => {
    const ref = await here.buy()
    await stripe.sdk().subscriptions.update(ref, { pause_collection: { behavior } })
    await month()
    expect(await here.subscriptions()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
    expect(await billed()).toEqual(['active, collection paused'])
    await stripe.sdk().subscriptions.update(ref, { pause_collection: '' })
    await here.heard()
    expect(await billed()).toEqual(['active'])
  })

  it('that voids its invoices lasts for what is paid, and starts again when that is over', async () => {
    const ref = await here.buy()
    const until = new Date(Number(stripe.world.subscription(ref).items.data[0]?.current_period_end) * 1000)
    await stripe.sdk().subscriptions.update(ref, { pause_collection: { behavior: 'void' } })
    await here.heard()
    const paused = { status: 'ACTIVE', cancelAt: until.toISOString() }
    expect(await here.subscriptions()).toMatchObject([paused])
    await stripe.sdk().subscriptions.update(ref, { pause_collection: '' })
    await here.heard()
    expect(await here.subscriptions()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
    const resumes = stripe.world.now + 70 * DAY
    await stripe
      .sdk()
      .subscriptions.update(ref, { pause_collection: { behavior: 'void', resumes_at: resumes } })
    await month()
    expect(await here.subscriptions()).toMatchObject([
      { status: 'CANCELLED', cancelledAt: until.toISOString() },
    ])
    await month()
    expect(await here.subscriptions()).toHaveLength(1)
    await month()
    expect(await here.subscriptions()).toMatchObject([
      { status: 'CANCELLED' },
      { status: 'ACTIVE', cancelAt: null },
    ])
  })

  it('of a trial is told as such, and of its end too', async () => {
    await here.buy()
    await here.together()
    const { billingId } = (await here.shop.admin.data('{ user(id: "ann") { billingId } }')).user
    const made = await stripe.sdk().subscriptions.create({
      customer: billingId,
      items: [{ price: String(here.prices.pro) }],
      trial_period_days: 7,
    })
    await here.heard()
    const live = async () => (await here.subscriptions()).filter(({ status }) => status === 'ACTIVE')
    const trialEndsAt = new Date(Number(made.trial_end) * 1000).toISOString()
    expect(await live()).toMatchObject([{ package: { id: 'pro' }, trialEndsAt, cancelAt: null }])
    stripe.advance(8 * DAY)
    await here.together()
    await here.heard()
    expect(await live()).toMatchObject([{ package: { id: 'pro' }, trialEndsAt }])
  })
})
