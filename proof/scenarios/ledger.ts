import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { withClient } from '../../bench/postgres.ts'
import { start } from '../../bench/processes.ts'
import { openPool, type Pool } from '../../server/src/store/connection/database.ts'
import { openPartition, preparePartitions } from '../../server/src/store/ledger/ledger-partitions.ts'
import { unbalancedCounters } from '../../server/src/store/schema/tables.ts'
import { readArchive } from '../../server/src/tools/backup/ledger-archive.ts'
import { furnish, named } from '../harness/app.ts'
import { buildService, ROOT } from '../harness/build.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkBooks } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 8
/** Enough that archiving takes a while. */
const FILLER = 200_000

export const ledger: Scenario = {
  name: 'ledger',
  what: 'while two nodes record usage, the next partition of a ledger of 200,000 entries is opened, and `ledger archive` is killed with SIGKILL at a random moment and run again until it completes',
  weight: 4,
  full: { archives: 5, kills: 50 },
  faults: [
    'failed',
    'lost',
    'counted twice',
    'over budget',
    'counter mismatch',
    'second base plan',
    'unanswered',
    'unexpected error',
    'no recovery',
  ],
  breakage: {
    what: 'the entries of a retired partition are not deleted',
    sources: [
      {
        file: 'store/ledger/retire-partition.ts',
        find: 'await tx.query(`drop table ',
        replace: 'void (`',
      },
    ],
  },

  async run(trial: Trial) {
    const { breakage } = trial
    const tools = await buildService(
      breakage ? 'broken-tools' : 'tools',
      breakage?.sources,
      ROOT,
      'tools/data-tools',
    )
    const cluster = await Cluster.make(trial)
    for (let round = 1; trial.goesOn('archives'); round++) {
      await archiveUnderLoad(trial, await cluster.createDatabase(`round_${round}`), tools)
      trial.count('archives')
    }
  },
}

async function archiveUnderLoad(trial: Trial, url: string, tools: string): Promise<void> {
  const env = { DATABASE_URL: url }
  const nodes = [await startNode(trial, env), await startNode(trial, env)]
  const users = named('u', WORKERS)
  await furnish(nodes[0] as ServiceNode, users)
  await fill(url)
  let turn = 0
  const writers = new Writers(trial, {
    url: () => nodes[turn++ % 2]?.url ?? '',
    users,
    workers: WORKERS,
    failed: (_, outcome) => trial.fault('failed', JSON.stringify(outcome)),
  })
  await writers.reach(100)
  const pool = openPool(
    { connectionString: url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  trial.atEnd(() => (pool.ended ? Promise.resolve() : pool.end()))
  const archives = await archive(trial, url, pool, tools, async () => {
    await writers.reach(100)
    await writers.finish()
  })
  await checkBooks(trial, url, writers, archives)
  await pool.end()
  for (const node of nodes) await node.kill('SIGTERM')
}

/** Adds entries of users who do nothing, with their counters. */
async function fill(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const columns = 'app_id, user_uid, feature_id, reset_period, period_start'
    await client.query(
      `insert into usage_ledger (${columns}, action, delta, used, recorded_at)
       select 'default', 1000000 + i, 'filler', 'NEVER', '2026-01-01', 'ADD', 1, 1, now() from generate_series(1, $1::int) i`,
      [FILLER],
    )
    await client.query(
      `insert into usage_counter (${columns}, used) select ${columns}, used from usage_ledger where feature_id = 'filler'`,
    )
  })
}

/** Everything that is in the ledger before is afterwards in it or in an archive, once. Returns the archives. */
async function archive(
  trial: Trial,
  url: string,
  pool: Pool,
  tools: string,
  endRecording: () => Promise<void>,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-proof-ledger-'))
  trial.atEnd(() => rm(folder, { recursive: true, force: true }))
  await preparePartitions(pool)
  await openPartition(pool, 0)
  await preparePartitions(pool)
  const numbers = async () =>
    (await pool.query<{ seq: number }>('select seq from usage_ledger')).rows.map(({ seq }) => String(seq))
  const before = new Set(await numbers())
  const args = [tools, 'ledger', 'archive', '--to', folder, '--older-than', '0']
  const whole = await lasts(start(process.execPath, [tools, 'ledger', 'status'], { DATABASE_URL: url }))
  for (let attempt = 1; attempt <= 10; attempt++) {
    const began = performance.now()
    const child = start(process.execPath, args, { DATABASE_URL: url })
    // Later and later, so that each step is met; the last attempts are left alone.
    const killing = attempt < 9 ? new AbortController() : null
    if (killing)
      sleep(whole * (0.5 + trial.random.next() * attempt), undefined, { signal: killing.signal }).then(
        () => child.process.kill('SIGKILL'),
        () => {},
      )
    const code = await child.exited
    killing?.abort()
    if (code === 0) {
      trial.recovered(performance.now() - began)
      break
    }
    if (code === null) trial.count('kills')
    else if (attempt === 10) trial.fault('no recovery', child.output().trim().slice(-300))
  }
  await endRecording()
  const after = await numbers()
  // What was being written when the process was killed is under another name.
  const archives = (await readdir(folder)).filter((file) => file.endsWith('.ndjson.gz'))
  const files = archives.map((file) => join(folder, file))
  for (const file of files) {
    await readArchive(file, (_, line) => {
      after.push(String((JSON.parse(line) as { seq: number }).seq))
    })
  }
  const seen = new Set(after)
  trial.fault('counted twice', 'an entry is in the ledger and in an archive', after.length - seen.size)
  trial.fault(
    'lost',
    'an entry is neither in the ledger nor in an archive',
    [...before].filter((seq) => !seen.has(seq)).length,
  )
  trial.fault(
    'counter mismatch',
    'a counter differs from its entries and sums',
    await unbalancedCounters(pool),
  )
  return files
}

/** How many milliseconds the process took. */
async function lasts({ exited }: ReturnType<typeof start>): Promise<number> {
  const began = performance.now()
  await exited
  return performance.now() - began
}
