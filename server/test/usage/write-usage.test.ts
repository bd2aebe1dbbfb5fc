import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool, type Pool, type Tx } from '../../src/store/connection/database.ts'
import { KEY_TAKEN } from '../../src/store/usage/idempotency.ts'
import type { Basis, CounterMove, Receipt } from '../../src/store/usage/usage-moves.ts'
import { writeUsage } from '../../src/store/usage/write-usage.ts'
import { rowsOf } from '../harness/database.ts'
import { inOneCell } from '../harness/one-cell.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { basisOf, counterAt } from '../harness/store.ts'

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

const made = async (move: CounterMove) => [...(await writeUsage(client, [move], [])).keys()]

it('gap: races: a counter that is not where it was read any more is left as it is', async () => {
  await server.admin.data(
    'mutation { a: createUser(input: { id: "a" }) { id } b: createUser(input: { id: "b" }) { id } }',
  )
  const uids = await rowsOf<{ uid: number }>(database, 'select uid from users order by uid')
  const bases = new Map<number, Basis>()
  for (const { uid } of uids) bases.set(uid, await basisOf(client, 'default', uid))
  const moveOf = (uid = 0, from: { used: number; place: string } | null, to: number): CounterMove => ({
    key: {
      appId: 'default',
      userUid: uid,
      featureId: 'calls',
      resetPeriod: 'MONTH',
      periodStart: 0,
    },
    ref: counterAt(from?.place ?? ''),
    basis: bases.get(uid) ?? null,
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
  for (const move of missed) expect(await made(move)).toEqual([])
  expect(await counters()).toEqual([first, second])

  const move = moveOf(a, { used: 5, place: first.place }, 6)
  expect(await made(move)).toEqual([move])
  // The row of an older version is not the counter's any more.
  const again = moveOf(a, { used: 6, place: first.place }, 7)
  expect(await made(again)).toEqual([])
  const ledger = await rowsOf(database, 'select user_uid as uid, delta, used from usage_ledger order by seq')
  expect(ledger).toEqual([
    { uid: a, delta: 5, used: 5 },
    { uid: b, delta: 5, used: 5 },
    { uid: a, delta: 1, used: 6 },
  ])
})

it('gap: races: usage is not written once anything it was decided by has changed', async () => {
  await server.admin.data('mutation { createUser(input: { id: "c" }) { id } }')
  const [user] = await rowsOf<{ uid: number }>(database, `select uid from users where id = 'c'`)
  const uid = user?.uid ?? 0
  const key = {
    appId: 'default',
    userUid: uid,
    featureId: 'calls',
    resetPeriod: 'MONTH',
    periodStart: 0,
  } as const
  const entries = [{ action: 'ADD', delta: 1, used: 1, recordedAt: 0 } as const]
  const first = (basis: Basis): CounterMove => ({
    key,
    ref: counterAt(''),
    basis,
    from: null,
    to: 1,
    entries,
    receipts: [],
  })
  const basis = await basisOf(client, 'default', uid)
  const now = Date.now()
  const changed: Basis[] = [
    { ...basis, version: basis.version + 1 },
    { ...basis, user: { ...basis.user, tid: '(4000,1)' } },
    { ...basis, user: { ...basis.user, version: String(Number(basis.user.version) - 1) } },
    { ...basis, since: now + 3_600_000 },
    { ...basis, until: now - 3_600_000 },
  ]
  const ledger = () => rowsOf(database, `select used from usage_ledger where user_uid = ${uid} order by seq`)
  for (const one of changed) expect(await made(first(one))).toEqual([])
  expect(await ledger()).toEqual([])

  const created = first({ ...basis, since: now - 3_600_000, until: now + 3_600_000 })
  expect(await made(created)).toEqual([created])
  const [counter] = await rowsOf<{ place: string }>(
    database,
    `select ctid as place from usage_counter where user_uid = ${uid}`,
  )
  const second = { ...created, ref: counterAt(counter?.place ?? ''), from: 1, to: 2 }
  for (const one of changed) expect(await made({ ...second, basis: one })).toEqual([])
  // A change of the user's row, whatever it is, and of nothing else.
  await server.admin.data('mutation { updateUser(id: "c", input: { name: "C" }) { id } }')
  expect(await made(second)).toEqual([])
  expect(await made({ ...second, basis: await basisOf(client, 'default', uid) })).toHaveLength(1)
  expect(await ledger()).toHaveLength(2)
})
