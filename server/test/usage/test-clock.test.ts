import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// A test clock starts at real time and only moves forward: the dates here are far ahead of it. 2092 is a leap year.

const server = shared(startTestServer)
let app: ClockedApp
beforeEach(async () => {
  app = await clockedApp(server)
})

describe('renewals', () => {
  it('spec §2 ShowUsageData: usage starts again with the next period, and past periods keep theirs', async () => {
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await app.advance('2091-03-10T09:30:00Z')
    await app.subscribe('plan')
    await app.use(10)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')

    await app.advance('2091-04-10T09:29:59.999Z')
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    await app.advance('2091-04-10T09:30:00Z')
    expect(await app.reasonCode()).toBe('WITHIN_BUDGET')
    await app.use(3)

    await app.advance('2091-06-20T00:00:00Z')
    const at = (month: string) => `2091-${month}-10T09:30:00.000Z`
    expect(await app.showUsage()).toEqual({
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
    await app.advance('2091-01-01T00:00:00Z')
    await app.subscribe('plan')
    await app.use(1)
    await app.advance('2093-01-01T00:00:00Z')
    expect((await app.showUsage()).past).toHaveLength(24)
    expect((await app.showUsage()).past.at(-1)).toEqual([midnight('2091-01-01'), midnight('2091-02-01'), 1])
    await app.advance('2093-02-01T00:00:00Z')
    expect((await app.showUsage()).past).toHaveLength(24)
    expect((await app.showUsage()).past.at(-1)).toEqual([midnight('2091-02-01'), midnight('2091-03-01'), 0])
  })

  const YEARS = [
    { year: 2091, february: 28 },
    { year: 2092, february: 29 },
  ]
  it.each(YEARS)('gap: periods: a plan taken on 31 January $year never drifts', async ({
    year,
    february,
  }) => {
    await publishPackage(app, 'plan', { call: { limit: 12 } })
    const ends = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    const starts = ends.map((last, month) =>
      midnight(`${year}-${String(month + 1).padStart(2, '0')}-${last}`),
    )
    await app.advance(starts[0] ?? '')
    await app.subscribe('plan')
    for (const [month, start] of starts.entries()) {
      await app.advance(start)
      expect((await app.showUsage()).current).toEqual([
        start,
        starts[month + 1] ?? midnight(`${year + 1}-01-31`),
        0,
      ])
      await app.use(month + 1)
      const { past } = await app.showUsage()
      expect(past.map(([, , used]) => used)).toEqual(Array.from({ length: month }, (_, i) => month - i))
    }
  })

  const PERIODS: [string, string, string][] = [
    ['HOUR', '2092-02-28T13:00:00.000Z', '2092-02-28T14:00:00.000Z'],
    ['DAY', '2092-02-29T12:00:00.000Z', '2092-03-01T12:00:00.000Z'],
    ['WEEK', '2092-03-06T12:00:00.000Z', '2092-03-13T12:00:00.000Z'],
    ['MONTH', '2092-03-28T12:00:00.000Z', '2092-04-28T12:00:00.000Z'],
    ['YEAR', '2093-02-28T12:00:00.000Z', '2094-02-28T12:00:00.000Z'],
  ]
  it.each(PERIODS)('gap: periods: %s resets at %s', async (resetPeriod, second, third) => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod } })
    const first = '2092-02-28T12:00:00.000Z'
    await app.advance(first)
    await app.subscribe('plan')
    await app.use(5)
    await app.advance(new Date(Date.parse(second) - 1).toISOString())
    expect(await app.showUsage()).toEqual({ current: [first, second, 5], past: [] })
    await app.advance(second)
    expect(await app.showUsage()).toEqual({ current: [second, third, 0], past: [[first, second, 5]] })
  })

  it('gap: periods: NEVER lasts forever, even across subscriptions', async () => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod: 'NEVER' } })
    await app.advance(midnight('2091-01-01'))
    const [first] = await app.subscribe('plan')
    await app.use(5)
    await app.advance(midnight('2099-01-01'))
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    await app.cancel(first, 'now')
    await app.advance(midnight('2105-01-01'))
    await app.subscribe('plan')
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    const { current, past } = await app.showUsage()
    expect([current?.slice(1), past]).toEqual([[null, 5], []])
  })

  it('gap: periods: features of one plan reset each in its own time', async () => {
    await publishPackage(app, 'plan', { call: { resetPeriod: 'MONTH' }, audit: { resetPeriod: 'YEAR' } })
    await app.advance(midnight('2091-01-15'))
    await app.subscribe('plan')
    await app.use(3, 'call')
    await app.use(4, 'audit')
    await app.advance(midnight('2091-02-20'))
    expect((await app.showUsage('call')).current).toEqual([midnight('2091-02-15'), midnight('2091-03-15'), 0])
    expect((await app.showUsage('audit')).current).toEqual([
      midnight('2091-01-15'),
      midnight('2092-01-15'),
      4,
    ])
    await app.advance(midnight('2092-01-15'))
    expect((await app.showUsage('audit')).current).toEqual([
      midnight('2092-01-15'),
      midnight('2093-01-15'),
      0,
    ])
  })
})

