import assert from 'node:assert/strict'
import type { Data, Variables } from '../harness/client.ts'
import { newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, FEATURE_NOT_FOUND, ISO_TIME, refuses, USER_NOT_FOUND } from './expect.ts'

const SET = `mutation ($input: OverrideInput!) {
  setOverride(input: $input) { userId featureId mode limit overageEnabled resetPeriod startedAt expiresAt reason }
}`
const REMOVE = `mutation ($userId: String!, $featureId: String!) {
  removeOverride(userId: $userId, featureId: $featureId) { featureId mode }
}`
const LIST = 'query ($userId: String!) { overrides(userId: $userId) { featureId mode limit reason } }'
const CHECK = `query ($userId: String!, $featureId: String!) {
  canUseFeature(userId: $userId, featureId: $featureId) { access reasonCode consumption { budget used } }
}`

const set = async ({ admin }: OwnApp, input: Variables): Promise<Data> =>
  (await admin.data(SET, { input })).setOverride
const check = async ({ admin }: OwnApp, userId: string, featureId: string): Promise<Data> =>
  (await admin.data(CHECK, { userId, featureId })).canUseFeature

const overriding = section('gap: overrides')

export const overrides: Audit[] = [
  overriding.withOwner(
    'G.LIFE.override-set',
    'setOverride answers what applies from now on, and overrides lists it.',
    async ({ own }) => {
      const [userId, featureId] = [await own.makeUser(), await own.makeFeature()]
      const { startedAt, ...made } = await set(own, {
        userId,
        featureId,
        mode: 'REPLACE',
        limit: 5,
        overageEnabled: true,
        expiresAt: '2999-01-01T00:00:00Z',
        reason: 'a pilot',
      })
      assert.match(startedAt, ISO_TIME)
      assert.deepEqual(made, {
        userId,
        featureId,
        mode: 'REPLACE',
        limit: 5,
        overageEnabled: true,
        resetPeriod: 'MONTH',
        expiresAt: '2999-01-01T00:00:00.000Z',
        reason: 'a pilot',
      })
      const { overrides } = await own.admin.data(LIST, { userId })
      assert.deepEqual(overrides, [{ featureId, mode: 'REPLACE', limit: 5, reason: 'a pilot' }])
    },
  ),
  overriding.withOwner(
    'G.LIFE.override-beats-packages',
    "REPLACE, ADD, UNLIMITED, GRANT and DENY win over what the user's packages say.",
    async ({ own }) => {
      const featureId = await own.makeFeature()
      const userId = await own.makeUser()
      await own.subscribe(userId, await own.makePlan({ id: featureId, entitlement: { limit: 10 } }))
      const found: unknown[] = []
      for (const [mode, limit] of [
        ['REPLACE', 3],
        ['ADD', 3],
        ['UNLIMITED', null],
        ['GRANT', null],
        ['DENY', null],
      ]) {
        await set(own, { userId, featureId, mode, limit })
        const { access, reasonCode, consumption } = await check(own, userId, featureId)
        found.push([mode, access, reasonCode, consumption?.budget])
      }
      assert.deepEqual(found, [
        ['REPLACE', true, 'WITHIN_BUDGET', 3],
        ['ADD', true, 'WITHIN_BUDGET', 13],
        ['UNLIMITED', true, 'UNLIMITED', null],
        ['GRANT', true, 'UNLIMITED', null],
        ['DENY', false, 'DENIED', undefined],
      ])
    },
  ),
  overriding.withOwner(
    'G.LIFE.override-binary',
    'A binary feature can be granted to a user without a subscription, and denied; it has no limit.',
    async ({ own }) => {
      const userId = await own.makeUser()
      const featureId = await own.makeFeature({ type: 'BINARY' })
      await set(own, { userId, featureId, mode: 'GRANT' })
      assert.equal((await check(own, userId, featureId)).reasonCode, 'GRANTED')
      await set(own, { userId, featureId, mode: 'DENY' })
      assert.equal((await check(own, userId, featureId)).reasonCode, 'DENIED')
      await refuses(
        own.admin,
        SET,
        { input: { userId, featureId, mode: 'REPLACE', limit: 1 } },
        BAD_USER_INPUT,
      )
    },
  ),
  overriding.withOwner(
    'G.LIFE.override-counted',
    'Without a subscription usage is counted against the override, and setting it again keeps the count.',
    async ({ own }) => {
      const [userId, featureId] = [await own.makeUser(), await own.makeFeature()]
      const record = async (delta: number) =>
        (
          await own.admin.data(
            'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }',
            { input: { userId, featureId, delta } },
          )
        ).recordUsage.recorded
      await set(own, { userId, featureId, mode: 'REPLACE', limit: 5, resetPeriod: 'NEVER' })
      assert.deepEqual([await record(5), await record(1)], [true, false])
      await set(own, { userId, featureId, mode: 'REPLACE', limit: 6 })
      assert.deepEqual([await record(1), await record(1)], [true, false])
      assert.deepEqual((await check(own, userId, featureId)).consumption, { budget: 6, used: 6 })
    },
  ),
  overriding.withOwner(
    'G.LIFE.override-remove',
    'removeOverride answers what was in force, or null; from then on the packages apply.',
    async ({ own }) => {
      const [userId, featureId] = [await own.makeUser(), await own.makeFeature()]
      await set(own, { userId, featureId, mode: 'GRANT' })
      const removed = async () => (await own.admin.data(REMOVE, { userId, featureId })).removeOverride
      assert.deepEqual([await removed(), await removed()], [{ featureId, mode: 'GRANT' }, null])
      assert.equal((await check(own, userId, featureId)).reasonCode, 'NO_SUBSCRIPTION')
    },
  ),
  overriding.withOwner(
    'G.LIFE.override-refused',
    'A limit that is missing or out of place, an expiry in the past and unknown ids are refused.',
    async ({ own }) => {
      const [userId, featureId] = [await own.makeUser(), await own.makeFeature()]
      const input = { userId, featureId, mode: 'ADD', limit: 1 }
      for (const wrong of [
        { limit: null },
        { limit: -1 },
        { mode: 'UNLIMITED' },
        { mode: 'DENY', limit: null, overageEnabled: true },
        { expiresAt: '2001-01-01T00:00:00Z' },
        { expiresAt: 'tomorrow' },
      ]) {
        await refuses(own.admin, SET, { input: { ...input, ...wrong } }, BAD_USER_INPUT)
      }
      await refuses(own.admin, SET, { input: { ...input, userId: newId('user') } }, USER_NOT_FOUND)
      await refuses(own.admin, SET, { input: { ...input, featureId: newId('feature') } }, FEATURE_NOT_FOUND)
      await refuses(own.admin, LIST, { userId: newId('user') }, USER_NOT_FOUND)
    },
  ),
]
