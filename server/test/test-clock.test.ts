import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishPackage, type TestApp } from './harness/catalogue.ts'
import type { Data } from './harness/client.ts'
import { createApp, startTestServer, type TestServer } from './harness/server.ts'

// A test clock starts at real time and only moves forward: the dates here are far ahead of it. 2092 is a leap year.

let server: TestServer
let app: TestApp
let apps = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

async function newApp(testClock = true): Promise<TestApp> {
  const id = `app-${++apps}`
  return { id, admin: await createApp(server, id, { testClock }), dashboard: server.dashboard }
}

beforeEach(async () => {
  app = await newApp()
  await app.admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
})

const ADVANCE = 'mutation ($appId: String!, $to: String!) { advanceClock(appId: $appId, to: $to) { id now } }'
const advance = async (to: string, { id } = app): Promise<string> =>
  (await server.dashboard.data(ADVANCE, { appId: id, to })).advanceClock.now

async function subscribe(...packageIds: string[]): Promise<Data[]> {
  const { subscribe } = await app.admin.data(
    `mutation ($packageIds: [String!]!) { subscribe(userId: "ann", packageIds: $packageIds) { id startedAt cancelAt } }`,
    { packageIds },
  )
  return subscribe
}

async function cancel(id: string, atPeriodEnd: boolean): Promise<Data> {
  const { cancelSubscription } = await server.dashboard.data(
    `mutation ($appId: String!, $id: String!, $atPeriodEnd: Boolean!) {
      cancelSubscription(appId: $appId, id: $id, atPeriodEnd: $atPeriodEnd) { status cancelAt cancelledAt }
    }`,
    { appId: app.id, id, atPeriodEnd },
  )
  return cancelSubscription
}

async function use(delta: number, featureId = 'call'): Promise<void> {
  const { recordUsage } = await app.admin.data(
    'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded reason } }',
    { input: { userId: 'ann', featureId, delta } },
  )
  expect(recordUsage).toEqual({ recorded: true, reason: null })
}

const SHOW = `query ($featureId: String!) { showUsage(userId: "ann", featureId: $featureId) {
  current { periodStart periodEnd consumption { used } } past { periodStart periodEnd consumption { used } }
} }`
/** Periods as `[start, end, used]`. */
async function show(featureId = 'call') {
  const { showUsage } = await app.admin.data(SHOW, { featureId })
  const row = (p: Data) => [p.periodStart, p.periodEnd, p.consumption.used]
  return { current: showUsage.current && row(showUsage.current), past: showUsage.past.map(row) }
}

const subscriptions = async (): Promise<Data[]> =>
  (await app.admin.data('{ subscriptions(userId: "ann") { package { id } status cancelAt cancelledAt } }'))
    .subscriptions

const reasonCode = async (featureId = 'call'): Promise<string> =>
  (await app.admin.data(`{ canUseFeature(userId: "ann", featureId: "${featureId}") { reasonCode } }`))
    .canUseFeature.reasonCode

const day = (date: string) => `${date}T00:00:00.000Z`

