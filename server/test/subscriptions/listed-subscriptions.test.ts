import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../src/store/connection/database.ts'
import { untilSomebodyWaits } from '../harness/database.ts'
import { openStoreInCell, type TestStore } from '../harness/store.ts'

// Invariant: the row of a user lists exactly the subscriptions of that user that are not cancelled, whoever writes them,
// in whatever order and at the same time. A check reads nothing else of them.

let store: TestStore
let one: Tx
let other: Tx
beforeAll(async () => {
  store = await openStoreInCell()
  ;[one, other] = [await store.pool.connect(), await store.pool.connect()]
  await one.query(`insert into app (id, name) values ('a', 'A')`)
  for (const id of ['plan', 'more', 'extra'])
    await one.query(`insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
      values ('a', '${id}', '${id}', 'PUBLISHED', ${id !== 'plan'}, '{}', now())`)
})
afterAll(async () => {
  one?.release()
  other?.release()
  await store?.close()
})

let users = 0
async function createUser(): Promise<number> {
  const { rows } = await one.query<{ uid: number }>(
    `insert into users (app_id, id, metadata) values ('a', 'user-${++users}', '{}') returning uid`,
  )
  return rows[0]?.uid ?? 0
}

const add = (
  tx: Tx,
  uid: number,
  packageId: string,
  { cancelAt = null as string | null, follows = null as string | null } = {},
) =>
  tx.query(
    `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancel_at, follows, quantity)
     values ('a', $1, $2, $3, $4, '2026-01-01 00:00:00.123Z', '2026-01-02Z', $5, $6, 3)`,
    [`${uid} ${packageId} ${follows ?? ''}`, uid, packageId, packageId !== 'plan', cancelAt, follows],
  )

/** What the list should be, from the rows themselves. */
async function expectListed(uid: number): Promise<unknown[]> {
  const { rows } = await one.query<Record<string, never>>(
    `select package_id, is_addon, started_at, anchor, quantity, package_version, version_as_of, cancel_at, follows
     from subscription where app_id = 'a' and user_uid = $1 and cancelled_at is null order by seq`,
    [uid],
  )
  const expected = rows.map((row) => [
    ...[row.package_id, row.is_addon, row.started_at, row.anchor, row.quantity, row.package_version],
    ...[row.version_as_of, row.cancel_at, row.follows !== null],
  ])
  const { rows: found } = await one.query<{ listed: unknown[] | null }>(
    `select subscriptions as listed from users where app_id = 'a' and uid = $1`,
    [uid],
  )
  expect(found[0]?.listed ?? []).toEqual(expected)
  return expected
}

describe('the list of subscriptions in the row of a user', () => {
  it('has the values that access depends on', async () => {
    const uid = await createUser()
    expect(await expectListed(uid)).toEqual([])
    await add(one, uid, 'plan', { cancelAt: '2026-02-01Z' })
    await add(one, uid, 'more', { follows: 'x' })
    expect(await expectListed(uid)).toEqual([
      [
        'plan',
        false,
        Date.parse('2026-01-01T00:00:00.123Z'),
        Date.parse('2026-01-02Z'),
        3,
        1,
        1,
        Date.parse('2026-02-01Z'),
        false,
      ],
      ['more', true, Date.parse('2026-01-01T00:00:00.123Z'), Date.parse('2026-01-02Z'), 3, 1, 1, null, true],
    ])
  })

  it('follows every insert, update and delete, of one row or of many', async () => {
    const packages = fc.constantFrom('plan', 'more', 'extra')
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), packageId: packages }),
      fc.record({ do: fc.constant('cancel' as const), packageId: packages }),
      fc.record({ do: fc.constant('quantity' as const), packageId: packages }),
      fc.record({ do: fc.constant('remove' as const), packageId: packages }),
      fc.record({ do: fc.constant('cancelAll' as const), packageId: packages }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const uid = await createUser()
        for (const { do: what, packageId } of steps) {
          const theirs = `app_id = 'a' and user_uid = ${uid}`
          const named = `${theirs} and package_id = '${packageId}'`
          if (what === 'add') await add(one, uid, packageId).catch(() => {})
          if (what === 'cancel')
            await one.query(`update subscription set cancelled_at = now() where ${named}`)
          if (what === 'quantity')
            await one.query(`update subscription set quantity = quantity + 1 where ${named}`)
          if (what === 'remove') await one.query(`delete from subscription where ${named}`)
          if (what === 'cancelAll')
            await one.query(`update subscription set cancelled_at = now() where ${theirs}`)
          await expectListed(uid)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('has the subscriptions of two who write at the same time', async () => {
    const uid = await createUser()
    await one.query('begin')
    await add(one, uid, 'plan')
    const late = add(other, uid, 'more')
    await untilSomebodyWaits(store.url)
    await one.query('commit')
    await late
    expect(await expectListed(uid)).toHaveLength(2)
  })

  it('is written once where nothing that access depends on changes', async () => {
    const uid = await createUser()
    await add(one, uid, 'plan')
    const version = async () =>
      (await one.query<{ xmin: string }>(`select xmin::text from users where uid = ${uid}`)).rows[0]?.xmin
    const before = await version()
    await one.query(`update subscription set metadata = '{"a":1}' where user_uid = ${uid}`)
    expect(await version()).toBe(before)
  })
})
