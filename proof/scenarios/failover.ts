import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import { publishPackage } from '../../server/test/harness/catalogue.ts'
import type { NetworkProxy } from '../../server/test/harness/network-proxy.ts'
import { type App, furnish, named } from '../harness/app.ts'
import { Caller, codeOf, isPassing, type Outcome } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkCounters, countedEvents } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { proxyIn } from '../harness/proxy.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 8
/** From the moment connections go to the new primary. */
const RECOVERY_MS = 15_000
const CHECK = '{ canUseFeature(userId: "u1", featureId: "metered") { consumption { budget } } }'

type Mode = 'synchronous' | 'asynchronous'

interface Stage {
  trial: Trial
  nodes: readonly ServiceNode[]
  app: App
  caller: Caller
  /** between the nodes and whichever PostgreSQL is the primary */
  lead: NetworkProxy
  primary: Cluster
}

export const failover: Scenario = {
  name: 'failover',
  what: 'two nodes behind a switch that routes to the primary; the primary is killed under load and its standby promoted, alternately a synchronous one and an asynchronous one that lags',
  weight: 14,
  full: { failovers: 40 },
  faults: [
    'lost',
    'counted twice',
    'counter mismatch',
    'over budget',
    'stale',
    'unanswered',
    'unexpected error',
    'no recovery',
  ],
  breakage: {
    what: 'the cache is also used for earlier versions of an app',
    sources: [
      {
        file: 'store/apps/app-cache.ts',
        find: 'return app?.version === version ? app : null',
        replace: 'return app && app.version >= version ? app : null',
      },
    ],
  },

  async run(trial: Trial) {
    const primary = await Cluster.make(trial)
    await primary.createDatabase()
    const lead = await proxyIn(trial, { path: primary.socket })
    const DATABASE_URL = `postgresql://tollgate@127.0.0.1:${lead.port}/tollgate`
    const nodes = [await startNode(trial, { DATABASE_URL }), await startNode(trial, { DATABASE_URL })]
    const app = await furnish(nodes[0] as ServiceNode, [])
    await publishPackage(app, 'metered', { metered: { limit: 10 }, call: { resetPeriod: 'NEVER' } })
    for (const id of named('u', WORKERS)) {
      await app.admin.data(
        `mutation ($id: String!) { createUser(input: { id: $id }) { id } subscribe(userId: $id, packageIds: ["metered"]) { id } }`,
        { id },
      )
    }
    const stage: Stage = { trial, nodes, app, caller: new Caller(trial), lead, primary }
    let first = 0
    for (let round = 0; trial.goesOn('failovers', 2); round++) {
      const mode: Mode = round % 2 === 0 ? 'asynchronous' : 'synchronous'
      first = await failOver(stage, mode, first)
      trial.count('failovers')
      trial.count(mode)
    }
    await withClient(stage.primary.url(), (client) => checkCounters(trial, client))
  },
}

/** One whole failover; returns the number after that of the last event. */
async function failOver(stage: Stage, mode: Mode, first: number): Promise<number> {
  const { trial, nodes, lead } = stage
  const old = stage.primary
  const replication = await proxyIn(trial, { path: old.socket })
  const standby = await follow(old, trial, replication.port, mode)
  const key = await freshKey(stage)
  const url = (worker: number) => (nodes[worker % nodes.length] as ServiceNode).url
  const users = named('u', WORKERS)
  const writers = new Writers(trial, { url, users, workers: WORKERS, first, eventsOnly: true })
  await writers.reach(trial.random.int(WORKERS, 100))

  if (mode === 'asynchronous') {
    // What is committed from here on never gets to the standby: changes of the catalogue among it, which every node
    // has seen.
    await caughtUp(old)
    replication.trouble = 'swallow'
    for (let more = 1; more <= 3; more++) await changeLimit(stage, 90 + more)
    await budgets(stage)
    await writers.reach(WORKERS)
  }
  const began = performance.now()
  await old.kill()
  await standby.promote()
  stage.primary = standby
  lead.lead({ path: standby.socket })
  if (await writers.reach(1, RECOVERY_MS)) trial.recovered(performance.now() - began)
  else trial.fault('no recovery', `no call succeeded within ${RECOVERY_MS} ms of a failover`)
  await checkStale(stage, key)
  const next = await writers.finish()
  await checkEvents(stage, mode, writers, first)
  return next
}

