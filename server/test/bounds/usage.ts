import { expect } from 'vitest'
import {
  MAX_BATCH,
  MAX_COUNT,
  MAX_OVERRIDES,
  MAX_PAST_PERIODS,
  MAX_QUANTITY,
  MAX_SUBSCRIBE_PACKAGES,
  MAX_TRIAL_DAYS,
} from '../../src/domain/limits.ts'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp } from '../harness/server.ts'
import {
  type Bound,
  CREATE_FEATURE,
  CREATE_PACKAGE,
  CREATE_USER,
  RECORD_USAGE,
  valueBound,
  type World,
} from './bound.ts'

const SUBSCRIBE = `mutation ($userId: String!, $packageIds: [String!]!) {
  subscribe(userId: $userId, packageIds: $packageIds) { id }
}`

const SET_OVERRIDE = `mutation ($userId: String!, $featureId: String!) {
  setOverride(input: { userId: $userId, featureId: $featureId, mode: GRANT }) { mode }
}`

const CAN_USE = `query ($userId: String!, $featureId: String!) {
  canUseFeature(userId: $userId, featureId: $featureId) { access consumption { used budget } }
}`

/** One more than 2^53-1 is where JavaScript stops telling whole numbers apart. */
const counts = { within: MAX_COUNT, beyond: MAX_COUNT + 1 }

