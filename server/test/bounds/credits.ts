import { expect } from 'vitest'
import {
  MAX_AUTO_RECHARGES,
  MAX_CAPS,
  MAX_COSTS,
  MAX_CREDIT_DAYS,
  MAX_CREDIT_PRIORITY,
  MAX_CREDITS,
  MAX_DRAWN_PARTS,
  MAX_ENTITIES,
  MAX_FORGOTTEN_SPENDERS,
  MAX_LISTED_CAPS,
  MAX_PLAN_CAPS,
  MAX_POOL_COST,
  MAX_REFILLED_CREDITS,
  MAX_RESERVATION_SECONDS,
  MAX_RESERVATIONS,
  RESERVATION_KEPT_DAYS,
} from '../../src/domain/limits.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp } from '../harness/server.ts'
import { type Bound, CREATE_FEATURE, CREATE_USER, RECORD_USAGE, valueBound, type World } from './bound.ts'

const ADD_CREDIT = 'mutation ($input: CreditInput!) { addCredit(input: $input) { id } }'
const RESERVE = 'mutation ($input: ReservationInput!) { reserveUsage(input: $input) { reserved } }'

/** A user with a credit of 10, spent or not, and others of 1 like it. */
async function withCredits({ admin, fresh, databaseUrl }: World, count: number, used: number) {
  const [userId, featureId] = [fresh(), fresh()]
  await admin.data(CREATE_FEATURE, { input: { id: featureId, name: 'Units', type: 'CONSUMABLE' } })
  await admin.data(CREATE_USER, { input: { id: userId } })
  await admin.data(ADD_CREDIT, { input: { userId, featureId, amount: 10 } })
  if (used > 0) await admin.data(RECORD_USAGE, { input: { userId, featureId, delta: 10 } })
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into credit (app_id, id, user_uid, feature_id, amount, used, kind, priority, effective_at, created_at, ended,
       period, period_used)
     select app_id, feature_id || '-' || n, user_uid, feature_id, 1, $3::bigint, kind, priority, effective_at, created_at, $3::bigint = 1 and n % 2 = 0,
       'NEVER 0', $3::bigint
     from credit, generate_series(1, $2::int) n where feature_id = $1`,
    [featureId, count, used],
  )
  return { userId, featureId }
}

const SET_CAP = 'mutation ($input: CapInput!) { setCap(input: $input) { used } }'

/** Sets the last of so many caps of a user. */
async function capAmong(world: World, count: number) {
  const { admin, databaseUrl } = world
  const input = { ...(await withCredits(world, 0, 0)), limit: 1, period: 'DAY' }
  await admin.data(SET_CAP, { input })
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into usage_cap (app_id, user_uid, feature_id, entity, period, "limit", window_start)
     select app_id, user_uid, feature_id, 'team:' || n, period, "limit", window_start
     from usage_cap, generate_series(1, $2::int) n where feature_id = $1`,
    [input.featureId, count - 2],
  )
  return admin.ask(SET_CAP, { input: { ...input, period: 'HOUR' } })
}

const SET_RECHARGE = 'mutation ($input: AutoRechargeInput!) { setAutoRecharge(input: $input) { state } }'

/** Sets the last of so many automatic recharges of a user. */
async function rechargeAmong(world: World, count: number) {
  const { admin, dashboard, databaseUrl } = world
  const { userId, featureId } = await withCredits(world, 0, 0)
  const priceId = `${featureId}-pack`
  await dashboard.call('createPrice', {
    input: { id: priceId, amount: 500, currency: 'usd', credits: { featureId, units: 100 } },
  })
  await rowsOf(
    { connectionString: databaseUrl },
    `with others as (
       insert into feature (app_id, id, name, type, metadata)
       select u.app_id, $2 || '-' || n, 'F', 'CONSUMABLE', '{}' from users u, generate_series(1, $3::int) n
       where u.app_id = 'default' and u.id = $1 returning app_id, id
     )
     insert into recharge_rule (app_id, user_uid, feature_id, id, below, up_to, price_id)
     select o.app_id, u.uid, o.id, o.id, 1, 1, $4 from others o join users u on u.app_id = o.app_id and u.id = $1`,
    [userId, featureId, count - 1, priceId],
  )
  return admin.ask(SET_RECHARGE, { input: { userId, featureId, below: 1, upTo: 1, priceId } })
}

