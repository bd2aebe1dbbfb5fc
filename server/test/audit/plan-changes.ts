import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, ISO_TIME, PACKAGE_NOT_FOUND, refuses, USER_NOT_FOUND } from './expect.ts'

const changing = section('gap: how a subscription changes')

export const planChanges: Audit[] = [
  changing.withOwner(
    'G.LIFE.change',
    'changeSubscription changes the base plan now, with the usage, and a dry run changes nothing.',
    async ({ own }) => {
      const { admin } = own
      const { userId, featureId, subscriptionId } = await own.makeSubscriber({ limit: 5 })
      const packageId = await own.makePlan({ id: featureId, entitlement: { limit: 9 } })
      await own.recordUsage(userId, featureId, 3)
      const change = `mutation ($userId: String!, $packageId: String!, $when: ChangeTime, $dryRun: Boolean) {
        changeSubscription(userId: $userId, packageId: $packageId, when: $when, dryRun: $dryRun) {
          now from { id } to { id } quotedBy subscription { id status package { id } }
        }
      }`
      const { changeSubscription: dry } = await admin.data(change, { userId, packageId, dryRun: true })
      assert.deepEqual([dry.now, dry.to.id, dry.subscription], [true, packageId, null])
      assert.equal((await own.subscription(subscriptionId)).status, 'ACTIVE')
      const { changeSubscription } = await admin.data(change, { userId, packageId })
      assert.equal(changeSubscription.subscription.package.id, packageId)
      assert.equal((await own.subscription(subscriptionId)).status, 'CANCELLED')
      assert.deepEqual((await own.canUseFeature(userId, featureId)).consumption, {
        budget: 9,
        used: 3,
        overageEnabled: false,
      })
      await refuses(admin, change, { userId, packageId }, BAD_USER_INPUT)
      await refuses(admin, change, { userId: newId('user'), packageId }, USER_NOT_FOUND)
      await refuses(admin, change, { userId, packageId: newId('package') }, PACKAGE_NOT_FOUND)
    },
  ),
  changing.withOwner(
    'G.LIFE.schedule',
    'A change at the period end is scheduled, shown, replaced by the next one and taken back.',
    async ({ own }) => {
      const { admin } = own
      const { userId, featureId, subscriptionId } = await own.makeSubscriber({ limit: 5 })
      const [first, second] = [await own.makePlan({ id: featureId }), await own.makePlan({ id: featureId })]
      const change = `mutation ($userId: String!, $packageId: String!) {
        changeSubscription(userId: $userId, packageId: $packageId, when: PERIOD_END) {
          now at subscription { id scheduled { packageId at } }
        }
      }`
      await admin.data(change, { userId, packageId: first })
      const { changeSubscription } = await admin.data(change, { userId, packageId: second })
      const { now, at, subscription } = changeSubscription
      assert.deepEqual(
        [now, subscription.id, subscription.scheduled],
        [false, subscriptionId, { packageId: second, at }],
      )
      const back = `mutation ($userId: String!) {
        cancelScheduledChange(userId: $userId) { id status cancelAt scheduled { at } }
      }`
      const { cancelScheduledChange } = await admin.data(back, { userId })
      assert.deepEqual(cancelScheduledChange, {
        id: subscriptionId,
        status: 'ACTIVE',
        cancelAt: null,
        scheduled: null,
      })
      await refuses(admin, back, { userId }, BAD_USER_INPUT)
    },
  ),
  changing.withOwner(
    'G.LIFE.trial',
    'A trial is ACTIVE with its end, given once unless asked for again, and can be extended.',
    async ({ own }) => {
      const { admin } = own
      const packageId = await own.makePlan()
      const userId = await own.makeUser()
      const start = `mutation ($userId: String!, $packageId: String!, $days: Int, $again: Boolean) {
        startTrial(userId: $userId, packageId: $packageId, days: $days, again: $again) { id status trialEndsAt }
      }`
      const { startTrial } = await admin.data(start, { userId, packageId, days: 14 })
      assert.equal(startTrial.status, 'ACTIVE')
      assert.match(startTrial.trialEndsAt, ISO_TIME)
      const until = new Date(Date.parse(startTrial.trialEndsAt) + 86_400_000).toISOString()
      const extend = `mutation ($id: String!, $until: String!) {
        extendTrial(id: $id, until: $until) { trialEndsAt }
      }`
      const { extendTrial } = await admin.data(extend, { id: startTrial.id, until })
      assert.equal(extendTrial.trialEndsAt, until)
      await refuses(admin, extend, { id: startTrial.id, until }, BAD_USER_INPUT)
      await own.cancel(startTrial.id, false)
      await refuses(admin, start, { userId, packageId, days: 1 }, BAD_USER_INPUT)
      const { startTrial: again } = await admin.data(start, { userId, packageId, days: 1, again: true })
      assert.equal(again.status, 'ACTIVE')
    },
  ),
  changing.withOwner(
    'G.LIFE.quantity',
    'quantities multiply the limits of what is subscribed to.',
    async ({ own }) => {
      const { admin } = own
      const featureId = await own.makeFeature()
      const packageId = await own.makePlan({ id: featureId, entitlement: { limit: 5 } })
      const userId = await own.makeUser()
      const { subscribe } = await admin.data(
        `mutation ($userId: String!, $packageIds: [String!]!) {
          subscribe(userId: $userId, packageIds: $packageIds, quantities: [3]) { quantity packageVersion }
        }`,
        { userId, packageIds: [packageId] },
      )
      assert.deepEqual(subscribe, [{ quantity: 3, packageVersion: 1 }])
      assert.equal((await own.canUseFeature(userId, featureId)).consumption.budget, 15)
    },
  ),
]
