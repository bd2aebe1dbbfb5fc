import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { type FollowedShop, openFollowedShop } from './followed-shop.ts'
import { jobsDone } from './jobs-done.ts'
import { serverWithStripe } from './server-with-stripe.ts'

const { server, stripe } = serverWithStripe({ now: Date.UTC(2090, 0, 15) / 1000 })
let here: FollowedShop
beforeEach(async () => {
  here = await openFollowedShop(server, stripe)
})
afterEach(() => here.close())

describe('gap: billing, a notice that is handled before the answer to what caused it arrives', () => {
  beforeEach(async () => {
    await here.shop.template(
      'plan and extra at stripe',
      ['plan', 'extra'],
      [here.prices.plan, here.prices.extra].map(String),
    )
    await here.shop.admin.data('mutation { createPackage(input: { id: "free", name: "Free" }) { id } }')
    await here.shop.dashboard.call('publishPackage', { id: 'free' })
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
    const { done } = await here.shop.admin.data(`mutation { done: ${mutation} }`)
    stripe.fail(null)
    return done.subscription ?? done
  }

  const told = async (): Promise<string[]> => {
    await here.heard()
    await here.shop.dashboard.data(`mutation { reconcileBilling(appId: "${here.shop.id}") }`)
    await jobsDone(server.databaseUrl)
    return (await here.subscriptions()).map(
      ({ package: { id }, status, quantity, cancelAt, scheduled }) =>
        `${quantity} ${id} ${status}${cancelAt ? ' ends' : ''}${scheduled ? ` then ${scheduled.packageId}` : ''}`,
    )
  }

  const base = async (): Promise<string> =>
    (await here.shop.billed()).find((s) => s.status === 'ACTIVE' && s.package.id !== 'extra')?.id

  it('a change now to a plan that costs nothing, which keeps the add-ons', async () => {
    await here.buy()
    await here.shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["extra"]) { id } }')
    await here.together()
    expect(await overtaken(change('free', 'NOW'))).toMatchObject({
      status: 'ACTIVE',
      package: { id: 'free' },
    })
    expect(await told()).toEqual(['1 plan CANCELLED', '1 extra ACTIVE', '1 free ACTIVE'])
    const [old, , free] = await here.subscriptions()
    expect(free?.startedAt).toBe(old?.cancelledAt)
  })

  it('a change now of the price', async () => {
    await here.buy()
    await here.together()
    expect(await overtaken(change('pro', 'NOW'))).toMatchObject({ status: 'ACTIVE', package: { id: 'pro' } })
    expect(await told()).toEqual(['1 plan CANCELLED', '1 pro ACTIVE'])
  })

  it('a change now of the quantity', async () => {
    await here.buy()
    await here.together()
    expect(await overtaken(change('plan', 'NOW', 3))).toMatchObject({ status: 'ACTIVE' })
    expect((await told()).at(-1)).toBe('3 plan ACTIVE')
  })

  it('a change at the period’s end, taken back', async () => {
    await here.buy()
    expect(await overtaken(change('pro', 'PERIOD_END'))).toMatchObject({ scheduled: { packageId: 'pro' } })
    expect(await told()).toEqual(['1 plan ACTIVE ends then pro'])
    expect(await overtaken(`cancelScheduledChange(userId: "ann") { ${SHOWN} }`)).toMatchObject({
      scheduled: null,
      cancelAt: null,
    })
    expect(await told()).toEqual(['1 plan ACTIVE'])
  })

  it('a change to a plan that costs nothing at the period’s end, taken back', async () => {
    await here.buy()
    expect(await overtaken(change('free', 'PERIOD_END'))).toMatchObject({ scheduled: { packageId: 'free' } })
    expect(await told()).toEqual(['1 plan ACTIVE ends then free'])
    await overtaken(`cancelScheduledChange(userId: "ann") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE'])
  })

  it('an end, kept and then made now', async () => {
    await here.buy()
    await overtaken(`cancelSubscription(id: "${await base()}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE ends'])
    await overtaken(`keepSubscription(id: "${await base()}") { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan ACTIVE'])
    await overtaken(`cancelSubscription(id: "${await base()}", atPeriodEnd: false) { ${SHOWN} }`)
    expect(await told()).toEqual(['1 plan CANCELLED'])
  })

  it('the end of a user', async () => {
    const ref = await here.buy()
    await overtaken('deleteUser(id: "ann") { id }')
    expect(stripe.world.subscription(ref).status).toBe('canceled')
  })

  it('an add-on’s end on a shared bill, taken back', async () => {
    await here.buy('plan and extra at stripe')
    const addon = (await here.shop.billed()).find((s) => s.package.id === 'extra')?.id
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
    await here.buy()
    await here.together()
    unreadableAfter()
    const { done } = await here.shop.admin.data(`mutation { done: ${change('pro', 'NOW')} }`)
    expect(done.subscription).toMatchObject({ status: 'ACTIVE', package: { id: 'pro' } })
    stripe.fail(null)
    expect(await told()).toEqual(['1 plan CANCELLED', '1 pro ACTIVE'])
  })

  it('nor does it hide why a change could not be recorded', async () => {
    await here.buy()
    await here.together()
    unreadableAfter(() =>
      rowsOf({ connectionString: server.databaseUrl }, `update users set id = 'eve' where id = 'ann'`),
    )
    const error = await here.shop.admin.error(`mutation { done: ${change('pro', 'NOW')} }`)
    expect(error).toMatchObject({ extensions: { code: 'USER_NOT_FOUND' } })
  })
})
