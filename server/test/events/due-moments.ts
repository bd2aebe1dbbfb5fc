import type { Pool } from '../../src/store/connection/database.ts'

// Users whose trials, cancellations, next plans and overrides end at known times. Subscriptions are written by hand, as the
// triggers see them.

export const START = Date.UTC(2091, 2, 10)
const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const iso = (ms: number) => new Date(ms).toISOString()

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

async function furnishUser(db: Pool, n: number): Promise<void> {
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

/** An app `a` with a test clock at START, and so many users. */
export async function furnishDue(db: Pool, users: number): Promise<void> {
  await db.query(`insert into app (id, name, test_clock) values ('a', 'A', $1)`, [iso(START)])
  await db.query(
    `insert into feature (app_id, id, name, type, metadata) values ('a', 'calls', 'Calls', 'CONSUMABLE', '{}')`,
  )
  await db.query(
    `insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
     values ('a', 'plan', 'Plan', 'PUBLISHED', false, '{}', now()), ('a', 'extra', 'Extra', 'PUBLISHED', true, '{}', now())`,
  )
  for (let n = 0; n < users; n++) await furnishUser(db, n)
}

export const setClock = (db: Pool, now: number) =>
  db.query(`update app set test_clock = $1 where id = 'a'`, [iso(now)])

const named = (userId: string, type: string, at: number) => `${userId} ${type} ${iso(at)}`

/** All events that time brings, in alphabetical order, and their moments in the order of time. */
export function expectedDue(users: number) {
  const all = Array.from({ length: users }, (_, n) =>
    momentsOf(n).expected.map(([type, at]) => ({ at, text: named(`u${n}`, type, at) })),
  ).flat()
  return {
    moments: [...new Set(all.map(({ at }) => at))].sort((a, b) => a - b),
    /** those until a moment */
    until: (now: number) =>
      all
        .filter(({ at }) => at <= now)
        .map(({ text }) => text)
        .sort(),
  }
}

/** The published ones. */
export async function publishedDue(db: Pool): Promise<string[]> {
  const { rows } = await db.query<{ userId: string; type: string; at: number }>(
    `select user_id as "userId", type, at from event_log where app_id = 'a'
       and (type in ('trial.ending', 'trial.ended', 'subscription.ended', 'override.expired')
         or type = 'subscription.created' and at > $1)`,
    [iso(START)],
  )
  return rows.map(({ userId, type, at }) => named(userId, type, at)).sort()
}