async function reserveAmong(world: World, count: number) {
  const { admin, databaseUrl } = world
  const input = { ...(await withCredits(world, 0, 0)), amount: 1 }
  await admin.data(RESERVE, { input })
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into usage_reservation (app_id, id, user_uid, feature_id, amount, at_least, ttl_seconds, metadata, state,
       split, created_at, expires_at)
     select app_id, feature_id || '-' || n, user_uid, feature_id, 1, 1, 300, '{}', 'HELD', '[]', created_at, expires_at
     from usage_reservation, generate_series(1, $2::int) n where feature_id = $1`,
    [input.featureId, count - 2],
  )
  // As every change of a user's reservations does.
  await rowsOf(
    { connectionString: databaseUrl },
    `update spender s set version = version + 1 from users u where u.app_id = s.app_id and u.uid = s.user_uid and u.id = $1`,
    [input.userId],
  )
  return admin.ask(RESERVE, { input })
}

/** Takes back everything that was used of a credit of 10 and so many others, all of them spent. */
async function refill(world: World, count: number) {
  const input = { ...(await withCredits(world, count, 1)), delta: -count }
  // Without a credit that can be used, nothing is counted for the user.
  await world.admin.data(ADD_CREDIT, {
    input: { userId: input.userId, featureId: input.featureId, amount: 1 },
  })
  return (await world.admin.data(RECORD_USAGE, { input })).recordUsage
}

/** The ids left of a reservation that expired so many days ago, once there is another one. */
async function keptFor(world: World, days: number): Promise<string[]> {
  const { admin, databaseUrl } = world
  const input = { ...(await withCredits(world, 0, 0)), amount: 1 }
  await admin.data(RESERVE, { input: { ...input, id: `${input.featureId}-old` } })
  await rowsOf(
    { connectionString: databaseUrl },
    `update usage_reservation set expires_at = now() - make_interval(days => $2::int) + interval '1 minute'
     where feature_id = $1`,
    [input.featureId, days],
  )
  await admin.data(RESERVE, { input: { ...input, id: `${input.featureId}-new` } })
  const { reservations } = await admin.data(`{ reservations(userId: "${input.userId}") { id } }`)
  return reservations.map(({ id }: { id: string }) => id.replace(`${input.featureId}-`, ''))
}

const SET_COSTS =
  'mutation ($id: String!, $costs: [CostInput!]) { updateFeature(id: $id, input: { costs: $costs }) { id } }'

/** A pool that so many features draw on, at this cost. */
async function poolFor({ admin, fresh }: Pick<World, 'admin' | 'fresh'>, features: number, cost: number) {
  const input = { name: 'Units', type: 'CONSUMABLE' }
  const [pool, ...drawing] = Array.from({ length: features + 1 }, fresh)
  for (const id of [pool, ...drawing]) await admin.data(CREATE_FEATURE, { input: { ...input, id } })
  const costs = drawing.map((featureId) => ({ featureId, cost }))
  return { pool, drawing: drawing[0], answer: await admin.ask(SET_COSTS, { id: pool, costs }) }
}

/** Takes back what was drawn on so many credits of a pool; the last one can still be used. */
async function takeBack(world: World, parts: number) {
  const { admin, fresh } = world
  const { pool, drawing } = await poolFor(world, 1, 1)
  const userId = fresh()
  await admin.data(CREATE_USER, { input: { id: userId } })
  for (let i = 1; i <= parts; i++)
    await admin.data(ADD_CREDIT, { input: { userId, featureId: pool, amount: i < parts ? 1 : 2 } })
  const record = async (delta: number) =>
    (await admin.data(RECORD_USAGE, { input: { userId, featureId: drawing, delta } })).recordUsage
  expect(await record(parts)).toMatchObject({ recorded: true })
  return record(-parts)
}

/** Deletes a feature of which so many users had credits, none of which was used. */
async function deleteHadBy(world: World, users: number) {
  const { admin, dashboard, databaseUrl, fresh } = world
  const [userId, featureId, id] = [fresh(), fresh(), fresh()]
  await admin.data(CREATE_FEATURE, { input: { id: featureId, name: 'Units', type: 'CONSUMABLE' } })
  await admin.data(CREATE_USER, { input: { id: userId } })
  await admin.data(ADD_CREDIT, { input: { id, userId, featureId, amount: 10 } })
  await admin.data('mutation ($id: String!) { voidCredit(id: $id) { id } }', { id })
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into spender (app_id, user_uid, features)
     select 'default', -n, jsonb_build_object($1::text, '{}'::jsonb) from generate_series(1, $2::int) n
     on conflict (app_id, user_uid) do update set features = excluded.features`,
    [featureId, users - 1],
  )
  return dashboard.ask('mutation ($id: String!) { deleteFeature(appId: "default", id: $id) { id } }', {
    id: featureId,
  })
}

