import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PendingReservation } from '../../src/operations/call/hot-paths.ts'
import { FeatureCounts } from '../../src/operations/usage/feature-counts.ts'
import { reserveBatch } from '../../src/operations/usage/reserve-batch.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { ONE_PLACE_USAGE } from '../../src/store/usage/usage-store.ts'
import { before } from '../harness/before-statement.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { monotonic } from '../harness/clocks.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Calls on reservations share a statement. Invariant: each answer is true of what was stored at some moment.

const server = shared(startTestServer)
let pool: Pool
beforeAll(async () => {
  pool = openPool(
    { connectionString: server.databaseUrl },
    { max: 1, keyLookups: true },
    pino({ level: 'silent' }),
  )
  await publishPackage({ id: 'default', ...server }, 'plan', { call: { limit: 100 } })
  await createUsers(server.admin, ['ann'])
  await server.admin.call('subscribe { id }', { userId: 'ann', packageIds: ['plan'] })
  await server.admin.call('addCredit { id }', { input: { userId: 'ann', featureId: 'call', amount: 1 } })
})
afterAll(() => pool?.end())

const reserving = (id: string, amount: number): PendingReservation => ({
  caller: { appId: 'default', actor: { kind: 'service' }, deadline: null },
  key: null,
  reservation: {
    ...{ kind: 'RESERVE', id, isNew: true, userId: 'ann' },
    asked: { id, featureId: 'call', amount, atLeast: amount, ttlSeconds: 300, entities: [], metadata: {} },
  },
})

it.skipIf(onCluster || TEST_CELLS > 1)(
  'is not refused because of an earlier call of its batch that then found other sources',
  async () => {
    const client = await pool.connect()
    const changing = before(
      client,
      ({ name }) => name.startsWith('write-spending'),
      async () => {
        await server.admin.call('addCredit { id }', {
          input: { userId: 'ann', featureId: 'call', amount: 50 },
        })
      },
    )
    const answers = await reserveBatch(
      ONE_PLACE_USAGE,
      new AppCache(monotonic),
      changing,
      [reserving('first', 80), reserving('second', 60)],
      new FeatureCounts(),
      {},
    )
    client.release()
    // 101 units at first, and 151 by the time they were written.
    expect(answers).toEqual([
      { value: expect.objectContaining({ reserved: 80 }) },
      { value: expect.objectContaining({ reserved: 60 }) },
    ])
  },
)
