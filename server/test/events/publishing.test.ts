import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dayOf, firstSequenceOf, nextSequence } from '../../src/domain/event.ts'
import { publishEvents } from '../../src/operations/events/publish-events.ts'
import { prune } from '../../src/operations/upkeep/prune.ts'
import { type Pool, transaction } from '../../src/store/connection/database.ts'
import { isAnythingToPublish } from '../../src/store/events/due-events.ts'
import { prepareEventDays } from '../../src/store/events/event-partitions.ts'
import { emit, emitUsage, eraseFromOutbox, unpublished } from '../../src/store/events/outbox.ts'
import { packedEvent } from '../../src/store/usage/packed-events.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openTestPool } from '../harness/store.ts'

// The publisher without a service around it: what it does to rows of the outbox, step by step.

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = await openTestPool(database.url)
  await pool.query(`insert into app (id, name) values ('a', 'A'), ('b', 'B')`)
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

const event = (appId: string, n: number) => ({
  appId,
  type: 'usage.recorded' as const,
  at: 1_700_000_000_000 + n,
  userUid: 7,
  userId: 'ann',
  object: { n },
})
const write = (appId: string, ...ns: number[]) =>
  transaction(pool, (tx) =>
    emit(
      tx,
      ns.map((n) => event(appId, n)),
    ),
  )
const usage = (userUid: number, n: number) => {
  const { appId, at, type, userId } = event('a', 0)
  return {
    appId,
    at,
    event: packedEvent({ type, userUid, userId, data: { version: 1, object: { n }, previous: null } }),
  }
}
const published = async (appId: string) =>
  (
    await pool.query<{ n: number; sequence: number; id: string }>(
      `select (data->'object'->>'n')::int as n, sequence, id from event_log where app_id = $1 order by sequence`,
      [appId],
    )
  ).rows

describe('gap: events, publishing', () => {
  it('moves the oldest rows to the log, numbered in the order in which they were written', async () => {
    await write('a', 1, 2)
    await write('b', 1)
    await write('a', 3)
    expect(await isAnythingToPublish(pool)).toBe(true)
    expect(await unpublished(pool)).toMatchObject({ rows: 4 })
    expect(await publishEvents(pool, { most: 3 })).toMatchObject({ rows: 3, published: { events: 3 } })
    expect(await publishEvents(pool)).toMatchObject({ rows: 1 })
    expect(await publishEvents(pool)).toEqual({ rows: 0, published: null })
    expect(await isAnythingToPublish(pool)).toBe(false)
    expect(await unpublished(pool)).toEqual({ rows: 0, oldestSeconds: 0 })
    const events = await published('a')
    expect(events.map(({ n }) => n)).toEqual([1, 2, 3])
    expect(new Set(events.map(({ id }) => id)).size).toBe(3)
    expect(events[0]?.sequence).toBeGreaterThanOrEqual(firstSequenceOf(dayOf(Date.now()) - 1))
  })

  it('publishes a list of usage in its place, event by event', async () => {
    const last = (await published('a')).at(-1)?.sequence ?? 0
    await write('a', 10)
    await transaction(pool, async (tx) => {
      await emitUsage(tx, [usage(1, 11), usage(2, 12), { ...usage(1, 13), appId: 'b' }, usage(1, 14)])
    })
    await write('a', 15)
    expect(await publishEvents(pool)).toMatchObject({ rows: 4, published: { events: 6 } })
    const events = (await published('a')).filter(({ sequence }) => sequence > last)
    expect(events.map(({ n }) => n)).toEqual([10, 11, 12, 14, 15])
    expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(5)
    expect((await published('b')).at(-1)?.n).toBe(13)
    const { rows } = await pool.query(
      `select type, at = $1 as timely, user_uid::int as uid, user_id as "userId" from event_log
       where app_id = 'a' and (data->'object'->>'n')::int = 12`,
      [new Date(1_700_000_000_000)],
    )
    expect(rows).toEqual([{ type: 'usage.recorded', timely: true, uid: 2, userId: 'ann' }])
    await pool.query(`delete from event_log where sequence > $1`, [last])
  })

  it('drops what a list has of a deleted user', async () => {
    const last = (await published('a')).at(-1)?.sequence ?? 0
    await emitUsage(pool, [usage(1, 21), usage(2, 22), usage(1, 23), { ...usage(1, 24), appId: 'b' }])
    await emitUsage(pool, [usage(1, 25)])
    await eraseFromOutbox(pool, 'a', [1])
    await publishEvents(pool)
    const { rows } = await pool.query(
      `select (data->'object'->>'n')::int as n from event_log where sequence > $1 order by 1`,
      [last],
    )
    expect(rows).toEqual([{ n: 22 }, { n: 24 }])
    await pool.query(`delete from event_log where sequence > $1`, [last])
  })

  it('publishes everything or nothing', async () => {
    await write('a', 4, 5)
    const fails = async () => {
      throw new Error('interrupted')
    }
    await expect(publishEvents(pool, { onPublished: fails })).rejects.toThrow('interrupted')
    expect((await published('a')).map(({ n }) => n)).toEqual([1, 2, 3])
    expect(await publishEvents(pool)).toMatchObject({ rows: 2 })
    expect((await published('a')).map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
  })

  it('leaves the work to whoever is at it', async () => {
    await write('a', 6)
    let beside: unknown
    const onPublished = async () => {
      beside = await publishEvents(pool)
    }
    await publishEvents(pool, { onPublished })
    expect(beside).toBeNull()
    expect((await published('a')).at(-1)?.n).toBe(6)
  })

  it('publishes what was committed, and later what a long transaction commits', async () => {
    const long = await pool.connect()
    await long.query('begin')
    await emit(long, [event('a', 100)])
    await write('a', 7)
    await publishEvents(pool)
    expect((await published('a')).at(-1)?.n).toBe(7)
    await long.query('commit')
    long.release()
    await publishEvents(pool)
    expect((await published('a')).slice(-2).map(({ n }) => n)).toEqual([7, 100])
  })

  it('has nothing of an app that is being deleted', async () => {
    await write('b', 8)
    await pool.query(`update app set deleting_since = now() where id = 'b'`)
    expect(await publishEvents(pool)).toEqual({ rows: 1, published: null })
    expect((await published('b')).map(({ n }) => n)).toEqual([1])
  })

  it('drops days that no app keeps, and deletes what one app keeps for a shorter time', async () => {
    const today = dayOf(Date.now())
    await transaction(pool, (tx) => prepareEventDays(tx, [today - 40, today - 20]))
    await pool.query(`insert into app (id, name, event_days) values ('c', 'C', 7)`)
    for (const app of ['a', 'c'])
      for (const day of [today - 40, today - 20])
        await pool.query(
          `insert into event_log (app_id, sequence, type, at, data) values ($1, $2, 'user.created', now(), '{}')`,
          [app, nextSequence(0, day)],
        )
    const kept = await published('a')
    const deleted = await prune(pool, NEVER, new AbortController().signal, 2)
    expect(deleted).toMatchObject({ daysOfEvents: 1, events: 1 })
    expect(await published('a')).toEqual(kept.slice(1))
    expect(await published('c')).toEqual([])
    const { rows } = await pool.query(`select to_regclass('event_log_' || ($1::int)) as gone`, [today - 40])
    expect(rows).toEqual([{ gone: null }])
  })
})

const NEVER = {
  audit: null,
  apiAudit: null,
  notices: null,
  checkouts: null,
  payments: null,
  activity: null,
  featureActivity: null,
  receipts: 1_000_000,
}
