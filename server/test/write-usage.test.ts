import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool, type Pool } from '../src/store/database.ts'
import { KEY_TAKEN } from '../src/store/idempotency.ts'
import { type Receipt, writeUsage } from '../src/store/write-usage.ts'
import { startTestServer, type TestServer } from './harness/server.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await startTestServer()
  const connection = { connectionString: server.databaseUrl }
  pool = openPool(connection, { max: 2, keyLookups: true }, pino({ level: 'silent' }))
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

it('gap: idempotency: two writers with the same keys in opposite orders never wait for each other', async () => {
  const outcome = (receipts: Receipt[]) =>
    writeUsage(pool, [], receipts).then(
      () => 'written',
      (error) => error.constraint ?? error.message,
    )
  // Many more than a batch holds, so that the two are sure to overlap.
  for (let round = 0; round < 6; round++) {
    const receipts = Array.from({ length: 3_000 }, (_, i): Receipt => {
      const key = `${round} ${i}`
      return { appId: 'default', scope: 'usage', key, request: Buffer.alloc(32), results: '{}' }
    })
    const outcomes = await Promise.all([outcome(receipts), outcome(receipts.toReversed())])
    expect(outcomes.sort()).toEqual([KEY_TAKEN, 'written'])
  }
})
