import pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { firstSequenceOf } from '../../src/domain/event.ts'
import { prune, type Retention } from '../../src/operations/upkeep/prune.ts'
import { readConfig } from '../../src/settings/config.ts'
import { lookUpKeys, type Pool, transaction } from '../../src/store/connection/database.ts'
import { prepareEventDays } from '../../src/store/events/event-partitions.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { planOf } from '../harness/plans.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'
import { openStore } from '../harness/store.ts'

const DAY = 86_400
const NOTHING: Retention = {
  audit: null,
  apiAudit: null,
  notices: null,
  checkouts: null,
  payments: null,
  activity: null,
  featureActivity: null,
  receipts: 10 * DAY,
}
const ALL: Retention = {
  audit: 10 * DAY,
  apiAudit: 5 * DAY,
  notices: 10 * DAY,
  checkouts: 10 * DAY,
  payments: 10 * DAY,
  activity: 10 * DAY,
  featureActivity: 10 * DAY,
  receipts: 10 * DAY,
}
const never = new AbortController().signal

const database = shared(() => openStore({ max: 3 }))
let pool: Pool
beforeAll(async () => {
  pool = database.pool
  await pool.query(`insert into app (id, name) values ('a', 'A'), ('b', 'B')`)
  await pool.query(`insert into feature (app_id, id, name, type, metadata)
    values ('a', 'f', 'F', 'BINARY', '{}'), ('b', 'f', 'F', 'BINARY', '{}')`)
  await pool.query(`insert into billing_template (app_id, id, name) values ('a', 't', 'T')`)
})
beforeEach(() =>
  pool.query(
    'truncate audit_entry, notice, checkout_session, sandbox_checkout, activity, feature_activity, idempotency, payment, recharge_attempt',
  ),
)

const ago = (days: number) => `now() - interval '${days} days'`
const audit = (days: number, count = 1, kind = 'MEMBER', app = 'a') =>
  pool.query(`insert into audit_entry (app_id, actor_kind, member_email, operation, subject_kind, at)
    select '${app}', '${kind}', 'm@example.com', 'o${days}', 'k', ${ago(days)} from generate_series(1, ${count})`)
const notice = (app: string, id: string, state: string, days: number) =>
  pool.query(`insert into notice (app_id, provider, event_id, type, payload, state, received_at)
    values ('${app}', 'stripe', '${id}', 't', '{}', '${state}', ${ago(days)})`)
const checkout = (id: string, state: string, days: number) =>
  pool.query(`insert into checkout_session (app_id, id, template_id, provider, items, success_url, cancel_url, state, created_at)
    values ('a', '${id}', 't', 'sandbox', '[]', '', '', '${state}', ${ago(days)})`)
const activity = (app: string, days: number, checks: number) =>
  pool.query(
    `insert into activity (app_id, minute, checks, records) values ('${app}', ${ago(days)}, ${checks}, 1)`,
  )
const featureActivity = (app: string, days: number) =>
  pool.query(`insert into feature_activity (app_id, feature_id, hour, checks, denied, records, units, refused)
    values ('${app}', 'f', ${ago(days)}, 1, 0, 1, 1, 0)`)
const receipt = (key: string, days: number) =>
  pool.query(`insert into idempotency (app_id, scope, key, request, results, created_at)
    values ('a', 'request', '${key}', '', '{}', ${ago(days)})`)

const values = async (sql: string) => (await pool.query({ text: sql, rowMode: 'array' })).rows.flat()

