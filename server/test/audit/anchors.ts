import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import type { Entitlement, OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import type { OwnerContext } from './context.ts'

const DAY = 86_400_000
const start = `${new Date().getUTCFullYear() + 1}-03-10T00:00:00.000Z`
const after = (days: number) => new Date(Date.parse(start) + days * DAY).toISOString()

async function subscribedAtStart({ freshApp }: OwnerContext, entitlement: Entitlement) {
  const app = await freshApp({ testClock: true })
  await app.advanceTo(start)
  return { app, ...(await app.makeSubscriber(entitlement)) }
}

async function current(app: OwnApp, userId: string, featureId: string): Promise<Data> {
  return (await app.showUsage(userId, featureId)).current
}

const anchoring = section('gap: anchors')

export const anchors: Audit[] = [
  anchoring.withOwner(
    'G.PERIODS.resubscribe-keeps',
    'Cancelling and subscribing again within the period neither refills nor loses usage.',
    async (context) => {
      const { app, userId, featureId, planId, subscriptionId } = await subscribedAtStart(context, {
        limit: 5,
      })
      await app.recordUsage(userId, featureId, 4)
      await app.advanceTo(after(10))
      await app.cancel(subscriptionId, false)
      await app.advanceTo(after(20))
      await app.subscribe(userId, planId)
      const { periodStart, consumption } = await current(app, userId, featureId)
      assert.deepEqual([periodStart, consumption.used], [start, 4])
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.resubscribe-other-plan',
    'The count goes on under another plan with the same reset period.',
    async (context) => {
      const { app, userId, featureId, subscriptionId } = await subscribedAtStart(context, { limit: 5 })
      await app.recordUsage(userId, featureId, 4)
      await app.cancel(subscriptionId, false)
      await app.advanceTo(after(1))
      await app.subscribe(userId, await app.makePlan({ id: featureId, entitlement: { limit: 50 } }))
      const { consumption } = await current(app, userId, featureId)
      assert.deepEqual([consumption.budget, consumption.used], [50, 4])
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.resubscribe-other-reset',
    'A plan with another reset period starts its own count.',
    async (context) => {
      const { app, userId, featureId, subscriptionId } = await subscribedAtStart(context, { limit: 5 })
      await app.recordUsage(userId, featureId, 4)
      await app.cancel(subscriptionId, false)
      const entitlement = { limit: 5, resetPeriod: 'DAY' }
      await app.subscribe(userId, await app.makePlan({ id: featureId, entitlement }))
      assert.equal(await app.used(userId, featureId), 0)
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.resubscribe-after-period',
    'Subscribing again after the period has ended counts from the new start.',
    async (context) => {
      const { app, userId, featureId, planId, subscriptionId } = await subscribedAtStart(context, {
        limit: 5,
      })
      await app.recordUsage(userId, featureId, 4)
      await app.cancel(subscriptionId, false)
      await app.advanceTo(after(40))
      await app.subscribe(userId, planId)
      const { periodStart, consumption } = await current(app, userId, featureId)
      assert.deepEqual([periodStart, consumption.used], [after(40), 0])
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.resubscribe-at-period-end',
    'A plan that ended with its period has no part in the next: one taken during that counts from its own start.',
    async (context) => {
      const { app, userId, featureId, planId, subscriptionId } = await subscribedAtStart(context, {
        limit: 5,
      })
      await app.recordUsage(userId, featureId, 4)
      const { cancelAt } = await app.cancel(subscriptionId, true)
      assert.equal(cancelAt, after(31))
      await app.advanceTo(after(35))
      await app.subscribe(userId, planId)
      const { periodStart, consumption } = await current(app, userId, featureId)
      assert.deepEqual([periodStart, consumption.used], [after(35), 0])
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.longest-decides',
    'The longest reset period among the features of the earlier plan decides whether its anchor is kept.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      await app.advanceTo(start)
      const [daily, yearly] = [await app.makeFeature(), await app.makeFeature()]
      const plan = await app.makePlan(
        { id: daily, entitlement: { resetPeriod: 'DAY' } },
        { id: yearly, entitlement: { resetPeriod: 'YEAR' } },
      )
      const userId = await app.makeUser()
      const [first] = await app.subscribe(userId, plan)
      await app.recordUsage(userId, yearly, 4)
      await app.cancel(first?.id, false)
      await app.advanceTo(after(100.5))
      await app.subscribe(userId, plan)
      assert.equal((await current(app, userId, daily)).periodStart, after(100))
      const { periodStart, consumption } = await current(app, userId, yearly)
      assert.deepEqual([periodStart, consumption.used], [start, 4])
    },
  ),
  anchoring.withOwner(
    'G.PERIODS.addon-keeps-base-anchor',
    "An add-on's features are counted from the anchor of the base plan.",
    async (context) => {
      const { app, userId } = await subscribedAtStart(context, { limit: 5 })
      await app.advanceTo(after(10))
      const extra = await app.makeFeature()
      await app.subscribe(userId, await app.makeAddon({ id: extra, entitlement: { limit: 1 } }))
      assert.equal((await current(app, userId, extra)).periodStart, start)
    },
  ),
]
