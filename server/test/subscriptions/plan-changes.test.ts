import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariants: at every moment the user has exactly one base plan; a change neither refills nor loses usage.

const server = shared(startTestServer)
let app: ClockedApp

const start = midnight('2091-01-31')
const end = midnight('2091-02-28')

beforeEach(async () => {
  app = await clockedApp(server)
  await publishPackage(app, 'basic', { call: { limit: 10 }, seat: { limit: 1, resetPeriod: 'NEVER' } })
  await publishPackage(app, 'pro', { call: { limit: 50 }, seat: { limit: 1, resetPeriod: 'NEVER' }, api: {} })
  await publishPackage(app, 'yearly', { call: { limit: 900, resetPeriod: 'YEAR' } })
  await publishPackage(app, 'extra', { call: { limit: 5 } }, true)
  await app.advance(start)
})

const CHANGE = `mutation ($packageId: String!, $when: ChangeTime, $quantity: Int, $dryRun: Boolean) {
  changeSubscription(userId: "ann", packageId: $packageId, when: $when, quantity: $quantity, dryRun: $dryRun) {
    at now from { id } to { id } gains { featureId } loses { featureId }
    moreOverage { featureId after { reasonCode } } lessOverage { featureId } credit charge currency quotedBy formula
    subscription { package { id } status cancelAt quantity scheduled { packageId at } }
  }
}`
const change = async (packageId: string, more: Data = {}): Promise<Data> =>
  (await app.admin.data(CHANGE, { packageId, ...more })).changeSubscription

const TAKE_BACK = `mutation {
  cancelScheduledChange(userId: "ann") { package { id } status cancelAt scheduled { packageId at } }
}`

const priced = async (packageId: string, amount: number, interval = 'month', currency = 'usd') => {
  await app.dashboard.call('createPrice', {
    packageId,
    input: { id: `${packageId}-${interval}`, provider: 'sandbox', amount, currency, interval },
  })
}

describe('gap: change: now', () => {
  it('ends one plan and starts the other in the same moment, with the usage', async () => {
    await app.subscribe('basic', 'extra')
    await app.use(7)
    const now = await app.advance(midnight('2091-02-10'))
    expect(await change('pro', { when: 'NOW' })).toMatchObject({
      at: now,
      now: true,
      from: { id: 'basic' },
      to: { id: 'pro' },
      gains: [{ featureId: 'api' }],
      loses: [],
      credit: null,
      charge: null,
      quotedBy: 'tollgate',
      subscription: { package: { id: 'pro' }, status: 'ACTIVE', cancelAt: null, scheduled: null },
    })
    expect(await app.subscriptions()).toEqual([
      ['basic', 'CANCELLED', null, now],
      ['extra', 'ACTIVE', null, null],
      ['pro', 'ACTIVE', null, null],
    ])
    expect(await app.showUsage()).toMatchObject({ current: [start, end, 7] })
  })

  it('counts on from the same day of the month, also after a short month', async () => {
    await app.subscribe('basic')
    await app.advance(midnight('2091-03-01'))
    await change('pro', { when: 'NOW' })
    expect((await app.showUsage()).current).toEqual([end, midnight('2091-03-31'), 0])
  })

  it('starts a count of its own for another reset period, and finds the old one again', async () => {
    await app.subscribe('basic')
    await app.use(7)
    await change('yearly', { when: 'NOW' })
    expect((await app.showUsage()).current?.[2]).toBe(0)
    await change('basic', { when: 'NOW' })
    expect((await app.showUsage()).current).toEqual([start, end, 7])
  })

  it('says what goes into overage by it, and what comes out', async () => {
    await publishPackage(app, 'metered', { call: { limit: 3, overageEnabled: true } })
    await app.subscribe('basic')
    await app.use(7)
    expect(await change('metered', { when: 'NOW' })).toMatchObject({
      loses: [{ featureId: 'seat' }],
      moreOverage: [{ featureId: 'call', after: { reasonCode: 'OVERAGE' } }],
      lessOverage: [],
    })
    expect(await change('basic', { when: 'NOW', dryRun: true })).toMatchObject({
      gains: [{ featureId: 'seat' }],
      moreOverage: [],
      lessOverage: [{ featureId: 'call' }],
    })
  })

  it('says what would happen, and does nothing, on a dry run', async () => {
    await app.subscribe('basic')
    const would = await change('pro', { when: 'NOW', dryRun: true })
    expect(would).toMatchObject({ now: true, gains: [{ featureId: 'api' }], subscription: null })
    expect(await app.subscriptions()).toEqual([['basic', 'ACTIVE', null, null]])
  })
})

