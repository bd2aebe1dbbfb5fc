import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool, type Pool, type Tx } from '../../src/store/connection/database.ts'
import { KEY_TAKEN } from '../../src/store/usage/idempotency.ts'
import type { CounterMove, Receipt } from '../../src/store/usage/usage-moves.ts'
import { writeUsage } from '../../src/store/usage/write-usage.ts'
import { rowsOf } from '../harness/database.ts'
import { inOneCell } from '../harness/one-cell.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { counterAt } from '../harness/store.ts'

const server = shared(startTestServer)
let pool: Pool
let database: pg.ClientConfig
let client: Tx
let other: Tx
beforeAll(async () => {
  const cell = await inOneCell(server.databaseUrl)
  database = { connectionString: server.databaseUrl, ...cell.session }
  pool = openPool(
    { connectionString: server.databaseUrl },
    { max: 2, keyLookups: true, ...cell.pool },
    pino({ level: 'silent' }),
  )
  client = await pool.connect()
  other = await pool.connect()
})
afterAll(async () => {
  client.release()
  other.release()
  await pool.end()
})

it('gap: idempotency: two writers with the same keys in opposite orders never wait for each other', async () => {
  const outcome = (writer: Tx, receipts: Receipt[]) =>
    writeUsage(writer, [], receipts).then(
      () => 'written',
      (error) => error.constraint ?? error.message,
    )
  // Many more than a batch holds, so that the two are sure to overlap.
  for (let round = 0; round < 6; round++) {
    const receipts = Array.from({ length: 3_000 }, (_, i): Receipt => {
      const key = `${round} ${i}`
      return {
        appId: 'default',
        scope: 'usage',
        key,
        request: Buffer.alloc(32),
        results: '{}',
        userUid: null,
      }
    })
    const outcomes = await Promise.all([outcome(client, receipts), outcome(other, receipts.toReversed())])
    expect(outcomes.sort()).toEqual([KEY_TAKEN, 'written'])
  }
})

it('gap: races: a counter that is not where it was read any more is left as it is', async () => {
  await server.admin.data(
    'mutation { a: createUser(input: { id: "a" }) { id } b: createUser(input: { id: "b" }) { id } }',
  )
  const uids = await rowsOf<{ uid: number }>(database, 'select uid from users order by uid')
  const moveOf = (uid = 0, from: { used: number; place: string } | null, to: number): CounterMove => ({
    key: {
      appId: 'default',
      userUid: uid,
      featureId: 'calls',
      resetPeriod: 'MONTH',
      periodStart: 0,
    },
    ref: counterAt(from?.place ?? ''),
    from: from?.used ?? null,
    to,
    entries: [{ action: 'ADD', delta: to - (from?.used ?? 0), used: to, recordedAt: 0 }],
    receipts: [],
  })
  const [a, b] = uids.map(({ uid }) => uid)
  await writeUsage(client, [moveOf(a, null, 5), moveOf(b, null, 5)], [])
  const counters = () =>
    rowsOf<{ uid: number; used: number; place: string }>(
      database,
      'select user_uid as uid, used, ctid as place from usage_counter order by user_uid',
    )
  const [first, second] = await counters()
  if (!first || !second) throw new Error('the counters are not there')

  const missed = [
    // another counter's row, which happens to hold the same number
    moveOf(a, { used: 5, place: second.place }, 6),
    // no row at all
    moveOf(a, { used: 5, place: '(4000,1)' }, 6),
    // its row, but not its number
    moveOf(a, { used: 4, place: first.place }, 6),
  ]
  for (const move of missed) expect(await writeUsage(client, [move], [])).toEqual(new Set())
  expect(await counters()).toEqual([first, second])

  const move = moveOf(a, { used: 5, place: first.place }, 6)
  expect(await writeUsage(client, [move], [])).toEqual(new Set([move]))
  // The row of an older version is not the counter's any more.
  const again = moveOf(a, { used: 6, place: first.place }, 7)
  expect(await writeUsage(client, [again], [])).toEqual(new Set())
  const ledger = await rowsOf(database, 'select user_uid as uid, delta, used from usage_ledger order by seq')
  expect(ledger).toEqual([
    { uid: a, delta: 5, used: 5 },
    { uid: b, delta: 5, used: 5 },
    { uid: a, delta: 1, used: 6 },
  ])
})