describe('old records', () => {
  it('deletes audit entries past their time, and none younger', async () => {
    await audit(11)
    await audit(9)
    expect(await prune(pool, ALL, never)).toEqual({ audit: 1 })
    expect(await values('select operation from audit_entry')).toEqual(['o9'])
  })

  it("deletes counts of the plans' caps long after their window, by the clock of their app", async () => {
    await pool.query(`insert into app (id, name, test_clock) values ('behind', 'Behind', ${ago(9)})`)
    await pool.query(`insert into feature (app_id, id, name, type, metadata)
      values ('behind', 'f', 'F', 'CONSUMABLE', '{}')`)
    const count = (app: string, name: string, period: string, days: number, limit = 'null') =>
      pool.query(`insert into usage_cap (app_id, user_uid, feature_id, entity, period, "limit", window_start)
        values ('${app}', 1, 'f', 'agent:${name}', '${period}', ${limit}, ${ago(days)})`)
    await count('a', 'gone', 'HOUR', 2)
    await count('a', 'gone', 'DAY', 3)
    await count('a', 'kept', 'WEEK', 13)
    await count('a', 'kept', 'NEVER', 9000)
    await count('a', 'own', 'HOUR', 2, '5')
    await count('behind', 'kept', 'DAY', 10)
    await count('behind', 'gone', 'DAY', 12)
    expect(await prune(pool, NOTHING, never, 2)).toEqual({ capCounts: 3 })
    expect(await values(`select distinct entity from usage_cap order by entity`)).toEqual([
      'agent:kept',
      'agent:own',
    ])
  })

  it('deletes what applications and providers changed by a time of its own, in every app and in none', async () => {
    for (const [app, kind] of [
      ['a', 'API_KEY'],
      ['b', 'PROVIDER'],
      ['', 'VISITOR'],
    ] as const)
      for (const days of [4, 6, 11]) await audit(days, 1, kind, app)
    expect(await prune(pool, ALL, never)).toEqual({ audit: 1, apiAudit: 4 })
    expect(await values('select actor_kind || operation from audit_entry order by 1')).toEqual([
      'API_KEYo4',
      'PROVIDERo4',
      'VISITORo4',
      'VISITORo6',
    ])
  })

  it('keeps a notice that is pending or failed, however old', async () => {
    for (const state of ['DONE', 'PENDING', 'FAILED']) await notice('a', state, state, 1000)
    await notice('a', 'young', 'DONE', 9)
    await notice('b', 'other', 'DONE', 11)
    expect(await prune(pool, ALL, never)).toEqual({ notices: 2 })
    expect(await values('select event_id from notice order by 1')).toEqual(['FAILED', 'PENDING', 'young'])
  })

  it('keeps payment links that are open, and the sandbox’s book of each that is kept', async () => {
    for (const state of ['OPEN', 'AWAITING', 'PAID', 'FAILED', 'EXPIRED']) await checkout(state, state, 11)
    await checkout('young', 'PAID', 9)
    await pool.query(`insert into sandbox_checkout (app_id, id, session_id, items, success_url, cancel_url, made_at, expires_at)
      select app_id, 'cs_' || id, id, '[]', '', '', created_at, created_at from checkout_session`)
    expect(await prune(pool, ALL, never)).toEqual({ checkouts: 3 })
    expect(await values('select id from checkout_session order by 1')).toEqual(['AWAITING', 'OPEN', 'young'])
    expect(await values('select session_id from sandbox_checkout order by 1')).toEqual([
      'AWAITING',
      'OPEN',
      'young',
    ])
  })

  it('deletes payments past their time, paid or not', async () => {
    await pool.query(`insert into users (app_id, id, metadata) values ('a', 'payer', '{}')`)
    await pool.query(`insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
      select 'a', 'stripe', r, u.uid, 'sub', s, 1, 'usd', now() - make_interval(days => d)
      from users u, (values ('old', 'PAID', 11), ('older', 'FAILED', 30), ('young', 'PAID', 9)) v (r, s, d)
      where u.app_id = 'a' and u.id = 'payer'`)
    expect(await prune(pool, ALL, never)).toEqual({ payments: 2 })
    expect(await values('select ref from payment')).toEqual(['young'])
  })

  it('keeps a paid link while a later notice of its app has not been handled', async () => {
    await checkout('paid', 'PAID', 11)
    await notice('a', 'stuck', 'FAILED', 11)
    expect(await prune(pool, ALL, never)).toEqual({})
    await pool.query(`update notice set state = 'DONE'`)
    // The notice is past its time itself now; the next round finds the link free.
    expect(await prune(pool, ALL, never)).toEqual({ checkouts: 1, notices: 1 })
  })

  it('deletes the old calls of all features', async () => {
    for (const days of [14, 11, 9]) await featureActivity('a', days)
    await featureActivity('b', 12)
    expect(await prune(pool, ALL, never)).toEqual({ featureActivity: 3 })
    expect(await values('select app_id from feature_activity')).toEqual(['a'])
  })

  it('keeps of an app’s activity the last minute with checks', async () => {
    for (const days of [14, 13, 12]) await activity('a', days, 1)
    await activity('a', 11, 0)
    for (const days of [12, 9]) await activity('b', days, 1)
    expect(await prune(pool, ALL, never)).toEqual({ activity: 4 })
    expect(await values('select app_id from activity order by 1')).toEqual(['a', 'b'])
    expect(await values(`select checks from activity where app_id = 'a'`)).toEqual([1])
  })

  it('deletes receipts, and nothing that is kept for ever', async () => {
    await receipt('old', 11)
    await receipt('young', 9)
    await audit(4000)
    await notice('a', 'n', 'DONE', 4000)
    await checkout('c', 'PAID', 4000)
    for (const days of [4000, 3999]) await activity('a', days, 1)
    expect(await prune(pool, NOTHING, never)).toEqual({ receipts: 1 })
    expect(await values('select key from idempotency')).toEqual(['young'])
  })

  it('deletes what came in late for an app that is gone, in every table that lets it', async () => {
    const today = Math.floor(Date.now() / 86_400_000)
    await transaction(pool, (tx) => prepareEventDays(tx, [today]))
    const rows: Record<string, string> = {
      activity: `(app_id, minute, checks, records) values ($1, now(), 1, 1)`,
      audit_entry: `(app_id, member_email, operation, subject_kind) values ($1, 'm@example.com', 'o', 'k')`,
      event_due: `(app_id, subject, type, due_at, user_uid) values ($1, 'u 1', 't', now(), 1)`,
      event_log: `(app_id, sequence, type, at, data) values ($1, ${firstSequenceOf(today)}, 't', now(), '{}')`,
      event_outbox: `(app_id, at, kind, type) values ($1, now(), 'EVENT', 't')`,
      idempotency: `(app_id, scope, key, request, results) values ($1, 'request', 'late', '', '{}')`,
      ledger_base: `(app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
        values ($1, 999, 'f', 'MONTH', now(), 0, 1, 1)`,
      // They refer to users where there is one cell.
      ...(TEST_CELLS > 1 && {
        payment: `(app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
          values ($1, 'sandbox', 'late', 1, 's', 'PAID', 1, 'USD', now())`,
        provider_subscription: `(app_id, provider, ref, user_uid, status, made_at, live)
          values ($1, 'sandbox', 'late', 1, 'active', now(), true)`,
      }),
      recent_usage: `(app_id, user_id, feature_id, used, recorded_at) values ($1, 'u', 'f', 1, now())`,
      sample_activity: `(app_id, minute, checks, records) values ($1, now(), 1, 1)`,
      sample_item: `(app_id, kind, id) values ($1, 'user', 'u')`,
      usage_counter: `(app_id, user_uid, feature_id, reset_period, period_start, used)
        values ($1, 1, 'f', 'MONTH', now(), 1)`,
      usage_hour: `(app_id, feature_id, hour, delta, entries, first_seq, last_seq) values ($1, 'f', now(), 1, 1, 1, 1)`,
      usage_ledger: `(app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
        values ($1, 1, 'f', 'MONTH', now(), 'ADD', 1, 1, now())`,
      user_billing_id: `(app_id, billing_id, uid) values ($1, 'c', 1)`,
      user_import_row: `(app_id, import_id, line, outcome) values ($1, 'i', 1, 'BAD')`,
      webhook_delivery: `(app_id, endpoint_id, event_id, event_type) values ($1, 'e', 'evt', 't')`,
    }
    const tables = Object.keys(rows)
    // All cells together show sums of retired partitions alone.
    const named = (table: string) => (TEST_CELLS > 1 && table === 'ledger_base' ? 'c0.ledger_base' : table)
    expect(
      await values(`select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid
        where a.attname = 'app_id' and c.relkind in ('r', 'p') and not c.relispartition
          and c.relnamespace::regnamespace::text in ('public', 'c0')
          and not exists (select from pg_constraint where conrelid = c.oid and contype = 'f') order by 1`),
    ).toEqual(tables)
    for (const app of ['0gone', 'a', 'azgone', 'b', 'zgone'])
      for (const table of tables) await pool.query(`insert into ${table} ${rows[table]}`, [app])
    await pool.query(
      `insert into webhook_endpoint (app_id, id, url, secret) values ('a', 'e', '', ''), ('b', 'e', '', '')`,
    )
    // What the triggers have noted.
    await pool.query(`delete from event_outbox where kind <> 'EVENT'`)
    await audit(1, 1, 'VISITOR', '')
    // Deliveries are already found without their endpoint.
    expect(await prune(pool, NOTHING, never, 4)).toEqual({
      deliveries: 3,
      ofDeletedApps: 3 * (tables.length - 1),
    })
    for (const table of tables)
      expect(await values(`select app_id from ${named(table)} where app_id <> '' order by 1`), table).toEqual(
        ['a', 'b'],
      )
    expect(await values(`select app_id from audit_entry order by 1`)).toEqual(['', 'a', 'b'])
    for (const table of tables.filter(
      (name) => name !== 'activity' && name !== 'audit_entry' && name !== 'idempotency',
    ))
      await pool.query(`delete from ${named(table)}`)
    await pool.query('delete from webhook_endpoint')
  })

  it('works in batches, however many there are', async () => {
    await audit(11, 95)
    await audit(9, 20)
    let largest = 0
    const stop = watchStatements(({ text }) => {
      if (text.startsWith('delete from audit_entry')) largest++
      return undefined
    })
    expect(await prune(pool, ALL, never, 10)).toEqual({ audit: 95 })
    stop()
    // One more finds none that an application has left.
    expect(largest).toBe(11)
  })

  it('leaves the work to another process already doing it, and stops when told', async () => {
    await audit(11)
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    await other.query(`begin; select pg_advisory_xact_lock(hashtext('tollgate pruning'))`)
    expect(await prune(pool, ALL, never)).toEqual({})
    await other.end()
    expect(await prune(pool, ALL, AbortSignal.abort())).toEqual({})
    expect(await prune(pool, ALL, never)).toEqual({ audit: 1 })
  })

  it('reads no table from end to end to find them', async () => {
    await pool.query(`insert into app (id, name) select 'p' || i, 'P' from generate_series(1, 50) i`)
    await audit(1, 5_000)
    await pool.query(`insert into notice (app_id, provider, event_id, type, payload, state)
      select 'p' || i % 50 + 1, 'stripe', i, 't', '{}', case i % 100 when 0 then 'FAILED' else 'DONE' end
      from generate_series(1, 5000) i`)
    await pool.query(`insert into checkout_session (app_id, id, template_id, provider, items, success_url, cancel_url, state)
      select 'a', i, 't', 'sandbox', '[]', '', '', 'PAID' from generate_series(1, 5000) i`)
    await pool.query(`insert into sandbox_checkout (app_id, id, session_id, items, success_url, cancel_url, made_at, expires_at)
      select app_id, 'cs_' || id, id, '[]', '', '', created_at, created_at from checkout_session`)
    await pool.query(`insert into activity (app_id, minute, checks, records)
      select 'p' || i % 50 + 1, now() - make_interval(secs => i), 1, 1 from generate_series(1, 5000) i`)
    await pool.query(`insert into feature_activity (app_id, feature_id, hour, checks, denied, records, units, refused)
      select 'a', 'f', now() - make_interval(secs => i * 10), 1, 1, 1, 1, 1 from generate_series(1, 5000) i`)
    await pool.query(`insert into idempotency (app_id, scope, key, request, results, created_at)
      select 'a', 'request', i, '', '{}', now() - make_interval(secs => i) from generate_series(1, 5000) i`)
    await pool.query(`insert into event_outbox (app_id, at, kind, type)
      select 'p' || i % 50 + 1, now(), 'EVENT', 't' from generate_series(1, 5000) i`)
    await pool.query(`insert into usage_cap (app_id, user_uid, feature_id, entity, period, window_start)
      select 'a', 1, 'f', i, 'HOUR', now() from generate_series(1, 5000) i`)
    await pool.query(`insert into webhook_endpoint (app_id, id, url, secret)
      select 'p' || i, 'e', '', '' from generate_series(1, 50) i`)
    await pool.query(`insert into webhook_delivery (app_id, endpoint_id, event_id, event_type)
      select 'p' || i % 50 + 1, 'e', i, 't' from generate_series(1, 5000) i`)
    await pool.query('analyze')
    const deletes: { text: string; values: unknown[] }[] = []
    const stop = watchStatements((statement) => {
      if (/^\s*(delete|with)/.test(statement.text)) deletes.push(statement)
      return undefined
    })
    await prune(pool, ALL, never)
    stop()
    // And a look into each table where rows of deleted apps may be.
    expect(deletes).toHaveLength(11 + 18 + 3 * (TEST_CELLS - 1))
    const client = await pool.connect()
    await client.query('begin')
    await lookUpKeys(client)
    const plans = []
    for (const statement of deletes) plans.push(await planOf(client, statement))
    await client.query('rollback')
    client.release()
    const whole = plans.flat().filter(({ node, table }) => node === 'Seq Scan' && table !== 'app')
    expect(whole).toEqual([])
  })
})

