import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { midnight } from '../harness/clocked-app.ts'
import { rowsOf, untilSomebodyWaits, withConnection } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// A plan that is paid for is changed at its provider first, and at both in the same moment.

const server = shared(startTestServer)
let shop: SandboxShop

const start = midnight('2091-03-10')
const middle = midnight('2091-03-25')
const end = midnight('2091-04-10')

beforeEach(async () => {
  shop = await openSandboxShop(server, { testClock: true })
  await shop.advance(start)
})

const CHANGE = `mutation ($packageId: String!, $when: ChangeTime, $dryRun: Boolean, $quantity: Int) {
  changeSubscription(userId: "ann", packageId: $packageId, when: $when, dryRun: $dryRun, quantity: $quantity) {
    at now credit charge currency quotedBy subscription { package { id } status scheduled { packageId at } }
  }
}`
const change = async (packageId: string, more: Data = {}): Promise<Data> => {
  const { changeSubscription } = await shop.admin.data(CHANGE, { packageId, ...more })
  await jobsDone(server.databaseUrl)
  return changeSubscription
}

describe('gap: change: what is paid for', () => {
  it('a dearer plan is charged now, by the quote of its provider, and the usage stays', async () => {
    await shop.buy('plan')
    await shop.admin.call('recordUsage', { input: { userId: 'ann', featureId: 'call', delta: 7 } })
    await shop.advance(middle)
    const quoted = await change('pro', { dryRun: true })
    expect(quoted).toMatchObject({ now: true, quotedBy: 'sandbox', currency: 'usd', subscription: null })
    // 16 of 31 days are unused.
    expect([quoted.credit, quoted.charge]).toEqual([
      Math.round((1200 * 16) / 31),
      Math.round((3000 * 16) / 31),
    ])
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])

    expect(await change('pro')).toMatchObject({
      credit: quoted.credit,
      charge: quoted.charge,
      subscription: { package: { id: 'pro' }, status: 'ACTIVE' },
    })
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'pro ACTIVE'])
    const showUsage = await shop.admin.call(
      'showUsage { current { periodStart periodEnd consumption { used budget } } }',
      { userId: 'ann', featureId: 'call' },
    )
    expect(showUsage.current).toEqual({
      periodStart: start,
      periodEnd: end,
      consumption: { used: 7, budget: 100 },
    })
  })

  it('a cheaper plan waits for that end, though that it was renewed is not yet known', async () => {
    await shop.buy('pro')
    await shop.advance(midnight('2091-04-20'))
    await rowsOf(
      { connectionString: server.databaseUrl },
      'update provider_subscription set paid_until = $2 where app_id = $1',
      [shop.id, end],
    )
    const renewed = midnight('2091-05-10')
    expect(await change('plan')).toMatchObject({
      at: renewed,
      subscription: { package: { id: 'pro' }, scheduled: { packageId: 'plan', at: renewed } },
    })
    expect(await shop.subscriptions()).toEqual(['pro ACTIVE'])
  })

  it('a cheaper plan takes over at the end of what is paid, there and here, and renews', async () => {
    await shop.buy('pro')
    await shop.advance(middle)
    expect(await change('plan')).toMatchObject({
      now: false,
      at: end,
      credit: 0,
      subscription: { package: { id: 'pro' }, scheduled: { packageId: 'plan', at: end } },
    })
    await shop.advance(new Date(Date.parse(end) - 1).toISOString())
    expect(await shop.subscriptions()).toEqual(['pro ACTIVE'])
    await shop.advance(end)
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'plan ACTIVE'])
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'plan ACTIVE'])
  })

  it('at the end of what is paid, however often the usage of the plan is reset before', async () => {
    await publishPackage(shop, 'yearly', { call: { limit: 100, resetPeriod: 'MONTH' } })
    await shop.price('yearly', { amount: 24_000, currency: 'usd', interval: 'year' })
    await shop.template('yearly', ['yearly'])
    await shop.buy('yearly')
    await shop.advance(middle)
    expect(await change('plan', { when: 'PERIOD_END', dryRun: true })).toMatchObject({
      now: false,
      at: midnight('2092-03-10'),
    })
  })

  it('a scheduled change is taken back at the provider too', async () => {
    await shop.buy('pro')
    await change('plan')
    await shop.admin.data('mutation { cancelScheduledChange(userId: "ann") { id } }')
    await jobsDone(server.databaseUrl)
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro ACTIVE'])
  })

  it('a scheduled change stays so when an add-on on the same bill is given up and kept', async () => {
    await shop.template('pro and extra', ['pro', 'extra'])
    await shop.buy('pro and extra')
    await change('plan')
    const [, extra] = await shop.billed()
    await shop.cancel(extra?.id, true)
    await shop.keep(extra?.id)
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'extra ACTIVE', 'plan ACTIVE'])
  })

  it('a plan that costs nothing takes over when the payments end', async () => {
    await shop.admin.data('mutation { createPackage(input: { id: "free", name: "Free" }) { id } }')
    await shop.dashboard.call('publishPackage', { id: 'free' })
    await shop.buy('pro')
    expect(await change('free')).toMatchObject({ now: false, at: end, credit: 0, charge: 0 })
    await shop.advance(end)
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'free ACTIVE'])
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'free ACTIVE'])
  })

  it('a plan whose prices are all archived is not sold, and not given away either', async () => {
    await shop.buy('pro')
    await shop.archivePrice('plan')
    for (const dryRun of [true, false]) {
      await expect(change('plan', { dryRun })).rejects.toThrow('are archived. Restore or create one.')
    }
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro ACTIVE'])
    // Given by hand it costs nothing, as ever.
    await shop.admin.data('mutation { createUser(input: { id: "bob" }) { id } }')
    await shop.admin.data('mutation { subscribe(userId: "bob", packageIds: ["pro"]) { id } }')
    await shop.admin.call('changeSubscription', { userId: 'bob', packageId: 'plan', when: 'NOW' })
    expect(await shop.subscriptions('bob')).toEqual(['pro CANCELLED', 'plan ACTIVE'])
  })

  it('what was agreed takes over at its price, though that is archived before', async () => {
    await shop.buy('pro')
    await change('plan')
    await shop.archivePrice('plan')
    await shop.advance(end)
    expect(await shop.subscriptions()).toEqual(['pro CANCELLED', 'plan ACTIVE'])
    const payments = await shop.dashboard.call('payments { rows { amount } }', { state: 'PAID', days: 30 })
    expect(payments.rows[0]).toEqual({ amount: 1_200 })
  })

  it('the free plan that was to follow is dropped when the payments go on after all', async () => {
    await shop.admin.data('mutation { createPackage(input: { id: "free", name: "Free" }) { id } }')
    await shop.dashboard.call('publishPackage', { id: 'free' })
    await shop.buy('pro')
    await change('free')
    const { subscriptions } = await shop.admin.data('{ subscriptions(userId: "ann") { id status } }')
    await shop.admin.call('keepSubscription', { id: subscriptions[0].id })
    await jobsDone(server.databaseUrl)
    await shop.advance(midnight('2091-07-01'))
    expect(await shop.subscriptions()).toEqual(['pro ACTIVE'])
  })

  it('another plan that is paid for takes the place of the one that was to follow', async () => {
    await shop.buy('pro')
    await change('plan')
    await shop.buy('both')
    await shop.advance(midnight('2091-07-01'))
    expect((await shop.subscriptions()).filter((s) => s.endsWith('ACTIVE'))).toEqual([
      'plan ACTIVE',
      'extra ACTIVE',
    ])
  })

  it('is charged by the price of the same interval, or else by the only one in its currency', async () => {
    const offered = async (id: string, ...prices: [amount: number, currency: string, interval: string][]) => {
      await publishPackage(shop, id, {})
      for (const [amount, currency, interval] of prices) await shop.price(id, { amount, currency, interval })
    }
    await offered('same', [24_000, 'usd', 'year'], [2_000, 'usd', 'month'], [1_900, 'eur', 'month'])
    await offered('yearly', [24_000, 'usd', 'year'], [1_900, 'eur', 'month'])
    await offered('unclear', [24_000, 'usd', 'year'], [600, 'usd', 'week'])
    await offered('twice', [2_000, 'usd', 'month'], [2_100, 'usd', 'month'])
    await offered('euro', [1_900, 'eur', 'month'])
    await shop.buy('plan')
    const quote = (id: string) => change(id, { when: 'NOW', dryRun: true })
    expect(await quote('same')).toMatchObject({ credit: 1_200, charge: 2_000, currency: 'usd' })
    expect(await quote('yearly')).toMatchObject({ credit: 1_200, charge: 24_000, currency: 'usd' })
    for (const id of ['unclear', 'twice']) {
      await expect(quote(id)).rejects.toThrow(
        'has several prices at the sandbox in USD. Archive all but one per interval.',
      )
    }
    await expect(quote('euro')).rejects.toThrow('has no price at the sandbox in USD. Create one.')
  })

  it.each([
    ['no other', null],
    ['a dearer one', 5_000],
  ])('another quantity is charged at the price that was agreed, when %s is sold now', async (_, dearer) => {
    await shop.buy('plan')
    const appId = shop.id
    await shop.archivePrice('plan')
    if (dearer) await shop.price('plan', { amount: dearer, currency: 'usd', interval: 'month' })
    expect(await change('plan', { quantity: 2 })).toMatchObject({ now: true, credit: 1_200, charge: 2_400 })
    await shop.advance(end)
    const payments = await shop.dashboard.call('payments { rows { amount } }', {
      appId,
      state: 'PAID',
      days: 30,
    })
    expect(payments.rows[0]).toEqual({ amount: 2_400 })
  })

  it('a quantity that its provider has lowered is accepted, though more has come into use meanwhile', async () => {
    await publishPackage(shop, 'team', { seat: { limit: 10, resetPeriod: 'NEVER' } })
    await shop.price('team', { amount: 900, currency: 'usd', interval: 'month' })
    await shop.template('team', ['team'])
    await shop.buy('team')
    await change('team', { quantity: 2 })
    const use = (delta: number) =>
      shop.admin.data(
        'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }',
        {
          input: { userId: 'ann', featureId: 'seat', delta },
        },
      )
    await use(11)
    await expect(change('team', { quantity: 1, when: 'NOW' })).rejects.toThrow(/11 are in use/)
    await use(-3)

    const [, { data, errors }] = await withConnection(
      { connectionString: server.databaseUrl },
      async (db) => {
        // The provider has been asked, and does not answer yet.
        await db.query('begin; lock table sandbox_subscription in share mode')
        const lowered = shop.admin.ask(CHANGE, { packageId: 'team', quantity: 1, when: 'NOW' })
        await untilSomebodyWaits(server.databaseUrl)
        await use(5)
        return Promise.all([db.query('rollback'), lowered])
      },
    )
    expect(errors).toBeUndefined()
    expect(data?.changeSubscription.subscription).toMatchObject({ package: { id: 'team' }, status: 'ACTIVE' })
    await jobsDone(server.databaseUrl)
    const canUseFeature = await shop.admin.call('canUseFeature { access consumption { used budget } }', {
      userId: 'ann',
      featureId: 'seat',
    })
    expect(canUseFeature).toEqual({ access: false, consumption: { used: 13, budget: 10 } })
  })

  it('what was paid for once is not exchanged', async () => {
    await shop.buy('life')
    await expect(change('pro')).rejects.toThrow('was a one-off purchase and cannot be changed')
  })
})
