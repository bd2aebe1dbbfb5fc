import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../src/graphql/admin.ts'
import { clientSchema } from '../src/graphql/client.ts'
import { dashboardSchema } from '../src/graphql/dashboard.ts'
import { openPool } from '../src/store/database.ts'
import { forgetOldKeys } from '../src/store/idempotency.ts'
import { Client, type Variables } from './harness/client.ts'
import { exampleCalls } from './harness/example-calls.ts'
import { makeMany } from './harness/many.ts'
import { type Access, planOf } from './harness/plans.ts'
import { OWNER, startTestServer, type TestServer } from './harness/server.ts'
import { type Statement, watchStatements } from './harness/statements.ts'

// Every statement of the service, as it is sent, is explained on tables that have grown. An index that nothing uses
// costs every write and is not wanted; a table that grows with use is never read from end to end.

const ROWS = 20_000

/** Those that grow with the use of the service. `app` and `member` do not. */
const GROWING = [
  'api_key',
  'feature',
  'idempotency',
  'package',
  'package_feature',
  'session',
  'subscription',
  'usage_counter',
  'usage_ledger',
  'users',
]

let server: TestServer
let statements: Statement[]
let explain: pg.Client
beforeAll(async () => {
  server = await startTestServer()
  await makeMany(server)
  statements = await everyStatement()
  explain = new pg.Client({ connectionString: server.databaseUrl, options: '-c timezone=UTC' })
  await explain.connect()
  for (const sql of GROWTH) await explain.query(sql)
  await explain.query('analyze')
})
afterAll(async () => {
  await explain?.end()
  await server.stop()
})

/** Calls every operation there is, with and without what it takes optionally, and notes what goes to the database. */
async function everyStatement(): Promise<Statement[]> {
  const found = new Map<string, Statement>()
  const stop = watchStatements((statement) => {
    if (/^\s*(select|insert|update|delete|with)\b/i.test(statement.text)) found.set(statement.text, statement)
    return undefined
  })
  const { subscriptions } = await server.admin.data('{ subscriptions(first: 1) { id } }')
  const values: Variables = {
    ...{ userId: 'u2', featureId: 'f1', featureIds: ['f1'], packageIds: ['a1'], status: 'PUBLISHED', ...OWNER },
    ...{ appId: 'default', first: 10, after: null, type: 'CONSUMABLE', action: 'ADD' },
  }
  const idOf: Record<string, string> = { feature: 'f1', package: 'a2', user: 'u2', subscription: subscriptions[0].id }
  const ask = async (client: Client, calls: ReturnType<typeof exampleCalls>) => {
    for (const { name, query, variables } of calls) {
      if (name === 'signOut' || name === 'signIn') continue
      const kind = Object.keys(idOf).find((noun) => name.toLowerCase().includes(noun))
      const id = kind && 'id' in variables ? { id: idOf[kind] } : {}
      await client.ask(query, { ...variables, ...id })
      await client.with({ 'Idempotency-Key': name }).ask(query, { ...variables, ...id })
    }
  }
  await ask(server.admin, exampleCalls(adminSchema(), values))
  await ask(server.admin, exampleCalls(adminSchema(), { ...values, userId: null, after: 'u1' }))
  const { generateUserToken } = await server.admin.data('mutation { generateUserToken(userId: "u2") { token } }')
  const user = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
  await ask(user, exampleCalls(clientSchema(), values))
  await ask(server.dashboard, exampleCalls(dashboardSchema(), values))
  const visitor = new Client(`${server.url}/dashboard/graphql`, {})
  await ask(visitor, exampleCalls(dashboardSchema(), values))
  await visitor.data('mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }', OWNER)
  const pool = openPool({ connectionString: server.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
  await forgetOldKeys(pool, 24)
  await pool.end()
  stop()
  return [...found.values()]
}

const GROWTH = [
  `insert into app (id, name) select 'app' || i, 'App' from generate_series(1, 500) i`,
  `insert into api_key (app_id, id, name, prefix, hash)
   select 'app' || i % 500 + 1, 'k' || i, 'k', 'tg_', sha256(i::text::bytea) from generate_series(1, ${ROWS}) i`,
  `insert into feature (app_id, id, name, type, metadata)
   select 'app' || i % 500 + 1, 'f' || i, 'F', 'CONSUMABLE', '{}' from generate_series(1, ${ROWS}) i`,
  `insert into package (app_id, id, name, is_addon, metadata, updated_at)
   select 'app' || i % 500 + 1, 'p' || i, 'P', false, '{}', now() from generate_series(1, ${ROWS}) i`,
  `insert into package_feature (app_id, package_id, feature_id, position, reset_period, overage_enabled)
   select 'app' || i % 500 + 1, 'p' || i, 'f' || i, 1, 'MONTH', false from generate_series(1, ${ROWS}) i`,
  `insert into users (app_id, id, billing_id, metadata)
   select 'default', 'grown' || i, 'cus_' || i, '{}' from generate_series(1, ${ROWS}) i`,
  `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
   select app_id, 'sub_' || uid, uid, 'plan', false, now(), now() from users where id like 'grown%'`,
  `insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
   select app_id, uid, 'f1', 'MONTH', date_trunc('month', now()), 1 from users`,
  `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
   select app_id, uid, 'f1', 'MONTH', date_trunc('month', now()), 'ADD', 1, 1, now() from users`,
  `insert into idempotency (app_id, scope, key, request, results, created_at)
   select 'default', 'request', 'k' || i, '', '{}', now() - make_interval(secs => i) from generate_series(1, ${ROWS}) i`,
  `insert into session (hash, member_id, expires_at)
   select sha256(i::text::bytea), (select min(id) from member), now() + make_interval(secs => i)
   from generate_series(1, ${ROWS}) i`,
]

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

it('x', async () => {
  const used = new Set<string>()
  for (const s of statements) {
    const plan = await planOf(explain, s).catch((e) => [{ node: String(e), table: '', index: null }])
    for (const a of plan) if (a.index) used.add(a.index)
    console.log((s.name ?? '') + ' | ' + oneLine(s.text).slice(0, 110) + '\n' + plan.map((a: Access) => `      ${a.node} ${a.table} ${a.index ?? ''}`).join('\n'))
  }
  const { rows } = await explain.query(`select indexrelname as name from pg_stat_user_indexes where indexrelname not like 'kysely%'`)
  console.log('unused', rows.map((r) => r.name).filter((n) => !used.has(n)))
  void describe; void expect; void GROWING
})
