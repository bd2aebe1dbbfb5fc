import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// What is changed at Stripe, by its own dashboard or customer portal, and what that comes to here.

const SECRET = 'whsec_of_these_tests'
const DAY = 86_400

let server: TestServer
let stripe: StripeStandIn
let shop: SandboxShop
let prices: Record<string, string>
let unregister: () => void
beforeAll(async () => {
  stripe = await startStripe({ now: Date.UTC(2090, 0, 15) / 1000 })
  server = await startTestServer({ env: { STRIPE_API_BASE: stripe.url } })
})
afterAll(async () => {
  await server.stop()
  await stripe.stop()
})
beforeEach(async () => {
  shop = await openSandboxShop(server, { testClock: true })
  await shop.dashboard.data(
    `mutation ($appId: String!, $input: ProviderAccountInput!) {
      setProviderAccount(appId: $appId, provider: "stripe", input: $input) { enabled }
    }`,
    { appId: shop.id, input: { secretKey: stripe.key, webhookSecret: SECRET } },
  )
  unregister = stripe.register({ urls: [`${server.url}/webhooks/stripe/${shop.id}`], secret: SECRET })
  prices = {}
  for (const [name, packageId, interval] of [
    ['plan', 'plan', 'month'],
    ['pro', 'pro', 'month'],
    ['pro yearly', 'pro', 'year'],
    ['extra', 'extra', 'month'],
  ] as const) {
    const { id } = stripe.sell({ name, amount: 1500, interval })
    prices[name] = id
    await shop.dashboard.data(
      `mutation ($appId: String!, $packageId: String!, $id: String!) {
        importPrice(appId: $appId, packageId: $packageId, provider: "stripe", id: $id) { id }
      }`,
      { appId: shop.id, packageId, id },
    )
  }
  await shop.template('at stripe', ['plan'], [String(prices.plan)])
  await together()
})
afterEach(() => unregister())

/** The app's clock is where Stripe's is, a second later than before. */
async function together(): Promise<void> {
  stripe.advance(1)
  await shop.advance(new Date(stripe.world.now * 1000).toISOString())
}

async function heard(): Promise<void> {
  await stripe.deliver()
  await jobsDone(server.databaseUrl)
}

async function buy(template = 'at stripe'): Promise<string> {
  const url = await shop.link(template)
  const { subscription } = stripe.pay(/cs_\w+/.exec(url)?.[0] ?? '', { email: 'pat@example.com' })
  await heard()
  return String(subscription)
}

const subscriptions = async (): Promise<Data[]> =>
  (
    await shop.admin.data(
      `{ subscriptions(userId: "ann") { package { id } status quantity startedAt cancelAt cancelledAt trialEndsAt
          scheduled { packageId at } } }`,
    )
  ).subscriptions

/** Both clocks go on by a month. */
async function month(): Promise<void> {
  stripe.advance(32 * DAY)
  await together()
  await heard()
}

const billed = async (): Promise<string[]> => {
  const [{ id }] = (await shop.billed()) as [{ id: string }]
  const { subscription } = await shop.dashboard.data(
    `{ subscription(appId: "${shop.id}", id: "${id}") { billing { status } } }`,
  )
  return [subscription.billing.status]
}

const itemOf = (ref: string) => String(stripe.world.subscription(ref).items.data[0]?.id)

const record = (delta: number) =>
  shop.admin.data(
    'mutation ($delta: SafeInt!) { recordUsage(input: { userId: "ann", featureId: "call", delta: $delta }) { recorded } }',
    { delta },
  )

const consumption = async () => {
  const { canUseFeature } = await shop.admin.data(
    '{ canUseFeature(userId: "ann", featureId: "call") { consumption { budget used } } }',
  )
  return canUseFeature.consumption
}

