import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Deadline } from '../../src/operations/call/deadline.ts'
import type { PendingUsage } from '../../src/operations/call/hot-paths.ts'
import { FeatureCounts } from '../../src/operations/usage/feature-counts.ts'
import { readEntitlements } from '../../src/operations/usage/read-entitlements.ts'
import { recordBatch } from '../../src/operations/usage/record-batch.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { openPool, type Pool, type Tx } from '../../src/store/connection/database.ts'
import { ONE_PLACE_USAGE } from '../../src/store/usage/usage-store.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { monotonic } from '../harness/clocks.ts'
import { rowsOf } from '../harness/database.ts'
import { inOneCell } from '../harness/one-cell.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Calls share statements, but not failures: when PostgreSQL refuses a statement because of one user's data, that user's
// call fails, and the others are answered as if they had come alone.

const server = shared(startTestServer)
let pool: Pool
let database: pg.ClientConfig
let client: Tx
const apps = new AppCache(monotonic)
const users = ['ann', 'ben', 'eve', 'joe', 'kim']
beforeAll(async () => {
  const cell = await inOneCell(server.databaseUrl)
  database = { connectionString: server.databaseUrl, ...cell.session }
  pool = openPool(
    { connectionString: server.databaseUrl },
    { max: 1, keyLookups: true, ...cell.pool },
    pino({ level: 'silent' }),
  )
  client = await pool.connect()
  const features = {
    inserts: { limit: 10 },
    updates: { limit: 10 },
    loses: { limit: 10 },
    reads: { limit: 10 },
  }
  await publishPackage({ id: 'default', ...server }, 'plan', features)
  await createUsers(server.admin, users)
  for (const userId of users) {
    await server.admin.call('subscribe', { userId, packageIds: ['plan'] })
  }
})
afterAll(async () => {
  client?.release()
  await pool?.end()
})

const sql = (text: string) => rowsOf(database, text)
/** What is done before eve's counter of this feature is written. */
const beforeEve = (feature: string, event: 'insert' | 'update', does: string) =>
  sql(`create function eve_${feature}() returns trigger language plpgsql as $$ begin ${does} end $$;
    do $do$ begin execute format('create trigger eve_${feature} before ${event} on usage_counter for each row
      when (new.user_uid = %s and new.feature_id = %L) execute function eve_${feature}()',
      (select uid from users where id = 'eve'), '${feature}'); end $do$`)

const caller = { appId: 'default', actor: { kind: 'service' } as const, deadline: null }
const record = (featureId: string, keyed = false) =>
  recordBatch(
    ONE_PLACE_USAGE,
    apps,
    client,
    users.map(
      (userId): PendingUsage => ({
        caller,
        event: { userId, featureId, action: 'ADD', delta: 1 },
        key: keyed
          ? {
              appId: 'default',
              scope: 'usage',
              key: `${featureId} ${userId}`,
              request: Buffer.alloc(32),
              field: 'event',
            }
          : null,
      }),
    ),
    new FeatureCounts(),
  )

const books = (featureId: string) =>
  sql(`select u.id, c.used::int, (select sum(delta)::int from usage_ledger l where l.user_uid = u.uid
      and l.feature_id = c.feature_id) as sum
    from usage_counter c join users u on u.uid = c.user_uid where c.feature_id = '${featureId}' order by u.id`)
const row = (id: string, used: number) => ({ id, used, sum: used })
const recorded = (used: number) => ({
  value: { recorded: true, reason: null, consumption: expect.objectContaining({ used }) },
})

it.each([
  { keyed: false },
  { keyed: true },
])('gap: batches: a row that PostgreSQL refuses fails alone (keyed: $keyed)', async ({ keyed }) => {
  const feature = keyed ? 'updates' : 'inserts'
  if (keyed) await record(feature)
  await beforeEve(
    feature,
    keyed ? 'update' : 'insert',
    `raise exception 'not eve' using errcode = 'check_violation';`,
  )
  const one = keyed ? 2 : 1
  const eve = { error: expect.objectContaining({ code: '23514', message: 'not eve' }) }
  expect(await record(feature, keyed)).toEqual([
    recorded(one),
    recorded(one),
    eve,
    recorded(one),
    recorded(one),
  ])
  const others = ['ann', 'ben', 'joe', 'kim'].map((id) => row(id, one))
  expect(await books(feature)).toEqual(
    keyed ? [...others.slice(0, 2), row('eve', 1), ...others.slice(2)] : others,
  )
  // Eve's key is not used up: once the fault is fixed, the same call succeeds.
  await sql(`drop trigger eve_${feature} on usage_counter`)
  if (keyed) expect(await record(feature, true)).toEqual(users.map(() => recorded(2)))
})

