import { breakDatabase, furnish, named } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkBooks } from '../harness/ledger.ts'
import { type ServiceNode, serviceOf, startNode } from '../harness/node.ts'
import { buildPrevious, previousCommit } from '../harness/previous-version.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 8

export const rolling: Scenario = {
  name: 'rolling',
  what: 'two nodes of the previous version on one database are replaced by this version one at a time, with SIGTERM and under load; calls interrupted by a restart are retried on the other node',
  weight: 8,
  full: { restarts: 20 },
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
    what: 'the new version renames a column that the old one uses',
    sql: 'alter table users rename column email to address',
  },

  async unavailable(previous) {
    return (await previousCommit(previous)) ? null : 'the history here has no previous version from 0.1.0 on'
  },

  async run(trial: Trial) {
    const commit = (await previousCommit(trial.previous)) ?? ''
    const previous = await buildPrevious(trial, commit)
    trial.note(`the previous version is ${commit}`)
    const cluster = await Cluster.make(trial)
    for (let round = 1; trial.goesOn('restarts', 2); round++) {
      const databaseUrl = await cluster.createDatabase(`round_${round}`)
      await roll(trial, databaseUrl, previous)
    }
  },
}

async function roll(trial: Trial, databaseUrl: string, previous: string): Promise<void> {
  const env = { DATABASE_URL: databaseUrl }
  const nodes = [await startNode(trial, env, previous), await startNode(trial, env, previous)] as const
  const users = named('u', WORKERS)
  await furnish(nodes[0], users)
  let restarting: ServiceNode | null = null
  let turn = 0
  const writers = new Writers(trial, {
    url: () => nodes[turn++ % 2 === 0 ? 0 : 1].url,
    users,
    workers: WORKERS,
    failed(url, outcome) {
      if (url === restarting?.url) trial.count('retried calls')
      else trial.fault('failed', `a node that was not restarted: ${JSON.stringify(outcome)}`)
    },
  })
  await writers.reach(100)
  const current = await serviceOf(trial)
  for (const node of nodes) {
    restarting = node
    const began = performance.now()
    await node.kill('SIGTERM')
    await node.start(current)
    trial.recovered(performance.now() - began)
    await writers.reach(WORKERS)
    restarting = null
    trial.count('restarts')
    if (node === nodes[0]) await breakDatabase(trial, databaseUrl)
    await writers.reach(100, 20_000)
    if (trial.breakage && trial.red) break
  }
  await writers.finish()
  await checkBooks(trial, databaseUrl, writers)
  for (const node of nodes) await node.kill('SIGTERM')
}