describe('gap: billing, a change made at Stripe', () => {
  it('of the quantity multiplies the limits, and back', async () => {
    const ref = await buy()
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 3 }] })
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', quantity: 3 }])
    expect(await consumption()).toEqual({ budget: 30, used: 0 })
    await stripe.sdk().subscriptions.update(ref, { items: [{ id: itemOf(ref), quantity: 1 }] })
    await heard()
    expect(await subscriptions()).toMatchObject([{ quantity: 1 }])
  })

  it.each([
    'pro',
    'pro yearly',
  ])('of the price to %s is one plan after the other, and keeps usage', async (name) => {
    const ref = await buy()
    await record(4)
    await together()
    const items = [{ id: itemOf(ref), price: String(prices[name]) }]
    await stripe.sdk().subscriptions.update(ref, { items, proration_behavior: 'always_invoice' })
    await heard()
    const [old, plan, ...more] = await subscriptions()
    expect([old?.status, plan?.status, plan?.package.id, more]).toEqual(['CANCELLED', 'ACTIVE', 'pro', []])
    expect(old?.cancelledAt).toBe(plan?.startedAt)
    expect(await consumption()).toEqual({ budget: 100, used: 4 })
  })

  it('for the period’s end is shown, happens by the clock alone, and keeps usage', async () => {
    const ref = await buy()
    const sdk = stripe.sdk()
    const schedule = await sdk.subscriptionSchedules.create({ from_subscription: ref })
    const [current] = schedule.phases
    const phases = [
      {
        items: [{ price: String(prices.plan), quantity: 1 }],
        start_date: Number(current?.start_date),
        end_date: Number(current?.end_date),
      },
      {
        items: [{ price: String(prices.pro), quantity: 2 }],
        duration: { interval: 'month' as const, interval_count: 1 },
      },
    ]
    const options = { end_behavior: 'release', proration_behavior: 'none' } as const
    await sdk.subscriptionSchedules.update(schedule.id, { ...options, phases })
    await heard()
    const at = new Date(Number(current?.end_date) * 1000).toISOString()
    const planned = { status: 'ACTIVE', package: { id: 'plan' }, scheduled: { packageId: 'pro', at } }
    expect(await subscriptions()).toMatchObject([planned])

    await sdk.subscriptionSchedules.release(schedule.id)
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', scheduled: null, cancelAt: null }])

    const again = await sdk.subscriptionSchedules.create({ from_subscription: ref })
    await sdk.subscriptionSchedules.update(again.id, { ...options, phases })
    await heard()
    expect(await subscriptions()).toMatchObject([planned])
    // Stripe's clock stands still: nobody has said anything when the moment comes.
    await shop.advance(at)
    const [old, successor, ...more] = await subscriptions()
    expect([old?.status, successor?.status, more]).toEqual(['CANCELLED', 'ACTIVE', []])
    expect(successor).toMatchObject({ package: { id: 'pro' }, quantity: 2, startedAt: at, scheduled: null })
    expect(old?.cancelledAt).toBe(at)

    // And when Stripe gets to it, or is asked before it has, nothing changes any more.
    for (const seconds of [0, 32 * DAY]) {
      stripe.advance(seconds)
      await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
      await jobsDone(server.databaseUrl)
      await heard()
      expect(await subscriptions()).toMatchObject([
        { status: 'CANCELLED' },
        { status: 'ACTIVE', startedAt: at },
      ])
    }
  })

  it.each([
    'keep_as_draft',
    'mark_uncollectible',
  ] as const)('that pauses its collection (%s) is shown, and keeps access', async (behavior) => {
    const ref = await buy()
    await stripe.sdk().subscriptions.update(ref, { pause_collection: { behavior } })
    await month()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
    expect(await billed()).toEqual(['active, collection paused'])
    await stripe.sdk().subscriptions.update(ref, { pause_collection: '' })
    await heard()
    expect(await billed()).toEqual(['active'])
  })

  it('that voids its invoices lasts for what is paid, and starts again when that is over', async () => {
    const ref = await buy()
    const until = new Date(Number(stripe.world.subscription(ref).items.data[0]?.current_period_end) * 1000)
    await stripe.sdk().subscriptions.update(ref, { pause_collection: { behavior: 'void' } })
    await heard()
    const paused = { status: 'ACTIVE', cancelAt: until.toISOString() }
    expect(await subscriptions()).toMatchObject([paused])
    await stripe.sdk().subscriptions.update(ref, { pause_collection: '' })
    await heard()
    expect(await subscriptions()).toMatchObject([{ status: 'ACTIVE', cancelAt: null }])
    const resumes = stripe.world.now + 70 * DAY
    await stripe
      .sdk()
      .subscriptions.update(ref, { pause_collection: { behavior: 'void', resumes_at: resumes } })
    await month()
    expect(await subscriptions()).toMatchObject([{ status: 'CANCELLED', cancelledAt: until.toISOString() }])
    await month()
    expect(await subscriptions()).toHaveLength(1)
    await month()
    expect(await subscriptions()).toMatchObject([
      { status: 'CANCELLED' },
      { status: 'ACTIVE', cancelAt: null },
    ])
  })

  it('of a trial is told as such, and of its end too', async () => {
    await buy()
    await together()
    const { billingId } = (await shop.admin.data('{ user(id: "ann") { billingId } }')).user
    const made = await stripe.sdk().subscriptions.create({
      customer: billingId,
      items: [{ price: String(prices.pro) }],
      trial_period_days: 7,
    })
    await heard()
    const live = async () => (await subscriptions()).filter(({ status }) => status === 'ACTIVE')
    const trialEndsAt = new Date(Number(made.trial_end) * 1000).toISOString()
    expect(await live()).toMatchObject([{ package: { id: 'pro' }, trialEndsAt, cancelAt: null }])
    stripe.advance(8 * DAY)
    await together()
    await heard()
    expect(await live()).toMatchObject([{ package: { id: 'pro' }, trialEndsAt }])
  })
})

