import assert from 'node:assert/strict'
import { type App, newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { refuses, SUBSCRIPTION_ERROR, USER_NOT_FOUND } from './expect.ts'

const SUBSCRIBE = `mutation ($userId: String!, $packageIds: [String!]!) {
  subscribe(packageIds: $packageIds, userId: $userId) { id package { id } }
}`
const MISSING_TIER = 'Cannot subscribe to addon. Missing live tier subscription.'
const SEVERAL_TIERS = 'Cannot subscribe to multiple tiers'
const UNKNOWN_PACKAGE = 'Package Id not found for app'
const NOT_PUBLISHED = 'Package is not published'
const ALREADY = 'User is already subscribed to package'

const refused = (app: App, userId: string, packageIds: string[], message: string) =>
  refuses(app.admin, SUBSCRIBE, { userId, packageIds }, SUBSCRIPTION_ERROR, message)

async function held(app: App, userId: string): Promise<string[]> {
  const { subscriptions } = await app.admin.data(
    'query ($userId: String) { subscriptions(userId: $userId) { package { id } } }',
    { userId },
  )
  return subscriptions.map((s: { package: { id: string } }) => s.package.id)
}

const rule = section('spec §4 mutation rule 3')
const message = section('spec §7 errors table')
const order = section('gap: order of the subscribe checks')

export const subscribe: Audit[] = [
  rule.withOwner(
    'S4.M3.one-package',
    'subscribe accepts one package identifier and returns its ACTIVE subscription.',
    async ({ own }) => {
      const [userId, plan] = [await own.makeUser(), await own.makePlan()]
      const [subscription, ...others] = await own.subscribe(userId, plan)
      assert.deepEqual(others, [])
      assert.equal(typeof subscription?.id, 'string')
      assert.equal(subscription?.userId, userId)
      assert.equal(subscription?.status, 'ACTIVE')
      assert.deepEqual(subscription?.package, { id: plan })
      assert.deepEqual(subscription?.metadata, {})
    },
  ),
  rule.withOwner(
    'S4.M3.bare-string',
    'A single identifier may stand without a list around it.',
    async ({ own }) => {
      const [userId, plan] = [await own.makeUser(), await own.makePlan()]
      await own.admin.data(`mutation { subscribe(packageIds: "${plan}", userId: "${userId}") { id } }`)
      assert.deepEqual(await held(own, userId), [plan])
    },
  ),
  rule.withOwner(
    'S4.M3.several-packages',
    'subscribe accepts several and returns one subscription for each, in the order of packageIds.',
    async ({ own }) => {
      const userId = await own.makeUser()
      const packageIds = [await own.makeAddon(), await own.makePlan(), await own.makeAddon()]
      const made = await own.subscribe(userId, ...packageIds)
      assert.deepEqual(
        made.map((s) => s.package.id),
        packageIds,
      )
      assert.equal(new Set(made.map((s) => s.id)).size, 3)
    },
  ),
  rule.withKey('S4.M3.published-only', 'A DRAFT package is refused.', async ({ app }) => {
    await refused(app, await app.makeUser(), [await app.makeDraft()], NOT_PUBLISHED)
  }),
  rule.withOwner(
    'S4.M3.addon-after-base',
    'An add-on is accepted when the user has a base plan.',
    async ({ own }) => {
      const [userId, plan, addon] = [await own.makeUser(), await own.makePlan(), await own.makeAddon()]
      await own.subscribe(userId, plan)
      await own.subscribe(userId, addon)
      assert.deepEqual(await held(own, userId), [plan, addon])
    },
  ),
  rule.withOwner(
    'S4.M3.addon-with-base',
    'An add-on is accepted together with a base plan in the same call.',
    async ({ own }) => {
      const [userId, plan, addon] = [await own.makeUser(), await own.makePlan(), await own.makeAddon()]
      await own.subscribe(userId, addon, plan)
      assert.deepEqual((await held(own, userId)).sort(), [plan, addon].sort())
    },
  ),
  message.withOwner(
    'S7.T.addon-without-base',
    'An add-on without a base plan fails with the message of the spec.',
    async ({ own }) => {
      await refused(own, await own.makeUser(), [await own.makeAddon()], MISSING_TIER)
    },
  ),
  message.withOwner(
    'S7.T.several-tiers',
    'Several base plans in one call fail with the message of the spec.',
    async ({ own }) => {
      await refused(own, await own.makeUser(), [await own.makePlan(), await own.makePlan()], SEVERAL_TIERS)
    },
  ),
  message.withOwner(
    'S7.T.second-tier',
    'A base plan for a user who has one fails with the message of the spec, the same plan too.',
    async ({ own }) => {
      const [userId, plan] = [await own.makeUser(), await own.makePlan()]
      await own.subscribe(userId, plan)
      await refused(own, userId, [await own.makePlan()], SEVERAL_TIERS)
      await refused(own, userId, [plan], SEVERAL_TIERS)
    },
  ),
  message.withKey(
    'S7.T.unknown-package',
    'A package identifier that does not exist fails with the message of the spec.',
    async ({ app }) => {
      await refused(app, await app.makeUser(), [newId('package')], UNKNOWN_PACKAGE)
    },
  ),
  message.withOwner(
    'S7.T.package-of-another-app',
    'A package of another app does not exist for this one.',
    async ({ own, freshApp }) => {
      const plan = await (await freshApp()).makePlan()
      await refused(own, await own.makeUser(), [plan], UNKNOWN_PACKAGE)
    },
  ),
  section('gap: the same add-on twice').withOwner(
    'G.SUBSCRIBE.same-addon-again',
    'The same add-on twice is refused, in a later call and within one.',
    async ({ own }) => {
      const [userId, plan, addon] = [await own.makeUser(), await own.makePlan(), await own.makeAddon()]
      await refused(own, userId, [plan, addon, addon], ALREADY)
      await own.subscribe(userId, plan, addon)
      await refused(own, userId, [addon], ALREADY)
      assert.deepEqual(await held(own, userId), [plan, addon])
    },
  ),
  section('gap: unknown ids').withKey(
    'G.SUBSCRIBE.user-not-found',
    'subscribe for an unknown user fails with USER_NOT_FOUND.',
    async ({ app }) => {
      const variables = { userId: newId('user'), packageIds: [await app.makeDraft()] }
      await refuses(app.admin, SUBSCRIBE, variables, USER_NOT_FOUND)
    },
  ),
  order.withKey(
    'G.SUBSCRIBE.user-before-package',
    'An unknown user is reported before an unknown package.',
    async ({ admin }) => {
      const variables = { userId: newId('user'), packageIds: [newId('package')] }
      await refuses(admin, SUBSCRIBE, variables, USER_NOT_FOUND)
    },
  ),
  order.withKey(
    'G.SUBSCRIBE.unknown-before-draft',
    'An unknown package is reported before a draft.',
    async ({ app }) => {
      await refused(app, await app.makeUser(), [await app.makeDraft(), newId('package')], UNKNOWN_PACKAGE)
    },
  ),
  order.withOwner(
    'G.SUBSCRIBE.draft-before-tiers',
    'A draft is reported before several base plans.',
    async ({ own }) => {
      const packageIds = [await own.makePlan(), await own.makePlan(), await own.makeDraft()]
      await refused(own, await own.makeUser(), packageIds, NOT_PUBLISHED)
    },
  ),
  order.withOwner(
    'G.SUBSCRIBE.tiers-before-already',
    'A second base plan is reported before an add-on that the user already has.',
    async ({ own }) => {
      const [userId, plan, addon] = [await own.makeUser(), await own.makePlan(), await own.makeAddon()]
      await own.subscribe(userId, plan, addon)
      await refused(own, userId, [addon, await own.makePlan()], SEVERAL_TIERS)
    },
  ),
  order.withOwner(
    'G.SUBSCRIBE.base-before-already',
    'A missing base plan is reported before the same add-on named twice.',
    async ({ own }) => {
      const addon = await own.makeAddon()
      await refused(own, await own.makeUser(), [addon, addon], MISSING_TIER)
    },
  ),
  section('gap: all or nothing').withOwner(
    'G.SUBSCRIBE.all-or-nothing',
    'When one package is refused, the user gets none of them.',
    async ({ own }) => {
      const [userId, plan] = [await own.makeUser(), await own.makePlan()]
      await refused(own, userId, [plan, newId('package')], UNKNOWN_PACKAGE)
      await refused(own, userId, [plan, await own.makeDraft()], NOT_PUBLISHED)
      assert.deepEqual(await held(own, userId), [])
      await own.subscribe(userId, plan)
    },
  ),
  section('gap: one live base plan per user').withOwner(
    'G.SUBSCRIBE.one-tier-under-race',
    'Of several calls at once, exactly one gets its base plan.',
    async ({ own }) => {
      const [userId, a, b] = [await own.makeUser(), await own.makePlan(), await own.makePlan()]
      const calls = [a, b, a, b, a, b, a, b].map((plan) =>
        own.admin.ask(SUBSCRIBE, { userId, packageIds: [plan] }),
      )
      const refusals = (await Promise.all(calls)).flatMap(({ errors }) => errors ?? [])
      assert.deepEqual(
        refusals.map((e) => e.message),
        new Array(7).fill(SEVERAL_TIERS),
      )
      assert.equal((await held(own, userId)).length, 1)
    },
  ),
]
