import { expect, vi } from 'vitest'
import {
  MAX_COPIED_EVENTS,
  MAX_EVENT_SCAN,
  MAX_EVENT_STREAMS,
  MAX_EVENT_STREAMS_PER_APP,
  MAX_EVENTS,
  MAX_FANOUT_USERS,
  MAX_PUBLISHED_ROWS,
  MAX_THRESHOLD,
  MAX_THRESHOLDS,
} from '../../src/domain/limits.ts'
import { publishEvents } from '../../src/operations/events/publish-events.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { eventsFrom, readEvents } from '../events/read-events.ts'
import { newTestApp, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { createDatabase, withConnection } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { openTestPool } from '../harness/store.ts'
import { type Bound, valueBound, type World } from './bound.ts'

/** One page of an app whose only event of a type comes after so many others. */
async function pageWithOthers(world: World, others: number) {
  const { admin, id } = await newTestApp(world)
  await admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
  const { next } = await eventsFrom(admin, null, 1)
  await withConnection({ connectionString: world.databaseUrl }, (db) =>
    db.query(
      `insert into event_log (app_id, sequence, type, at, data)
       select $1, (select max(sequence) from event_log where app_id = $1) + n,
         case when n = $2 then 'user.deleted' else 'user.updated' end, now(), '{}'
       from generate_series(1, $2) n`,
      [id, others],
    ),
  )
  return { admin, page: await readEvents(admin, { after: next, types: ['user.deleted'], first: 1 }) }
}

/** Works on a database that no service publishes the events of. */
async function unserved<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const database = await createDatabase()
  const pool = await openTestPool(database.url)
  try {
    await pool.query(`insert into app (id, name) values ('a', 'A')`)
    return await work(pool)
  } finally {
    await pool.end()
    await database.drop()
  }
}

/** The rows of one transaction stay together, so each has its own. */
const publishedOf = (rows: number) =>
  unserved(async (pool) => {
    const insert = (count: number) =>
      pool.query(
        `insert into event_outbox (app_id, at, kind, type, after)
         select 'a', now(), 'EVENT', 'usage.recorded', '{}' from generate_series(1, $1)`,
        [count],
      )
    await insert(MAX_PUBLISHED_ROWS)
    if (rows > MAX_PUBLISHED_ROWS) await insert(rows - MAX_PUBLISHED_ROWS)
    return (await publishEvents(pool))?.rows
  })

/** The events of the first publication of lists of ten. The last two lists are of one transaction. */
const copiedOf = (lists: number) =>
  unserved(async (pool) => {
    const insert = (count: number) =>
      pool.query(
        `insert into event_outbox (app_id, at, kind, type, after)
         select 'a', now(), 'USAGE', 'INSERT', (select json_agg(json_build_object('type', 'usage.recorded',
           'userUid', 1, 'userId', 'ann', 'data', '{}'::json)) from generate_series(1, 10))
         from generate_series(1, $1)`,
        [count],
      )
    for (let list = 2; list < lists; list++) await insert(1)
    await insert(2)
    const first = (await publishEvents(pool, { most: lists }))?.published?.events ?? 0
    const rest = (await publishEvents(pool, { most: lists }))?.published?.events ?? 0
    expect(first + rest).toBe(10 * lists)
    return first
  })

/** The users whose entitlements the first step after a publication reports, and whether there is another one. */
const fanOut = (subscribers: number) =>
  unserved(async (pool) => {
    await pool.query(
      `insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
       values ('a', 'plan', 'Plan', 'PUBLISHED', false, '{}', now())`,
    )
    await pool.query(
      `insert into users (app_id, id, metadata) select 'a', 'u' || n, '{}' from generate_series(1, $1) n`,
      [subscribers],
    )
    await pool.query(
      `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
       select 'a', 's' || uid, uid, 'plan', false, now(), now() from users`,
    )
    await pool.query('delete from event_outbox')
    await pool.query(
      `insert into event_outbox (app_id, at, kind, type, after)
       values ('a', now(), 'FANOUT', 'USERS', '{"packageId":"plan","after":0}')`,
    )
    const done = await publishEvents(pool)
    const { rowCount } = await pool.query('select from event_outbox')
    return { users: done?.published?.events, again: rowCount }
  })

const newThresholds = ({ admin, fresh }: World, thresholds: number[]) =>
  admin.ask('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { thresholds } }', {
    input: { id: fresh(), name: 'F', type: 'CONSUMABLE', thresholds },
  })

