import { setTimeout as sleep } from 'node:timers/promises'
import { createUsers } from '../../server/test/harness/catalogue.ts'
import { furnish, named } from '../harness/app.ts'
import { ALLOWANCE_MS, Caller, type Outcome } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { startNode } from '../harness/node.ts'
import { proxyIn } from '../harness/proxy.ts'
import { waitForReadiness } from '../harness/readiness.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

/** How long locks of a lost node may delay calls on a healthy one. */
const HELD_UP_MS = 6_000
const COMMIT = Buffer.from('commit\0')

const SUBSCRIBE =
  'mutation ($id: String!, $plan: String!) { subscribe(userId: $id, packageIds: [$plan]) { id } }'
const RECORDS = 'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }'
const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'

export const lostNode: Scenario = {
  name: 'lost-node',
  what: 'one of two nodes goes silent just before a commit while it holds locks on a user or on counters; the other node must keep serving its users',
  weight: 8,
  full: { 'nodes lost': 30 },
  faults: ['blocked', 'unanswered', 'no recovery'],
  breakage: {
    what: 'a transaction may stay idle for ten minutes',
    sources: [
      {
        file: 'domain/limits.ts',
        find: 'IDLE_IN_TRANSACTION_MS = 4_000',
        replace: 'IDLE_IN_TRANSACTION_MS = 600_000',
      },
    ],
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const proxy = await proxyIn(trial, { path: cluster.socket })
    const healthy = await startNode(trial, { DATABASE_URL: databaseUrl })
    const users = named('u', 8)
    const { admin } = await furnish(healthy, users)
    const lost = await startNode(trial, {
      DATABASE_URL: `postgresql://tollgate@127.0.0.1:${proxy.port}/tollgate`,
    })
    const caller = new Caller(trial)

    for (let round = 1; trial.goesOn('nodes lost', 2); round++) {
      const user = `lost ${round}`
      await createUsers(admin, [user])
      const silent = new Promise<void>((resolve) => {
        proxy.watch = (piece, side) => {
          if (side !== 'request' || !piece.includes(COMMIT)) return
          proxy.watch = () => {}
          proxy.trouble = 'swallow'
          resolve()
        }
      })
      const subscribes = round % 2 === 1
      const doomed = subscribes
        ? caller.ask(lost.url, SUBSCRIBE, { id: user, plan: 'plan' })
        : caller.ask(
            lost.url,
            RECORDS,
            { inputs: users.map((userId) => ({ userId, featureId: 'call', delta: 1 })) },
            { 'Idempotency-Key': user },
          )
      await Promise.race([silent, doomed])
      trial.count('nodes lost')

      const calls = subscribes
        ? [held(trial, caller.ask(healthy.url, SUBSCRIBE, { id: user, plan: 'other' }))]
        : users.map((userId) =>
            held(trial, caller.ask(healthy.url, RECORD, { input: { userId, featureId: 'call', delta: 1 } })),
          )
      await Promise.all(calls)
      await doomed
      proxy.trouble = 'none'
      if ((await waitForReadiness(lost.url, 200, 5_000 + ALLOWANCE_MS)) === null)
        trial.fault('no recovery', 'the lost node was not ready within 5 s of the return of its network')
      await sleep(100)
    }
  },
}

async function held(trial: Trial, call: Promise<Outcome>): Promise<void> {
  const began = performance.now()
  const outcome = await call
  const took = performance.now() - began
  trial.count('calls')
  trial.recovered(took)
  if (took > HELD_UP_MS || !outcome?.data || outcome.errors)
    trial.fault('blocked', `${took.toFixed(0)} ms on the healthy node: ${JSON.stringify(outcome)}`)
}
