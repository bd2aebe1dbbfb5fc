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

interface Counter {
  used: number
  place: string
}

const moveOf = (uid: number, basis: Basis, from: Counter | null, to: number): CounterMove => ({
  key: { appId: 'default', userUid: uid, featureId: 'calls', resetPeriod: 'MONTH', periodStart: 0 },
  ref: counterAt(from?.place ?? ''),
  basis,
  recalled: false,
  from: from?.used ?? null,
  to,
  entries: [{ action: 'ADD', delta: to - (from?.used ?? 0), used: to, recordedAt: 0 }],
  receipts: [],
  events: [],
})

const newUser = async (id: string) => {
  await server.admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id })
  const [user] = await rowsOf<{ uid: number }>(database, `select uid from users where id = '${id}'`)
  const uid = user?.uid ?? 0
  return { uid, basis: await basisOf(client, 'default', uid) }
}

const counterOf = async (uid: number): Promise<Counter> => {
  const text = `select used, ctid as place from usage_counter where user_uid = ${uid}`
  const [counter] = await rowsOf<Counter>(database, text)
  if (!counter) throw new Error('the counter is not there')
  return counter
}

const ledgerOf = (uid: number) =>
  rowsOf(database, `select delta, used from usage_ledger where user_uid = ${uid} order by seq`)

it('gap: races: a counter that is not where it was read any more is left as it is', async () => {
  const { uid, basis } = await newUser('a')
  const b = await newUser('b')
  await writeUsage(client, [moveOf(uid, basis, null, 5), moveOf(b.uid, b.basis, null, 5)], [])
  const first = await counterOf(uid)
  const second = await counterOf(b.uid)

  const missed: Counter[] = [
    // another counter's row, which happens to hold the same number
    { used: 5, place: second.place },
    // no row at all
    { used: 5, place: '(4000,1)' },
    // its row, but not its number
    { used: 4, place: first.place },
  ]
  for (const from of missed) expect(await made(moveOf(uid, basis, from, 6))).toEqual([])
  expect([await counterOf(uid), await counterOf(b.uid)]).toEqual([first, second])

  const move = moveOf(uid, basis, first, 6)
  expect(await made(move)).toEqual([move])
  // The row of an older version is not the counter's any more.
  expect(await made(moveOf(uid, basis, { used: 6, place: first.place }, 7))).toEqual([])
  expect(await ledgerOf(uid)).toEqual([
    { delta: 5, used: 5 },
    { delta: 1, used: 6 },
  ])
  expect(await ledgerOf(b.uid)).toEqual([{ delta: 5, used: 5 }])
})

it('gap: races: usage decided from memory, and the first of a counter, is not written once its basis has changed', async () => {
  const { uid, basis } = await newUser('c')
  const now = Date.now()
  const changed: Basis[] = [
    { ...basis, version: basis.version + 1 },
    { ...basis, user: { ...basis.user, tid: '(4000,1)' } },
    { ...basis, user: { ...basis.user, version: String(Number(basis.user.version) - 1) } },
    { ...basis, since: now + 3_600_000 },
    { ...basis, until: now - 3_600_000 },
  ]
  for (const one of changed) expect(await made(moveOf(uid, one, null, 1))).toEqual([])
  expect(await ledgerOf(uid)).toEqual([])

  const created = moveOf(uid, { ...basis, since: now - 3_600_000, until: now + 3_600_000 }, null, 1)
  expect(await made(created)).toEqual([created])
  const second = { ...moveOf(uid, basis, await counterOf(uid), 2), recalled: true }
  for (const one of changed) expect(await made({ ...second, basis: one })).toEqual([])
  // A change of the user's row, whatever it is, and of nothing else.
  await server.admin.data('mutation { updateUser(id: "c", input: { name: "C" }) { id } }')
  expect(await made(second)).toEqual([])
  expect(await made({ ...second, basis: await basisOf(client, 'default', uid) })).toHaveLength(1)
  expect(await ledgerOf(uid)).toHaveLength(2)
})

it('gap: races: usage decided by a read of the same call depends on its counter alone', async () => {
  const { uid, basis } = await newUser('d')
  await made(moveOf(uid, basis, null, 1))
  await server.admin.data('mutation { updateUser(id: "d", input: { name: "D" }) { id } }')
  const next = moveOf(uid, basis, await counterOf(uid), 2)
  expect(await made({ ...next, recalled: true })).toEqual([])
  expect(await made(next)).toEqual([next])
  expect(await made(next)).toEqual([])
})

it('one batch holds usage decided from memory, read and new', async () => {
  const users = [await newUser('e'), await newUser('f'), await newUser('g'), await newUser('h')]
  const [e, f, g, h] = users as [Seen, Seen, Seen, Seen]
  for (const { uid, basis } of [e, f, h]) await made(moveOf(uid, basis, null, 1))
  const moves = [
    { ...moveOf(e.uid, e.basis, await counterOf(e.uid), 2), recalled: true },
    moveOf(f.uid, f.basis, await counterOf(f.uid), 3),
    moveOf(g.uid, g.basis, null, 4),
    { ...moveOf(h.uid, { ...h.basis, version: -1 }, await counterOf(h.uid), 5), recalled: true },
  ]
  const done = await writeUsage(client, moves, [])
  expect([...done.keys()]).toEqual(expect.arrayContaining(moves.slice(0, 3)))
  expect(done.size).toBe(3)
  const used = await Promise.all(users.map(({ uid }) => counterOf(uid)))
  expect(used.map((counter) => counter.used)).toEqual([2, 3, 4, 1])
})

type Seen = Awaited<ReturnType<typeof newUser>>