describe("gap: change: at the period's end", () => {
  it('is a fact beside the plan until then, and true for every reader from then on', async () => {
    await app.subscribe('pro', 'extra')
    await app.use(20)
    expect(await change('basic', { when: 'PERIOD_END' })).toMatchObject({
      at: end,
      now: false,
      loses: [{ featureId: 'api' }],
      subscription: { package: { id: 'pro' }, cancelAt: end, scheduled: { packageId: 'basic', at: end } },
    })
    await app.advance('2091-02-27T23:59:59.999Z')
    expect(await app.subscriptions()).toEqual([
      ['pro', 'ACTIVE', end, null],
      ['extra', 'ACTIVE', null, null],
    ])
    expect(await app.reasonCode('api')).toBe('UNLIMITED')
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['pro', 'CANCELLED', end, end],
      ['extra', 'ACTIVE', null, null],
      ['basic', 'ACTIVE', null, null],
    ])
    expect(await app.reasonCode('api')).toBe('NOT_IN_PACKAGE')
    expect((await app.showUsage()).current).toEqual([end, midnight('2091-03-31'), 0])
  })

  it('is replaced by the next change, and by a cancellation', async () => {
    const [pro] = await app.subscribe('pro')
    await change('basic', { when: 'PERIOD_END' })
    expect(await change('yearly', { when: 'PERIOD_END' })).toMatchObject({
      subscription: { scheduled: { packageId: 'yearly', at: end } },
    })
    await app.cancel(pro, 'at period end')
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([['pro', 'CANCELLED', end, end]])
  })

  it('can be taken back, once, before it happens', async () => {
    await app.subscribe('pro')
    await change('basic', { when: 'PERIOD_END' })
    const { cancelScheduledChange } = await app.admin.data(TAKE_BACK)
    expect(cancelScheduledChange).toEqual({
      package: { id: 'pro' },
      status: 'ACTIVE',
      cancelAt: null,
      scheduled: null,
    })
    await expect(app.admin.data(TAKE_BACK)).rejects.toThrow('The user has no scheduled change')
    await app.advance(midnight('2091-06-01'))
    expect(await app.subscriptions()).toEqual([['pro', 'ACTIVE', null, null]])
  })

  it('of a cancelled plan counts on the add-ons that go on with it, as for the seats in use', async () => {
    await publishPackage(app, 'team', { seat: { limit: 3, resetPeriod: 'NEVER' }, desk: {} }, true)
    await app.subscribe('basic', 'team')
    await change('basic', { when: 'NOW', quantity: 2 })
    await app.use(4, 'seat')
    const subscriptions = await app.admin.call('subscriptions { id status package { id } }', {
      userId: 'ann',
    })
    const live = subscriptions.find((s: Data) => s.status === 'ACTIVE' && s.package.id === 'basic')
    await app.cancel(live.id, 'at period end')
    const more = { when: 'PERIOD_END', quantity: 1 }
    expect(await change('basic', { ...more, dryRun: true })).toMatchObject({
      at: end,
      loses: [{ featureId: 'seat' }],
    })
    await change('basic', more)
    await app.advance(end)
    expect(await app.reasonCode('desk')).toBe('UNLIMITED')
  })

  it('is made by the clock alone, long after, and then changed again', async () => {
    await app.subscribe('pro')
    await change('basic', { when: 'PERIOD_END' })
    const later = await app.advance(midnight('2091-07-15'))
    await change('pro', { when: 'NOW' })
    expect(await app.subscriptions()).toEqual([
      ['pro', 'CANCELLED', end, end],
      ['basic', 'CANCELLED', null, later],
      ['pro', 'ACTIVE', null, null],
    ])
  })

  it('leaves an add-on that is taken meanwhile alone', async () => {
    await app.subscribe('pro')
    await change('basic', { when: 'PERIOD_END' })
    await app.subscribe('extra')
    await app.advance(end)
    expect((await app.subscriptions()).map(([id, status]) => [id, status])).toEqual([
      ['pro', 'CANCELLED'],
      ['basic', 'ACTIVE'],
      ['extra', 'ACTIVE'],
    ])
  })
})

