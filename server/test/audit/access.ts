import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, refuses } from './expect.ts'

const limits = section('gap: limits')

/** The answer without its wording, which must be there and is nobody's business else. */
function decision({ reason, ...rest }: Data): Data {
  assert.ok(typeof reason === 'string' && reason.length > 0, 'there is no reason')
  return rest
}

const denied = (reasonCode: string) => ({ access: false, reasonCode, consumption: null })

const rule1 = section('spec §4 query rule 1')
const never = section('gap: canUseFeature never fails on what it does not know')

export const access: Audit[] = [
  rule1.withOwner(
    'S4.Q1.binary',
    'A user whose package includes a binary feature has access; there is no consumption.',
    async ({ own }) => {
      const id = await own.makeFeature({ type: 'BINARY' })
      const [userId, plan] = [await own.makeUser(), await own.makePlan({ id })]
      await own.subscribe(userId, plan)
      assert.deepEqual(decision(await own.canUseFeature(userId, id)), {
        access: true,
        reasonCode: 'GRANTED',
        consumption: null,
      })
    },
  ),
  rule1.withOwner(
    'S4.Q1.enough-remaining',
    'A user has access when enough of a consumable feature remains for delta, the last unit included.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(userId, featureId, 3)
      const consumption = { budget: 5, used: 3, overageEnabled: false }
      assert.deepEqual(decision(await own.canUseFeature(userId, featureId, 2)), {
        access: true,
        reasonCode: 'WITHIN_BUDGET',
        consumption,
      })
      assert.deepEqual(decision(await own.canUseFeature(userId, featureId, 3)), {
        access: false,
        reasonCode: 'LIMIT_EXCEEDED',
        consumption,
      })
    },
  ),
  rule1.withOwner(
    'S4.Q1.overage',
    'With overage enabled a user has access beyond the budget.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5, overageEnabled: true })
      const consumption = { budget: 5, used: 0, overageEnabled: true }
      assert.deepEqual(decision(await own.canUseFeature(userId, featureId, 6)), {
        access: true,
        reasonCode: 'OVERAGE',
        consumption,
      })
      assert.equal((await own.canUseFeature(userId, featureId, 5)).reasonCode, 'WITHIN_BUDGET')
    },
  ),
  section('spec §8 limit 2').withOwner(
    'S8.L2.delta-default',
    'delta of canUseFeature is 1 when left out, and when null.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 1 })
      assert.equal((await own.canUseFeature(userId, featureId)).access, true)
      await own.recordUsage(userId, featureId, 1)
      assert.equal((await own.canUseFeature(userId, featureId)).access, false)
      const { canUseFeature } = await own.admin.data(
        `{ canUseFeature(userId: "${userId}", featureId: "${featureId}", delta: null) { access } }`,
      )
      assert.equal(canUseFeature.access, false)
    },
  ),
  rule1.withOwner('S4.Q1.asking-takes-nothing', 'canUseFeature consumes nothing.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 3 })
    for (let i = 0; i < 3; i++) await own.canUseFeature(userId, featureId, 2)
    assert.equal(await own.used(userId, featureId), 0)
  }),
  section('gap: room is used + delta <= budget').withOwner(
    'G.ACCESS.delta-zero',
    'A delta of 0 fits into a full budget, not into one that is exceeded.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 2 })
      await own.recordUsage(userId, featureId, 2)
      assert.equal((await own.canUseFeature(userId, featureId, 0)).access, true)
      await own.recordUsage(userId, featureId, 3, 'SET')
      assert.equal((await own.canUseFeature(userId, featureId, 0)).access, false)
    },
  ),
  section('gap: negative delta').withKey(
    'G.ACCESS.delta-negative',
    'A negative delta fails with BAD_USER_INPUT.',
    async ({ admin }) => {
      const query = '{ canUseFeature(userId: "u", featureId: "f", delta: -1) { access } }'
      await refuses(admin, query, {}, BAD_USER_INPUT)
    },
  ),
  limits.withOwner('G.ACCESS.limit-zero', 'A limit of 0 grants nothing, and shows so.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 0 })
    const { access, reasonCode, consumption } = await own.canUseFeature(userId, featureId)
    assert.deepEqual([access, reasonCode, consumption.budget], [false, 'LIMIT_EXCEEDED', 0])
  }),
  limits.withOwner(
    'G.ACCESS.unlimited',
    'A consumable without a limit is always there; its budget is null.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber()
      await own.recordUsage(userId, featureId, 1_000_000)
      assert.deepEqual(decision(await own.canUseFeature(userId, featureId, 2 ** 31 - 1)), {
        access: true,
        reasonCode: 'UNLIMITED',
        consumption: { budget: null, used: 1_000_000, overageEnabled: false },
      })
    },
  ),
  limits.withOwner(
    'G.ACCESS.largest-budget',
    'budget and used hold whole numbers up to 2^53-1 exactly.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 2 ** 53 - 1 })
      await own.recordUsage(userId, featureId, 2 ** 53 - 2, 'SET')
      const { access, consumption } = await own.canUseFeature(userId, featureId)
      assert.deepEqual([access, consumption.budget, consumption.used], [true, 2 ** 53 - 1, 2 ** 53 - 2])
      assert.equal((await own.canUseFeature(userId, featureId, 2)).access, false)
    },
  ),
  never.withKey(
    'G.ACCESS.unknown-user',
    'For an unknown user the answer is no, without an error.',
    async ({ app }) => {
      const answer = await app.canUseFeature(newId('user'), await app.makeFeature())
      assert.deepEqual(decision(answer), denied('USER_NOT_FOUND'))
    },
  ),
  never.withKey(
    'G.ACCESS.unknown-feature',
    'For an unknown feature the answer is no, without an error.',
    async ({ app }) => {
      const answer = await app.canUseFeature(await app.makeUser(), newId('feature'))
      assert.deepEqual(decision(answer), denied('FEATURE_NOT_FOUND'))
    },
  ),
  never.withKey(
    'G.ACCESS.impossible-ids',
    'For ids that nothing could have, the answer is no, without an error.',
    async ({ app }) => {
      for (const id of ['', '\u0000', 'x'.repeat(1_000), '\ud800']) {
        assert.deepEqual(decision(await app.canUseFeature(id, 'f')), denied('USER_NOT_FOUND'))
      }
    },
  ),
  never.withKey(
    'G.ACCESS.no-subscription',
    'For a user without a subscription the answer is no.',
    async ({ app }) => {
      const answer = await app.canUseFeature(await app.makeUser(), await app.makeFeature())
      assert.deepEqual(decision(answer), denied('NO_SUBSCRIPTION'))
    },
  ),
  never.withOwner(
    'G.ACCESS.not-in-package',
    'For a feature that no package of the user includes the answer is no.',
    async ({ own }) => {
      const { userId } = await own.makeSubscriber()
      for (const type of ['BINARY', 'CONSUMABLE']) {
        const answer = await own.canUseFeature(userId, await own.makeFeature({ type }))
        assert.deepEqual(decision(answer), denied('NOT_IN_PACKAGE'))
      }
    },
  ),
  section('gap: canUseFeatures').withOwner(
    'G.ACCESS.batch',
    'canUseFeatures answers for several features at once, in their order.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 1 })
      const { canUseFeatures } = await own.admin.data(
        `query ($userId: String!, $featureIds: [String!]!) {
          canUseFeatures(userId: $userId, featureIds: $featureIds) { access reasonCode }
        }`,
        { userId, featureIds: [newId('feature'), featureId] },
      )
      assert.deepEqual(canUseFeatures, [
        { access: false, reasonCode: 'FEATURE_NOT_FOUND' },
        { access: true, reasonCode: 'WITHIN_BUDGET' },
      ])
    },
  ),
]
