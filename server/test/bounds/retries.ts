import pg from 'pg'
import { expect } from 'vitest'
import {
  MAX_ID_CHANGES,
  MAX_LOST_RACES,
  MAX_NOTICE_ATTEMPTS,
  MAX_OVERTAKEN,
  MAX_PROVIDER_READS,
  MAX_STALE_READS,
  MAX_WRITE_CONFLICTS,
} from '../../src/domain/limits.ts'
import { Overtaken, unlessOvertaken } from '../../src/operations/call/overtaken.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { readEntitlements } from '../../src/operations/usage/read-entitlements.ts'
import { asThemselves } from '../../src/operations/users/me.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import type { Tx } from '../../src/store/connection/database.ts'
import { ONE_PLACE } from '../../src/store/connection/places.ts'
import { ONE_PLACE_USAGE } from '../../src/store/usage/usage-store.ts'
import { jobsDone } from '../billing/jobs-done.ts'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { monotonic } from '../harness/clocks.ts'
import { directly, rowsOf } from '../harness/database.ts'
import { schemaOfUser } from '../harness/one-cell.ts'
import { openTestPool } from '../harness/store.ts'
import { type Bound, RECORD_USAGE, type World } from './bound.ts'

// Whatever is done again because somebody else got ahead is done again so often and no more. Then the caller is told to
// come back, nothing has happened, and coming back helps.

export const retryBounds: Bound[] = [
  recordBound('MAX_LOST_RACES', 'races for a counter', MAX_LOST_RACES, 'update', 'return null'),
  recordBound(
    'MAX_WRITE_CONFLICTS',
    'counters that others made meanwhile',
    MAX_WRITE_CONFLICTS,
    'insert',
    `raise exception 'it exists' using errcode = 'unique_violation', constraint = 'usage_counter_pkey'`,
  ),
  {
    limit: 'MAX_STALE_READS',
    what: 'changes of the catalogue during a check',
    works: async (world) =>
      expect(await checkedDuring(world, MAX_STALE_READS)).toMatchObject({ value: { used: 0 } }),
    refused: async (world) => expectUnavailable(await checkedDuring(world, MAX_STALE_READS + 1)),
  },
  {
    limit: 'MAX_ID_CHANGES',
    what: "changes of a user's id while the user asks",
    works: async (world) => expect(await askedDuring(world, MAX_ID_CHANGES)).toEqual({ value: 'answered' }),
    refused: async (world) => expectUnavailable(await askedDuring(world, MAX_ID_CHANGES + 1)),
  },
  {
    limit: 'MAX_OVERTAKEN',
    what: 'changes of a user between a decision and its locks',
    works: async () => expect(await overtaken(MAX_OVERTAKEN - 1)).toEqual({ value: 'done' }),
    refused: async () => expectUnavailable(await overtaken(MAX_OVERTAKEN)),
  },
  {
    limit: 'MAX_PROVIDER_READS',
    inOnePlace: true,
    what: 'changes of a payer while the provider is asked',
    works: async (world) =>
      expect(await noticed(world, { changes: MAX_PROVIDER_READS - 1 })).toMatchObject({ state: 'DONE' }),
    refused: async (world) =>
      expect(await noticed(world, { changes: MAX_PROVIDER_READS })).toMatchObject({
        state: 'PENDING',
        last_error: expect.stringContaining('modified concurrently too often'),
      }),
  },
  {
    limit: 'MAX_NOTICE_ATTEMPTS',
    inOnePlace: true,
    what: 'attempts at a notice',
    works: async (world) =>
      expect(
        await noticed(world, { changes: MAX_PROVIDER_READS, attempts: MAX_NOTICE_ATTEMPTS - 2 }),
      ).toMatchObject({ state: 'PENDING' }),
    refused: async (world) =>
      expect(
        await noticed(world, { changes: MAX_PROVIDER_READS, attempts: MAX_NOTICE_ATTEMPTS - 1 }),
      ).toMatchObject({ state: 'FAILED' }),
  },
]

const UNAVAILABLE = { code: 'UNAVAILABLE', status: 503, retryAfter: 1 }

const expectUnavailable = (result: object) => expect(result).toMatchObject({ error: UNAVAILABLE })

/** A record that fails so many times as if others had been faster. */
function recordBound(
  limit: Bound['limit'],
  what: string,
  times: number,
  event: 'insert' | 'update',
  fails: string,
): Bound {
  const during = async (world: World, failures: number) => {
    const userId = await subscriber(world)
    const record = (delta: number) =>
      world.admin.ask(RECORD_USAGE, { input: { userId, featureId: 'retried', delta } })
    if (event === 'update') await record(5)
    await failFirst(world, failures, fails, { event, table: 'usage_counter', uid: 'user_uid', userId })
    const before = event === 'update' ? 5 : 0
    return { answer: await record(1), again: () => record(1), before }
  }
  const used = (count: number) => ({
    data: { recordUsage: { recorded: true, consumption: { used: count } } },
  })
  return {
    limit,
    what,
    inOnePlace: true,
    works: async (world) => {
      const { answer, before } = await during(world, times)
      expect(answer).toMatchObject(used(before + 1))
    },
    refused: async (world) => {
      const { answer, again, before } = await during(world, times + 1)
      expect(answer.errors).toMatchObject([{ extensions: UNAVAILABLE }])
      // That time nothing was recorded.
      expect(await again()).toMatchObject(used(before + 1))
    },
  }
}