describe('gap: change: the best time', () => {
  it('is now for a dearer plan, and at the end of the period for a cheaper one, in money', async () => {
    await priced('basic', 900)
    await priced('pro', 2_900)
    await app.subscribe('basic')
    await app.advance(midnight('2091-02-14'))
    // Half of the 28 days are unused.
    expect(await change('pro')).toMatchObject({ now: true, credit: 450, charge: 1_450, currency: 'usd' })
    expect(await change('basic')).toMatchObject({ now: false, at: end, credit: 0, charge: 900 })
  })

  it('says how the money was worked out in its own units, to the minute', async () => {
    await priced('basic', 900)
    await priced('pro', 2_900)
    await app.subscribe('basic')
    await app.advance('2091-02-14T01:30:00.001Z')
    const halfway = '13 days 22 h 29 min of 28 days'
    expect(await change('pro', { quantity: 3, dryRun: true })).toMatchObject({
      formula: `credit = $9.00 × ${halfway} unused; charge = $29.00 × 3 × ${halfway}`,
    })
    expect(await change('pro', { when: 'PERIOD_END', dryRun: true })).toMatchObject({
      formula: 'charge = $29.00, for the first period',
    })
  })

  it('counts a plan without a price as free, and says so', async () => {
    await priced('pro', 2_800)
    await app.subscribe('basic')
    await app.advance(midnight('2091-02-14'))
    expect(await change('pro', { dryRun: true })).toMatchObject({
      now: true,
      credit: 0,
      charge: 1_400,
      currency: 'usd',
      quotedBy: 'tollgate',
      formula: 'charge = $28.00 × 14 days of 28 days; basic has no recurring price',
    })
    expect(await change('pro', { when: 'PERIOD_END', dryRun: true })).toMatchObject({
      credit: 0,
      charge: 2_800,
      formula: 'charge = $28.00, for the first period; basic has no recurring price',
    })
    await change('pro', { when: 'NOW' })
    expect(await change('basic', { when: 'NOW', dryRun: true })).toMatchObject({
      credit: 1_400,
      charge: 0,
      formula: 'credit = $28.00 × 14 days of 28 days unused; basic has no recurring price',
    })
    expect(await change('yearly', { when: 'PERIOD_END', dryRun: true })).toMatchObject({
      credit: 0,
      charge: 0,
      formula: 'yearly has no recurring price',
    })
  })

  it('has no quote for prices in two currencies, nor for none', async () => {
    await app.subscribe('basic')
    expect(await change('pro', { dryRun: true })).toMatchObject({
      credit: null,
      charge: null,
      formula: 'neither package has a recurring price',
    })
    await priced('basic', 900)
    await priced('pro', 2_900, 'month', 'eur')
    expect(await change('pro', { dryRun: true })).toMatchObject({
      credit: null,
      charge: null,
      formula: 'the packages have no recurring prices in the same currency',
    })
  })

  it('compares what a year costs', async () => {
    await priced('basic', 900)
    await priced('yearly', 9_900, 'year')
    await app.subscribe('basic')
    expect(await change('yearly', { dryRun: true })).toMatchObject({ now: false, at: end })
    expect(await change('yearly', { when: 'NOW', dryRun: true })).toMatchObject({
      credit: 900,
      charge: 9_900,
    })
  })
})