it('gap: batches: what was recorded before the refusal is not recorded again', async () => {
  await record('loses')
  // The first time eve's counter seems to have moved, while the others are written; then it is refused.
  await sql('create sequence eve_tries')
  await beforeEve(
    'loses',
    'update',
    `if nextval('eve_tries') = 1 then return null; end if; raise exception 'not eve';`,
  )
  const eve = { error: expect.objectContaining({ message: 'not eve' }) }
  expect(await record('loses')).toEqual([recorded(2), recorded(2), eve, recorded(2), recorded(2)])
  expect(await books('loses')).toEqual(users.map((id) => row(id, id === 'eve' ? 1 : 2)))
})

it('gap: batches: a row that cannot be read fails alone', async () => {
  // Reading eve's subscriptions fails.
  await sql(`alter table users rename to kept_users;
    create view users as select ctid, xmin, app_id, uid, id, overrides,
      case when id = 'eve' then to_json((uid || ' o''clock')::timestamptz) else subscriptions end as subscriptions
      from kept_users`)
  const eve = { error: expect.objectContaining({ code: '22007' }) }
  const questions = users.map((userId) => ({ caller, userId, featureId: 'reads' }))
  const good = { value: expect.objectContaining({ used: 0 }) }
  expect(await readEntitlements(ONE_PLACE_USAGE, apps, client, questions)).toEqual([
    good,
    good,
    eve,
    good,
    good,
  ])
  expect(await record('reads')).toEqual([recorded(1), recorded(1), eve, recorded(1), recorded(1)])
  expect(await books('reads')).toEqual(['ann', 'ben', 'joe', 'kim'].map((id) => row(id, 1)))
})

it('gap: batches: on a connection that is lost, each fails', async () => {
  const lost = new pg.Client({ connectionString: server.databaseUrl })
  await lost.connect()
  await lost.end()
  const event = { featureId: 'reads', action: 'ADD', delta: 1 } as const
  const pending = ['ann', 'ben'].map((userId) => ({ caller, event: { ...event, userId }, key: null }))
  const results = await recordBatch(
    ONE_PLACE_USAGE,
    apps,
    lost as unknown as Tx,
    pending,
    new FeatureCounts(),
  )
  expect(results).toEqual([{ error: expect.any(Error) }, { error: expect.any(Error) }])
})

it('gap: liveness: what nobody waits for once it was read is not written', async () => {
  const gone = { ...caller, deadline: new Deadline(monotonic, monotonic(), 0) }
  const event = { featureId: 'inserts', action: 'ADD', delta: 1, userId: 'kim' } as const
  const pending = [
    { caller: gone, event, key: null },
    { caller, event, key: null },
  ]
  const results = await recordBatch(ONE_PLACE_USAGE, apps, client, pending, new FeatureCounts())
  expect(results).toEqual([{ error: expect.objectContaining({ code: 'UNAVAILABLE' }) }, recorded(2)])
})

it('gap: batches: what nobody waits for any more is not tried again', async () => {
  const gone = { ...caller, deadline: new Deadline(monotonic, monotonic(), 0) }
  // The first writer loses once, and decides again.
  await sql(`create sequence all_tries; create function all_lose() returns trigger language plpgsql as
    $$ begin if nextval('all_tries') <= 2 then return null; end if; return new; end $$;
    create trigger all_lose before update on usage_counter for each row execute function all_lose()`)
  const event = { featureId: 'inserts', action: 'ADD', delta: 1 } as const
  const pending = [
    { caller: gone, event: { ...event, userId: 'ann' }, key: null },
    { caller, event: { ...event, userId: 'ben' }, key: null },
  ]
  const results = await recordBatch(ONE_PLACE_USAGE, apps, client, pending, new FeatureCounts())
  expect(results).toEqual([{ error: expect.objectContaining({ code: 'UNAVAILABLE' }) }, recorded(2)])
})