/** How many caps of the plans of a user are not listed. */
async function unlisted(world: World, caps: number): Promise<number> {
  const { dashboard, fresh } = world
  const [appId, userId, packageId] = [fresh(), fresh(), fresh()]
  const admin = await createApp(world, appId)
  const features = []
  for (let left = caps; left > 0; left -= MAX_PLAN_CAPS) {
    const id = fresh()
    await admin.data(CREATE_FEATURE, { input: { id, name: 'Units', type: 'CONSUMABLE' } })
    const perEntity = (_: unknown, i: number) => ({ period: 'DAY', limit: 1, perEntity: `type-${i}` })
    features.push({
      id,
      entitlement: { limit: 1, caps: Array.from({ length: Math.min(left, MAX_PLAN_CAPS) }, perEntity) },
    })
  }
  await admin.data('mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }', {
    input: { id: packageId, name: 'Many', features },
  })
  await dashboard.call('publishPackage { id }', { appId, id: packageId })
  await admin.data(CREATE_USER, { input: { id: userId } })
  await admin.data(
    'mutation ($of: String!, $id: String!) { subscribe(userId: $of, packageIds: [$id]) { id } }',
    {
      of: userId,
      id: packageId,
    },
  )
  const { userCaps } = await dashboard.data(
    'query ($appId: String!, $userId: String!) { userCaps(appId: $appId, userId: $userId) { more caps { limit } } }',
    { appId, userId },
  )
  expect(userCaps.caps.length + userCaps.more).toBe(caps)
  return userCaps.more
}

