import { join } from 'node:path'
import { pino } from 'pino'
import { openPool, type Pool } from '../server/src/store/connection/database.ts'
import { openPartition, preparePartitions } from '../server/src/store/ledger/ledger-partitions.ts'
import { runScript, scratchFolder } from './cleanup.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { startPostgres } from './postgres.ts'
import { progressBar, say } from './progress.ts'
import { RECORD } from './requests.ts'
import { compare, interleave } from './rounds.ts'
import { APP, type Database, FEATURE, seededDatabase } from './seed.ts'
import { startServer } from './server.ts'

// What a large ledger costs recordUsage: `npm run build && npx tsx bench/ledger-growth.ts [millions] [rounds] [seconds]
// [folder]` measures it in turn on a ledger of a million entries and on one of many, in ten partitions. Not a pair: filling it
// takes long. A folder that is given is kept, and used again.

const USERS = 20_000
const SMALL = 1
const PARTITIONS = 10
const CHUNK = 500_000
const CONNECTIONS = 64

async function main(millions: number, rounds: number, seconds: number, kept?: string): Promise<void> {
  const warning = busyWarning()
  const folder = kept ?? (await scratchFolder('ledger'))
  const postgres = await startPostgres(join(folder, 'data'))
  const load = await findLoadGenerator()
  const sides: Record<string, () => ReturnType<typeof load.run>> = {}
  for (const size of [SMALL, millions]) {
    const database = await seededDatabase(postgres, USERS, { name: `ledger_${size}` })
    await fill(database, size * 1_000_000)
    const { url } = await startServer(database.url)
    const run = (duration: number) =>
      load.run({
        url: `${url}/graphql`,
        request: RECORD,
        upTo: USERS,
        connections: CONNECTIONS,
        seconds: duration,
      })
    await run(seconds)
    sides[`${size} million`] = () => run(seconds)
  }
  const results = await interleave(rounds, sides, (round, side, { perSecond, p50, p99 }) =>
    say(`  ${round} ${side}: ${Math.round(perSecond)}/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`),
  )
  const of = (size: number) => results[`${size} million`] ?? []
  for (const what of ['p99', 'p50', 'perSecond'] as const) {
    const { a, b, ratio, range } = compare(
      of(millions).map((r) => r[what]),
      of(SMALL).map((r) => r[what]),
    )
    const [low, high] = range.map((value) => value.toFixed(2))
    say(
      `${what} at ${millions} million ÷ at ${SMALL}: ${a.toFixed(2)} ÷ ${b.toFixed(2)} = ${ratio.toFixed(2)} (${low} to ${high})`,
    )
  }
  if (warning) say(`Warning: ${warning}.`)
}

/** Entries in no order of users, in all partitions alike; the last one is the current one. */
async function fill({ url }: Database, entries: number): Promise<void> {
  const pool = openPool(
    { connectionString: url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  const partitionAt = (done: number) => Math.floor((done * PARTITIONS) / entries)
  const bar = progressBar(`  ${entries.toLocaleString('en')} entries`, entries)
  for (let done = await filled(pool), partition = partitionAt(done); done < entries; ) {
    const count = Math.min(CHUNK, entries / PARTITIONS, entries - done)
    await pool.query(
      `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
       select $1, (i * 7919::bigint) % $2 + 1, $3, 'MONTH', now(), 'ADD', 1, 1, now() from generate_series($4::bigint, $5::bigint) i`,
      [APP, USERS, FEATURE, done + 1, done + count],
    )
    done += count
    bar(done)
    if (partition < partitionAt(done) && done < entries) {
      await preparePartitions(pool)
      if ((await openPartition(pool, 0)) === null) throw new Error('no partition was opened')
      partition++
    }
    await pool.query(`comment on table usage_ledger is '${done}'`)
  }
  await preparePartitions(pool)
  say('  vacuum, analyze, checkpoint')
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
  await pool.end()
}

/** How many entries an earlier run has left. */
async function filled(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ done: number }>(
    `select coalesce(obj_description('usage_ledger'::regclass), '0')::bigint as done`,
  )
  return rows[0]?.done ?? 0
}

await runScript(async () => {
  const [millions = 20, rounds = 5, seconds = 5] = process.argv.slice(2, 5).map(Number)
  await main(millions, rounds, seconds, process.argv[5])
})
