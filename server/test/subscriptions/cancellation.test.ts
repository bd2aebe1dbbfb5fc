import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariants: no add-on outlives its base plan; cancelling and subscribing again neither refills nor loses usage;
// a cancelled subscription is never revived.

const server = shared(startTestServer)
let app: ClockedApp

const start = midnight('2091-03-10')
const end = midnight('2091-04-10')

beforeEach(async () => {
  app = await clockedApp(server)
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await publishPackage(app, 'extra', { call: { limit: 5 } }, true)
  await app.advance(start)
})

describe('cancelled at the end of the period', () => {
  it('spec §3 subscription status: ACTIVE until then, CANCELLED from then on, add-ons with it', async () => {
    const [plan] = await app.subscribe('plan', 'extra')
    await app.advance(midnight('2091-03-20'))
    expect(await app.cancel(plan, 'at period end')).toEqual({
      status: 'ACTIVE',
      cancelAt: end,
      cancelledAt: null,
    })

    await app.advance('2091-04-09T23:59:59.999Z')
    expect(await app.subscriptions()).toEqual([
      ['plan', 'ACTIVE', end, null],
      ['extra', 'ACTIVE', end, null],
    ])
    expect(await app.reasonCode()).toBe('WITHIN_BUDGET')

    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'CANCELLED', end, end],
      ['extra', 'CANCELLED', end, end],
    ])
    expect(await app.reasonCode()).toBe('NO_SUBSCRIPTION')
  })

  it('spec §4 mutation rule 3: the plan is in the way of another until then, and not from then on', async () => {
    const [plan] = await app.subscribe('plan')
    await app.use(10)
    await app.cancel(plan, 'at period end')
    await expect(app.subscribe('plan')).rejects.toThrow('Cannot subscribe to multiple tiers')
    await app.advance(end)
    await expect(app.subscribe('extra')).rejects.toThrow('Missing live tier subscription')
    await app.subscribe('plan')
    expect(await app.subscriptions()).toEqual([
      ['plan', 'CANCELLED', end, end],
      ['plan', 'ACTIVE', null, null],
    ])
    expect(await app.showUsage()).toEqual({ current: [end, midnight('2091-05-10'), 0], past: [] })
  })

  it('gap: cancellation: an add-on taken after the end was set ends with its base plan', async () => {
    const [plan] = await app.subscribe('plan')
    await app.cancel(plan, 'at period end')
    await app.subscribe('extra')
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'CANCELLED', end, end],
      ['extra', 'CANCELLED', end, end],
    ])
  })

  it('gap: cancellation: an add-on alone leaves its base plan as it was', async () => {
    const [, extra] = await app.subscribe('plan', 'extra')
    await app.cancel(extra, 'at period end')
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'ACTIVE', null, null],
      ['extra', 'CANCELLED', end, end],
    ])
    await app.subscribe('extra')
    expect(await app.reasonCode()).toBe('WITHIN_BUDGET')
  })

  it('gap: cancellation: at once overrides the end that was set, and is never undone', async () => {
    const [plan] = await app.subscribe('plan', 'extra')
    await app.cancel(plan, 'at period end')
    await app.advance(midnight('2091-03-20'))
    const now = midnight('2091-03-20')
    const cancelled = { status: 'CANCELLED', cancelAt: end, cancelledAt: now }
    expect(await app.cancel(plan, 'now')).toEqual(cancelled)
    await app.advance(midnight('2091-03-25'))
    expect(await app.cancel(plan, 'now')).toEqual(cancelled)
    expect(await app.cancel(plan, 'at period end')).toEqual(cancelled)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'CANCELLED', end, now],
      ['extra', 'CANCELLED', end, now],
    ])
  })

  const ENDS: [string, Record<string, string>, string][] = [
    ['of the hour', { call: 'HOUR' }, '2091-03-10T08:00:00.000Z'],
    ['of the month, where some of it is by the day', { call: 'DAY', seat: 'MONTH' }, end],
    [
      'of the year, where some of it is by the month',
      { call: 'MONTH', seat: 'YEAR' },
      midnight('2092-03-10'),
    ],
    ['of the month, where it is for ever', { call: 'NEVER' }, end],
    ['of the month, where nothing is counted', {}, end],
  ]
  it.each(ENDS)('gap: cancellation: the end is that %s', async (_, resets, cancelAt) => {
    const grants = Object.entries(resets).map(([feature, resetPeriod]) => [feature, { resetPeriod }])
    await publishPackage(app, 'other', Object.fromEntries(grants))
    const [other] = await app.subscribe('other')
    await app.advance('2091-03-10T07:30:00Z')
    expect(await app.cancel(other, 'at period end')).toEqual({
      status: 'ACTIVE',
      cancelAt,
      cancelledAt: null,
    })
  })
})

