import { withClient } from '../../bench/postgres.ts'
import { type Recorded, type Step, serialOrder } from '../../server/test/harness/serial-order.ts'
import { WRITE_WITHOUT_CONFIRMING } from '../breakages.ts'
import { furnish, named } from '../harness/app.ts'
import { Caller } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkCounters } from '../harness/ledger.ts'
import { startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

/** Calls of one history: enough to overlap in every way, and few enough to search for their order. */
const HISTORY = 100
const CLIENTS = 6
const LIMITS = [20, 60, 200]

type Ask = { limit: number } | { delta: number }
/** Null: the limit was set. */
type Answer = { granted: boolean; used: number } | null

/** The rule of a counter whose limit changes. The state is the limit and what is used. */
const rule: Step<string, Ask, Answer> = (state, ask, answer) => {
  const [limit = 0, used = 0] = state.split(' ').map(Number)
  if ('limit' in ask) return { after: `${ask.limit} ${used}`, idle: ask.limit === limit }
  const after = used + ask.delta
  const fits = after >= 0 && (ask.delta < 0 || after <= limit)
  if (answer?.granted !== fits || answer.used !== (fits ? after : used)) return null
  return { after: `${limit} ${answer.used}`, idle: !fits }
}

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used } } }`
const OVERRIDE = 'mutation ($input: OverrideInput!) { setOverride(input: $input) { featureId } }'

export const changingLimits: Scenario = {
  name: 'limits',
  what: 'two nodes on one database, both of which remember the counters they move: records of one counter while its limit is raised and lowered; some serial order of the 100 calls of a history must explain every answer',
  weight: 4,
  full: { calls: 12_000 },
  faults: ['not serializable', 'counter mismatch', 'unanswered', 'unexpected error'],
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
  const calls: Recorded<Ask, Answer>[] = []
  let next = 0
  const client = async (url: string) => {
    while (next < HISTORY) {
      next++
      const asked = someAsk(trial)
      const begun = performance.now()
      const answer = await ask(trial, caller, url, user, asked)
      if (answer !== 'failed') calls.push({ asked, answer, begun, ended: performance.now() })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(urls[i % urls.length] ?? '')))
  trial.count('calls', calls.length)
  trial.count('histories')
  if (serialOrder(calls, `${LIMITS[0]} 0`, rule) === null)
    trial.fault('not serializable', `no order of the ${calls.length} calls on ${user} explains their answers`)
}

function someAsk({ random }: Trial): Ask {
  const choice = random.int(0, 9)
  if (choice < 1) return { limit: LIMITS[random.int(0, LIMITS.length - 1)] ?? 0 }
  return { delta: choice < 4 ? -random.int(1, 30) : random.int(1, 20) }
}

async function ask(
  trial: Trial,
  caller: Caller,
  url: string,
  user: string,
  asked: Ask,
): Promise<Answer | 'failed'> {
  const answer =
    'limit' in asked
      ? await caller.ask(url, OVERRIDE, { input: overrideOf(user, asked.limit) })
      : await caller.ask(url, RECORD, { input: { userId: user, featureId: 'scarce', ...asked } })
  const { setOverride, recordUsage: recorded } = answer?.data ?? {}
  if (setOverride) return null
  if (recorded) return { granted: recorded.recorded, used: recorded.consumption.used }
  trial.fault('unexpected error', JSON.stringify(answer))
  return 'failed'
}
