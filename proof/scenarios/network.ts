import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import type { NetworkProxy } from '../../server/test/harness/network-proxy.ts'
import { furnish, named } from '../harness/app.ts'
import { ALLOWANCE_MS, Caller, codeOf } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkBooks } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { proxyIn } from '../harness/proxy.ts'
import { readiness, waitForReadiness } from '../harness/readiness.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const DEADLINE_MS = 3_000
/** For `/readyz` to report a silent database, and for calls to succeed again once it is back. */
const NOTICED_MS = 5_000
/** The longest the service takes to stop, by default. */
const GRACE_MS = 10_000
const WORKERS = 8
const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'
/** Above the numbers of the writers' events. */
const FIRST_PROBE = 1_000_000_000

interface Stage {
  trial: Trial
  node: ServiceNode
  /** between the service and PostgreSQL */
  database: NetworkProxy
  /** between the callers and the service */
  front: NetworkProxy
  writers: Writers
  probes: Probe[]
}

/** A record without a key that is sent once, while nothing gets through to the database. */
interface Probe {
  delta: number
  /** whether the caller was told that it failed before the network came back */
  refused: boolean
}

export const network: Scenario = {
  name: 'network',
  what: 'under load, TCP proxies between callers, service and PostgreSQL reset, delay, truncate or silently drop traffic; the request deadline is 3 s',
  weight: 18,
  full: { disruptions: 100 },
  faults: [
    'unanswered',
    'unexpected error',
    'lost',
    'counted twice',
    'written after refusal',
    'over budget',
    'counter mismatch',
    'second base plan',
    'wrong readiness',
    'no recovery',
    'slow shutdown',
  ],
  breakage: {
    what: 'requests and statements have practically no deadline',
    settings: { TOLLGATE_REQUEST_TIMEOUT_MS: '120000' },
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    await cluster.createDatabase()
    const database = await proxyIn(trial, { path: cluster.socket })
    const node = await startNode(trial, {
      DATABASE_URL: `postgresql://tollgate@127.0.0.1:${database.port}/tollgate`,
      TOLLGATE_REQUEST_TIMEOUT_MS: String(DEADLINE_MS),
    })
    const users = named('u', 8)
    await furnish(node, users)
    const front = await proxyIn(trial, {
      host: '127.0.0.1',
      port: Number(new URL(node.url).port),
    })
    const writers = new Writers(trial, {
      url: () => `http://127.0.0.1:${front.port}`,
      users,
      workers: WORKERS,
      deadline: DEADLINE_MS,
    })
    const stage: Stage = { trial, node, database, front, writers, probes: [] }
    const troubles = [
      swallow,
      () => pass(stage, 'reset'),
      () => pass(stage, 'delay'),
      () => pass(stage, 'truncate'),
      end,
    ]
    for (let round = 0; trial.goesOn('disruptions'); round++) {
      await writers.reach(WORKERS)
      // Each kind once, most important first, and then at random.
      const trouble = troubles[round] ?? trial.random.pick(troubles)
      await trouble(stage)
      trial.count('disruptions')
    }
    await writers.finish()
    await checkBooks(trial, cluster.url(), writers)
    await checkProbes(stage, cluster.url())
  },
}

/** Reset, delayed or cut short, on either side. */
async function pass({ trial, database, front, writers }: Stage, trouble: 'reset' | 'delay' | 'truncate') {
  const proxy = trial.random.pick([database, front])
  proxy.delayMs = trial.random.int(20, 400)
  proxy.truncateAfter = trial.random.int(1, 3_000)
  proxy.trouble = trouble
  await sleep(trial.random.int(300, 1_500))
  proxy.trouble = 'none'
  await back(trial, writers, performance.now())
}

/** Nothing gets through to the database any more, silently. */
async function swallow(stage: Stage): Promise<void> {
  const { trial, node, database, writers } = stage
  const began = performance.now()
  database.trouble = 'swallow'
  trial.count('silent drops')
  const probing = probe(stage, began)
  const noticed = await waitForReadiness(node.url, 503, NOTICED_MS + ALLOWANCE_MS)
  if (noticed === null)
    trial.fault('wrong readiness', `/readyz was not 503 within ${NOTICED_MS} ms of a silent drop`)
  await probing
  await healed(stage, writers)
}

/** Records that are sent while nothing gets through, each of which is refused by its deadline. */
async function probe({ trial, node, database, probes }: Stage, began: number): Promise<void> {
  const caller = new Caller(trial, DEADLINE_MS)
  const sent: Promise<void>[] = []
  while (performance.now() - began < DEADLINE_MS) {
    const one: Probe = { delta: FIRST_PROBE + probes.length, refused: false }
    probes.push(one)
    const input = { userId: `u${1 + (probes.length % 8)}`, featureId: 'call', delta: one.delta }
    sent.push(
      caller.ask(node.url, RECORD, { input }).then((outcome) => {
        one.refused = database.trouble === 'swallow' && codeOf(outcome) === 'UNAVAILABLE'
        trial.count('calls')
        if (!one.refused) trial.fault('unexpected error', `during a silent drop: ${JSON.stringify(outcome)}`)
      }),
    )
    await sleep(100)
  }
  await Promise.all(sent)
}

async function healed({ trial, node, database }: Stage, writers: Writers): Promise<void> {
  const began = performance.now()
  database.trouble = 'none'
  await back(trial, writers, began)
  const ready = await waitForReadiness(node.url, 200, NOTICED_MS + ALLOWANCE_MS)
  if (ready === null)
    trial.fault('wrong readiness', `/readyz was not 200 within ${NOTICED_MS} ms of the network's return`)
}

async function back(trial: Trial, writers: Writers, since: number): Promise<void> {
  if (await writers.reach(1, NOTICED_MS + ALLOWANCE_MS)) trial.recovered(performance.now() - since)
  else trial.fault('no recovery', `no call succeeded within ${NOTICED_MS} ms of the network's return`)
}

/** SIGTERM while the database is silent. */
async function end(stage: Stage): Promise<void> {
  const { trial, node, database, writers } = stage
  database.trouble = 'swallow'
  await sleep(trial.random.int(100, 1_500))
  trial.count('shutdowns')
  const cut = setTimeout(() => void node.kill('SIGKILL'), 3 * GRACE_MS)
  const took = await node.kill('SIGTERM')
  clearTimeout(cut)
  if (took > GRACE_MS + ALLOWANCE_MS) trial.fault('slow shutdown', `SIGTERM took ${took.toFixed(0)} ms`)
  database.trouble = 'none'
  await node.start()
  await healed(stage, writers)
  if ((await readiness(node.url)) !== 200)
    trial.fault('wrong readiness', '/readyz is not 200 after a restart')
}

/** A call reported as failed is not counted later. */
async function checkProbes({ trial, probes }: Stage, databaseUrl: string): Promise<void> {
  const refused = probes.filter((one) => one.refused).map(({ delta }) => delta)
  trial.count('refused during silent drops', refused.length)
  await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ delta: string }>(
      'select delta::text from usage_ledger where delta = any($1::bigint[])',
      [refused],
    )
    trial.fault(
      'written after refusal',
      `${rows[0]?.delta}, which was told UNAVAILABLE, is in the ledger`,
      rows.length,
    )
  })
}
