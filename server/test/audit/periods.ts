import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import { type Entitlement, newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import type { OwnerContext } from './context.ts'
import { FEATURE_NOT_FOUND, ISO_TIME, refuses, USER_NOT_FOUND } from './expect.ts'

const derivedPeriods = section('gap: periods')
const pastPeriods = section('gap: showUsage.past')

/** Test clocks start at the real time: what happens there happens in the years to come. */
const nextYear = () => new Date().getUTCFullYear() + 1
function leapYear(): number {
  let year = nextYear()
  while (new Date(Date.UTC(year, 1, 29)).getUTCDate() !== 29) year++
  return year
}
const iso = (time: number) => new Date(time).toISOString()
const earlier = (time: string) => iso(Date.parse(time) - 1)

async function subscribedAt({ freshApp }: OwnerContext, time: string, entitlement: Entitlement) {
  const app = await freshApp({ testClock: true })
  await app.advanceTo(time)
  return { app, ...(await app.makeSubscriber(entitlement)) }
}

const span = ({ periodStart, periodEnd }: Data) => [periodStart, periodEnd]

async function current(app: OwnApp, userId: string, featureId: string): Promise<Data> {
  return (await app.showUsage(userId, featureId)).current
}

const UNITS = (year: number): [resetPeriod: string, start: string, end: string][] => [
  ['HOUR', `${year}-03-31T22:15:00.250Z`, `${year}-03-31T23:15:00.250Z`],
  ['DAY', `${year}-03-31T22:15:00.250Z`, `${year}-04-01T22:15:00.250Z`],
  ['WEEK', `${year}-12-28T10:00:00.000Z`, `${year + 1}-01-04T10:00:00.000Z`],
  ['MONTH', `${year}-12-15T10:00:00.000Z`, `${year + 1}-01-15T10:00:00.000Z`],
  ['YEAR', `${year}-05-15T10:00:00.000Z`, `${year + 1}-05-15T10:00:00.000Z`],
]

const units = UNITS(nextYear()).map(([resetPeriod, start, end]) =>
  derivedPeriods.withOwner(
    `G.PERIODS.${resetPeriod.toLowerCase()}`,
    `A ${resetPeriod} runs from the subscription's start, up to and without its end; then the count starts anew.`,
    async (context) => {
      const { app, userId, featureId } = await subscribedAt(context, start, { limit: 5, resetPeriod })
      await app.recordUsage(userId, featureId, 3)
      assert.deepEqual(span(await current(app, userId, featureId)), [start, end])
      await app.advanceTo(earlier(end))
      assert.equal(await app.used(userId, featureId), 3)

      await app.advanceTo(end)
      assert.equal(await app.used(userId, featureId), 0)
      assert.equal((await app.canUseFeature(userId, featureId, 5)).access, true)
      const { past } = await app.showUsage(userId, featureId)
      assert.deepEqual(past, [
        {
          periodStart: start,
          periodEnd: end,
          consumption: { budget: 5, used: 3, overageEnabled: false },
        },
      ])
    },
  ),
)

export const periods: Audit[] = [
  ...units,
  section('spec §4 query rule 3').withOwner(
    'S4.Q3.current-and-past',
    'showUsage returns the current period, with ISO 8601 times and its consumption, and the past ones.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5, overageEnabled: true })
      await own.recordUsage(userId, featureId, 2)
      const { current, past } = await own.showUsage(userId, featureId)
      assert.match(current.periodStart, ISO_TIME)
      assert.match(current.periodEnd, ISO_TIME)
      assert.deepEqual(current.consumption, { budget: 5, used: 2, overageEnabled: true })
      assert.deepEqual(past, [])
    },
  ),
  section('gap: unknown ids').withKey(
    'G.ERRORS.show-usage-not-found',
    'showUsage on an unknown user or feature fails with its error.',
    async ({ admin, app }) => {
      const query = `query ($userId: String!, $featureId: String!) {
        showUsage(userId: $userId, featureId: $featureId) { past { periodStart } }
      }`
      const [userId, featureId] = [await app.makeUser(), await app.makeFeature()]
      await refuses(admin, query, { userId: newId('user'), featureId }, USER_NOT_FOUND)
      await refuses(admin, query, { userId, featureId: newId('feature') }, FEATURE_NOT_FOUND)
    },
  ),
  derivedPeriods.withOwner(
    'G.PERIODS.never',
    'NEVER is one period without end, the same one across subscriptions.',
    async (context) => {
      const start = `${nextYear()}-01-01T00:00:00.000Z`
      const entitlement = { limit: 5, resetPeriod: 'NEVER' }
      const { app, userId, featureId, planId, subscriptionId } = await subscribedAt(
        context,
        start,
        entitlement,
      )
      await app.recordUsage(userId, featureId, 4)
      assert.equal((await current(app, userId, featureId)).periodEnd, null)
      await app.advanceTo(`${nextYear() + 10}-01-01T00:00:00Z`)
      assert.equal(await app.used(userId, featureId), 4)

      await app.cancel(subscriptionId, false)
      await app.advanceTo(`${nextYear() + 20}-01-01T00:00:00Z`)
      await app.subscribe(userId, planId)
      const { current: now, past } = await app.showUsage(userId, featureId)
      assert.deepEqual([now.periodEnd, now.consumption.used, past], [null, 4, []])
    },
  ),
  derivedPeriods.withOwner(
    'G.PERIODS.month-end',
    "Months from the 31st end on the month's last day and come back to the 31st.",
    async (context) => {
      const year = nextYear()
      const february = new Date(Date.UTC(year, 2, 0)).getUTCDate()
      const day = (date: string) => `${year}-${date}T12:00:00.000Z`
      const starts = [day('01-31'), day(`02-${february}`), day('03-31'), day('04-30'), day('05-31')]
      const { app, userId, featureId } = await subscribedAt(context, day('01-31'), { limit: 5 })
      await app.advanceTo(day('05-31'))
      const { current: now, past } = await app.showUsage(userId, featureId)
      assert.deepEqual(
        [...past]
          .reverse()
          .concat(now)
          .map((p) => p.periodStart),
        starts,
      )
      assert.deepEqual(
        [...past].reverse().map((p) => p.periodEnd),
        starts.slice(1),
      )
      assert.equal(now.periodEnd, day('06-30'))
    },
  ),
  derivedPeriods.withOwner(
    'G.PERIODS.leap-day',
    'Years from 29 February end on the 28th and come back to the 29th.',
    async (context) => {
      const year = leapYear()
      const start = `${year}-02-29T00:00:00.000Z`
      const { app, userId, featureId } = await subscribedAt(context, start, { resetPeriod: 'YEAR' })
      await app.advanceTo(`${year + 3}-06-01T00:00:00Z`)
      assert.deepEqual(span(await current(app, userId, featureId)), [
        `${year + 3}-02-28T00:00:00.000Z`,
        `${year + 4}-02-29T00:00:00.000Z`,
      ])
    },
  ),
  pastPeriods.withOwner(
    'G.PERIODS.past-newest-first',
    'past holds every period since the anchor, newest first, the empty ones too.',
    async (context) => {
      const start = `${nextYear()}-02-01T00:00:00.000Z`
      const at = (days: number) => iso(Date.parse(start) + days * 86_400_000)
      const { app, userId, featureId } = await subscribedAt(context, start, { limit: 9, resetPeriod: 'DAY' })
      await app.recordUsage(userId, featureId, 1)
      await app.advanceTo(at(2))
      await app.recordUsage(userId, featureId, 3)
      await app.advanceTo(at(3.5))
      const { past } = await app.showUsage(userId, featureId)
      assert.deepEqual(
        past.map((p: Data) => [...span(p), p.consumption.used]),
        [
          [at(2), at(3), 3],
          [at(1), at(2), 0],
          [at(0), at(1), 1],
        ],
      )
    },
  ),
  pastPeriods.withOwner(
    'G.PERIODS.past-at-most-24',
    'past holds at most 24 periods, the newest.',
    async (context) => {
      const start = `${nextYear()}-02-01T00:00:00.000Z`
      const at = (hours: number) => iso(Date.parse(start) + hours * 3_600_000)
      const { app, userId, featureId } = await subscribedAt(context, start, { resetPeriod: 'HOUR' })
      await app.advanceTo(at(24))
      assert.equal((await app.showUsage(userId, featureId)).past.length, 24)
      await app.advanceTo(at(30))
      const { past } = await app.showUsage(userId, featureId)
      assert.deepEqual([past.length, past[0].periodStart, past[23].periodStart], [24, at(29), at(6)])
    },
  ),
]
