import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { type FollowedShop, openFollowedShop } from './followed-shop.ts'
import { jobsDone } from './jobs-done.ts'

// What is changed at Stripe, by its own dashboard or customer portal, and what that comes to here.

const DAY = 86_400

let server: TestServer
let stripe: StripeStandIn
let here: FollowedShop
beforeAll(async () => {
  stripe = await startStripe({ now: Date.UTC(2090, 0, 15) / 1000 })
  server = await startTestServer({ env: { STRIPE_API_BASE: stripe.url } })
})
afterAll(async () => {
  await server.stop()
  await stripe.stop()
})
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
  const { subscription } = await here.shop.dashboard.data(
    `{ subscription(appId: "${here.shop.id}", id: "${id}") { billing { status } } }`,
  )
  return [subscription.billing.status]
}

const itemOf = (ref: string) => String(stripe.world.subscription(ref).items.data[0]?.id)

const record = (delta: number) =>
  here.shop.admin.data(
    'mutation ($delta: SafeInt!) { recordUsage(input: { userId: "ann", featureId: "call", delta: $delta }) { recorded } }',
    { delta },
  )

const consumption = async () => {
  const { canUseFeature } = await here.shop.admin.data(
    '{ canUseFeature(userId: "ann", featureId: "call") { consumption { budget used } } }',
  )
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