describe('renewals', () => {
  it('spec §2 ShowUsageData: usage starts again with the next period, and past periods keep theirs', async () => {
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await advance('2091-03-10T09:30:00Z')
    await subscribe('plan')
    await use(10)
    expect(await reasonCode()).toBe('LIMIT_EXCEEDED')

    await advance('2091-04-10T09:29:59.999Z')
    expect(await reasonCode()).toBe('LIMIT_EXCEEDED')
    await advance('2091-04-10T09:30:00Z')
    expect(await reasonCode()).toBe('WITHIN_BUDGET')
    await use(3)

    await advance('2091-06-20T00:00:00Z')
    const at = (month: string) => `2091-${month}-10T09:30:00.000Z`
    expect(await show()).toEqual({
      current: [at('06'), at('07'), 0],
      past: [
        [at('05'), at('06'), 0],
        [at('04'), at('05'), 3],
        [at('03'), at('04'), 10],
      ],
    })
  })

  it('gap: usage: at most 24 past periods are shown, the newest', async () => {
    await publishPackage(app, 'plan', { call: {} })
    await advance('2091-01-01T00:00:00Z')
    await subscribe('plan')
    await use(1)
    await advance('2093-01-01T00:00:00Z')
    expect((await show()).past).toHaveLength(24)
    expect((await show()).past.at(-1)).toEqual([day('2091-01-01'), day('2091-02-01'), 1])
    await advance('2093-02-01T00:00:00Z')
    expect((await show()).past).toHaveLength(24)
    expect((await show()).past.at(-1)).toEqual([day('2091-02-01'), day('2091-03-01'), 0])
  })

  const YEARS = [
    { year: 2091, february: 28 },
    { year: 2092, february: 29 },
  ]
  it.each(YEARS)(
    'gap: periods: a plan taken on 31 January $year never drifts',
    async ({ year, february }) => {
      await publishPackage(app, 'plan', { call: { limit: 12 } })
      const ends = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      const starts = ends.map((last, month) => day(`${year}-${String(month + 1).padStart(2, '0')}-${last}`))
      await advance(starts[0] ?? '')
      await subscribe('plan')
      for (const [month, start] of starts.entries()) {
        await advance(start)
        expect((await show()).current).toEqual([start, starts[month + 1] ?? day(`${year + 1}-01-31`), 0])
        await use(month + 1)
        const { past } = await show()
        expect(past.map(([, , used]: [string, string, number]) => used)).toEqual(
          Array.from({ length: month }, (_, i) => month - i),
        )
      }
    },
  )

  const PERIODS: [string, string, string][] = [
    ['HOUR', '2092-02-28T13:00:00.000Z', '2092-02-28T14:00:00.000Z'],
    ['DAY', '2092-02-29T12:00:00.000Z', '2092-03-01T12:00:00.000Z'],
    ['WEEK', '2092-03-06T12:00:00.000Z', '2092-03-13T12:00:00.000Z'],
    ['MONTH', '2092-03-28T12:00:00.000Z', '2092-04-28T12:00:00.000Z'],
    ['YEAR', '2093-02-28T12:00:00.000Z', '2094-02-28T12:00:00.000Z'],
  ]
  it.each(PERIODS)('gap: periods: %s begins anew at %s', async (resetPeriod, second, third) => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod } })
    const first = '2092-02-28T12:00:00.000Z'
    await advance(first)
    await subscribe('plan')
    await use(5)
    await advance(new Date(Date.parse(second) - 1).toISOString())
    expect(await show()).toEqual({ current: [first, second, 5], past: [] })
    await advance(second)
    expect(await show()).toEqual({ current: [second, third, 0], past: [[first, second, 5]] })
  })

  it('gap: periods: NEVER goes on for ever, also across subscriptions', async () => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod: 'NEVER' } })
    await advance(day('2091-01-01'))
    const [first] = await subscribe('plan')
    await use(5)
    await advance(day('2099-01-01'))
    expect(await reasonCode()).toBe('LIMIT_EXCEEDED')
    await cancel(first?.id, false)
    await advance(day('2105-01-01'))
    await subscribe('plan')
    expect(await reasonCode()).toBe('LIMIT_EXCEEDED')
    const { current, past } = await show()
    expect([current.slice(1), past]).toEqual([[null, 5], []])
  })

  it('gap: periods: features of one plan reset each in its own time', async () => {
    await publishPackage(app, 'plan', { call: { resetPeriod: 'MONTH' }, audit: { resetPeriod: 'YEAR' } })
    await advance(day('2091-01-15'))
    await subscribe('plan')
    await use(3, 'call')
    await use(4, 'audit')
    await advance(day('2091-02-20'))
    expect((await show('call')).current).toEqual([day('2091-02-15'), day('2091-03-15'), 0])
    expect((await show('audit')).current).toEqual([day('2091-01-15'), day('2092-01-15'), 4])
    await advance(day('2092-01-15'))
    expect((await show('audit')).current).toEqual([day('2092-01-15'), day('2093-01-15'), 0])
  })
})
