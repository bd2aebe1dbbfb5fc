import assert from 'node:assert/strict'
import type { OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, refuses } from './expect.ts'

const packageVersions = section('gap: versions of a package')

type Reach = 'ALL' | 'NEW_ONLY' | 'AT_PERIOD_END'

/** Publishes the plan again, with another limit. */
async function republish(app: OwnApp, id: string, featureId: string, limit: number, reach: Reach) {
  await app.dashboard.data(
    `mutation ($appId: String!, $id: String!, $features: [EditPackageFeatureInput!]!, $for: Reach) {
      editPackage(appId: $appId, id: $id, input: { features: $features }) { id }
      publishPackage(appId: $appId, id: $id, for: $for) { id }
    }`,
    { appId: app.id, id, features: [{ id: featureId, entitlement: { limit } }], for: reach },
  )
}

/** The version that the user has, and its budget. */
async function held(app: OwnApp, userId: string, featureId: string): Promise<[number, number]> {
  const { subscriptions } = await app.admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { packageVersion } }',
    { userId },
  )
  const { consumption } = await app.canUseFeature(userId, featureId)
  return [subscriptions[0].packageVersion, consumption.budget]
}

const MIGRATE = `mutation ($packageId: String!, $from: Int!, $to: Int!, $dryRun: Boolean) {
  migrateSubscriptions(packageId: $packageId, fromVersion: $from, toVersion: $to, dryRun: $dryRun) {
    id status subscriptions moved
  }
}`
const UNDO = 'mutation ($id: String!) { undoMigration(id: $id) { status moved } }'

export const versions: Audit[] = [
  packageVersions.withOwner(
    'G.LIFE.version-for-all',
    'Publishing for ALL makes the next version, which everybody has at once.',
    async ({ own }) => {
      const { userId, planId, featureId } = await own.makeSubscriber({ limit: 10 })
      assert.deepEqual(await held(own, userId, featureId), [1, 10])
      await republish(own, planId, featureId, 20, 'ALL')
      assert.deepEqual(await held(own, userId, featureId), [2, 20])
    },
  ),
  packageVersions.withOwner(
    'G.LIFE.version-new-only',
    'Published for NEW_ONLY, a version is for those who subscribe from then on.',
    async ({ own }) => {
      const { userId, planId, featureId } = await own.makeSubscriber({ limit: 10 })
      await republish(own, planId, featureId, 20, 'NEW_ONLY')
      const later = await own.makeUser()
      await own.subscribe(later, planId)
      assert.deepEqual(await held(own, userId, featureId), [1, 10])
      assert.deepEqual(await held(own, later, featureId), [2, 20])
    },
  ),
  packageVersions.withOwner(
    'G.LIFE.version-at-period-end',
    'Published for AT_PERIOD_END, each gets a version when their period ends, not before.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      const year = new Date().getUTCFullYear() + 1
      await app.advanceTo(`${year}-01-10T00:00:00.000Z`)
      const { userId, planId, featureId } = await app.makeSubscriber({ limit: 10 })
      await republish(app, planId, featureId, 20, 'AT_PERIOD_END')
      await app.advanceTo(`${year}-02-09T23:59:59.999Z`)
      assert.deepEqual(await held(app, userId, featureId), [1, 10])
      await app.advanceTo(`${year}-02-10T00:00:00.000Z`)
      assert.deepEqual(await held(app, userId, featureId), [2, 20])
    },
  ),
  packageVersions.withOwner(
    'G.LIFE.version-migrate',
    'migrateSubscriptions moves those with one version to another, a dry run moves nobody, and undoMigration restores all.',
    async ({ own }) => {
      const { admin } = own
      const { userId, planId, featureId } = await own.makeSubscriber({ limit: 10 })
      await republish(own, planId, featureId, 20, 'NEW_ONLY')
      const move = { packageId: planId, from: 1, to: 2 }
      const { migrateSubscriptions: tried } = await admin.data(MIGRATE, { ...move, dryRun: true })
      assert.deepEqual(tried, { id: null, status: 'DRY_RUN', subscriptions: 1, moved: 1 })
      assert.deepEqual(await held(own, userId, featureId), [1, 10])
      const { migrateSubscriptions: made } = await admin.data(MIGRATE, move)
      assert.deepEqual({ ...made, id: null }, { id: null, status: 'DONE', subscriptions: 1, moved: 1 })
      assert.deepEqual(await held(own, userId, featureId), [2, 20])
      const { undoMigration } = await admin.data(UNDO, { id: made.id })
      assert.deepEqual(undoMigration, { status: 'UNDONE', moved: 0 })
      assert.deepEqual(await held(own, userId, featureId), [1, 10])
    },
  ),
  packageVersions.withOwner(
    'G.LIFE.version-unknown',
    'A migration from or to a version that never was, or to the same one, is refused.',
    async ({ own }) => {
      const packageId = await own.makePlan()
      for (const [from, to] of [
        [1, 2],
        [0, 1],
        [1, 1],
      ]) {
        await refuses(own.admin, MIGRATE, { packageId, from, to }, BAD_USER_INPUT)
      }
    },
  ),
]
