import { withClient } from '../../bench/postgres.ts'
import type { Recorded } from '../../server/test/harness/serial-order.ts'
import { WRITE_WITHOUT_CONFIRMING } from '../breakages.ts'
import { furnish, named } from '../harness/app.ts'
import { Caller } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkCounters } from '../harness/ledger.ts'
import { startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const HISTORY = 100
const LIMITS = [20, 60, 200]

interface Record {
  delta: number
}
interface Answer {
  granted: boolean
  used: number
}
interface Change {
  limit: number
  begun: number
  ended: number
}

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used } } }`
const OVERRIDE = 'mutation ($input: OverrideInput!) { setOverride(input: $input) { featureId } }'

export const changingLimits: Scenario = {
  name: 'limits',
  what: 'one node records usage of counters that it remembers, while another raises and lowers their limits; every answer must agree with a limit that was in force during the call',
  weight: 4,
  full: { calls: 12_000 },
  faults: ['outdated limit', 'counter mismatch', 'unanswered', 'unexpected error'],
  breakage: WRITE_WITHOUT_CONFIRMING,

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const nodes = [
      await startNode(trial, { DATABASE_URL: databaseUrl }),
      await startNode(trial, { DATABASE_URL: databaseUrl }),
    ] as const
    const app = await furnish(nodes[0], [])
    const caller = new Caller(trial)
    const urls = nodes.map(({ url }) => url)
    for (let round = 1; trial.goesOn('calls'); round++) {
      const users = named(`round ${round} user `, 2)
      for (const id of users) {
        await app.admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id })
        await app.admin.data(OVERRIDE, { input: overrideOf(id, LIMITS[0] ?? 0) })
      }
      await Promise.all(users.map((user) => history(trial, caller, user, urls)))
    }
    await withClient(databaseUrl, (client) => checkCounters(trial, client))
  },
}

const overrideOf = (userId: string, limit: number) => ({
  userId,
  featureId: 'scarce',
  mode: 'REPLACE',
  limit,
  resetPeriod: 'NEVER',
})

async function history(trial: Trial, caller: Caller, user: string, urls: readonly string[]): Promise<void> {
  const records: Recorded<Record, Answer>[] = []
  const changes: Change[] = [{ limit: LIMITS[0] ?? 0, begun: 0, ended: 0 }]
  let next = 0
  // One node moves the counter, so that it decides by what it remembers; the other changes the limit.
  const [recorder = '', changer = ''] = urls
  const client = async () => {
    while (next < HISTORY) {
      next++
      const choice = trial.random.int(0, 9)
      const begun = performance.now()
      if (choice < 2) {
        const limit = LIMITS[trial.random.int(0, LIMITS.length - 1)] ?? 0
        const answer = await caller.ask(changer, OVERRIDE, { input: overrideOf(user, limit) })
        if (answer?.data?.setOverride) changes.push({ limit, begun, ended: performance.now() })
        else trial.fault('unexpected error', JSON.stringify(answer))
      } else {
        const delta = choice < 5 ? -trial.random.int(1, 30) : trial.random.int(1, 20)
        const answer = await caller.ask(recorder, RECORD, {
          input: { userId: user, featureId: 'scarce', delta },
        })
        const recorded = answer?.data?.recordUsage
        if (!recorded) trial.fault('unexpected error', JSON.stringify(answer))
        else {
          const told = { granted: recorded.recorded, used: recorded.consumption.used }
          records.push({ asked: { delta }, answer: told, begun, ended: performance.now() })
        }
      }
    }
  }
  await Promise.all([client(), client()])
  trial.count('calls', records.length + changes.length - 1)
  trial.count('histories')
  for (const call of records.filter(({ asked }) => asked.delta > 0)) {
    const { asked, answer } = call
    const wanted = answer.granted ? answer.used : answer.used + asked.delta
    const limits = limitsDuring(call, changes)
    if (!limits.some((limit) => wanted <= limit === answer.granted))
      trial.fault(
        'outdated limit',
        `${user}: ${wanted} were ${answer.granted ? 'granted' : 'refused'} while the limit was ${limits.join(' or ')}`,
      )
  }
}

/** The limits that were perhaps in force at some moment of a call: none that was replaced before it began. */
function limitsDuring(call: { begun: number; ended: number }, changes: readonly Change[]): number[] {
  const isReplaced = (change: Change) =>
    changes.some((later) => later.begun > change.ended && later.ended < call.begun)
  return changes
    .filter((change) => change.begun < call.ended && !isReplaced(change))
    .map(({ limit }) => limit)
}