export const creditBounds: Bound[] = [
  valueBound(
    'MAX_FORGOTTEN_SPENDERS',
    'users who had credits of a feature that is deleted',
    { within: MAX_FORGOTTEN_SPENDERS, beyond: MAX_FORGOTTEN_SPENDERS + 1 },
    deleteHadBy,
    /had credits, caps or a pool of more than 10,000 users/,
  ),
  {
    limit: 'MAX_LISTED_CAPS',
    what: 'caps on the page of a user',
    works: async (world) => expect(await unlisted(world, MAX_LISTED_CAPS)).toBe(0),
    refused: async (world) => expect(await unlisted(world, MAX_LISTED_CAPS + 1)).toBe(1),
  },
  valueBound(
    'MAX_COSTS',
    'features that draw on a pool',
    { within: MAX_COSTS, beyond: MAX_COSTS + 1 },
    async (world, features) => {
      const admin = await createApp(world, world.fresh())
      return (await poolFor({ ...world, admin }, features, 1)).answer
    },
    /costs must contain at most 100 features/,
  ),
  valueBound(
    'MAX_POOL_COST',
    'units of a pool for one unit',
    { within: MAX_POOL_COST, beyond: MAX_POOL_COST + 1 },
    async (world, cost) => (await poolFor(world, 1, cost)).answer,
    /cost must be an integer from 1 to 1000000/,
  ),
  {
    limit: 'MAX_DRAWN_PARTS',
    what: 'sources of a pool that a negative delta refills',
    inOnePlace: true,
    works: async (world) => expect(await takeBack(world, MAX_DRAWN_PARTS)).toMatchObject({ recorded: true }),
    refused: async (world) =>
      expect(await takeBack(world, MAX_DRAWN_PARTS + 1)).toMatchObject({ recorded: false }),
  },
  valueBound(
    'MAX_CREDITS',
    'credits of one user and feature that can be used',
    { within: MAX_CREDITS, beyond: MAX_CREDITS + 1 },
    async (world, count) => {
      const input = { ...(await withCredits(world, count - 2, 0)), amount: 1 }
      return world.admin.ask(ADD_CREDIT, { input })
    },
    /A user can have at most 1000 usable credits of a feature/,
  ),
  valueBound(
    'MAX_CREDIT_PRIORITY',
    'the priority of a credit',
    { within: MAX_CREDIT_PRIORITY, beyond: MAX_CREDIT_PRIORITY + 1 },
    async (world, priority) => {
      const input = { ...(await withCredits(world, 0, 0)), amount: 1, priority }
      return world.admin.ask(ADD_CREDIT, { input })
    },
    /priority must be an integer from 0 to 1000/,
  ),
  valueBound(
    'MAX_CREDIT_DAYS',
    'how long bought credits can be used',
    { within: MAX_CREDIT_DAYS, beyond: MAX_CREDIT_DAYS + 1 },
    async (world, expiresDays) => {
      const { featureId } = await withCredits(world, 0, 0)
      return world.dashboard.ask(
        `mutation ($credits: CreditSaleInput!) {
          createPrice(appId: "default", input: { amount: 1, currency: "usd", credits: $credits }) { id }
        }`,
        { credits: { featureId, units: 1, expiresDays } },
      )
    },
    /expiresDays must be an integer from 1 to 3650/,
  ),
  valueBound(
    'MAX_RESERVATION_SECONDS',
    'the life of a reservation',
    { within: MAX_RESERVATION_SECONDS, beyond: MAX_RESERVATION_SECONDS + 1 },
    async (world, ttlSeconds) => {
      const input = { ...(await withCredits(world, 0, 0)), amount: 1, ttlSeconds }
      return world.admin.ask(RESERVE, { input })
    },
    /ttlSeconds must be an integer from 1 to 86400/,
  ),
  {
    limit: 'MAX_RESERVATIONS',
    what: 'live reservations of one user and feature',
    works: async (world) => {
      expect((await reserveAmong(world, MAX_RESERVATIONS)).data).toEqual({ reserveUsage: { reserved: 1 } })
    },
    refused: async (world) => {
      const { errors } = await reserveAmong(world, MAX_RESERVATIONS + 1)
      expect(errors?.[0]).toMatchObject({
        message: 'A user can have at most 1000 live reservations of a feature.',
        extensions: { code: 'RATE_LIMITED', retryAfter: 1 },
      })
    },
  },
  valueBound(
    'MAX_AUTO_RECHARGES',
    'automatic recharges of one user',
    { within: MAX_AUTO_RECHARGES, beyond: MAX_AUTO_RECHARGES + 1 },
    rechargeAmong,
    /A user can have at most 100 automatic recharges/,
  ),
  valueBound(
    'MAX_CAPS',
    'caps of one user',
    { within: MAX_CAPS, beyond: MAX_CAPS + 1 },
    capAmong,
    /A user can have at most 100 caps/,
  ),
  valueBound(
    'MAX_PLAN_CAPS',
    'caps of an entitlement',
    { within: MAX_PLAN_CAPS, beyond: MAX_PLAN_CAPS + 1 },
    async ({ admin, fresh }, count) => {
      const [id, featureId] = [fresh(), fresh()]
      await admin.data(CREATE_FEATURE, { input: { id: featureId, name: 'Units', type: 'CONSUMABLE' } })
      const caps = Array.from({ length: count }, (_, i) => ({
        period: 'DAY',
        limit: 1,
        perEntity: `type-${i}`,
      }))
      return admin.ask('mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }', {
        input: { id, name: id, features: [{ id: featureId, entitlement: { caps } }] },
      })
    },
    /caps must contain at most 10 caps/,
  ),
  valueBound(
    'MAX_ENTITIES',
    'entities of a call',
    { within: MAX_ENTITIES, beyond: MAX_ENTITIES + 1 },
    ({ admin }, count) =>
      admin.ask(
        'query ($entities: [String!]) { canUseFeature(userId: "x", featureId: "x", entities: $entities) { access } }',
        {
          entities: Array.from({ length: count }, (_, i) => `team:${i}`),
        },
      ),
    /entities must contain at most 4 entities/,
  ),
  {
    limit: 'RESERVATION_KEPT_DAYS',
    what: 'days that an expired reservation is kept',
    works: async (world) => expect(await keptFor(world, RESERVATION_KEPT_DAYS)).toEqual(['old', 'new']),
    refused: async (world) => expect(await keptFor(world, RESERVATION_KEPT_DAYS + 1)).toEqual(['new']),
  },
  {
    limit: 'MAX_REFILLED_CREDITS',
    what: 'spent credits that a revert refills',
    works: async (world) => {
      expect(await refill(world, MAX_REFILLED_CREDITS)).toMatchObject({ recorded: true })
    },
    refused: async (world) => {
      expect(await refill(world, MAX_REFILLED_CREDITS + 1)).toMatchObject({
        recorded: false,
        reason: 'Cannot revert 21: only 20 used in this period.',
      })
    },
  },
]
