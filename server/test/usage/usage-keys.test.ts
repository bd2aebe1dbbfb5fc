import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { IDEMPOTENCY_KEPT_HOURS } from '../../src/domain/limits.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { pruneReceipts } from '../../src/store/jobs/prune.ts'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Client, Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { tablesNamed } from '../harness/one-cell.ts'
import { onCluster } from '../harness/one-server.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// The key inside a usage event, alone and together with the key of the request; and what a key keeps when the
// effect under it fails.

const server = shared(startTestServer)
let app: TestApp
let apps = 0

beforeEach(async () => {
  const id = `app-${++apps}`
  app = { id, admin: await createApp(server, id), dashboard: server.dashboard.of(id) }
  await publishPackage(app, 'plan', { call: { limit: 100 } })
  await app.admin.data(`mutation {
    createUser(input: { id: "ann" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
  }`)
})

const keyed = (key: string): Client => app.admin.with({ 'Idempotency-Key': key })

type Event = { delta: number; idempotencyKey?: string; action?: string }
const inputOf = (event: Event) => ({ userId: 'ann', featureId: 'call', ...event })

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used } }
}`
const RECORD_ALL = `mutation ($inputs: [CreateUsageEventInput!]!) {
  recordUsages(inputs: $inputs) { recorded reason consumption { used } }
}`
const record = async (event: Event, client = app.admin): Promise<Data> =>
  (await client.data(RECORD, { input: inputOf(event) })).recordUsage
const refusal = async (event: Event, client = app.admin): Promise<string> =>
  (await client.error(RECORD, { input: inputOf(event) })).extensions.code
const recordAll = async (events: Event[], client = app.admin): Promise<number[]> => {
  const { recordUsages } = await client.data(RECORD_ALL, { inputs: events.map(inputOf) })
  return recordUsages.map((recorded: Data) => recorded.consumption.used)
}

async function used(): Promise<number> {
  const canUseFeature = await app.admin.call('canUseFeature { consumption { used } }', {
    userId: 'ann',
    featureId: 'call',
  })
  return canUseFeature.consumption.used
}

const keysKept = () =>
  rowsOf<{ key: string }>(
    { connectionString: server.databaseUrl },
    'select scope, key from idempotency where app_id = $1 order by scope, key',
    [app.id],
  )

describe('the key of a usage event', () => {
  it('gap: idempotency: the same event is counted once and answered alike', async () => {
    const first = await record({ delta: 5, idempotencyKey: 'e' })
    expect(first).toEqual({ recorded: true, reason: null, consumption: { used: 5 } })
    await record({ delta: 1 })
    expect(await record({ delta: 5, idempotencyKey: 'e' })).toEqual(first)
    expect(await record({ delta: 5, idempotencyKey: 'e', action: 'ADD' })).toEqual(first)
    expect(await used()).toBe(6)
  })

  const OTHERS: [string, Event][] = [
    ['another delta', { delta: 6, idempotencyKey: 'e' }],
    ['another action', { delta: 5, idempotencyKey: 'e', action: 'SET' }],
  ]
  it.each(OTHERS)('gap: idempotency: %s under that key is refused', async (_, other) => {
    await record({ delta: 5, idempotencyKey: 'e' })
    expect(await refusal(other)).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await used()).toBe(5)
  })

  it('gap: idempotency: a batch counts each key once, also those that came before', async () => {
    await record({ delta: 1, idempotencyKey: 'a' })
    const batch = [
      { delta: 1, idempotencyKey: 'a' },
      { delta: 2, idempotencyKey: 'b' },
      { delta: 2, idempotencyKey: 'b' },
      { delta: 4 },
    ]
    expect(await recordAll(batch)).toEqual([1, 3, 3, 7])
    expect(await recordAll(batch)).toEqual([1, 3, 3, 11])
    expect(await used()).toBe(11)
  })

  it('gap: idempotency: the key of a request and the same key of an event are two keys', async () => {
    await record({ delta: 1, idempotencyKey: 'k' })
    await record({ delta: 2 }, keyed('k'))
    expect(await used()).toBe(3)
    expect(await keysKept()).toEqual([
      { scope: 'request', key: 'k' },
      { scope: 'usage', key: 'k' },
    ])
  })

  const LENGTHS = [
    { key: '', code: 'BAD_USER_INPUT' },
    { key: 'k'.repeat(255), code: undefined },
    { key: 'k'.repeat(256), code: 'BAD_USER_INPUT' },
    { key: 'a\u0000b', code: 'BAD_USER_INPUT' },
  ]
  it.each(LENGTHS)('gap: idempotency: a key of $key.length characters in an event', async ({ key, code }) => {
    const { errors } = await app.admin.ask(RECORD, { input: inputOf({ delta: 1, idempotencyKey: key }) })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(code && [code])
    expect(await used()).toBe(code ? 0 : 1)
  })
})

describe('a key in the header and one in the event', () => {
  const event = { delta: 5, idempotencyKey: 'e' }

  it('gap: idempotency: the event counts once, whichever of the two comes again', async () => {
    const first = await record(event, keyed('h'))
    await record({ delta: 1 })
    expect(await record(event, keyed('h'))).toEqual(first)
    expect(await record(event, keyed('another'))).toEqual(first)
    expect(await record(event)).toEqual(first)
    expect(await used()).toBe(6)
  })

  it('gap: idempotency: each is refused to another request', async () => {
    await record(event, keyed('h'))
    expect(await refusal({ ...event, delta: 6 }, keyed('h'))).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await refusal({ ...event, delta: 6 }, keyed('another'))).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await used()).toBe(5)
  })

  it('gap: idempotency: a batch that is refused leaves none of its events and none of their keys', async () => {
    await record({ delta: 1, idempotencyKey: 'taken' })
    const batch = [
      { delta: 10, idempotencyKey: 'fresh' },
      { delta: 20, idempotencyKey: 'taken' },
    ]
    const { extensions } = await keyed('h').error(RECORD_ALL, { inputs: batch.map(inputOf) })
    expect(extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await used()).toBe(1)
    expect(await keysKept()).not.toContainEqual({ scope: 'usage', key: 'fresh' })
    expect(await recordAll([{ delta: 30, idempotencyKey: 'fresh' }])).toEqual([31])
  })
})

describe('how long a key is kept', () => {
  const AGES = [
    { age: '23 hours 59 minutes', kept: true },
    { age: '24 hours 1 minute', kept: false },
  ]
  it.each(AGES)('gap: idempotency: a key $age old, kept: $kept', async ({ age, kept }) => {
    await record({ delta: 1, idempotencyKey: 'e' })
    const database = new pg.Client({ connectionString: server.databaseUrl })
    await database.connect()
    try {
      await database.query('update idempotency set created_at = now() - $2::interval where app_id = $1', [
        app.id,
        age,
      ])
      await pruneReceipts(database as unknown as HomeDb, IDEMPOTENCY_KEPT_HOURS * 3600, 1_000)
    } finally {
      await database.end()
    }
    expect(await keysKept()).toHaveLength(kept ? 1 : 0)
    await record({ delta: 1, idempotencyKey: 'e' })
    expect(await used()).toBe(kept ? 1 : 2)
  })
})

describe.skipIf(onCluster)('an effect that fails unexpectedly', () => {
  const FAILING = [
    {
      table: 'usage_ledger',
      operation: 'recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { recorded }',
    },
    {
      table: 'usage_ledger',
      operation:
        'recordUsage(input: { userId: "ann", featureId: "call", delta: 1, idempotencyKey: "e" }) { recorded }',
    },
    {
      table: 'usage_ledger',
      operation: 'recordUsages(inputs: { userId: "ann", featureId: "call", delta: 1 }) { recorded }',
    },
    { table: 'users', operation: 'createUser(input: { id: "eve" }) { id }' },
    {
      table: 'feature',
      operation: 'createFeature(input: { id: "seat", name: "Seat", type: BINARY }) { id }',
    },
  ]
  it.each(
    FAILING,
  )('gap: idempotency: $operation leaves no key and is done when it comes again', async (row) => {
    const query = `mutation { first: createPackage(input: { id: "first", name: "First" }) { id } second: ${row.operation} }`
    const answer = await whileBroken(row.table, () => keyed('k').ask(query))
    expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL_SERVER_ERROR'])
    expect(JSON.stringify(answer)).not.toContain('broken on purpose')
    expect(answer.data).toMatchObject({ first: { id: 'first' }, second: null })
    expect(await resultsKept('k')).toEqual(['first'])

    const again = await keyed('k').data(query)
    expect(again.first).toEqual({ id: 'first' })
    expect(again.second).not.toBeNull()
    expect(await resultsKept('k')).toEqual(['first', 'second'])
  })

  /** The names of the fields of a request that have been answered for good. */
  const resultsKept = async (key: string) => {
    const rows = await rowsOf<{ results: Data }>(
      { connectionString: server.databaseUrl },
      `select results from idempotency where app_id = $1 and scope = 'request' and key = $2`,
      [app.id, key],
    )
    return rows.flatMap(({ results }) => Object.keys(results))
  }

  /** Nothing can be written to the table while `work` is done. */
  async function whileBroken<T>(table: string, work: () => Promise<T>): Promise<T> {
    const run = (sql: string) => rowsOf({ connectionString: server.databaseUrl }, sql)
    await run(`create or replace function break_it() returns trigger language plpgsql
      as $$ begin raise exception 'broken on purpose'; end $$`)
    const tables = await tablesNamed(server.databaseUrl, table)
    for (const name of tables)
      await run(`create trigger broken before insert on ${name} execute function break_it()`)
    try {
      return await work()
    } finally {
      for (const name of tables) await run(`drop trigger broken on ${name}`)
    }
  }
})
