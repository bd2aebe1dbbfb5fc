import assert from 'node:assert/strict'
import { newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, ISO_TIME, refuses, SUBSCRIPTION_NOT_FOUND } from './expect.ts'

const queriesTable = section('spec §4 queries table')
const unknownIds = section('gap: unknown ids')

const LIST = 'query ($userId: String) { subscriptions(userId: $userId) { id userId status package { id } } }'
const SUBSCRIBE = `mutation ($userId: String!, $packageIds: [String!]!) {
  subscribe(packageIds: $packageIds, userId: $userId) { id }
}`

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** A user with a base plan and an add-on. */
async function withAddon(app: OwnApp) {
  const [userId, plan, addon] = [await app.makeUser(), await app.makePlan(), await app.makeAddon()]
  const [base, extra] = await app.subscribe(userId, plan, addon)
  return { userId, plan, addon, baseId: String(base?.id), addonId: String(extra?.id) }
}

const status = async (app: OwnApp, id: string): Promise<string> => (await app.subscription(id)).status

const cancelling = section('gap: how a subscription ends')

export const subscriptions: Audit[] = [
  section('spec §4 query rule 4').withOwner(
    'S4.Q4.subscription-by-id',
    'subscription takes the id of a subscription and returns it with its package.',
    async ({ own }) => {
      const [userId, plan] = [await own.makeUser(), await own.makePlan()]
      const [made] = await own.subscribe(userId, plan)
      const { startedAt, ...found } = await own.subscription(made?.id)
      assert.match(startedAt, ISO_TIME)
      assert.deepEqual(found, {
        id: made?.id,
        userId,
        status: 'ACTIVE',
        package: { id: plan, name: 'Package', status: 'PUBLISHED', isAddon: false },
        metadata: {},
        cancelAt: null,
        cancelledAt: null,
      })
    },
  ),
  queriesTable.withOwner(
    'S4.Q0.subscriptions-of-user',
    'subscriptions with a userId returns those of that user only, oldest first.',
    async ({ own }) => {
      const [one, other] = [await withAddon(own), await withAddon(own)]
      const { subscriptions } = await own.admin.data(LIST, { userId: one.userId })
      assert.deepEqual(ids(subscriptions), [one.baseId, one.addonId])
      assert.ok(!ids(subscriptions).includes(other.baseId))
    },
  ),
  queriesTable.withOwner(
    'S4.Q0.subscriptions-all',
    'subscriptions without a userId returns all of them, the cancelled ones too.',
    async ({ freshApp }) => {
      const app = await freshApp()
      const [one, other] = [await withAddon(app), await withAddon(app)]
      await app.cancel(one.addonId, false)
      const { subscriptions } = await app.admin.data(LIST)
      assert.deepEqual(ids(subscriptions), [one.baseId, one.addonId, other.baseId, other.addonId])
      assert.deepEqual(
        subscriptions.map((s: { status: string }) => s.status),
        ['ACTIVE', 'CANCELLED', 'ACTIVE', 'ACTIVE'],
      )
    },
  ),
  queriesTable.withKey(
    'S4.Q0.subscriptions-none',
    'A user without subscriptions has an empty list of them.',
    async ({ admin, app }) => {
      const { subscriptions } = await admin.data(LIST, { userId: await app.makeUser() })
      assert.deepEqual(subscriptions, [])
    },
  ),
  unknownIds.withKey(
    'G.SUBS.of-an-unknown-user',
    'An unknown user has an empty list of subscriptions.',
    async ({ admin }) => {
      const { subscriptions } = await admin.data(LIST, { userId: newId('user') })
      assert.deepEqual(subscriptions, [])
    },
  ),
  unknownIds.withKey(
    'G.ERRORS.subscription-not-found',
    'subscription on an unknown id fails with SUBSCRIPTION_NOT_FOUND.',
    async ({ admin }) => {
      const query = 'query ($id: String!) { subscription(id: $id) { id } }'
      await refuses(admin, query, { id: newId('subscription') }, SUBSCRIPTION_NOT_FOUND)
    },
  ),
  section('spec §3 subscription status').withOwner(
    'S3.S.cancelled-now',
    'Cancelled at once, a subscription is CANCELLED and grants nothing more.',
    async ({ own }) => {
      const { userId, featureId, subscriptionId } = await own.makeSubscriber({ limit: 5 })
      assert.equal((await own.canUseFeature(userId, featureId)).access, true)
      assert.equal((await own.cancel(subscriptionId, false)).status, 'CANCELLED')
      const { status, cancelledAt } = await own.subscription(subscriptionId)
      assert.equal(status, 'CANCELLED')
      assert.match(cancelledAt, ISO_TIME)
      const { access, reasonCode } = await own.canUseFeature(userId, featureId)
      assert.deepEqual({ access, reasonCode }, { access: false, reasonCode: 'NO_SUBSCRIPTION' })
      assert.equal((await own.recordUsage(userId, featureId, 1)).recorded, false)
    },
  ),
  cancelling.withOwner(
    'G.SUBS.cancel-at-period-end',
    'Cancelled at the period end, it stays ACTIVE with a cancelAt until then, and is CANCELLED from then on.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      const { userId, featureId, subscriptionId } = await app.makeSubscriber({ limit: 5 })
      const { current } = await app.showUsage(userId, featureId)
      const { status: now, cancelAt } = await app.cancel(subscriptionId, true)
      assert.deepEqual({ now, cancelAt }, { now: 'ACTIVE', cancelAt: current.periodEnd })

      await app.advanceTo(new Date(Date.parse(cancelAt) - 1).toISOString())
      assert.equal(await status(app, subscriptionId), 'ACTIVE')
      assert.equal((await app.canUseFeature(userId, featureId)).access, true)

      await app.advanceTo(cancelAt)
      const ended = await app.subscription(subscriptionId)
      assert.deepEqual([ended.status, ended.cancelledAt], ['CANCELLED', cancelAt])
      assert.equal((await app.canUseFeature(userId, featureId)).reasonCode, 'NO_SUBSCRIPTION')
    },
  ),
  cancelling.withOwner(
    'G.SUBS.cancel-defaults-to-period-end',
    'cancelSubscription waits for the period end unless told otherwise.',
    async ({ own, dashboard }) => {
      const { subscriptionId } = await own.makeSubscriber()
      const { cancelSubscription } = await dashboard.data(
        `mutation ($appId: String!, $id: String!) {
          cancelSubscription(appId: $appId, id: $id) { id status cancelAt }
        }`,
        { appId: own.id, id: subscriptionId },
      )
      assert.equal(cancelSubscription.id, subscriptionId)
      assert.equal(cancelSubscription.status, 'ACTIVE')
      assert.match(cancelSubscription.cancelAt, ISO_TIME)
    },
  ),
  cancelling.withOwner(
    'G.LIFE.cancel',
    'The Admin API cancels at the period end unless told otherwise, and at once when told.',
    async ({ own }) => {
      const { admin } = own
      const { subscriptionId: id } = await own.makeSubscriber()
      const later = 'mutation ($id: String!) { cancelSubscription(id: $id) { id status cancelAt } }'
      const { cancelSubscription: ending } = await admin.data(later, { id })
      assert.deepEqual([ending.id, ending.status], [id, 'ACTIVE'])
      assert.match(ending.cancelAt, ISO_TIME)
      const now = 'mutation ($id: String!) { cancelSubscription(id: $id, atPeriodEnd: false) { status } }'
      assert.equal((await admin.data(now, { id })).cancelSubscription.status, 'CANCELLED')
      await refuses(admin, later, { id: newId('subscription') }, SUBSCRIPTION_NOT_FOUND)
    },
  ),
  cancelling.withOwner(
    'G.LIFE.keep',
    'keepSubscription takes a scheduled end back; one that has ended stays ended.',
    async ({ own }) => {
      const { admin } = own
      const { subscriptionId: id } = await own.makeSubscriber()
      const keep = 'mutation ($id: String!) { keepSubscription(id: $id) { id status cancelAt } }'
      await admin.data('mutation ($id: String!) { cancelSubscription(id: $id) { id } }', { id })
      const { keepSubscription } = await admin.data(keep, { id })
      assert.deepEqual(keepSubscription, { id, status: 'ACTIVE', cancelAt: null })
      await admin.data('mutation ($id: String!) { cancelSubscription(id: $id, atPeriodEnd: false) { id } }', {
        id,
      })
      await refuses(admin, keep, { id }, BAD_USER_INPUT)
      await refuses(admin, keep, { id: newId('subscription') }, SUBSCRIPTION_NOT_FOUND)
    },
  ),
  cancelling.withOwner(
    'G.SUBS.base-takes-addons',
    'Cancelling a base plan at once cancels its add-ons with it.',
    async ({ own }) => {
      const { baseId, addonId } = await withAddon(own)
      await own.cancel(baseId, false)
      assert.deepEqual([await status(own, baseId), await status(own, addonId)], ['CANCELLED', 'CANCELLED'])
    },
  ),
  cancelling.withOwner(
    'G.SUBS.base-takes-addons-later',
    'Cancelling a base plan at the period end sets the same end to its add-ons, and to those taken since.',
    async ({ own }) => {
      const { userId, baseId, addonId } = await withAddon(own)
      const { cancelAt } = await own.cancel(baseId, true)
      const [later] = await own.subscribe(userId, await own.makeAddon())
      assert.equal((await own.subscription(addonId)).cancelAt, cancelAt)
      assert.equal(later?.cancelAt, cancelAt)
    },
  ),
  cancelling.withOwner(
    'G.SUBS.addon-alone',
    'Cancelling an add-on leaves the base plan and other add-ons.',
    async ({ own }) => {
      const { userId, baseId, addonId } = await withAddon(own)
      const [other] = await own.subscribe(userId, await own.makeAddon())
      await own.cancel(addonId, false)
      assert.deepEqual(
        [await status(own, baseId), await status(own, addonId), await status(own, other?.id)],
        ['ACTIVE', 'CANCELLED', 'ACTIVE'],
      )
    },
  ),
  cancelling.withOwner(
    'G.SUBS.never-revived',
    'One subscribes anew after a cancellation: a new subscription is made, the old one stays CANCELLED.',
    async ({ own }) => {
      const { userId, planId, subscriptionId } = await own.makeSubscriber()
      await own.cancel(subscriptionId, false)
      const [again] = await own.subscribe(userId, planId)
      assert.notEqual(again?.id, subscriptionId)
      assert.deepEqual([await status(own, subscriptionId), again?.status], ['CANCELLED', 'ACTIVE'])
      const { subscriptions } = await own.admin.data(LIST, { userId })
      assert.deepEqual(ids(subscriptions), [subscriptionId, again?.id])
    },
  ),
  cancelling.withOwner(
    'G.SUBS.ending-base-is-live',
    'A base plan that will end is still the live one: a second is refused until then.',
    async ({ own }) => {
      const { userId, planId, subscriptionId } = await own.makeSubscriber()
      await own.cancel(subscriptionId, true)
      const error = await own.admin.error(SUBSCRIBE, { userId, packageIds: [planId] })
      assert.equal(error.message, 'Cannot subscribe to multiple tiers')
    },
  ),
  cancelling.withOwner(
    'G.SUBS.cancelled-base-is-not-live',
    'A cancelled base plan carries no add-on.',
    async ({ own }) => {
      const { userId, subscriptionId } = await own.makeSubscriber()
      await own.cancel(subscriptionId, false)
      const error = await own.admin.error(SUBSCRIBE, { userId, packageIds: [await own.makeAddon()] })
      assert.equal(error.message, 'Cannot subscribe to addon. Missing live tier subscription.')
    },
  ),
]