export const usageBounds: Bound[] = [
  valueBound(
    'MAX_OVERRIDES',
    'overrides of one user',
    { within: MAX_OVERRIDES, beyond: MAX_OVERRIDES + 1 },
    async ({ admin, fresh, databaseUrl }, count) => {
      const [userId, featureId] = [fresh(), await consumable(admin, fresh())]
      await admin.data(CREATE_USER, { input: { id: userId } })
      await rowsOf(
        { connectionString: databaseUrl },
        `update users set overrides = (select json_agg(json_build_object('featureId', 'f' || n, 'mode', 'GRANT',
           'resetPeriod', 'MONTH', 'startedAt', 0, 'limit', null, 'overageEnabled', null, 'expiresAt', null, 'reason', null))
         from generate_series(1, $2::int) n) where id = $1`,
        [userId, count - 1],
      )
      return admin.ask(SET_OVERRIDE, { userId, featureId })
    },
    /A user can have at most 100 overrides/,
  ),
  valueBound(
    'MAX_COUNT',
    'the limit of an entitlement',
    counts,
    (world, limit) => createLimited(world, (feature) => ({ id: feature, entitlement: { limit } })),
    /integer between -9007199254740991 and 9007199254740991/,
  ),
  valueBound(
    'MAX_COUNT',
    'the limit of an entitlement, in the document',
    counts,
    async ({ admin, fresh }, limit) => {
      const feature = await consumable(admin, fresh())
      return admin.ask(
        `mutation { createPackage(input: {
          id: "${fresh()}", name: "P", features: {id: "${feature}", entitlement: {limit: ${limit}}}
        }) { id } }`,
      )
    },
    /integer between -9007199254740991 and 9007199254740991/,
  ),
  valueBound(
    'MAX_COUNT',
    'a limit of nothing, and less than that',
    { within: 0, beyond: -1 },
    (world, limit) => createLimited(world, (feature) => ({ id: feature, entitlement: { limit } })),
    /limit must be an integer from 0 to 9007199254740991/,
  ),
  valueBound(
    'MAX_COUNT',
    'the limit in an edit',
    counts,
    async ({ admin, dashboard, fresh }, limit) => {
      const [id, feature] = [fresh(), await consumable(admin, fresh())]
      await admin.data(CREATE_PACKAGE, { input: { id, name: 'P' } })
      return dashboard.ask(
        `mutation ($id: String!, $input: EditPackageInput!) {
          editPackage(appId: "default", id: $id, input: $input) { id }
        }`,
        { id, input: { features: [{ id: feature, entitlement: { limit } }] } },
      )
    },
    /integer between -9007199254740991 and 9007199254740991/,
  ),
  ...[1, -1].map((sign) =>
    valueBound(
      'MAX_COUNT',
      `delta, ${sign < 0 ? 'down' : 'up'}`,
      counts,
      ({ admin }, delta) =>
        admin.ask(RECORD_USAGE, { input: { userId: 'nobody', featureId: 'none', delta: sign * delta } }),
      /integer between -9007199254740991 and 9007199254740991/,
    ),
  ),
  valueBound(
    'MAX_COUNT',
    'a number in metadata',
    counts,
    ({ admin, fresh }, count) => admin.ask(CREATE_USER, { input: { id: fresh(), metadata: { count } } }),
    /number beyond 2\^53-1/,
  ),
  {
    limit: 'MAX_COUNT',
    what: 'a counter that reaches it, one by one',
    works: async (world) => {
      const record = await counter(world)
      await record({ action: 'SET', delta: MAX_COUNT - 1 }, { recorded: true, used: MAX_COUNT - 1 })
      await record({ delta: 1 }, { recorded: true, used: MAX_COUNT })
      await record({ delta: -MAX_COUNT }, { recorded: true, used: 0 })
    },
    refused: async (world) => {
      const record = await counter(world)
      await record({ delta: MAX_COUNT }, { recorded: true, used: MAX_COUNT })
      await record(
        { delta: 1 },
        { recorded: false, used: MAX_COUNT, reason: /cannot exceed 9007199254740991/ },
      )
      await record(
        { delta: MAX_COUNT },
        { recorded: false, used: MAX_COUNT, reason: /cannot exceed 9007199254740991/ },
      )
    },
  },
  {
    limit: 'MAX_COUNT',
    what: 'the budget of several packages together',
    works: async (world) => expect(await budgetOf(world, [MAX_COUNT - 1, 1])).toBe(MAX_COUNT),
    refused: async (world) => expect(await budgetOf(world, [MAX_COUNT, MAX_COUNT])).toBe(MAX_COUNT),
  },
  valueBound(
    'MAX_BATCH',
    'features of canUseFeatures',
    { within: MAX_BATCH, beyond: MAX_BATCH + 1 },
    ({ admin }, count) =>
      admin.ask(
        'query ($ids: [String!]!) { canUseFeatures(userId: "nobody", featureIds: $ids) { access } }',
        { ids: Array.from({ length: count }, (_, i) => `f${i}`) },
      ),
    /featureIds must contain at most 100 features/,
  ),
  valueBound(
    'MAX_BATCH',
    'events of recordUsages',
    { within: MAX_BATCH, beyond: MAX_BATCH + 1 },
    ({ admin }, count) =>
      admin.ask(
        'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }',
        {
          inputs: Array.from({ length: count }, () => ({ userId: 'nobody', featureId: 'none', delta: 1 })),
        },
      ),
    /inputs must contain at most 100 events/,
  ),
  valueBound(
    'MAX_SUBSCRIBE_PACKAGES',
    'packages of one subscribe',
    { within: MAX_SUBSCRIBE_PACKAGES, beyond: MAX_SUBSCRIBE_PACKAGES + 1 },
    async (world, count) => {
      const { id, admin } = await newApp(world)
      const packageIds = Array.from({ length: count }, (_, i) => `p${i}`)
      await rowsOf(
        { connectionString: world.databaseUrl },
        `insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
         select $1, id, 'P', 'PUBLISHED', id <> 'p0', '{}', now() from unnest($2::text[]) as id`,
        [id, packageIds],
      )
      await admin.data(CREATE_USER, { input: { id: 'u' } })
      return admin.ask(SUBSCRIBE, { userId: 'u', packageIds })
    },
    /packageIds must contain at most 100 packages/,
  ),
  valueBound(
    'MAX_QUANTITY',
    'the quantity of a subscription',
    { within: MAX_QUANTITY, beyond: MAX_QUANTITY + 1 },
    async (world, quantity) => {
      const { id, admin, dashboard } = await newApp(world)
      await publishPackage({ id, admin, dashboard }, 'plan', {})
      await admin.data(CREATE_USER, { input: { id: 'u' } })
      return admin.ask(
        'mutation ($quantities: [Int!]!) { subscribe(userId: "u", packageIds: ["plan"], quantities: $quantities) { id } }',
        { quantities: [quantity] },
      )
    },
    /quantity must be an integer from 1 to 1000000/,
  ),
  valueBound(
    'MAX_TRIAL_DAYS',
    'the days of a trial',
    { within: MAX_TRIAL_DAYS, beyond: MAX_TRIAL_DAYS + 1 },
    async (world, days) => {
      const { id, admin, dashboard } = await newApp(world)
      await publishPackage({ id, admin, dashboard }, 'plan', {})
      await admin.data(CREATE_USER, { input: { id: 'u' } })
      return admin.ask(
        'mutation ($days: Int!) { startTrial(userId: "u", packageId: "plan", days: $days) { id } }',
        { days },
      )
    },
    /days must be an integer from 1 to 730/,
  ),
  {
    limit: 'MAX_PAST_PERIODS',
    what: 'past periods of showUsage',
    works: async (world) => expect(await pastAfter(world, MAX_PAST_PERIODS)).toBe(MAX_PAST_PERIODS),
    refused: async (world) => expect(await pastAfter(world, MAX_PAST_PERIODS + 1)).toBe(MAX_PAST_PERIODS),
  },
]