describe('gap: change: what is refused', () => {
  const refusal = async (packageId: string, more: Data = {}) => {
    const { errors } = await app.admin.ask(CHANGE, { packageId, ...more })
    return [errors?.[0]?.extensions.code, errors?.[0]?.message]
  }
  it('a plan that is held, an add-on, a draft, one that is unknown, and a user without a plan', async () => {
    await app.admin.data('mutation { createPackage(input: { id: "draft", name: "Draft" }) { id } }')
    expect(await refusal('pro')).toEqual(['BAD_USER_INPUT', expect.stringContaining('no base plan')])
    await app.subscribe('basic')
    expect(await refusal('basic')).toEqual(['BAD_USER_INPUT', 'The user already has the package "basic"'])
    expect(await refusal('extra')).toEqual(['BAD_USER_INPUT', expect.stringContaining('is an add-on')])
    expect(await refusal('draft')).toEqual(['BAD_USER_INPUT', 'Package is not published'])
    expect(await refusal('none')).toEqual(['PACKAGE_NOT_FOUND', expect.any(String)])
  })
})

describe('gap: quantities', () => {
  const SUBSCRIBE = `mutation ($packageIds: [String!]!, $quantities: [Int!]) {
    subscribe(userId: "ann", packageIds: $packageIds, quantities: $quantities) { package { id } quantity }
  }`
  it('multiply the limits, and are kept by a change of plan', async () => {
    const { subscribe } = await app.admin.data(SUBSCRIBE, {
      packageIds: ['basic', 'extra'],
      quantities: [3, 2],
    })
    expect(subscribe.map((s: Data) => s.quantity)).toEqual([3, 2])
    const canUseFeature = await app.admin.call('canUseFeature { consumption { budget } }', {
      userId: 'ann',
      featureId: 'call',
    })
    expect(canUseFeature.consumption.budget).toBe(3 * 10 + 2 * 5)
    expect(await change('pro', { when: 'NOW' })).toMatchObject({ subscription: { quantity: 3 } })
  })

  const seats = async () => {
    const canUseFeature = await app.admin.call('canUseFeature { consumption { used budget } }', {
      userId: 'ann',
      featureId: 'seat',
    })
    return canUseFeature.consumption
  }

  it('never fall below what is in use for good', async () => {
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [5] })
    await app.use(4, 'seat')
    await expect(change('basic', { quantity: 3, when: 'NOW' })).rejects.toThrow(
      /A quantity of 3 allows 3 of \\"seat\\", but 4 are in use\. Free 1 first/,
    )
    expect(await change('basic', { quantity: 4, when: 'NOW' })).toMatchObject({
      subscription: { quantity: 4 },
    })
  })

  it('do not count what a reservation holds as in use', async () => {
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [5] })
    await app.admin.call('reserveUsage { reserved }', {
      input: { id: 'held', userId: 'ann', featureId: 'seat', amount: 4 },
    })
    await change('basic', { quantity: 3, when: 'NOW' })
    const settled = await app.admin.call('settleReservation { settled late }', { id: 'held', amount: 4 })
    expect(settled).toEqual({ settled: 4, late: false })
    expect(await seats()).toEqual({ used: 4, budget: 3 })
  })

  it('refuse in a dry run and for the end of the period what they refuse now', async () => {
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [5] })
    await app.use(4, 'seat')
    for (const more of [{ dryRun: true }, { when: 'PERIOD_END' }, { when: 'PERIOD_END', dryRun: true }])
      await expect(change('basic', { quantity: 3, ...more })).rejects.toThrow(/4 are in use/)
    await expect(
      app.dashboard.data(
        `mutation ($appId: String!) {
          changeSubscription(appId: $appId, userId: "ann", packageId: "basic", quantity: 3) { at }
        }`,
        { appId: app.id },
      ),
    ).rejects.toThrow(/4 are in use/)
  })

  it('that are scheduled take effect whatever has been used since', async () => {
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [5] })
    await app.use(3, 'seat')
    await change('basic', { quantity: 3, when: 'PERIOD_END' })
    await app.use(2, 'seat')
    await app.advance(end)
    expect(await seats()).toEqual({ used: 5, budget: 3 })
  })

  it('of another plan may allow less than is in use, and nothing more until usage is below', async () => {
    await publishPackage(app, 'free', { seat: { limit: 2, resetPeriod: 'NEVER' } })
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [4] })
    await app.use(4, 'seat')
    // In a lower quantity as in the same.
    for (const quantity of [4, 1]) {
      const dryRun = await change('free', { quantity, when: 'NOW', dryRun: true })
      expect(dryRun).toMatchObject({ subscription: null, now: true })
    }
    await change('free', { quantity: 1, when: 'NOW' })
    expect(await seats()).toEqual({ used: 4, budget: 2 })
    await expect(app.use(1, 'seat')).rejects.toThrow()
    await app.use(-3, 'seat')
    await app.use(1, 'seat')
    expect(await seats()).toEqual({ used: 2, budget: 2 })
  })

  it('are not held up by usage that they do not limit', async () => {
    await app.admin.data(SUBSCRIBE, { packageIds: ['basic'], quantities: [5] })
    await app.use(4, 'seat')
    await app.admin.call('setOverride', {
      input: { userId: 'ann', featureId: 'seat', mode: 'REPLACE', limit: 1 },
    })
    expect(await change('basic', { quantity: 1, when: 'NOW' })).toMatchObject({
      subscription: { quantity: 1 },
    })
    expect(await seats()).toEqual({ used: 4, budget: 1 })
  })

  it.each([
    [[1], 'quantities must have one entry per package'],
    [[1, 0], 'quantity must be an integer from 1 to 1000000'],
  ])('%j is refused', async (quantities, message) => {
    await expect(app.admin.data(SUBSCRIBE, { packageIds: ['basic', 'extra'], quantities })).rejects.toThrow(
      message,
    )
  })
})