export const eventBounds: Bound[] = [
  valueBound(
    'MAX_THRESHOLDS',
    'thresholds of a feature',
    { within: MAX_THRESHOLDS, beyond: MAX_THRESHOLDS + 1 },
    (world, count) =>
      newThresholds(
        world,
        Array.from({ length: count }, (_, i) => i + 1),
      ),
    /at most 10 percentages/,
  ),
  valueBound(
    'MAX_THRESHOLD',
    'the highest threshold',
    { within: MAX_THRESHOLD, beyond: MAX_THRESHOLD + 1 },
    (world, threshold) => newThresholds(world, [threshold]),
    /percentages from 1 to 1000/,
  ),
  valueBound(
    'MAX_EVENTS',
    'events on a page',
    { within: MAX_EVENTS, beyond: MAX_EVENTS + 1 },
    ({ admin }, first) => admin.ask('query ($first: Int) { events(first: $first) { next } }', { first }),
    /first must be from 1 to 500/,
  ),
  {
    limit: 'MAX_EVENT_SCAN',
    what: 'events that one page looks at',
    inOnePlace: true,
    works: async (world) => expect((await pageWithOthers(world, MAX_EVENT_SCAN)).page.nodes).toHaveLength(1),
    refused: async (world) => {
      const { admin, page } = await pageWithOthers(world, MAX_EVENT_SCAN + 1)
      expect(page.nodes).toEqual([])
      const rest = await readEvents(admin, { after: page.next, types: ['user.deleted'] })
      expect(rest.nodes).toHaveLength(1)
    },
  },
  {
    limit: 'MAX_PUBLISHED_ROWS',
    what: 'rows of the outbox per publication',
    works: async () => expect(await publishedOf(MAX_PUBLISHED_ROWS)).toBe(MAX_PUBLISHED_ROWS),
    refused: async () => expect(await publishedOf(MAX_PUBLISHED_ROWS + 1)).toBe(MAX_PUBLISHED_ROWS),
  },
  {
    limit: 'MAX_COPIED_EVENTS',
    what: 'events of usage per publication, and the rest of a transaction',
    inOnePlace: true,
    works: async () => expect(await copiedOf(MAX_COPIED_EVENTS / 10 + 1)).toBe(MAX_COPIED_EVENTS + 10),
    refused: async () => expect(await copiedOf(MAX_COPIED_EVENTS / 10 + 2)).toBe(MAX_COPIED_EVENTS),
  },
  {
    limit: 'MAX_FANOUT_USERS',
    what: 'subscribers of a changed package per publication',
    inOnePlace: true,
    works: async () =>
      expect(await fanOut(MAX_FANOUT_USERS - 1)).toEqual({ users: MAX_FANOUT_USERS - 1, again: 0 }),
    refused: async () =>
      expect(await fanOut(MAX_FANOUT_USERS + 1)).toEqual({ users: MAX_FANOUT_USERS, again: 1 }),
  },
  {
    limit: 'MAX_EVENT_STREAMS_PER_APP',
    what: 'open event streams of an app',
    works: async (world) => expect(await streaming(world, 1, 1)).toBe('open'),
    refused: async (world) => expect(await streaming(world, 1)).toMatch(/^Too many open event streams/),
  },
  {
    limit: 'MAX_EVENT_STREAMS',
    what: 'open event streams per process',
    works: async (world) =>
      expect(await streaming(world, MAX_EVENT_STREAMS / MAX_EVENT_STREAMS_PER_APP - 1, 1)).toBe('open'),
    refused: async (world) =>
      expect(await streaming(world, MAX_EVENT_STREAMS / MAX_EVENT_STREAMS_PER_APP, 1)).toMatch(
        /^Too many open event streams/,
      ),
  },
]

/**
 * Opens as many streams as one app may have, of so many apps, and then one more: of the last of them, or of `others` new
 * ones. Returns whether that one is open, or else the error.
 */
async function streaming(world: World, full: number, others = 0): Promise<string> {
  const closing = new AbortController()
  // An answer that nobody has any more is closed.
  const answers: Response[] = []
  const open = async ({ admin }: TestApp) => {
    const { headers } = admin
    const answer = await fetch(`${world.url}/v1/events/stream`, { headers, signal: closing.signal })
    answers.push(answer)
    return answer.ok ? 'open' : ((await answer.json()) as Data).detail
  }
  try {
    let app = await newTestApp(world)
    for (let apps = 0; apps < full; apps++) {
      if (apps > 0) app = await newTestApp(world)
      // Those of an earlier row may still be closing.
      for (let i = 0; i < MAX_EVENT_STREAMS_PER_APP; i++)
        await vi.waitFor(async () => expect(await open(app)).toBe('open'), { timeout: PATIENCE_MS })
    }
    return await open(others > 0 ? await newTestApp(world) : app)
  } finally {
    closing.abort()
  }
}
