import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd, cleanUp, cleanUpOnSignals, isEnding } from './cleanup.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { startPostgres, withClient } from './postgres.ts'
import { cpuSecondsOf, parentOf } from './processes.ts'
import { say } from './progress.ts'
import { CHECK, RECORD, type Request } from './requests.ts'
import { FEATURE, seededDatabase, userId } from './seed.ts'
import { type Server, startServer } from './server.ts'

// What a call costs: CPU of the service and of PostgreSQL, bytes of disk and of write-ahead log, at several numbers of
// connections, since calls that arrive together share a statement: `npm run build && npx tsx bench/cost.ts [users]
// [seconds]`. CPU time depends little on what else the machine does. Not a pair: docs/scale.md calculates with it.

const CONNECTIONS = [64, 16, 4, 1]
const KEYED_CALLS = 20_000
const AT_ONCE = 100

async function main(users: number, seconds: number): Promise<void> {
  const warning = busyWarning()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cost-'))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  const postgres = await startPostgres(join(folder, 'data'))
  const postmaster = await withClient(postgres.urlOf('postgres'), async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]?.pid ?? 0)
  })
  const { url: database } = await seededDatabase(postgres, users)
  const measure = (sql: string) =>
    withClient(database, async (client) => Number((await client.query<{ n: string }>(sql)).rows[0]?.n))
  const load = await findLoadGenerator()
  const server = await startServer(database)
  say(`${users} users: ${((await measure(SIZE)) / users).toFixed(0)} bytes each`)

  const run = (request: Request, connections: number, duration: number) =>
    load.run({ url: `${server.url}/graphql`, request, upTo: users, connections, seconds: duration })
  for (const [name, request] of Object.entries({ check: CHECK, record: RECORD })) {
    await run(request, CONNECTIONS[0] ?? 1, seconds)
    for (const connections of CONNECTIONS) {
      const before = await spent(server, postmaster, measure)
      const { requests, perSecond } = await run(request, connections, seconds)
      const after = await spent(server, postmaster, measure)
      const per = (what: keyof Spent) => (after[what] - before[what]) / requests
      say(
        `${name} at ${connections}: ${Math.round(perSecond)}/s, Node ${micro(per('node'))}, ` +
          `PostgreSQL ${micro(per('postgres'))}, log ${per('log').toFixed(0)} B, ledger ${per('ledger').toFixed(0)} B`,
      )
    }
  }
  const before = await measure(RECEIPTS)
  await recordWithKeys(server, users)
  say(`a receipt: ${(((await measure(RECEIPTS)) - before) / KEYED_CALLS).toFixed(0)} bytes`)
  server.checkLog()
  if (warning) say(`Warning: ${warning}.`)
}

const SIZE = 'select pg_database_size(current_database()) as n'
const LOG = `select pg_current_wal_lsn() - '0/0' as n`
const LEDGER = `select sum(pg_total_relation_size(relid)) as n from pg_partition_tree('usage_ledger')`
const RECEIPTS = `select pg_total_relation_size('idempotency') as n`

interface Spent {
  node: number
  postgres: number
  log: number
  ledger: number
}

async function spent(
  server: Server,
  postmaster: number,
  measure: (sql: string) => Promise<number>,
): Promise<Spent> {
  return {
    node: await server.cpuSeconds(),
    postgres: await cpuSecondsOf(postmaster),
    log: await measure(LOG),
    ledger: await measure(LEDGER),
  }
}

const micro = (seconds: number) => `${(seconds * 1e6).toFixed(0)} µs`

async function recordWithKeys(server: Server, users: number): Promise<void> {
  for (let done = 0; done < KEYED_CALLS; done += AT_ONCE) {
    const inputs = Array.from({ length: AT_ONCE }, (_, i) => ({
      userId: userId(((done + i) % users) + 1),
      featureId: FEATURE,
      delta: 1,
      idempotencyKey: `an-order-of-the-shop-${done + i}`,
    }))
    await server.admin.data(
      'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }',
      { inputs },
    )
  }
}

cleanUpOnSignals()
try {
  const [users = 100_000, seconds = 5] = process.argv.slice(2).map(Number)
  await main(users, seconds)
} catch (error) {
  // Failures after a signal are due to the signal.
  if (!isEnding()) throw error
} finally {
  if (!isEnding()) await cleanUp()
}