describe('cancelled at once and subscribed again', () => {
  beforeEach(async () => {
    const [plan] = await app.subscribe('plan')
    await app.use(4)
    await app.advance(midnight('2091-03-20'))
    await app.cancel(plan, 'now')
  })

  it('gap: anchor: within the period, usage and period continue', async () => {
    expect(await app.reasonCode()).toBe('NO_SUBSCRIPTION')
    await app.advance('2091-04-09T23:59:59.999Z')
    await app.subscribe('plan')
    expect(await app.showUsage()).toEqual({ current: [start, end, 4], past: [] })
    await app.advance(end)
    expect(await app.showUsage()).toEqual({
      current: [end, midnight('2091-05-10'), 0],
      past: [[start, end, 4]],
    })
  })

  it('gap: anchor: another plan with the same reset continues too, with its own budget', async () => {
    await publishPackage(app, 'big', { call: { limit: 100 } })
    await app.advance(midnight('2091-03-25'))
    await app.subscribe('big')
    await app.use(90)
    expect(await app.showUsage()).toEqual({ current: [start, end, 94], past: [] })
  })

  it('gap: anchor: a plan that resets otherwise keeps the anchor and starts its own count', async () => {
    await publishPackage(app, 'weekly', { call: { limit: 10, resetPeriod: 'WEEK' } })
    await app.advance(midnight('2091-03-25'))
    await app.subscribe('weekly')
    const { current } = await app.showUsage()
    expect(current).toEqual([midnight('2091-03-24'), midnight('2091-03-31'), 0])
  })

  it.each([
    end,
    midnight('2091-04-25'),
  ])('gap: anchor: at %s, after the period, everything starts over', async (later) => {
    await app.advance(later)
    await app.subscribe('plan')
    expect(await app.showUsage()).toEqual({ current: [later, later.replace('-04-', '-05-'), 0], past: [] })
  })
})

describe('a plan by the year and by the month', () => {
  beforeEach(async () => {
    await publishPackage(app, 'both', { month: { resetPeriod: 'MONTH' }, year: { resetPeriod: 'YEAR' } })
    const [both] = await app.subscribe('both')
    await app.use(3, 'month')
    await app.use(4, 'year')
    await app.advance(midnight('2091-05-01'))
    await app.cancel(both, 'now')
  })

  it('gap: anchor: within the year the year’s usage continues, and months count from the same day', async () => {
    await app.advance(midnight('2091-12-24'))
    await app.subscribe('both')
    expect((await app.showUsage('year')).current).toEqual([start, midnight('2092-03-10'), 4])
    const month = await app.showUsage('month')
    expect(month.current).toEqual([midnight('2091-12-10'), midnight('2092-01-10'), 0])
    expect(month.past.at(-1)).toEqual([start, end, 3])
    expect(month.past).toHaveLength(9)
  })

  it('gap: anchor: after the year both start over', async () => {
    await app.advance(midnight('2092-03-15'))
    await app.subscribe('both')
    expect((await app.showUsage('year')).current).toEqual([midnight('2092-03-15'), midnight('2093-03-15'), 0])
    expect(await app.showUsage('month')).toEqual({
      current: [midnight('2092-03-15'), midnight('2092-04-15'), 0],
      past: [],
    })
  })
})

