import { join } from 'node:path'
import { pino } from 'pino'
import { addCells, allOf, evenly, half, moveBuckets } from '../server/src/operations/upkeep/cells.ts'
import { distribute } from '../server/src/operations/upkeep/remote-cells.ts'
import { readBuckets } from '../server/src/store/cells/move-users.ts'
import { openPool, type Pool } from '../server/src/store/connection/database.ts'
import { unbalancedCounters } from '../server/src/store/schema/tables.ts'
import { clusterDatabase, dropCluster, serversOf } from '../server/test/harness/citus.ts'
import { type Client, signedIn } from '../server/test/harness/client.ts'
import { atEnd, runScript, scratchFolder } from './cleanup.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { type Postgres, startPostgres, withClient } from './postgres.ts'
import { say } from './progress.ts'
import { CHECK, RECORD } from './requests.ts'
import { compare, interleave, quantile } from './rounds.ts'
import { APP, FEATURE, seededDatabase, userId } from './seed.ts'
import { OWNER, type Server, startServer } from './server.ts'

// Cells: what several of them cost the same callers, and what callers notice of a cell being split. `npm run build && npx
// tsx bench/cells.ts [users] [rounds] [seconds] [cells, such as 1,4]`, or `npx tsx bench/cells.ts split [users]`, or, with
// TOLLGATE_TEST_CITUS_URL, `npx tsx bench/cells.ts citus [users] [rounds] [seconds]` or `lists [users] [rounds]`. Not a pair: docs/scale.md says what came
// of it.

const CONNECTIONS = 64
const CALLERS = 32
const nothing = () => {}

async function dilution(users: number, rounds: number, seconds: number, sizes: number[]): Promise<void> {
  const postgres = await postgresIn('dilution')
  const { name } = await seededDatabase(postgres, users)
  const load = await findLoadGenerator()
  const servers = new Map<number, Server>()
  for (const cells of sizes) {
    const copy = `${name}_in_${cells}`
    await withClient(postgres.urlOf('postgres'), (client) =>
      client.query(`create database ${copy} template ${name}`),
    )
    await withPool(postgres.urlOf(copy), async (pool) => {
      if (cells > 1) await addCells(pool, cells - 1, nothing)
      await move(pool, cells > 1 ? evenly(await readBuckets(pool), cells) : [])
      await pool.query('vacuum analyze')
    })
    servers.set(cells, await startServer(postgres.urlOf(copy)))
    say(`${cells} cells are ready`)
  }
  for (const [what, request] of Object.entries({ check: CHECK, record: RECORD })) {
    const sides = Object.fromEntries(
      [...servers].map(([cells, { url }]) => [
        cells,
        async () =>
          (await load.run({ url: `${url}/graphql`, request, upTo: users, connections: CONNECTIONS, seconds }))
            .perSecond,
      ]),
    )
    for (const side of Object.values(sides)) await side()
    const results = await interleave(rounds, sides, nothing)
    for (const cells of sizes) {
      const { a, ratio, range } = compare(results[cells] ?? [], results[1] ?? [])
      const [low, high] = range
      say(
        `${what}, ${cells} cells: ${Math.round(a)}/s, ${ratio.toFixed(3)} of one (${low.toFixed(3)} to ${high.toFixed(3)})`,
      )
    }
  }
  for (const server of servers.values()) server.checkLog()
}

type Place = 'coordinator' | 'worker'

/** All users on the coordinator of a Citus cluster, and all of them in a cell on a worker. */
async function bothPlaces(coordinator: string, users: number): Promise<Map<Place, Server>> {
  const cluster = await serversOf(coordinator)
  const urlOf = (name: string) => Object.assign(new URL(coordinator), { pathname: `/${name}` }).href
  const servers = new Map<Place, Server>()
  for (const where of ['coordinator', 'worker'] as const) {
    const name = `bench_${users}_${where}`
    atEnd(() => dropCluster(cluster, name))
    await dropCluster(cluster, name)
    await seededDatabase({ urlOf }, users, { name })
    if (where === 'worker') {
      await clusterDatabase(cluster, name)
      await withPool(urlOf(name), async (pool) => {
        await addCells(pool, 1, nothing)
        await distribute(pool, 1, nothing)
        await move(pool, allOf(await readBuckets(pool), 0, 1))
        await pool.query('vacuum analyze c1.users, c1.subscription, c1.usage_counter')
      })
    }
    servers.set(where, await startServer(urlOf(name)))
    say(`the ${where} has its users`)
  }
  return servers
}

