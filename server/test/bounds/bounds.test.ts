import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as limits from '../../src/domain/limits.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { onCluster } from '../harness/one-server.ts'
import { createApp, MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { billingBounds } from './billing.ts'
import { type Bound, RECORD_USAGE, type World } from './bound.ts'
import { collectionBounds } from './collections.ts'
import { connectionBounds } from './connections.ts'
import { creditBounds } from './credits.ts'
import { dashboardBounds } from './dashboard.ts'
import { databaseBounds } from './database.ts'
import { eventBounds } from './events.ts'
import { loadBounds } from './load.ts'
import { memoryBounds } from './memory.ts'
import { overloadBounds } from './overload.ts'
import { peopleBounds } from './people.ts'
import { requestBounds } from './requests.ts'
import { retryBounds } from './retries.ts'
import { usageBounds } from './usage.ts'
import { valueBounds } from './values.ts'
import { slowDeliveries, webhookBounds } from './webhooks.ts'

const BOUNDS: Bound[] = [
  ...requestBounds,
  ...valueBounds,
  ...billingBounds,
  ...usageBounds,
  ...peopleBounds,
  ...overloadBounds,
  ...creditBounds,
  ...dashboardBounds,
  ...connectionBounds,
  ...databaseBounds,
  ...loadBounds,
  ...memoryBounds,
  ...collectionBounds,
  ...retryBounds,
  ...eventBounds,
  ...webhookBounds,
]

let world: World
beforeAll(async () => {
  let [ids, now] = [0, Date.now()]
  world = {
    ...(await startTestServer({ env: MASTER_KEY_SETTINGS })),
    fresh: () => `id-${++ids}`,
    clocked: await startTestServer({ clocks: { wall: () => now } }),
    turnClock: (ms) => {
      now += ms
    },
    now: () => now,
    slow: slowDeliveries(),
  }
})
afterAll(async () => {
  await world?.stop()
  await world?.clocked.stop()
  await Promise.all(Object.values(world?.slow ?? {}))
})

describe('gap: limits', () => {
  const tried = BOUNDS.filter(({ inOnePlace }) => !inOnePlace || (!onCluster && TEST_CELLS === 1))
  it.for(tried)('$limit: $what, just kept', (bound) => bound.works(world))

  it.for(tried)('$limit: $what, just broken', (bound) => bound.refused(world))

  it('names every bound there is', () => {
    expect(new Set(BOUNDS.map((bound) => bound.limit))).toEqual(new Set(Object.keys(limits)))
  })

  it('fits ids of the most bytes into every index', async () => {
    const longest = (first: string) => first.padEnd(limits.MAX_IDENTIFIER_CHARACTERS, '中')
    const [id, feature, plan, user] = [longest('a'), longest('f'), longest('p'), longest('u')]
    const admin = await createApp(world, id)
    await publishPackage({ id, admin, dashboard: world.dashboard.of(id) }, plan, { [feature]: { limit: 1 } })
    await createUsers(admin, [user])
    await admin.call('subscribe', { userId: user, packageIds: [plan] })
    const input = { userId: user, featureId: feature, delta: 1, idempotencyKey: longest('k') }
    const keyed = admin.with({ 'Idempotency-Key': 'é'.repeat(limits.MAX_IDEMPOTENCY_KEY_CHARACTERS) })
    const answer = await keyed.data(RECORD_USAGE, { input })
    expect(answer.recordUsage).toMatchObject({ recorded: true, consumption: { used: 1, budget: 1 } })
  })
})
