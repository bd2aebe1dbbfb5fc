import assert from 'node:assert/strict'
import type { Data } from '../harness/client.ts'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'

const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded reason } }'

function isRecorded({ recorded, reason, consumption }: Data, used: number): void {
  assert.deepEqual([recorded, reason, consumption?.used], [true, null, used])
}

function isRefused({ recorded, reason }: Data): void {
  assert.equal(recorded, false)
  assert.ok(typeof reason === 'string' && reason.length > 0, 'there is no reason')
}

const rule4 = section('spec §4 mutation rule 4')
const rule5 = section('spec §4 mutation rule 5')
const whole = section('gap: what recordUsage refuses')

export const usage: Audit[] = [
  rule4.withOwner('S4.M4.adds', 'recordUsage without an action adds delta to the usage.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
    isRecorded(await own.recordUsage(userId, featureId, 3), 3)
    isRecorded(await own.recordUsage(userId, featureId, 4), 7)
    assert.equal(await own.used(userId, featureId), 7)
  }),
  rule4.withOwner('S4.M4.add-by-name', 'action ADD adds as well.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
    isRecorded(await own.recordUsage(userId, featureId, 3, 'ADD'), 3)
    isRecorded(await own.recordUsage(userId, featureId, 3, 'ADD'), 6)
  }),
  rule4.withOwner('S4.M4.sets', 'With action SET the usage is set to delta, up or down.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
    isRecorded(await own.recordUsage(userId, featureId, 8, 'SET'), 8)
    isRecorded(await own.recordUsage(userId, featureId, 2, 'SET'), 2)
    isRecorded(await own.recordUsage(userId, featureId, 1), 3)
    isRecorded(await own.recordUsage(userId, featureId, 0, 'SET'), 0)
  }),
  rule4.withOwner('S4.M4.reverts', 'A negative delta subtracts from the usage.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
    await own.recordUsage(userId, featureId, 5)
    isRecorded(await own.recordUsage(userId, featureId, -2), 3)
    isRecorded(await own.recordUsage(userId, featureId, -3), 0)
  }),
  rule5.withOwner(
    'S4.M5.recorded',
    'recorded is true and reason null when the usage was recorded.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
      const { recordUsage } = await own.admin.data(RECORD, { input: { userId, featureId, delta: 1 } })
      assert.deepEqual(recordUsage, { recorded: true, reason: null })
    },
  ),
  rule5.withKey(
    'S4.M5.unknown-user',
    'For an unknown user recorded is false, with a reason and without an error.',
    async ({ app }) => isRefused(await app.recordUsage(newId('user'), await app.makeFeature(), 1)),
  ),
  rule5.withKey(
    'S4.M5.unknown-feature',
    'For an unknown feature recorded is false, with a reason and without an error.',
    async ({ app }) => isRefused(await app.recordUsage(await app.makeUser(), newId('feature'), 1)),
  ),
  rule5.withKey(
    'S4.M5.no-subscription',
    'For a user without a subscription recorded is false, SET included.',
    async ({ app }) => {
      const [userId, featureId] = [await app.makeUser(), await app.makeFeature()]
      isRefused(await app.recordUsage(userId, featureId, 1))
      isRefused(await app.recordUsage(userId, featureId, 1, 'SET'))
    },
  ),
  rule5.withOwner(
    'S4.M5.not-granted',
    'For a feature that no package of the user includes recorded is false.',
    async ({ own }) => {
      const { userId } = await own.makeSubscriber()
      isRefused(await own.recordUsage(userId, await own.makeFeature(), 1))
    },
  ),
  rule5.withOwner('S4.M5.binary', 'For a binary feature recorded is false.', async ({ own }) => {
    const id = await own.makeFeature({ type: 'BINARY' })
    const userId = await own.makeUser()
    await own.subscribe(userId, await own.makePlan({ id }))
    isRefused(await own.recordUsage(userId, id, 1))
    isRefused(await own.recordUsage(userId, id, 1, 'SET'))
  }),
  whole.withOwner(
    'G.USAGE.over-budget',
    'Without overage, a delta that does not fit is refused whole.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(userId, featureId, 3)
      const refused = await own.recordUsage(userId, featureId, 3)
      isRefused(refused)
      assert.deepEqual(refused.consumption, { budget: 5, used: 3, overageEnabled: false })
      isRecorded(await own.recordUsage(userId, featureId, 2), 5)
      isRefused(await own.recordUsage(userId, featureId, 1))
    },
  ),
  whole.withOwner('G.USAGE.overage', 'With overage, usage is recorded past the budget.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 5, overageEnabled: true })
    isRecorded(await own.recordUsage(userId, featureId, 7), 7)
    isRecorded(await own.recordUsage(userId, featureId, 1), 8)
  }),
  whole.withOwner('G.USAGE.unlimited', 'Without a limit, usage is counted all the same.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber()
    isRecorded(await own.recordUsage(userId, featureId, 1_000_000_000_000), 1_000_000_000_000)
  }),
  whole.withOwner(
    'G.USAGE.revert-too-large',
    'A revert larger than the usage is refused whole.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(userId, featureId, 2)
      isRefused(await own.recordUsage(userId, featureId, -3))
      assert.equal(await own.used(userId, featureId), 2)
    },
  ),
  whole.withOwner(
    'G.USAGE.set-above-budget',
    'SET states a fact, also above the budget: then nothing fits, and a revert is still recorded.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      isRecorded(await own.recordUsage(userId, featureId, 9, 'SET'), 9)
      assert.equal((await own.canUseFeature(userId, featureId)).access, false)
      isRefused(await own.recordUsage(userId, featureId, 1))
      isRecorded(await own.recordUsage(userId, featureId, -1), 8)
    },
  ),
  whole.withOwner('G.USAGE.set-negative', 'A negative SET is refused.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
    await own.recordUsage(userId, featureId, 2)
    isRefused(await own.recordUsage(userId, featureId, -1, 'SET'))
    assert.equal(await own.used(userId, featureId), 2)
  }),
  whole.withOwner('G.USAGE.largest', 'Usage goes up to 2^53-1 and never beyond.', async ({ own }) => {
    const { userId, featureId } = await own.makeSubscriber()
    isRecorded(await own.recordUsage(userId, featureId, 2 ** 53 - 1), 2 ** 53 - 1)
    isRefused(await own.recordUsage(userId, featureId, 1))
    assert.equal(await own.used(userId, featureId), 2 ** 53 - 1)
  }),
  section('gap: limits').withKey(
    'G.USAGE.delta-too-large',
    'A delta of 2^53, or of half a unit, fails with BAD_USER_INPUT.',
    async ({ admin }) => {
      for (const delta of [2 ** 53, -(2 ** 53), 0.5]) {
        const { errors } = await admin.ask(RECORD, { input: { userId: 'u', featureId: 'f', delta } })
        assert.equal(errors?.[0]?.extensions.code, 'BAD_USER_INPUT')
      }
    },
  ),
  section('gap: reads after writes').withOwner(
    'G.USAGE.seen-at-once',
    'After recordUsage answers, canUseFeature and showUsage see it.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      for (let used = 1; used <= 5; used++) {
        await own.recordUsage(userId, featureId, 1)
        assert.equal(await own.used(userId, featureId), used)
        assert.equal((await own.showUsage(userId, featureId)).current.consumption.used, used)
      }
    },
  ),
  section('gap: concurrent usage').withOwner(
    'G.USAGE.race',
    'Concurrent calls never take the usage past the budget, and none that fits is lost.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 10 })
      const calls = Array.from({ length: 20 }, () => own.recordUsage(userId, featureId, 1))
      const recorded = (await Promise.all(calls)).filter((answer) => answer.recorded)
      assert.equal(recorded.length, 10)
      assert.equal(await own.used(userId, featureId), 10)
    },
  ),
  section('gap: recordUsages').withOwner(
    'G.USAGE.batch',
    'recordUsages records several events in their order, each for itself.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 5 })
      const { recordUsages } = await own.admin.data(
        `mutation ($inputs: [CreateUsageEventInput!]!) {
          recordUsages(inputs: $inputs) { recorded consumption { used } }
        }`,
        { inputs: [3, 3, 2].map((delta) => ({ userId, featureId, delta })) },
      )
      assert.deepEqual(recordUsages, [
        { recorded: true, consumption: { used: 3 } },
        { recorded: false, consumption: { used: 3 } },
        { recorded: true, consumption: { used: 5 } },
      ])
    },
  ),
  rule4.withOwner(
    'G.USAGE.users-apart',
    'The usage of one user is nothing to another on the same plan.',
    async ({ own }) => {
      const { userId, featureId, planId } = await own.makeSubscriber({ limit: 5 })
      const other = await own.makeUser()
      await own.subscribe(other, planId)
      await own.recordUsage(userId, featureId, 4)
      assert.equal(await own.used(other, featureId), 0)
    },
  ),
]