async function newApp(world: World, options: { testClock?: boolean } = {}): Promise<TestApp> {
  const id = world.fresh()
  return { id, admin: await createApp(world, id, options), dashboard: world.dashboard.of(id) }
}

async function consumable(admin: TestApp['admin'], id: string): Promise<string> {
  await admin.data(CREATE_FEATURE, { input: { id, name: 'F', type: 'CONSUMABLE' } })
  return id
}

async function createLimited({ admin, fresh }: World, entry: (feature: string) => object) {
  const feature = await consumable(admin, fresh())
  return admin.ask(CREATE_PACKAGE, { input: { id: fresh(), name: 'P', features: [entry(feature)] } })
}

/** A user with an unlimited feature, and how to record usage of it. */
async function counter(world: World) {
  const app = await newApp(world)
  await publishPackage(app, 'plan', { calls: {} })
  await app.admin.data(CREATE_USER, { input: { id: 'u' } })
  await app.admin.data(SUBSCRIBE, { userId: 'u', packageIds: ['plan'] })
  return async (
    event: { action?: string; delta: number },
    { recorded, used, reason }: { recorded: boolean; used: number; reason?: RegExp },
  ) => {
    const { recordUsage } = await app.admin.data(RECORD_USAGE, {
      input: { userId: 'u', featureId: 'calls', ...event },
    })
    expect(recordUsage).toEqual({
      recorded,
      reason: reason ? expect.stringMatching(reason) : null,
      consumption: { used, budget: null },
    })
  }
}

/** The first package is the base plan, the others are add-ons. */
async function budgetOf(world: World, limits: number[]): Promise<number> {
  const app = await newApp(world)
  for (const [i, limit] of limits.entries()) await publishPackage(app, `p${i}`, { calls: { limit } }, i > 0)
  await app.admin.data(CREATE_USER, { input: { id: 'u' } })
  await app.admin.data(SUBSCRIBE, { userId: 'u', packageIds: limits.map((_, i) => `p${i}`) })
  const { canUseFeature } = await app.admin.data(CAN_USE, { userId: 'u', featureId: 'calls' })
  return canUseFeature.consumption.budget
}

async function pastAfter(world: World, days: number): Promise<number> {
  const app = await newApp(world, { testClock: true })
  await publishPackage(app, 'plan', { calls: { limit: 1, resetPeriod: 'DAY' } })
  await app.admin.data(CREATE_USER, { input: { id: 'u' } })
  const subscribe = await app.admin.call('subscribe { startedAt }', { userId: 'u', packageIds: ['plan'] })
  const to = new Date(Date.parse(subscribe[0].startedAt) + days * 86_400_000).toISOString()
  await app.dashboard.call('advanceClock', { to })
  const showUsage = await app.admin.call('showUsage { past { periodStart } }', {
    userId: 'u',
    featureId: 'calls',
  })
  return showUsage.past.length
}
