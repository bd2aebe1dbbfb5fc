import type { GraphQLSchema } from 'graphql'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { rollUpUsage } from '../../src/operations/upkeep/roll-up-usage.ts'
import { REVENUE_LISTS } from '../../src/store/billing/revenue-lists.ts'
import { openPool } from '../../src/store/connection/database.ts'
import { pruneCapCounts } from '../../src/store/credits/caps.ts'
import { duePublications } from '../../src/store/jobs/due-publications.ts'
import { pruneFeatureActivity, pruneReceipts } from '../../src/store/jobs/prune.ts'
import { SUBSCRIPTION_STATES } from '../../src/store/subscriptions/subscription-list.ts'
import { cancelLater } from '../../src/store/subscriptions/subscriptions.ts'
import { settleByClock } from '../../src/store/subscriptions/successors.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { Client, signedIn, type Variables } from '../harness/client.ts'
import { directly } from '../harness/database.ts'
import { exampleCalls } from '../harness/example-calls.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { makeMany } from '../harness/many.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { type Access, planOf } from '../harness/plans.ts'
import { adminClient, OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { type Statement, watchStatements } from '../harness/statements.ts'
import { inItsPlace, openTestPool } from '../harness/store.ts'
import { GROWTH, growthOf } from './growth.ts'

// Every statement of the service, exactly as sent, is explained on tables that have grown. An index that nothing uses
// costs every write and is not wanted; a table that grows with use is never scanned from end to end.

/** Those that grow with the use of the service. `app` and `member` do not. */
const GROWING = [
  'activity',
  'api_key',
  'audit_entry',
  'bulk_change_row',
  'credit',
  'feature',
  'feature_activity',
  'idempotency',
  'ledger_base',
  'package',
  'package_feature',
  'recharge_rule',
  'session',
  'spender',
  'subscription',
  'usage_cap',
  'usage_counter',
  'usage_ledger_0',
  'usage_reservation',
  'user_import_row',
  'users',
]

const server = shared(startTestServer)
let statements: Statement[]
let explain: pg.Client
beforeAll(async () => {
  await makeMany(server)
  statements = await everyStatement()
  explain = new pg.Client({
    connectionString: directly(server.databaseUrl),
    options: '-c timezone=UTC',
  })
  await explain.connect()
  // Rows written by hand are not events.
  await explain.query('set tollgate.events = off')
  for (const sql of GROWTH) await explain.query(sql)
  for (let cell = 0; cell < TEST_CELLS; cell++) {
    if (TEST_CELLS > 1) await explain.query(`set search_path = c${cell}, public`)
    for (const sql of growthOf(cell)) await explain.query(sql)
  }
  await explain.query('reset search_path')
  await explain.query('reset tollgate.events')
  await explain.query('analyze')
})
afterAll(async () => {
  await explain?.end()
})

/** Calls every operation there is, and what runs beside them, and notes what goes to the database. */
async function everyStatement(): Promise<Statement[]> {
  const found = new Map<string, Statement>()
  const stop = watchStatements((statement) => {
    if (/^\s*(select|insert|update|delete|with)\b/i.test(statement.text)) found.set(statement.text, statement)
    return undefined
  })
  const { subscriptions } = await server.admin.data('{ subscriptions(first: 1) { id } }')
  const generateUserToken = await server.admin.call('generateUserToken { token }', { userId: 'u2' })
  const idOf = { feature: 'f1', package: 'a2', user: 'u2', subscription: subscriptions[0].id }
  const values = {
    userId: 'u2',
    featureId: 'f1',
    // Of three, one of the two lanes takes several.
    featureIds: ['f1', 'f2', 'f3'],
    packageIds: ['a1'],
    appId: 'default',
    after: null,
  }
  const ask = async (client: Client, schema: GraphQLSchema, more: Variables = {}) => {
    for (const { name, query, variables } of exampleCalls(schema, { ...values, ...OWNER, ...more })) {
      // They end the session, or what the others are about; that is done below.
      if (/^(sign(In|Out$|OutEverywhere)|delete)/.test(name)) continue
      const noun = Object.entries(idOf).find(([noun]) => name.toLowerCase().includes(noun))
      const given = { ...variables, ...(noun && 'id' in variables && { id: noun[1] }) }
      await client.ask(query, given)
      await client.with({ 'Idempotency-Key': name }).ask(query, given)
    }
  }
  await ask(server.admin, adminSchema())
  const record = 'mutation { recordUsage(input: { userId: "u2", featureId: "f1", delta: 1 }) { recorded } }'
  // Only the plan pays for f2: f1 has credits by now.
  for (const query of [record, record, ...Array(2).fill(record.replace('"f1"', '"f2"'))])
    await server.admin.ask(query)
  await ask(server.admin, adminSchema(), { userId: null, after: 'u1' })
  await ask(adminClient(server.url, 'a key that nobody has'), adminSchema())
  await ask(
    new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token }),
    clientSchema(),
  )
  await ask(server.dashboard, dashboardSchema())
  await ask(server.dashboard, dashboardSchema(), { atPeriodEnd: true, id: 'sub' })

  const file = 'id,email,billingId\nu1,u1@example.com,cus_u1\nu1,again@example.com,\nnobody,n@example.com,\n'
  const cookie = await sessionCookie(server)
  await upload(server, cookie, { app: 'default', import: 'file' }, file)
  const newUsers = 'id,name,plan,metadata\nnew,New,plan,{}\nu1,Name,,"{""a"":1}"\n'
  await upload(server, cookie, { app: 'default', import: 'new' }, newUsers)
  await server.dashboard.call('undoUserImport', { id: 'new' })
  await vi.waitFor(async () => {
    const { state, removed } = await server.dashboard.call('userImport { state removed }', { id: 'new' })
    expect({ state, removed }).toEqual({ state: 'UNDONE', removed: 1 })
  }, PATIENCE_MS)
  const { startBulkChange } = await server.dashboard.data(
    'mutation { startBulkChange(appId: "default", input: { of: { list: USERS, ids: ["u3"] }, cancel: {} }) { id } }',
  )
  await vi.waitFor(
    async () => {
      const { bulkChange } = await server.dashboard.data(
        'query ($id: String!) { bulkChange(appId: "default", id: $id) { state } }',
        startBulkChange,
      )
      expect(bulkChange.state).toBe('CHECKED')
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
  for (const outcome of ['SKIP', null])
    await server.dashboard.data(
      'query ($id: String!, $outcome: BulkChangeOutcome) { bulkChangeRows(appId: "default", id: $id, outcome: $outcome) { next } }',
      { ...startBulkChange, outcome },
    )
  for (const field of [
    'userImportRows(appId: "default", id: "file") { next }',
    'subscriptions(appId: "default", order: AMOUNT_DESC) { next rows { id } }',
    'latestEvents(appId: "default") { id }',
    'users(appId: "default", search: "part of it") { next rows { plan { id } } }',
    ...['NAME', 'NAME_DESC', 'EMAIL', 'EMAIL_DESC'].flatMap((order) => [
      `users(appId: "default", order: ${order}) { next rows { plan { id } } }`,
      `users(appId: "default", order: ${order}, after: "${Buffer.from('["u",1]').toString('base64url')}") { next }`,
    ]),
    ...SUBSCRIPTION_STATES.flatMap((state) => [
      `users(appId: "default", state: ${state}) { next total { count } }`,
      `users(appId: "default", state: ${state}, packageId: "p1") { next total { count } }`,
    ]),
    `featureActivity(appId: "default", id: "f1", from: "${new Date(Date.now() - 20 * 86_400_000).toISOString()}", to: "${new Date().toISOString()}", interval: DAY) { at }`,
    'auditLog { next }',
    'auditLog(actorKind: API_KEY) { next }',
    'auditLog(appId: "default", who: "a@example.com", operation: "o") { next }',
    'auditLog(appId: "default", operation: "createUser", from: "2026-01-01T00:00:00Z") { next }',
    'auditLog(appId: "default", subjectId: "u1") { next }',
    'auditLog(subjectId: "u1", to: "2099-01-01T00:00:00Z") { next }',
    'revenue(appId: "default", fresh: true) { new }',
    ...REVENUE_LISTS.map((list) => `revenueList(appId: "default", list: ${list}, days: 365) { next }`),
    'payments(appId: "default", state: PAID, days: 365) { next }',
  ])
    await server.dashboard.data(`{ ${field} }`)

  await server.admin.data('mutation { deleteUser(id: "u2") { id } }')
  for (const kind of ['Feature', 'Package', 'BillingTemplate']) {
    const id = { Feature: 'f1', Package: 'a2', BillingTemplate: 'none' }[kind]
    await server.dashboard.ask(`mutation { delete${kind}(appId: "default", id: "${id}") { id } }`)
  }
  await server.dashboard.ask(`mutation { signIn(email: "x@example.com", password: "wrong") { id } }`)
  const leaving = await signedIn(server.url, OWNER)
  await leaving.data('mutation { signOut }')

  const pool = await openTestPool(server.databaseUrl, { max: 1 })
  await duePublications(pool, 1)
  await pruneReceipts(pool, 86_400, 1_000)
  await pruneFeatureActivity(pool, 86_400, 1_000)
  await pruneCapCounts(pool, 1_000)
  await settleByClock(inItsPlace(pool), 'default', 1, Date.now())
  await rollUpUsage(pool, new AbortController().signal)
  await cancelLater(inItsPlace(pool), 'default', [subscriptions[0].id], Date.now())
  await pool.end()
  stop()
  return [...found.values()]
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** What the plans of all statements have in common, by the settings of the connections that send them; in one cell. */
describe.skipIf(TEST_CELLS > 1).each([{ keyLookups: false }, { keyLookups: true }])(
  'with keyLookups: $keyLookups',
  ({ keyLookups }) => {
    let pool: pg.Pool
    let connection: pg.PoolClient
    beforeAll(async () => {
      pool = openPool(
        { connectionString: directly(server.databaseUrl) },
        { max: 1, keyLookups },
        pino({ level: 'silent' }),
      )
      connection = await pool.connect()
    })
    afterAll(async () => {
      connection?.release()
      await pool?.end()
    })

    const HOLDINGS = ['users_app_id_id_key', 'usage_counter_pkey']
    const HOT: Record<string, string[]> = {
      'read-holding': HOLDINGS,
      'read-holdings': HOLDINGS,
      'read-idempotency-keys': ['idempotency_pkey'],
      'list-users': ['users_pkey'],
      'list-subscriptions': ['subscription_seq', 'users_pkey', 'one_successor'],
      'list-subscriptions-of-user': ['subscription_user', 'users_pkey', 'one_successor'],
    }
    it.each([
      'read-holding',
      'read-holdings',
    ])('gap: plans: %s reads no counters of long ago', async (name) => {
      const statement = statements.find((one) => one.name === name)
      if (!statement) throw new Error(`no ${name} was sent`)
      const counters = (await planOf(connection, statement)).filter(({ table }) => table === 'usage_counter')
      expect(counters.map(({ condition }) => condition)).toEqual([expect.stringContaining('period_start >')])
    })

    it.each(Object.entries(HOT))('gap: plans: %s walks the indexes %j', async (name, indexes) => {
      const statement = statements.find((one) => one.name === name)
      if (!statement) throw new Error(`no ${name} was sent`)
      // Few apps are read as well from end to end.
      const plan = (await planOf(connection, statement)).filter(({ table }) => table !== 'app')
      expect(plan.map(({ index }) => index)).toEqual(indexes)
      expect(plan.filter(({ node }) => !/^Index( Only)? Scan$/.test(node))).toEqual([])
    })

    it.each([
      'write-usage',
      'write-usage-new',
    ])('gap: plans: %s goes right to its users and counters', async (name) => {
      const statement = statements.find((one) => one.name === name)
      if (!statement) throw new Error(`no ${name} was sent`)
      const plan = (await planOf(connection, statement)).filter(({ table }) => table !== 'app')
      expect(plan.map(({ table, node }) => `${node} on ${table}`)).toEqual([
        'Tid Scan on users',
        'Tid Scan on usage_counter',
      ])
    })
  },
)

/** These read all of an app's rows in a table, on purpose. */
const WHOLE: Record<string, string> = {
  'select date_trunc($3, recorded_at) as at, sum(delta)':
    'entries that are not summed up yet, which are few; in this test, all are',
  'select feature_id as "featureId", sum(delta)::float8 as burnt':
    'at most 200,000 entries that are not summed up yet; in this test, all are',
  'select * from (select to_json(t) as row, (import_id': 'an export looks through the imports that are kept',
  'select s.package_id as "packageId", count(*)': 'the figures of the Revenue page, kept for five minutes',
  'select x.package_id as "packageId", c.provider': 'the figures of the Revenue page, kept for five minutes',
  'select (select count(*) from subscription s where s.app_id':
    'the figures of the Revenue page, kept for five minutes',
  'select s.id, coalesce(c.currency':
    'a list sorted by amount looks up the prices of up to 100,000 subscriptions of an app',
  'select exists (select from credit k where k.app_id = app.id':
    'before a feature is deleted, its credits, reservations and caps are looked through',
  'select (select count(*) from users where app_id': 'an owner is told what would go with an app',
  'select (select count(*) from session where member_id':
    'the page of members says how many browsers each uses',
  'update user_import_row r set user_id = null': 'a deletion looks through the imports that are kept',
  'select scope, key, results': 'a deletion looks through the answers that are kept for a day',
}

/** These join all cells. With 5,000 users in each of four, PostgreSQL expects to be quicker with all of them than with the few asked for. */
const WHOLE_CELLS = [
  'select s.app_id as "appId", s.seq, s.provider',
  'select x.*, u.id as "userId", u.name as "userName" from',
  'with q as materialized ( select $1 as app_id, q.* from unnest($2::bigint[], $3',
]

const IN_A_CELL =
  /\b(insert into|update|delete from) (users|subscription|usage_counter|usage_ledger|ledger_base)\b/

/** Where there are several cells, what only one of them can do is explained there. */
async function planAnywhere(statement: Statement): Promise<Access[]> {
  if (TEST_CELLS > 1 && IN_A_CELL.test(statement.text)) return planInCell(statement)
  try {
    return await planOf(explain, statement)
  } catch (error) {
    if (TEST_CELLS === 1 || !(error instanceof pg.DatabaseError)) throw error
    return planInCell(statement)
  }
}

async function planInCell(statement: Statement): Promise<Access[]> {
  await explain.query('set search_path = c1, public')
  return await planOf(explain, statement).finally(() => explain.query('reset search_path'))
}

it('gap: plans: no statement reads a growing table from end to end', async () => {
  const offenders: string[] = []
  const onPurpose = [...Object.keys(WHOLE), ...(TEST_CELLS > 1 ? WHOLE_CELLS : [])]
  for (const statement of statements) {
    const plan = await planAnywhere(statement)
    if (onPurpose.some((start) => oneLine(statement.text).startsWith(start))) continue
    const whole = plan.filter(({ node, table }) => node === 'Seq Scan' && GROWING.includes(table))
    for (const { table } of whole) offenders.push(`${table}: ${oneLine(statement.text)}`)
  }
  expect(offenders).toEqual([])
  // The list of statements is not empty by mistake.
  expect(statements.length).toBeGreaterThan(40)
})

/** Indexes of such tables that no statement needs, with the rules they enforce. */
const UNREAD: Record<string, string> = {
  credit_bought: 'a payment is one credit',
  bulk_change_row_once: 'a bulk change names each user or subscription once',
  billing_id_once_per_import: 'no two rows of a file give one billing id away',
  one_live_base_plan: 'a user has one live base plan',
  one_live_subscription_per_package: 'a user holds each package once',
  users_by_part: 'the function users_with_part reads by it: search-indexes.test.ts',
}

it.skipIf(TEST_CELLS > 1)('gap: plans: every index is used, or enforces a rule', async () => {
  const used = new Set<string | null>()
  for (const statement of statements) {
    for (const { index } of await planOf(explain, statement)) used.add(index)
  }
  const { rows } = await explain.query<{ name: string }>(
    `select indexrelname as name from pg_stat_user_indexes where relname = any($1)`,
    [GROWING],
  )
  const names = rows.map(({ name }) => name)
  expect(names.filter((name) => !used.has(name) && !(name in UNREAD))).toEqual([])
  expect(names).toEqual(expect.arrayContaining(Object.keys(UNREAD)))
})