describe('the service', () => {
  it('prunes as soon as it has started, by its settings', async () => {
    const used = await createDatabase()
    const ask = (sql: string) => rowsOf({ connectionString: used.url }, sql)
    for (const days of [4, 6]) {
      await ask(`insert into audit_entry (app_id, member_email, operation, subject_kind, at)
        values ('', 'm@example.com', '${days} days', 'k', ${ago(days)})`)
      await ask(`insert into idempotency (app_id, scope, key, request, results, created_at)
        values ('default', 'request', '${days} days', '', '{}', ${ago(days)})`)
    }
    const env = { TOLLGATE_KEEP_AUDIT_DAYS: '5', TOLLGATE_KEEP_RECEIPTS_HOURS: '120' }
    const server = await startTestServer({ databaseUrl: used.url, env })
    try {
      await vi.waitFor(async () => {
        expect(await ask(`select operation from audit_entry where operation like '%days'`)).toEqual([
          { operation: '4 days' },
        ])
        expect(await ask('select key from idempotency')).toEqual([{ key: '4 days' }])
      }, PATIENCE_MS)
    } finally {
      await server.stop()
      await used.drop()
    }
  })

  it('has the documented defaults', () => {
    expect(readConfig({}).retention).toEqual({
      audit: 400 * DAY,
      apiAudit: 90 * DAY,
      notices: 90 * DAY,
      checkouts: 90 * DAY,
      payments: 800 * DAY,
      activity: 90 * DAY,
      featureActivity: 90 * DAY,
      receipts: DAY,
    })
    expect(readConfig({ TOLLGATE_KEEP_AUDIT_DAYS: 'forever' }).retention.audit).toBe(null)
  })

  const WRONG: [Record<string, string>, RegExp][] = [
    [
      { TOLLGATE_KEEP_AUDIT_DAYS: '0' },
      /^TOLLGATE_KEEP_AUDIT_DAYS must be a number from 1 to 36500 or "forever"/,
    ],
    [{ TOLLGATE_KEEP_API_AUDIT_DAYS: 'x' }, /^TOLLGATE_KEEP_API_AUDIT_DAYS must be a number/],
    [{ TOLLGATE_KEEP_NOTICES_DAYS: 'long' }, /^TOLLGATE_KEEP_NOTICES_DAYS must be a number/],
    [{ TOLLGATE_KEEP_CHECKOUTS_DAYS: '1.5' }, /^TOLLGATE_KEEP_CHECKOUTS_DAYS must be a number/],
    [{ TOLLGATE_KEEP_ACTIVITY_DAYS: '-3' }, /^TOLLGATE_KEEP_ACTIVITY_DAYS must be a number/],
    [
      { TOLLGATE_KEEP_RECEIPTS_HOURS: '23' },
      /^TOLLGATE_KEEP_RECEIPTS_HOURS must be a number from 24 to 876000;/,
    ],
    [
      { TOLLGATE_KEEP_LEDGER_DAYS: '0' },
      /^TOLLGATE_KEEP_LEDGER_DAYS must be a number from 1 to 36500 or "forever"/,
    ],
    [
      { TOLLGATE_LEDGER_PARTITION_DAYS: 'forever' },
      /^TOLLGATE_LEDGER_PARTITION_DAYS must be a number from 1 to 36500;/,
    ],
    [{ TOLLGATE_KEEP_RECEIPTS_HOURS: 'forever' }, /^TOLLGATE_KEEP_RECEIPTS_HOURS must be a number/],
  ]
  it.each(WRONG)('refuses %j', (env, line) => {
    expect(() => readConfig(env)).toThrow(line)
  })
})