/** Has a copy follow the primary, which is down for a moment meanwhile. */
async function follow(primary: Cluster, trial: Trial, port: number, mode: Mode): Promise<Cluster> {
  await primary.stop()
  const standby = await primary.standby(trial, { host: '127.0.0.1', port })
  await primary.start()
  await standby.start()
  const state = mode === 'synchronous' ? 'sync' : 'async'
  if (mode === 'synchronous') {
    await primary.sql(`alter system set synchronous_standby_names = 'standby'`, 'postgres')
    await primary.sql('select pg_reload_conf()', 'postgres')
  }
  for (let tries = 0; ; tries++) {
    const rows = await primary.sql('select state, sync_state from pg_stat_replication', 'postgres')
    if (rows.some((row) => row.state === 'streaming' && row.sync_state === state)) return standby
    if (tries === 600) throw new Error(`the standby does not follow: ${JSON.stringify(rows)}`)
    await sleep(50)
  }
}

async function caughtUp(primary: Cluster): Promise<void> {
  const [row] = await primary.sql('select pg_current_wal_lsn() as here', 'postgres')
  for (;;) {
    const rows = await primary.sql(
      `select from pg_stat_replication where replay_lsn >= '${row?.here}'`,
      'postgres',
    )
    if (rows.length > 0) return
    await sleep(20)
  }
}

/** A key that every node has accepted. */
async function freshKey({ trial, app, nodes, caller }: Stage): Promise<{ id: string; secret: string }> {
  for (;;) {
    const made = await app.dashboard
      .ask('mutation { createApiKey(appId: "default", name: "failover") { id secret } }')
      .catch(() => null)
    const key = made?.data?.createApiKey
    if (key) {
      for (const { url } of nodes)
        await insist(trial, () => caller.ask(url, CHECK, {}, { Authorization: key.secret }))
      return key
    }
    await sleep(200)
  }
}

async function changeLimit({ trial, app }: Stage, limit: number): Promise<void> {
  await insist(trial, () =>
    app.dashboard
      .ask(
        `mutation ($features: [EditPackageFeatureInput!]!) {
          editPackage(appId: "default", id: "metered", input: { features: $features }) { id }
          publishPackage(appId: "default", id: "metered") { id }
        }`,
        {
          features: [
            { id: 'metered', entitlement: { limit } },
            { id: 'call', entitlement: { resetPeriod: 'NEVER' } },
          ],
        },
      )
      .catch(() => null),
  )
}

/** The limit according to each node. */
function budgets({ trial, nodes, caller }: Stage): Promise<number[]> {
  return Promise.all(
    nodes.map(async ({ url }) => {
      const answer = await insist(trial, () => caller.ask(url, CHECK, {}))
      return answer?.data?.canUseFeature.consumption.budget
    }),
  )
}

/** No limit that is not in the database, no key that it has revoked. */
async function checkStale(stage: Stage, key: { id: string; secret: string }): Promise<void> {
  const { trial, app, nodes, caller, primary } = stage
  const held = await primary.sql(
    `select "limit"::int as held from package_feature where package_id = 'metered' and feature_id = 'metered'`,
  )
  for (const budget of await budgets(stage)) {
    trial.count('calls')
    if (budget !== held[0]?.held)
      trial.fault('stale', `a limit of ${budget} was served where the database holds ${held[0]?.held}`)
  }
  await insist(trial, () =>
    app.dashboard
      .ask('mutation ($id: String!) { revokeApiKey(appId: "default", id: $id) { id } }', { id: key.id })
      .catch(() => null),
  )
  for (const { url } of nodes) {
    const answer = await insist(trial, () => caller.ask(url, CHECK, {}, { Authorization: key.secret }))
    trial.count('calls')
    if (codeOf(answer) !== 'UNAUTHENTICATED')
      trial.fault('stale', `a revoked key was let in after a failover: ${JSON.stringify(answer)}`)
  }
}

async function checkEvents({ trial, primary }: Stage, mode: Mode, { recorded }: Writers, first: number) {
  const counted = await withClient(primary.url(), (client) => countedEvents(trial, client))
  const lost = recorded.filter(({ number }) => number > first && !counted.has(number))
  if (mode === 'asynchronous') trial.count('acknowledged and lost with an asynchronous standby', lost.length)
  else trial.fault('lost', `event ${lost[0]?.number} is not on the new primary`, lost.length)
}

/** Asks until there is a final answer. */
async function insist(trial: Trial, ask: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 0; tries < 100; tries++) {
    const outcome = await ask()
    if (!isPassing(outcome) && codeOf(outcome) !== 'INTERNAL_SERVER_ERROR') return outcome
    await sleep(100)
  }
  trial.fault('no recovery', 'a call was put off a hundred times')
  return null
}