async function onWorker(coordinator: string, users: number, rounds: number, seconds: number): Promise<void> {
  const servers = await bothPlaces(coordinator, users)
  const load = await findLoadGenerator()
  for (const connections of [CONNECTIONS, 1]) {
    for (const [what, request] of Object.entries({ check: CHECK, record: RECORD })) {
      const sides = Object.fromEntries(
        [...servers].map(([where, { url }]) => [
          where,
          async () =>
            (await load.run({ url: `${url}/graphql`, request, upTo: users, connections, seconds })).perSecond,
        ]),
      )
      for (const side of Object.values(sides)) await side()
      const { worker = [], coordinator: here = [] } = await interleave(rounds, sides, nothing)
      const { a, ratio, range } = compare(worker, here)
      const [low, high] = range.map((value) => value.toFixed(3))
      say(
        `${what}, ${connections} connections: ${Math.round(a)}/s on a worker, ${ratio.toFixed(3)} of the coordinator (${low} to ${high})`,
      )
    }
  }
  for (const server of servers.values()) server.checkLog()
}

/** What a page asks for: of the Admin API, or of the dashboard. */
const PAGES: [what: string, api: 'admin' | 'dashboard', query: string][] = [
  ['the first 50 users', 'admin', '{ users(first: 50) { id } }'],
  ['the first 50 subscriptions', 'admin', '{ subscriptions(first: 50) { id } }'],
  ['users by name', 'dashboard', `{ users(appId: "${APP}", order: NAME) { rows { id } } }`],
  ['a search', 'dashboard', `{ users(appId: "${APP}", search: "ada b") { rows { id } } }`],
  ['those of a package', 'dashboard', `{ users(appId: "${APP}", packageId: "team") { rows { id } } }`],
  ['what ends', 'dashboard', `{ subscriptions(appId: "${APP}", state: ENDING) { rows { id } } }`],
]

/** Pages of long lists, in milliseconds. */
async function lists(coordinator: string, users: number, rounds: number): Promise<void> {
  const servers = await bothPlaces(coordinator, users)
  const clients = new Map<Place, Record<'admin' | 'dashboard', Client>>()
  for (const [where, { url, admin }] of servers)
    clients.set(where, { admin, dashboard: await signedIn(url, OWNER) })
  for (const [what, api, query] of PAGES) {
    const sides = Object.fromEntries(
      [...clients].map(([where, client]) => [
        where,
        async () => {
          const began = performance.now()
          const { errors } = await client[api].ask(query)
          if (errors) throw new Error(JSON.stringify(errors))
          return performance.now() - began
        },
      ]),
    )
    for (const side of Object.values(sides)) await side()
    const { worker = [], coordinator: here = [] } = await interleave(rounds, sides, nothing)
    const { a, b, ratio } = compare(worker, here)
    say(
      `${what}: ${a.toFixed(1)} ms on a worker, ${b.toFixed(1)} ms on the coordinator, ${ratio.toFixed(1)} times`,
    )
  }
  for (const server of servers.values()) server.checkLog()
}

