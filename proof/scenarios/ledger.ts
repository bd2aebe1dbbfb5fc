import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { withClient } from '../../bench/postgres.ts'
import { start } from '../../bench/processes.ts'
import { openPool, type Pool } from '../../server/src/store/connection/database.ts'
import {
  isPartitioned,
  openPartition,
  preparePartitions,
} from '../../server/src/store/ledger/ledger-partitions.ts'
import { unbalancedCounters } from '../../server/src/store/schema/tables.ts'
import { readArchive } from '../../server/src/tools/backup/ledger-archive.ts'
import { furnish, named } from '../harness/app.ts'
import { buildService, ROOT } from '../harness/build.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkBooks } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { buildPrevious } from '../harness/previous-version.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 8
/** More than a migration converts by itself, so that the service does it while the others write. */
const FILLER = 200_000
/** From 023 on; they came in another order than that of their numbers. */
const WITH_PARTITIONS = 'server/src/store/migrations/02[3-9]*'

export const ledger: Scenario = {
  name: 'ledger',
  what: 'a ledger of 200,000 entries is partitioned by a node of this version while two nodes of the last version without partitions record usage; then `ledger archive` is killed at random moments and restarted until it is done',
  weight: 4,
  full: { conversions: 5, kills: 50 },
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

  async unavailable() {
    return (await lastWithout()) ? null : 'the last version without partitions is not in this repository'
  },

  async run(trial: Trial) {
    const commit = (await lastWithout()) ?? ''
    const old = await buildPrevious(trial, commit)
    const { breakage } = trial
    const tools = await buildService(
      breakage ? 'broken-tools' : 'tools',
      breakage?.sources,
      ROOT,
      'tools/data-tools',
    )
    trial.note(`the last version without partitions is ${commit}`)
    const cluster = await Cluster.make(trial)
    for (let round = 1; trial.goesOn('conversions'); round++) {
      const url = await cluster.createDatabase(`round_${round}`)
      const nodes = await convert(trial, url, old)
      const pool = openPool(
        { connectionString: url },
        { max: 2, statementMs: Number.POSITIVE_INFINITY },
        pino({ level: 'silent' }),
      )
      trial.atEnd(() => (pool.ended ? Promise.resolve() : pool.end()))
      await archive(trial, url, pool, tools)
      await pool.end()
      for (const node of nodes) await node.kill('SIGTERM')
      trial.count('conversions')
    }
  },
}

/** The last commit before these migrations; null if the history does not have it. */
async function lastWithout(): Promise<string | null> {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: ROOT })
  try {
    const { stdout } = await git('log', '--reverse', '--diff-filter=A', '--format=%H', '--', WITH_PARTITIONS)
    const [first] = stdout.split('\n')
    if (!first) return null
    return (await git('rev-parse', '--short', '--verify', `${first}^`)).stdout.trim()
  } catch {
    return null
  }
}

/** Two nodes of the old version record while one of this version starts and partitions the ledger. */
async function convert(trial: Trial, url: string, old: string): Promise<ServiceNode[]> {
  const env = { DATABASE_URL: url }
  const nodes = [await startNode(trial, env, old), await startNode(trial, env, old)]
  const users = named('u', WORKERS)
  await furnish(nodes[0] as ServiceNode, users)
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
  let turn = 0
  const writers = new Writers(trial, {
    url: () => nodes[turn++ % 2]?.url ?? '',
    users,
    workers: WORKERS,
    failed: (_, outcome) => trial.fault('failed', `an old node: ${JSON.stringify(outcome)}`),
  })
  await writers.reach(100)
  const current = await startNode(trial, env)
  const began = performance.now()
  await withClient(url, async (client) => {
    while (!(await isPartitioned(client as unknown as Pool))) {
      if (performance.now() - began > 60_000)
        return trial.fault('no recovery', 'the ledger was not partitioned')
      await sleep(20)
    }
  })
  await writers.reach(200)
  await writers.finish()
  await checkBooks(trial, url, writers)
  return [...nodes, current]
}

/** Everything that is in the ledger before is afterwards in it or in an archive, once. */
async function archive(trial: Trial, url: string, pool: Pool, tools: string): Promise<void> {
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
  const after = await numbers()
  for (const file of await readdir(folder)) {
    // What was being written when the process was killed is under another name.
    if (!file.endsWith('.ndjson.gz')) continue
    await readArchive(join(folder, file), (_, line) => {
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
}

/** How many milliseconds the process took. */
async function lasts({ exited }: ReturnType<typeof start>): Promise<number> {
  const began = performance.now()
  await exited
  return performance.now() - began
}