describe('a scheduled end taken back', () => {
  it('gap: keeping: it goes on, with the add-ons that were to end with it', async () => {
    const [plan] = await app.subscribe('plan', 'extra')
    await app.use(4)
    await app.cancel(plan, 'at period end')
    expect(await app.keep(plan)).toEqual({ status: 'ACTIVE', cancelAt: null, cancelledAt: null })
    await app.advance('2091-04-09T23:59:59.999Z')
    expect(await app.showUsage()).toMatchObject({ current: [start, end, 4] })
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'ACTIVE', null, null],
      ['extra', 'ACTIVE', null, null],
    ])
    expect(await app.showUsage()).toMatchObject({ current: [end, midnight('2091-05-10'), 0] })
  })

  it('gap: keeping: one that has no end is left as it is', async () => {
    const [plan] = await app.subscribe('plan')
    expect(await app.keep(plan)).toEqual({ status: 'ACTIVE', cancelAt: null, cancelledAt: null })
  })

  it('gap: keeping: one that has ended stays ended', async () => {
    const [plan] = await app.subscribe('plan')
    await app.cancel(plan, 'at period end')
    await app.advance(end)
    await expect(app.keep(plan)).rejects.toThrow('The subscription has ended')
    const [again] = await app.subscribe('plan')
    await app.cancel(again, 'now')
    await expect(app.keep(again)).rejects.toThrow('The subscription has ended')
    expect(await app.reasonCode()).toBe('NO_SUBSCRIPTION')
  })

  it('gap: keeping: no add-on outlives its base plan', async () => {
    const [plan, extra] = await app.subscribe('plan', 'extra')
    await app.cancel(plan, 'at period end')
    await expect(app.keep(extra)).rejects.toThrow('base plan of this add-on is scheduled to end')
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'CANCELLED', end, end],
      ['extra', 'CANCELLED', end, end],
    ])
  })

  it('gap: keeping: an add-on alone goes on beside its base plan', async () => {
    const [, extra] = await app.subscribe('plan', 'extra')
    await app.cancel(extra, 'at period end')
    await app.keep(extra)
    await app.advance(end)
    expect(await app.subscriptions()).toEqual([
      ['plan', 'ACTIVE', null, null],
      ['extra', 'ACTIVE', null, null],
    ])
  })
})

describe('cancelling by the Admin API', () => {
  const CANCEL = 'mutation ($id: String!) { cancelSubscription(id: $id) { id status cancelAt } }'
  const KEEP = 'mutation ($id: String!) { keepSubscription(id: $id) { id status cancelAt } }'

  it('gap: lifecycle: waits for the period’s end unless it is told otherwise', async () => {
    const [plan] = await app.subscribe('plan')
    const { cancelSubscription } = await app.admin.data(CANCEL, { id: plan })
    expect(cancelSubscription).toEqual({ id: plan, status: 'ACTIVE', cancelAt: end })
    const { now } = await app.admin.data(
      'mutation ($id: String!) { now: cancelSubscription(id: $id, atPeriodEnd: false) { status } }',
      { id: plan },
    )
    expect(now).toEqual({ status: 'CANCELLED' })
  })

  it('gap: lifecycle: a key that comes again cancels nothing that was kept since', async () => {
    const [plan] = await app.subscribe('plan')
    const keyed = app.admin.with({ 'Idempotency-Key': 'cancel-once' })
    const first = await keyed.data(CANCEL, { id: plan })
    await app.admin.data(KEEP, { id: plan })
    expect(await keyed.data(CANCEL, { id: plan })).toEqual(first)
    expect(await app.subscriptions()).toEqual([['plan', 'ACTIVE', null, null]])
  })

  it.each([
    'cancelSubscription',
    'keepSubscription',
  ])('gap: unknown ids: %s refuses what is not there, and what is another app’s', async (operation) => {
    const other = await clockedApp(server)
    await publishPackage(other, 'plan', { call: { limit: 10 } })
    const [theirs] = await other.subscribe('plan')
    for (const id of ['nothing', theirs]) {
      const { errors } = await app.admin.ask(`mutation ($id: String!) { ${operation}(id: $id) { id } }`, {
        id,
      })
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['SUBSCRIPTION_NOT_FOUND'])
    }
  })
})