/** Makes PostgreSQL fail so many writes of a user's rows. */
async function failFirst(
  world: World,
  failures: number,
  fails: string,
  { event, table, uid, userId }: { event: 'insert' | 'update'; table: string; uid: string; userId: string },
): Promise<void> {
  const schema = await schemaOfUser(world.databaseUrl, 'default', userId)
  const name = `fails_${world.fresh().replaceAll('-', '_')}`
  await sql(
    world,
    `create sequence ${name};
     create function ${name}() returns trigger language plpgsql as $$
     begin
       if nextval('${name}') <= ${failures} then ${fails}; end if;
       return new;
     end $$;
     do $do$ begin execute format('create trigger ${name} before ${event} on ${schema}.${table} for each row
       when (new.${uid} = %s) execute function ${name}()',
       (select uid from users where app_id = 'default' and id = '${userId}')); end $do$`,
  )
}

const sql = <Row extends pg.QueryResultRow>({ databaseUrl }: World, text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: databaseUrl }, text, values)

async function subscriber(world: World): Promise<string> {
  const { admin, fresh } = world
  const { packages } = await admin.data('{ packages { id } }')
  if (!packages.some((one: Data) => one.id === 'retried')) {
    await publishPackage({ id: 'default', ...world }, 'retried', { retried: { limit: 10 } })
  }
  const id = fresh()
  await admin.data(
    'mutation ($id: String!) { createUser(input: { id: $id }) { id } subscribe(userId: $id, packageIds: ["retried"]) { id } }',
    { id },
  )
  return id
}

/** The same, on this server: users on another have statements of their own. */
async function subscriberHere(world: World): Promise<{ userId: string; schema: string }> {
  for (;;) {
    const userId = await subscriber(world)
    const schema = await schemaOfUser(world.databaseUrl, 'default', userId)
    const remote = await rowsOf(
      { connectionString: directly(world.databaseUrl) },
      'select from cell where remote and schema = $1',
      [schema],
    )
    if (remote.length === 0) return { userId, schema }
  }
}

/** What a check is answered while the catalogue changes so many times. */
async function checkedDuring(world: World, changes: number): Promise<object> {
  const { userId, schema } = await subscriberHere(world)
  const apps = new AppCache(monotonic)
  const pool = new pg.Pool({
    connectionString: directly(world.databaseUrl),
    max: 1,
    options: `-c timezone=UTC -c search_path=${schema},public`,
  })
  const connection = await pool.connect()
  const places = ONE_PLACE.ofSession(connection, ONE_PLACE.ofPool(pool))
  const client: Tx = Object.assign(connection, { places })
  const question = {
    caller: { appId: 'default', actor: { kind: 'service' } as const, deadline: null },
    userId,
    featureId: 'retried',
  }
  try {
    await readEntitlements(ONE_PLACE_USAGE, apps, client, [question])
    let left = changes
    const query = (statement: { name?: string }) => {
      const send = () => client.query(statement as pg.QueryConfig)
      if (!statement.name?.startsWith('read-holding') || left === 0) return send()
      left -= 1
      return sql(world, `update app set version = version + 1 where id = 'default'`).then(send)
    }
    const [result] = await readEntitlements(ONE_PLACE_USAGE, apps, { query, places } as unknown as Tx, [
      question,
    ])
    return result ?? {}
  } finally {
    client.release()
    await pool.end()
  }
}

/** What a user is answered whose id changes so many times. */
async function askedDuring(world: World, changes: number): Promise<object> {
  const id = await subscriber(world)
  const [user] = await sql<{ uid: string }>(world, 'select uid from users where id = $1', [id])
  const uid = Number(user?.uid)
  const pool = await openTestPool(world.databaseUrl, { max: 1, places: ONE_PLACE })
  let left = changes
  try {
    const value = await asThemselves(
      {
        service: { pool } as unknown as Service,
        appId: 'default',
        actor: { kind: 'user', uid, userId: id, tokenKey: 'any' },
        deadline: null,
        idempotency: null,
      },
      async () => {
        if (left-- > 0) await sql(world, 'update users set id = $2 where uid = $1', [uid, world.fresh()])
        return 'answered'
      },
    )
    return { value }
  } catch (error) {
    return { error }
  } finally {
    await pool.end()
  }
}

/** What becomes of something that is overtaken so many times. */
async function overtaken(times: number): Promise<object> {
  let left = times
  try {
    const value = await unlessOvertaken(async () => {
      if (left-- > 0) throw new Overtaken()
      return 'done'
    })
    return { value }
  } catch (error) {
    return { error }
  }
}

/** What becomes of a notice about a payer whom others change so many times, after so many attempts. */
async function noticed(
  world: World,
  { changes, attempts = 0 }: { changes: number; attempts?: number },
): Promise<object> {
  const id = world.fresh()
  await world.admin.data(
    'mutation ($id: String!) { createUser(input: { id: $id, billingId: $id, email: "old@example.com" }) { id } }',
    { id },
  )
  await sql(world, `insert into sandbox_customer values ('default', $1, 'new@example.com', 'New')`, [id])
  await failFirst(world, changes, 'return null', { event: 'update', table: 'users', uid: 'uid', userId: id })
  // Once: on a busy machine the next attempt could be over before anybody has looked.
  await sql(
    world,
    `with n as (insert into notice (app_id, provider, event_id, type, payload, attempts)
       values ('default', 'sandbox', $1, 'customer.updated',
         json_build_object('data', json_build_object('object', json_build_object('object', 'customer', 'id', $1::text))), $2)
       returning app_id, seq)
     select graphile_worker.add_job('handle-notice', json_build_object('appId', app_id, 'seq', seq), max_attempts => 1) from n`,
    [id, attempts],
  )
  await jobsDone(world.databaseUrl)
  const [notice] = await sql(world, 'select state, last_error from notice where event_id = $1', [id])
  return notice ?? {}
}