describe('gap: trials', () => {
  const TRIAL = `mutation ($packageId: String!, $days: Int, $until: String, $next: String, $again: Boolean) {
    startTrial(userId: "ann", packageId: $packageId, days: $days, until: $until, then: $next, again: $again) {
      id package { id } status trialEndsAt cancelAt scheduled { packageId at }
    }
  }`
  const trial = async (packageId: string, more: Data): Promise<Data> =>
    (await app.admin.data(TRIAL, { packageId, ...more })).startTrial
  const ends = midnight('2091-02-14')

  it('of an add-on need a base plan, and an add-on if anything follows', async () => {
    await expect(trial('extra', { days: 1 })).rejects.toThrow('The user has no base plan for this add-on')
    await app.subscribe('basic')
    await expect(trial('extra', { days: 1, next: 'basic' })).rejects.toThrow(
      'A base plan can only be followed by a base plan, and an add-on by an add-on',
    )
    expect(await trial('extra', { days: 1 })).toMatchObject({ package: { id: 'extra' }, status: 'ACTIVE' })
    await expect(trial('extra', { days: 1, again: true })).rejects.toThrow('already subscribed to package')
  })

  it('end by the clock, and are followed by another plan', async () => {
    await app.subscribe('basic')
    await app.use(3)
    expect(await trial('pro', { days: 14, next: 'basic' })).toMatchObject({
      status: 'ACTIVE',
      trialEndsAt: ends,
      cancelAt: ends,
      scheduled: { packageId: 'basic', at: ends },
    })
    await app.advance('2091-02-13T23:59:59.999Z')
    expect(await app.reasonCode('api')).toBe('UNLIMITED')
    await app.advance(ends)
    expect(await app.subscriptions()).toEqual([
      ['basic', 'CANCELLED', null, start],
      ['pro', 'CANCELLED', ends, ends],
      ['basic', 'ACTIVE', null, null],
    ])
    expect(await app.showUsage()).toMatchObject({ current: [start, end, 3] })
  })

  it('that count nothing leave the month of the plan before them running, also when extended', async () => {
    await publishPackage(app, 'bare', {})
    await app.subscribe('basic')
    await app.use(7)
    const { id } = await trial('bare', { days: 3, next: 'basic' })
    const until = midnight('2091-02-10')
    await app.admin.call('extendTrial', { id, until })
    await app.advance(until)
    expect(await app.showUsage()).toMatchObject({ current: [start, end, 7] })
  })

  it('stay trials when their quantity is changed, and what follows them still does', async () => {
    await trial('pro', { until: ends, next: 'basic' })
    await app.subscribe('extra')
    const scheduled = { packageId: 'basic', at: ends }
    expect(await change('pro', { quantity: 3, when: 'NOW' })).toMatchObject({
      subscription: { package: { id: 'pro' }, quantity: 3, cancelAt: ends, scheduled },
    })
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "ann") { status trialEndsAt } }')
    expect(subscriptions.at(-1)).toEqual({ status: 'ACTIVE', trialEndsAt: ends })
    await app.advance(ends)
    expect((await app.subscriptions()).filter(([, status]) => status === 'ACTIVE')).toEqual([
      ['basic', 'ACTIVE', null, null],
      ['extra', 'ACTIVE', null, null],
    ])
  })

  it('end in nothing without another plan', async () => {
    await trial('pro', { until: ends })
    await app.advance(ends)
    expect(await app.reasonCode('api')).toBe('NO_SUBSCRIPTION')
  })

  it('are given once for each user and package, unless asked for again', async () => {
    await trial('pro', { days: 1 })
    await app.advance(midnight('2091-02-02'))
    await expect(trial('pro', { days: 1 })).rejects.toThrow('Pass again: true')
    expect(await trial('pro', { days: 1, again: true })).toMatchObject({ status: 'ACTIVE' })
  })

  it('are extended, never shortened, and what follows waits', async () => {
    const { id } = await trial('pro', { days: 14, next: 'basic' })
    const EXTEND = `mutation ($id: String!, $until: String!) {
      extendTrial(id: $id, until: $until) { trialEndsAt scheduled { at } }
    }`
    await expect(app.admin.data(EXTEND, { id, until: midnight('2091-02-10') })).rejects.toThrow(
      `until must be later than the current end of the trial, ${ends}`,
    )
    const until = midnight('2091-02-20')
    const { extendTrial } = await app.admin.data(EXTEND, { id, until })
    expect(extendTrial).toEqual({ trialEndsAt: until, scheduled: { at: until } })
    await app.advance('2091-02-19T23:59:59.999Z')
    expect(await app.reasonCode('api')).toBe('UNLIMITED')
    await app.advance(until)
    expect(await app.reasonCode('api')).toBe('NOT_IN_PACKAGE')
    await expect(app.admin.data(EXTEND, { id, until: midnight('2091-03-20') })).rejects.toThrow('has ended')
  })

  it('end all the same when what follows is taken back, and are not kept on for nothing', async () => {
    const { id } = await trial('pro', { days: 14, next: 'basic' })
    await expect(app.keep(id)).rejects.toThrow('The subscription is a trial, which ends automatically')
    await app.admin.data(TAKE_BACK)
    await app.advance(ends)
    expect(await app.reasonCode('call')).toBe('NO_SUBSCRIPTION')
  })

  it.each([
    [{}, 'Exactly one of days and until is required'],
    [{ days: 1, until: ends }, 'Exactly one of days and until is required'],
    [{ days: 0 }, 'days must be an integer from 1 to 730'],
    [{ until: midnight('2091-01-01') }, 'until must be in the future'],
    [{ until: 'tomorrow' }, 'until must be an ISO 8601 time'],
    [{ days: 1, next: 'extra' }, 'A base plan can only be followed by a base plan'],
  ])('%j is refused', async (more, message) => {
    await expect(trial('pro', more)).rejects.toThrow(message)
  })
})
