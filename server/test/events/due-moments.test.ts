import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishEvents } from '../../src/operations/events/publish-events.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openTestPool } from '../harness/store.ts'

// A clock walks over every due moment while two publishers work, each of which is interrupted before half of its commits.
// Subscriptions are written by hand, as the triggers see them.

const USERS = Number(process.env.TOLLGATE_DUE_USERS ?? 30)
const START = Date.UTC(2091, 2, 10)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const iso = (ms: number) => new Date(ms).toISOString()

let database: TestDatabase
let pools: Pool[]
beforeAll(async () => {
  database = await createDatabase()
  pools = [await openTestPool(database.url), await openTestPool(database.url)]
})
afterAll(async () => {
  for (const pool of pools ?? []) await pool.end()
  await database?.drop()
})

/** What each user's trial, cancellation, next plan and override bring, as `[type, time]`. */
function momentsOf(n: number) {
  const ends = START + (4 + (n % 5)) * DAY + n * HOUR
  const next = START + (2 + (n % 7)) * DAY + n * 1_000
  const expires = START + (1 + (n % 9)) * DAY + n
  return {
    ends,
    next,
    expires,
    expected: [
      ['trial.ending', ends - 3 * DAY],
      ['trial.ended', ends],
      ['subscription.ended', ends],
      ['subscription.ended', next],
      ['subscription.created', next],
      ['override.expired', expires],
    ] as [string, number][],
  }
}

async function furnish(db: Pool, n: number): Promise<void> {
  const { ends, next, expires } = momentsOf(n)
  const overrides = JSON.stringify([
    {
      featureId: 'calls',
      mode: 'GRANT',
      limit: null,
      overageEnabled: null,
      resetPeriod: 'MONTH',
      startedAt: START,
      expiresAt: expires,
      reason: null,
    },
  ])
  const { rows } = await db.query<{ uid: number }>(
    `insert into users (app_id, id, metadata, overrides) values ('a', $1, '{}', $2) returning uid`,
    [`u${n}`, overrides],
  )
  const subscription = (
    id: string,
    addon: boolean,
    more: { starts?: number; trial?: number; cancel?: number; follows?: string },
  ) =>
    db.query(
      `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, trial_ends_at, cancel_at, follows)
       values ('a', $1, $2, $3, $4, $5, $5, $6, $7, $8)`,
      [
        `${id}${n}`,
        rows[0]?.uid,
        addon ? 'extra' : 'plan',
        addon,
        iso(more.starts ?? START),
        more.trial ? iso(more.trial) : null,
        more.cancel ? iso(more.cancel) : null,
        more.follows ?? null,
      ],
    )
  await subscription('trial', true, { trial: ends, cancel: ends })
  await subscription('base', false, { cancel: next })
  await subscription('next', false, { starts: next, follows: `base${n}` })
}

/** Publishes until nothing is left, though half of the attempts are interrupted. Returns how many were. */
async function publishAll(pool: Pool): Promise<number> {
  let interrupted = 0
  const onPublished = async () => {
    if (Math.random() < 0.5) return
    interrupted++
    throw new Error('interrupted')
  }
  for (;;) {
    try {
      const done = await publishEvents(pool, { onPublished, most: 1 + Math.floor(Math.random() * 40) })
      if (done?.rows === 0) return interrupted
    } catch (error) {
      if ((error as Error).message !== 'interrupted') throw error
    }
  }
}

describe('gap: events that only time brings', () => {
  it('are there once each, at the moment they became true, whoever publishes and is interrupted', async () => {
    const [one, two] = pools as [Pool, Pool]
    await one.query(`insert into app (id, name, test_clock) values ('a', 'A', $1)`, [iso(START)])
    await one.query(
      `insert into feature (app_id, id, name, type, metadata) values ('a', 'calls', 'Calls', 'CONSUMABLE', '{}')`,
    )
    await one.query(
      `insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
       values ('a', 'plan', 'Plan', 'PUBLISHED', false, '{}', now()), ('a', 'extra', 'Extra', 'PUBLISHED', true, '{}', now())`,
    )
    for (let n = 0; n < USERS; n++) await furnish(one, n)
    await publishAll(one)
    const before = await one.query(
      `select from event_log where type in ('trial.ending', 'trial.ended', 'override.expired')`,
    )
    expect(before.rowCount).toBe(0)

    let interrupted = 0
    for (let now = START; now < START + 14 * DAY; now += 7 * HOUR) {
      await one.query(`update app set test_clock = $1`, [iso(now)])
      for (const count of await Promise.all([publishAll(one), publishAll(two)])) interrupted += count
    }
    expect(interrupted).toBeGreaterThan(20)

    const { rows } = await one.query<{ userId: string; type: string; at: number }>(
      `select user_id as "userId", type, at from event_log where sequence > 0
         and (type in ('trial.ending', 'trial.ended', 'subscription.ended', 'override.expired')
           or type = 'subscription.created' and at > $1) order by sequence`,
      [iso(START)],
    )
    const named = (userId: string, type: string, at: number) => `${userId} ${type} ${iso(at)}`
    const expected = Array.from({ length: USERS }, (_, n) =>
      momentsOf(n).expected.map(([type, at]) => named(`u${n}`, type, at)),
    ).flat()
    expect(rows.map(({ userId, type, at }) => named(userId, type, at)).sort()).toEqual(expected.sort())
  }, 120_000)
})
