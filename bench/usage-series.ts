import { join } from 'node:path'
import { pino } from 'pino'
import { rollUpUsage } from '../server/src/operations/upkeep/roll-up-usage.ts'
import { openPool, type Pool } from '../server/src/store/connection/database.ts'
import { runScript, scratchFolder } from './cleanup.ts'
import { busyWarning } from './machine.ts'
import { startPostgres } from './postgres.ts'
import { progressBar, say } from './progress.ts'
import { median, quantile } from './rounds.ts'
import { APP, FEATURE, seededDatabase, userId } from './seed.ts'
import { startServer } from './server.ts'

// How long a year of days takes: `npm run build && npx tsx bench/usage-series.ts [users] [entries per user] [folder]`, by default
// 1,000,000 users with 5 entries each, spread over the year. First all entries are summed up by hour, as after an upgrade; then the
// year is asked for while entries are added. Not a pair: filling it takes long. A folder that is given is kept.

const CHUNK = 500_000
const CALLS = 50

async function main(users: number, each: number, kept?: string): Promise<void> {
  const warning = busyWarning()
  const folder = kept ?? (await scratchFolder('series'))
  const postgres = await startPostgres(join(folder, 'data'))
  const database = await seededDatabase(postgres, users, { name: `series_${users}` })
  const pool = openPool(
    { connectionString: database.url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  await fill(pool, users, each)
  const began = performance.now()
  await rollUpUsage(pool, new AbortController().signal)
  say(
    `  summing up ${(users * each).toLocaleString('en')} entries by hour: ${seconds(performance.now() - began)}`,
  )
  await pool.query('vacuum analyze usage_ledger, usage_hour')

  const { url, admin, stop } = await startServer(database.url)
  const ask = async (user: string | null) => {
    const { usageSeries } = await admin.data(
      `query ($featureId: String!, $userId: String, $from: String!, $to: String!) {
        usageSeries(featureId: $featureId, userId: $userId, from: $from, to: $to, bucket: DAY) { total points { at used } }
      }`,
      {
        featureId: FEATURE,
        userId: user,
        from: new Date(Date.now() - 365 * 86_400_000).toISOString(),
        to: new Date(Date.now() + 86_400_000).toISOString(),
      },
    )
    return usageSeries
  }
  const record = (n: number) =>
    admin.data('mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }', {
      input: { userId: userId(n), featureId: FEATURE, delta: 1 },
    })
  const before = (await ask(null)).total
  for (const [what, call] of [
    ['all users', () => ask(null)],
    ['one user', (i: number) => ask(userId(1 + ((i * 7_919) % users)))],
  ] as const) {
    const times: number[] = []
    for (let i = 0; i < CALLS; i++) {
      // With entries that are not summed up yet.
      await record(1 + i)
      const start = performance.now()
      await call(i)
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    say(
      `  a year of days, ${what}: median ${median(times).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`,
    )
  }
  const after = (await ask(null)).total
  if (after !== before + 2 * CALLS)
    throw new Error(`${2 * CALLS} more were recorded: ${before}, then ${after}`)
  say(`  ${url}: the total is exact: ${after.toLocaleString('en')}`)
  await stop()
  await pool.end()
  if (warning) say(`Warning: ${warning}.`)
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

async function fill(pool: Pool, users: number, each: number): Promise<void> {
  const { rows } = await pool.query<{ done: number }>(
    `select coalesce(obj_description('usage_ledger'::regclass), '0')::bigint as done`,
  )
  const entries = users * each
  const bar = progressBar(`  ${entries.toLocaleString('en')} entries`, entries)
  for (let done = rows[0]?.done ?? 0; done < entries; ) {
    const count = Math.min(CHUNK, entries - done)
    await pool.query(
      `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
       select $1, (i * 7919::bigint) % $2 + 1, $3, 'MONTH', now(), 'ADD', 1, 1, now() - (1 - i::float8 / $6) * interval '364 days'
       from generate_series($4::bigint, $5::bigint) i`,
      [APP, users, FEATURE, done + 1, done + count, entries],
    )
    done += count
    bar(done)
    await pool.query(`comment on table usage_ledger is '${done}'`)
  }
}

await runScript(async () => {
  const [users = 1_000_000, each = 5] = process.argv.slice(2, 4).map(Number)
  await main(users, each, process.argv[4])
})