describe('advanceClock', () => {
  const ADVANCE = 'mutation ($id: String!, $to: String!) { advanceClock(appId: $id, to: $to) { now } }'
  const nowOf = async (id: string): Promise<string> => {
    const { apps } = await server.dashboard.data('{ apps { id now } }')
    return apps.find((found: { id: string }) => found.id === id)?.now
  }

  const TIMES = [
    ['2091-05-01T10:00:00Z', '2091-05-01T10:00:00.000Z'],
    ['2091-05-01T10:00:00.123Z', '2091-05-01T10:00:00.123Z'],
    ['2091-05-01T10:00:00+02:00', '2091-05-01T08:00:00.000Z'],
    ['2091-05-01T10:00:00', '2091-05-01T10:00:00.000Z'],
    ['2091-05-01T10:00', '2091-05-01T10:00:00.000Z'],
    ['2092-02-29T00:00:00Z', '2092-02-29T00:00:00.000Z'],
  ] as const
  it.each(TIMES)('gap: test clock: %s is %s', async (to, now) => {
    expect(await app.advance(to)).toBe(now)
    expect(await nowOf(app.id)).toBe(now)
  })

  const RUBBISH = [
    '',
    'tomorrow',
    '2091',
    '2091-05-01',
    '4000000000000',
    '2091-13-01T00:00:00Z',
    '2091-02-29T00:00:00Z',
    '2091-04-31T00:00:00Z',
    '2091-05-01T25:00:00Z',
    '2091-05-01T00:00:00Z or so',
    '+012091-05-01T00:00:00Z',
    '9999-12-31T23:59:59-12:00',
  ]
  it.each(RUBBISH)('gap: test clock: %j is refused', async (to) => {
    const before = await nowOf(app.id)
    const { extensions } = await server.dashboard.error(ADVANCE, { id: app.id, to })
    expect(extensions.code).toBe('BAD_USER_INPUT')
    expect(await nowOf(app.id)).toBe(before)
  })

  it('gap: test clock: it never goes back, and may stand still', async () => {
    const at = '2091-05-01T10:00:00.000Z'
    await app.advance(at)
    const { extensions } = await server.dashboard.error(ADVANCE, {
      id: app.id,
      to: '2091-05-01T09:59:59.999Z',
    })
    expect(extensions.code).toBe('BAD_USER_INPUT')
    expect(await app.advance(at)).toBe(at)
  })

  it('gap: test clock: an app on real time has none to move, an unknown app neither', async () => {
    await createApp(server, 'real')
    const to = '2091-05-01T10:00:00Z'
    expect((await server.dashboard.error(ADVANCE, { id: 'real', to })).extensions.code).toBe('BAD_USER_INPUT')
    expect((await server.dashboard.error(ADVANCE, { id: 'nowhere', to })).extensions.code).toBe(
      'APP_NOT_FOUND',
    )
  })

  it('gap: test clock: two clocks are independent of each other', async () => {
    const other = await clockedApp(server)
    for (const each of [app, other]) await publishPackage(each, 'plan', { call: { limit: 5 } })
    await app.advance(midnight('2091-01-01'))
    await other.advance(midnight('2095-06-15'))
    for (const each of [app, other]) {
      await each.subscribe('plan')
      await each.use(5)
    }
    await app.advance(midnight('2091-02-01'))
    expect(await app.showUsage()).toMatchObject({
      current: [midnight('2091-02-01'), midnight('2091-03-01'), 0],
    })
    expect(await other.showUsage()).toMatchObject({
      current: [midnight('2095-06-15'), midnight('2095-07-15'), 5],
    })
  })
})