describe('gap: billing, a notice that is handled before the answer to what caused it arrives', () => {
  beforeEach(async () => {
    await shop.template(
      'plan and extra at stripe',
      ['plan', 'extra'],
      [prices.plan, prices.extra].map(String),
    )
    await shop.admin.data('mutation { createPackage(input: { id: "free", name: "Free" }) { id } }')
    await shop.dashboard.data(
      'mutation ($appId: String!) { publishPackage(appId: $appId, id: "free") { id } }',
      { appId: shop.id },
    )
  })
  afterEach(() => stripe.fail(null))

  const SHOWN = 'status cancelAt package { id } scheduled { packageId }'
  const change = (packageId: string, when: string, quantity = 1) =>
    `changeSubscription(userId: "ann", packageId: "${packageId}", when: ${when}, quantity: ${quantity}) { subscription { ${SHOWN} } }`

  /** Its notices are handled, or in hand and waiting until the change that caused them is recorded. */
  async function handledAsFarAsCanBe(): Promise<void> {
    await stripe.deliver()
    for (let done = false; !done; ) {
      const [row] = await rowsOf<{ due: number; inHand: number; leased: boolean }>(
        { connectionString: server.databaseUrl },
        `select count(*)::int as due, count(locked_at)::int as "inHand",
           exists (select from provider_subscription where leased_until > now()) as leased
         from graphile_worker.jobs where run_at <= now() and attempts < max_attempts`,
      )
      done = row?.due === 0 || (row?.leased === true && row.inHand > 0)
      if (!done) await delay(10)
    }
  }

  /** What the caller is told, where every change at Stripe is known here before Stripe has answered. */
  async function overtaken(mutation: string): Promise<Data> {
    stripe.fail({ method: /POST|DELETE/, outage: { kind: 'overtaken', by: handledAsFarAsCanBe } })
    const { done } = await shop.admin.data(`mutation { done: ${mutation} }`)
    stripe.fail(null)
    return done.subscription ?? done
  }

  const told = async (): Promise<string[]> => {
    await heard()
    await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
    await jobsDone(server.databaseUrl)
    return (await subscriptions()).map(
      ({ package: { id }, status, quantity, cancelAt, scheduled }) =>
        `${quantity} ${id} ${status}${cancelAt ? ' ends' : ''}${scheduled ? ` then ${scheduled.packageId}` : ''}`,
    )
  }

  const base = async (): Promise<string> =>
    (await shop.billed()).find((s) => s.status === 'ACTIVE' && s.package.id !== 'extra')?.id

  it('a change now to a plan that costs nothing, which keeps the add-ons', async () => {
    await buy()
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["extra"]) { id } }')
    await together()
    expect(await overtaken(change('free', 'NOW'))).toMatchObject({
      status: 'ACTIVE',
      package: { id: 'free' },
    })
    expect(await told()).toEqual(['1 plan CANCELLED', '1 extra ACTIVE', '1 free ACTIVE'])
    const [old, , free] = await subscriptions()
    expect(free?.startedAt).toBe(old?.cancelledAt)
  })

  it('a change now of the price', async () => {
    await buy()
    await together()
    expect(await overtaken(change('pro', 'NOW'))).toMatchObject({ status: 'ACTIVE', package: { id: 'pro' } })
    expect(await told()).toEqual(['1 plan CANCELLED', '1 pro ACTIVE'])
  })

  it('a change now of the quantity', async () => {
    await buy()
    await together()
    expect(await overtaken(change('plan', 'NOW', 3))).toMatchObject({ status: 'ACTIVE' })
    expect((await told()).at(-1)).toBe('3 plan ACTIVE')
  })

  it('a change at the period’s end, taken back', async () => {
    await buy()
    expect(await overtaken(change('pro', 'PERIOD_END'))).toMatchObject({ scheduled: { packageId: 'pro' } })
    expect(await told()).toEqual(['1 plan ACTIVE ends then pro'])
    expect(await overtaken(`cancelScheduledChange(userId: "ann") { ${SHOWN} }`)).toMatchObject({
      scheduled: null,
      cancelAt: null,
    })
    expect(await told()).toEqual(['1 plan ACTIVE'])
  })

  it('a change to a plan that costs nothing at the period’s end, taken back', async () => {
    await buy()
    expect(await overtaken(change('free', 'PERIOD_END'))).toMatchObject({ scheduled: { packageId: 'free' } })
    expect(await told()).toEqual(['1 plan ACTIVE ends then free'])
    await overtaken(`cancelScheduledChange(userId: "ann") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE'])
  })

  it('an end, kept and then made now', async () => {
    await buy()
    await overtaken(`cancelSubscription(id: "${await base()}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE ends'])
    await overtaken(`keepSubscription(id: "${await base()}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE'])
    await overtaken(`cancelSubscription(id: "${await base()}", atPeriodEnd: false) { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan CANCELLED'])
  })

  it('the end of a user', async () => {
    const ref = await buy()
    await overtaken('deleteUser(id: "ann") { id }')
    expect(stripe.world.subscription(ref).status).toBe('canceled')
  })

  it('an add-on’s end on a shared bill, taken back', async () => {
    await buy('plan and extra at stripe')
    const addon = (await shop.billed()).find((s) => s.package.id === 'extra')?.id
    await overtaken(`cancelSubscription(id: "${addon}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE', '1 extra ACTIVE ends'])
    await overtaken(`keepSubscription(id: "${addon}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE', '1 extra ACTIVE'])
  })

  /** From the change at Stripe on, nothing can be read there. */
  const unreadableAfter = (then: () => Promise<unknown> = async () => {}) =>
    stripe.fail({
      method: 'POST',
      path: /subscriptions/,
      outage: {
        kind: 'overtaken',
        by: async () => {
          await then()
          stripe.fail({ method: 'GET', outage: { kind: 'unreachable' } })
        },
      },
    })

  it('that the provider cannot be read afterwards does not undo the answer', async () => {
    await buy()
    await together()
    unreadableAfter()
    const { done } = await shop.admin.data(`mutation { done: ${change('pro', 'NOW')} }`)
    expect(done.subscription).toMatchObject({ status: 'ACTIVE', package: { id: 'pro' } })
    stripe.fail(null)
    expect(await told()).toEqual(['1 plan CANCELLED', '1 pro ACTIVE'])
  })

  it('nor does it hide why a change could not be recorded', async () => {
    await buy()
    await together()
    unreadableAfter(() =>
      rowsOf({ connectionString: server.databaseUrl }, `update users set id = 'eve' where id = 'ann'`),
    )
    const error = await shop.admin.error(`mutation { done: ${change('pro', 'NOW')} }`)
    expect(error).toMatchObject({ extensions: { code: 'USER_NOT_FOUND' } })
  })
})