/** Splits a cell while callers check and record, and compares what was acknowledged with the ledger. */
async function split(users: number): Promise<void> {
  const postgres = await postgresIn('split')
  const { url } = await seededDatabase(postgres, users)
  const server = await startServer(url)
  await withPool(url, async (pool) => {
    const entries = async () =>
      (await pool.query<{ n: number }>('select count(*) as n from usage_ledger')).rows[0]?.n ?? 0
    const before = await entries()
    const callers = callFor(server, users)
    await callers.during('before', 5_000)
    const began = performance.now()
    const moving = (async () => {
      const cells = await addCells(pool, 1, nothing)
      const moved = await move(pool, half(await readBuckets(pool), 0, cells - 1))
      say(`${moved} users moved in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    })()
    await callers.until('while it is split', moving)
    await callers.during('after', 5_000)
    const { recorded, failed } = await callers.stop()
    say(
      `${recorded} records acknowledged, ${(await entries()) - before} in the ledger, ${failed} calls failed`,
    )
    say(`${await unbalancedCounters(pool)} counters differ from their ledger`)
  })
}

function callFor({ admin }: Server, users: number) {
  let [going, phase, recorded, failed] = [true, '', 0, 0]
  const times = new Map<string, number[]>()
  const call = async () => {
    while (going) {
      const user = userId(1 + Math.floor(Math.random() * users))
      const query =
        Math.random() < 0.5
          ? `{ canUseFeature(userId: "${user}", featureId: "${FEATURE}") { access } }`
          : `mutation { recordUsage(input: { userId: "${user}", featureId: "${FEATURE}", delta: 1 }) { recorded } }`
      const [began, during] = [performance.now(), phase]
      const { data, errors } = await admin.ask(query)
      const taken = times.get(during) ?? []
      taken.push(performance.now() - began)
      times.set(during, taken)
      if (errors) {
        failed += 1
        say(`failed: ${JSON.stringify(errors).slice(0, 300)}`)
      } else if (data?.recordUsage?.recorded) recorded += 1
    }
  }
  const all = Promise.all(Array.from({ length: CALLERS }, call))
  const tell = () => {
    const sorted = Float64Array.from(times.get(phase) ?? []).sort()
    const ms = (share: number) => `${quantile(sorted, share).toFixed(1)} ms`
    say(
      `${phase}: ${sorted.length} calls, half within ${ms(0.5)}, 99 % within ${ms(0.99)}, the slowest ${ms(1)}`,
    )
  }
  return {
    async until(name: string, end: Promise<void>) {
      phase = name
      await end
      tell()
    },
    during(name: string, ms: number) {
      return this.until(name, new Promise((passed) => setTimeout(passed, ms)))
    },
    async stop() {
      going = false
      await all
      return { recorded, failed }
    },
  }
}

const move = (pool: Pool, moves: ReturnType<typeof evenly>): Promise<number> =>
  moveBuckets(pool, moves, { stopping: new AbortController().signal, progress: nothing, waiting: nothing })

async function postgresIn(name: string): Promise<Postgres> {
  const folder = await scratchFolder(`cells-${name}`)
  return startPostgres(join(folder, 'data'))
}

async function withPool(url: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = openPool(
    { connectionString: url },
    { max: 4, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  await work(pool).finally(() => pool.end())
}

await runScript(async () => {
  const warning = busyWarning()
  const [first = '', ...rest] = process.argv.slice(2)
  const { TOLLGATE_TEST_CITUS_URL: coordinator } = process.env
  if (first === 'split') await split(Number(rest[0] ?? 1_000_000))
  else if (first === 'citus') {
    if (!coordinator) throw new Error('TOLLGATE_TEST_CITUS_URL names a database of the coordinator')
    const [users = 4_000, rounds = 5, seconds = 3] = rest.map(Number)
    await onWorker(coordinator, users, rounds, seconds)
  } else if (first === 'lists') {
    if (!coordinator) throw new Error('TOLLGATE_TEST_CITUS_URL names a database of the coordinator')
    const [users = 100_000, rounds = 9] = rest.map(Number)
    await lists(coordinator, users, rounds)
  } else {
    const [rounds = 5, seconds = 3] = rest.map(Number)
    const sizes = (rest[2] ?? '1,4,16,64').split(',').map(Number)
    await dilution(Number(first || 100_000), rounds, seconds, sizes)
  }
  if (warning) say(`Warning: ${warning}.`)
})
