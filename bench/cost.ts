import { parseArgs } from 'node:util'
import { runScript } from './cleanup.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { count } from './options.ts'
import { withClient } from './postgres.ts'
import { cpuSecondsOf, parentOf } from './processes.ts'
import { say } from './progress.ts'
import { CHECK, RECORD } from './requests.ts'
import { estimate, estimateText, interleave, intervalText, median } from './rounds.ts'
import { FEATURE, userId } from './seed.ts'
import { type Server, startServer } from './server.ts'
import { type Side, startSides } from './versions.ts'

// What a call costs: CPU of the service and of PostgreSQL, bytes of disk and of write-ahead log, at several numbers of
// connections, since calls that arrive together share a statement. CPU time depends little on other work on the machine. Not a
// pair: docs/scale.md calculates with it.

const USAGE = `npm run build && npx tsx bench/cost.ts [USERS] [SECONDS] [--against COMMIT] [--rounds N]

  Prints CPU, log and ledger per call of this version, with 100000 users and rounds of 5 seconds unless given. With --against,
  the same of COMMIT on its own database, in alternating rounds (default: 6), and the ratios of the CPU.
`
const CONNECTIONS = [64, 16, 4, 1]
const KEYED_CALLS = 20_000
const AT_ONCE = 100

/** Of one call: seconds of CPU, and bytes. */
interface Cost {
  perSecond: number
  node: number
  postgres: number
  log: number
  ledger: number
}

async function main(users: number, seconds: number, commit: string | null, rounds: number): Promise<void> {
  const warning = busyWarning()
  const load = await findLoadGenerator()
  const [current, other] = await startSides(commit, users)
  const server = await startServer(current.database.url)
  say(`${users} users: ${((await measure(current, SIZE)) / users).toFixed(0)} bytes each`)
  const sides = new Map([[current, server]])
  if (other) sides.set(other, await startServer(other.database.url, {}, other.main))

  for (const [name, request] of Object.entries({ check: CHECK, record: RECORD })) {
    const run = ({ url }: Server, connections: number) =>
      load.run({ url: `${url}/graphql`, request, upTo: users, connections, seconds })
    for (const [side, on] of sides) {
      await side.settle()
      // After a checkpoint, the first change of each page costs more.
      await run(on, CONNECTIONS[0] ?? 1)
    }
    for (const connections of CONNECTIONS) {
      const costs = await interleave<string, Cost>(
        rounds,
        Object.fromEntries(
          [...sides].map(([side, on]) => [side.name, () => costOf(side, on, () => run(on, connections))]),
        ),
        () => {},
      )
      print(`${name} at ${connections}`, Object.entries(costs))
    }
  }
  const before = await measure(current, RECEIPTS)
  await recordWithKeys(server, users)
  say(`a receipt: ${(((await measure(current, RECEIPTS)) - before) / KEYED_CALLS).toFixed(0)} bytes`)
  for (const each of sides.values()) each.checkLog()
  if (warning) say(`Warning: ${warning}.`)
}

/** A line for each version, and one that compares the first with the second. */
function print(title: string, costs: readonly (readonly [version: string, Cost[]])[]): void {
  for (const [version, rounds] of costs) {
    const of = (what: keyof Cost) => median(rounds.map((cost) => cost[what]))
    const micro = (what: keyof Cost) => `${(of(what) * 1e6).toFixed(0)} µs`
    say(
      `${title}${costs.length > 1 ? `, ${version}` : ''}: ${of('perSecond').toFixed(0)}/s, Node ${micro('node')}, ` +
        `PostgreSQL ${micro('postgres')}, log ${of('log').toFixed(0)} B, ledger ${of('ledger').toFixed(0)} B`,
    )
  }
  const [[a, ours], [b, theirs]] = [costs[0] ?? ['', []], costs[1] ?? ['', []]]
  if (theirs.length === 0) return
  const ratio = (cpu: (cost: Cost) => number) => estimateText(estimate(ours.map(cpu), theirs.map(cpu)))
  say(
    `  ${a} ÷ ${b} (${intervalText(ours.length)}): Node ${ratio((c) => c.node)}, PostgreSQL ${ratio((c) => c.postgres)}, ` +
      `both ${ratio((c) => c.node + c.postgres)}`,
  )
}

const SIZE = 'select pg_database_size(current_database()) as n'
const LOG = `select pg_current_wal_lsn() - '0/0' as n`
/** Early versions have no partitions. */
const LEDGER = `select coalesce(sum(pg_total_relation_size(relid)), pg_total_relation_size('usage_ledger')) as n
  from pg_partition_tree('usage_ledger')`
const RECEIPTS = `select pg_total_relation_size('idempotency') as n`

const measure = ({ database }: Side, sql: string): Promise<number> =>
  withClient(database.url, async (client) => Number((await client.query<{ n: string }>(sql)).rows[0]?.n))

async function costOf(
  side: Side,
  server: Server,
  round: () => Promise<{ requests: number; perSecond: number }>,
): Promise<Cost> {
  const before = await spent(side, server)
  const { requests, perSecond } = await round()
  const after = await spent(side, server)
  const per = (what: keyof typeof after) => (after[what] - before[what]) / requests
  return { perSecond, node: per('node'), postgres: per('postgres'), log: per('log'), ledger: per('ledger') }
}

async function spent(side: Side, server: Server): Promise<Omit<Cost, 'perSecond'>> {
  const postmaster = await withClient(side.database.url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]?.pid ?? 0)
  })
  return {
    node: await server.cpuSeconds(),
    postgres: await cpuSecondsOf(postmaster),
    log: await measure(side, LOG),
    ledger: await measure(side, LEDGER),
  }
}

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

await runScript(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      against: { type: 'string' },
      rounds: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return void process.stdout.write(USAGE)
  await main(
    count('USERS', positionals[0], 9_999_999) ?? 100_000,
    count('SECONDS', positionals[1]) ?? 5,
    values.against ?? null,
    count('--rounds', values.rounds) ?? (values.against ? 6 : 1),
  )
})
