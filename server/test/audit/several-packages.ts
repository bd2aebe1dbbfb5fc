import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import type { Entitlement, OwnApp } from './app.ts'
import type { Audit } from './audit.ts'

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

const section = 'gap: several packages that grant one feature'

export const severalPackages: Audit[] = [
  {
    id: 'G.ACCESS.budgets-add-up',
    section,
    says: 'The budgets of the base plan and the add-ons add up.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, { limit: 5 }, { limit: 1 })
      const { consumption } = await own.canUseFeature(userId, featureId)
      assert.deepEqual(consumption, { budget: 16, used: 0, overageEnabled: false })
      assert.equal((await own.canUseFeature(userId, featureId, 16)).access, true)
      assert.equal((await own.canUseFeature(userId, featureId, 17)).access, false)
    },
  },
  {
    id: 'G.ACCESS.unlimited-wins',
    section,
    says: 'Any unlimited grant makes the whole unlimited.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, {})
      const { reasonCode, consumption } = await own.canUseFeature(userId, featureId, 11)
      assert.deepEqual([reasonCode, consumption.budget], ['UNLIMITED', null])
    },
  },
  {
    id: 'G.ACCESS.overage-wins',
    section,
    says: 'Any overage makes overage count for the whole.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId } = await grantedBy(own, { limit: 10 }, { limit: 5, overageEnabled: true })
      const { access, reasonCode, consumption } = await own.canUseFeature(userId, featureId, 16)
      assert.deepEqual([access, reasonCode], [true, 'OVERAGE'])
      assert.deepEqual(consumption, { budget: 15, used: 0, overageEnabled: true })
    },
  },
  {
    id: 'G.ACCESS.one-counter',
    section,
    says: 'Base plan and add-ons share one counter, which stays when an add-on goes.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId, subscriptionIds } = await grantedBy(own, { limit: 10 }, { limit: 5 })
      assert.equal((await own.recordUsage(userId, featureId, 12)).recorded, true)
      await own.cancel(subscriptionIds[1] ?? '', false)
      const { access, consumption } = await own.canUseFeature(userId, featureId)
      assert.deepEqual([access, consumption], [false, { budget: 10, used: 12, overageEnabled: false }])
    },
  },
  {
    id: 'G.ACCESS.addon-taken-later',
    section,
    says: 'An add-on taken later raises the budget of the running period.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId } = await own.makeSubscriber({ limit: 2 })
      await own.recordUsage(userId, featureId, 2)
      await own.subscribe(userId, await own.makeAddon({ id: featureId, entitlement: { limit: 3 } }))
      const { access, consumption } = await own.canUseFeature(userId, featureId, 3)
      assert.deepEqual([access, consumption.budget, consumption.used], [true, 5, 2])
    },
  },
  {
    id: 'G.ACCESS.binary-from-addon',
    section,
    says: 'A binary feature comes from any of the packages.',
    needs: 'dashboard',
    async run({ own }) {
      const id = await own.makeFeature({ type: 'BINARY' })
      const userId = await own.makeUser()
      await own.subscribe(userId, await own.makePlan(), await own.makeAddon({ id }))
      assert.equal((await own.canUseFeature(userId, id)).access, true)
    },
  },
  {
    id: 'G.PERIODS.base-plan-decides',
    section,
    says: "The reset period is the base plan's where it grants the feature.",
    needs: 'dashboard',
    async run({ own }) {
      const grants = [
        { limit: 1, resetPeriod: 'WEEK' },
        { limit: 1, resetPeriod: 'DAY' },
      ]
      const { userId, featureId } = await grantedBy(own, ...grants)
      assert.equal(days(await own.showUsage(userId, featureId)), 7)
    },
  },
  {
    id: 'G.PERIODS.first-addon-decides',
    section,
    says: "The reset period is the first add-on's where the base plan does not grant the feature.",
    needs: 'dashboard',
    async run({ freshApp }) {
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
  },
]
