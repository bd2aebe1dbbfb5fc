import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import type { Entitlement, OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'

/** A user with a base plan and add-ons that each grant one feature in their own way; null: does not grant it. */
async function grantedBy(app: OwnApp, ...grants: (Entitlement | null)[]) {
  const featureId = await app.makeFeature()
  const [base, ...addons] = grants.map((entitlement) => (entitlement ? [{ id: featureId, entitlement }] : []))
  const packageIds = [await app.makePlan(...(base ?? []))]
  for (const addon of addons) packageIds.push(await app.makeAddon(...addon))
  const userId = await app.makeUser()
  const subscriptions = await app.subscribe(userId, ...packageIds)
  return { userId, featureId, subscriptionIds: subscriptions.map((s) => String(s.id)) }
}

const days = ({ current }: Data) =>
  (Date.parse(current.periodEnd) - Date.parse(current.periodStart)) / 86_400_000

const granting = section('gap: several packages that grant one feature')

export const severalPackages: Audit[] = [
  granting.withOwner(
    'G.ACCESS.budgets-add-up',
    'The budgets of the base plan and the add-ons add up.',
    async ({ own }) => {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, { limit: 5 }, { limit: 1 })
      const { consumption } = await own.canUseFeature(userId, featureId)
      assert.deepEqual(consumption, { budget: 16, used: 0, overageEnabled: false })
      assert.equal((await own.canUseFeature(userId, featureId, 16)).access, true)
      assert.equal((await own.canUseFeature(userId, featureId, 17)).access, false)
    },
  ),
  granting.withOwner(
    'G.ACCESS.unlimited-wins',
    'Any unlimited grant makes the whole unlimited.',
    async ({ own }) => {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, {})
      const { reasonCode, consumption } = await own.canUseFeature(userId, featureId, 11)
      assert.deepEqual([reasonCode, consumption.budget], ['UNLIMITED', null])
    },
  ),
  granting.withOwner(
    'G.ACCESS.overage-wins',
    'Any overage makes overage count for the whole.',
    async ({ own }) => {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, { limit: 5, overageEnabled: true })
      const { access, reasonCode, consumption } = await own.canUseFeature(userId, featureId, 16)
      assert.deepEqual([access, reasonCode], [true, 'OVERAGE'])
      assert.deepEqual(consumption, { budget: 15, used: 0, overageEnabled: true })
    },
  ),
  granting.withOwner(
    'G.ACCESS.one-counter',
    'Base plan and add-ons share one counter, which stays when an add-on goes.',
    async ({ own }) => {
      const { userId, featureId, subscriptionIds } = await grantedBy(own, { limit: 10 }, { limit: 5 })
      assert.equal((await own.recordUsage(userId, featureId, 12)).recorded, true)
      await own.cancel(subscriptionIds[1] ?? '', false)
      const { access, consumption } = await own.canUseFeature(userId, featureId)
      assert.deepEqual([access, consumption], [false, { budget: 10, used: 12, overageEnabled: false }])
    },
  ),
  granting.withOwner(
    'G.ACCESS.addon-taken-later',
    'An add-on taken later raises the budget of the running period.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 2 })
      await own.recordUsage(userId, featureId, 2)
      await own.subscribe(userId, await own.makeAddon({ id: featureId, entitlement: { limit: 3 } }))
      const { access, consumption } = await own.canUseFeature(userId, featureId, 3)
      assert.deepEqual([access, consumption.budget, consumption.used], [true, 5, 2])
    },
  ),
  granting.withOwner(
    'G.ACCESS.binary-from-addon',
    'A binary feature comes from any of the packages.',
    async ({ own }) => {
      const id = await own.makeFeature({ type: 'BINARY' })
      const userId = await own.makeUser()
      await own.subscribe(userId, await own.makePlan(), await own.makeAddon({ id }))
      assert.equal((await own.canUseFeature(userId, id)).access, true)
    },
  ),
  granting.withOwner(
    'G.PERIODS.base-plan-decides',
    "The reset period is the base plan's where it grants the feature.",
    async ({ own }) => {
      const grants = [
        { limit: 1, resetPeriod: 'WEEK' },
        { limit: 1, resetPeriod: 'DAY' },
      ]
      const { userId, featureId } = await grantedBy(own, ...grants)
      assert.equal(days(await own.showUsage(userId, featureId)), 7)
    },
  ),
  granting.withOwner(
    'G.PERIODS.first-addon-decides',
    "The reset period is the first add-on's where the base plan does not grant the feature.",
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      const { userId, featureId } = await grantedBy(app, null, { limit: 1, resetPeriod: 'DAY' })
      const [base] = (await app.admin.data(`{ subscriptions(userId: "${userId}") { startedAt } }`))
        .subscriptions
      await app.advanceTo(new Date(Date.parse(base.startedAt) + 3_600_000).toISOString())
      await app.subscribe(
        userId,
        await app.makeAddon({ id: featureId, entitlement: { limit: 1, resetPeriod: 'WEEK' } }),
      )
      const usage = await app.showUsage(userId, featureId)
      assert.equal(days(usage), 1)
      assert.equal(usage.current.consumption.budget, 2)
    },
  ),
]
