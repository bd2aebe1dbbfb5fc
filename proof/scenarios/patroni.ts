import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import { publishPackage } from '../../server/test/harness/catalogue.ts'
import { furnish, named } from '../harness/app.ts'
import { checkCounters, countedEvents } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { missingPrograms, PatroniCluster, type PatroniNode } from '../harness/patroni.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 8
/** From the moment the new primary accepts writes. */
const BACK_MS = 5_000
const FAILOVER_MS = 90_000

type Kind = 'killed' | 'frozen' | 'cut off'
const KINDS: readonly Kind[] = ['killed', 'frozen', 'cut off']

export const patroni: Scenario = {
  name: 'patroni',
  what: 'two nodes on a Patroni cluster with synchronous replication, one with all servers in its URL, the other behind HAProxy; under load, the primary is killed, frozen or silently cut off, and rejoins as a standby',
  weight: 30,
  full: { failovers: 20 },
  faults: [
    'lost',
    'counted twice',
    'counter mismatch',
    'over budget',
    'unanswered',
    'unexpected error',
    'no recovery',
    'two primaries',
  ],
  breakage: {
    what: 'the service never checks whether its server is still the primary',
    sources: [{ file: 'store/connection/primary.ts', find: 'this.#doubtful = true', replace: '' }],
  },

  async unavailable() {
    return missingPrograms.length === 0 ? null : `needs ${missingPrograms.join(', ')}`
  },

  async run(trial: Trial) {
    const cluster = await PatroniCluster.make(trial)
    const nodes = [
      await startNode(trial, { DATABASE_URL: cluster.url }),
      await startNode(trial, { DATABASE_URL: cluster.haproxyUrl }),
    ]
    const app = await furnish(nodes[0] as ServiceNode, [])
    await publishPackage(app, 'metered', { metered: { limit: 10 }, call: { resetPeriod: 'NEVER' } })
    for (const id of named('u', WORKERS)) {
      await app.admin.data(
        `mutation ($id: String!) { createUser(input: { id: $id }) { id } subscribe(userId: $id, packageIds: ["metered"]) { id } }`,
        { id },
      )
    }
    let first = 0
    for (let round = 0; trial.goesOn('failovers', KINDS.length); round++) {
      const kind = KINDS[round % KINDS.length] as Kind
      first = await failOver(trial, cluster, nodes, kind, first)
      trial.count('failovers')
      trial.count(kind)
    }
    const { primary } = await cluster.inSync()
    await withClient(urlOf(primary), (client) => checkCounters(trial, client))
  },
}

const urlOf = ({ toPostgres }: PatroniNode) => `postgresql://postgres@127.0.0.1:${toPostgres.port}/tollgate`

/** One whole failover; returns the number of the last event. */
async function failOver(
  trial: Trial,
  cluster: PatroniCluster,
  nodes: readonly ServiceNode[],
  kind: Kind,
  first: number,
): Promise<number> {
  const { primary: old, standby } = await cluster.inSync()
  const users = named('u', WORKERS)
  const writersOf = (node: ServiceNode, from: number, step: number) =>
    new Writers(trial, {
      url: () => node.url,
      users,
      workers: WORKERS / 2,
      first: from + step,
      eventsOnly: true,
    })
  // Each node has events of its own, so that each has to come back by itself.
  const writers = nodes.map((node, i) => writersOf(node, first, i * 1_000_000))
  await Promise.all(writers.map((each) => each.reach(trial.random.int(WORKERS, 100))))

  await strike(old, kind)
  const struck = performance.now()
  while (!(await acceptsWrites(standby))) {
    if (performance.now() - struck > FAILOVER_MS)
      throw new Error(`Patroni does not fail over: ${standby.output()}`)
    await sleep(50)
  }
  const promoted = performance.now()
  trial.count('seconds of Patroni failover', Math.round((promoted - struck) / 1_000))
  await Promise.all(
    writers.map(async (each, i) => {
      const by = i === 0 ? 'with all servers in its URL' : 'behind HAProxy'
      if (await each.reach(1, BACK_MS)) trial.recovered(performance.now() - promoted)
      else
        trial.fault('no recovery', `${by}, ${kind}: no call succeeded within ${BACK_MS} ms of the promotion`)
    }),
  )
  await relieve(old, kind)
  const lasts = await Promise.all(writers.map((each) => each.finish()))
  const { primary } = await cluster.inSync()
  if (primary !== standby) trial.fault('two primaries', `the ${kind} one took over again`)
  const counted = await withClient(urlOf(primary), (client) => countedEvents(trial, client))
  const lost = writers.flatMap(({ recorded }) => recorded).filter(({ number }) => !counted.has(number))
  trial.fault('lost', `event ${lost[0]?.number}, ${kind}, is not on the new primary`, lost.length)
  return Math.max(...lasts)
}

async function strike(node: PatroniNode, kind: Kind): Promise<void> {
  if (kind === 'cut off') node.cutOff()
  else await node.signal(kind === 'killed' ? 'SIGKILL' : 'SIGSTOP')
}

async function relieve(node: PatroniNode, kind: Kind): Promise<void> {
  if (kind === 'killed') node.start()
  else if (kind === 'frozen') await node.signal('SIGCONT')
  else node.reconnect()
}

const acceptsWrites = (node: PatroniNode) =>
  node.sql('select pg_is_in_recovery() as standby').then(
    ([row]) => row?.standby === false,
    () => false,
  )
