import { withClient } from '../../bench/postgres.ts'
import { type Recorded, type Step, serialOrder } from '../../server/test/harness/serial-order.ts'
import { WRITE_WITHOUT_COMPARING } from '../breakages.ts'
import { breakDatabase, furnish, named, SCARCE_LIMIT } from '../harness/app.ts'
import { Caller } from '../harness/caller.ts'
import { CELLS, keepMoving, spreadOverCells } from '../harness/cells.ts'
import { Cluster } from '../harness/cluster.ts'
import { checkBasePlans, checkCounters } from '../harness/ledger.ts'
import { startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

/** Calls of one history: enough to overlap in every way, and few enough to search for their order. */
const HISTORY = 200
const CLIENTS = 16

type Ask = { check: number } | { action: 'ADD' | 'SET'; delta: number }
interface Answer {
  granted: boolean
  used: number
}

/** The rule of a counter, as the spec has it. */
const rule: Step<number, Ask, Answer> = (used, ask, answer) => {
  const told = answer.used
  if ('check' in ask) {
    const fits = used + ask.check <= SCARCE_LIMIT
    return told === used && answer.granted === fits ? { after: used, idle: true } : null
  }
  const after = ask.action === 'SET' ? ask.delta : used + ask.delta
  const fits = ask.action === 'SET' ? ask.delta >= 0 : after >= 0 && (ask.delta < 0 || after <= SCARCE_LIMIT)
  if (answer.granted !== fits) return null
  return told === (fits ? after : used) ? { after: told, idle: !fits } : null
}

const CHECK = `query ($user: String!, $delta: Int) {
  canUseFeature(userId: $user, featureId: "scarce", delta: $delta) { access consumption { used } } }`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used } } }`
const SUBSCRIBE =
  'mutation ($user: String!, $plan: String!) { subscribe(userId: $user, packageIds: [$plan]) { id } }'

const WHAT =
  'two nodes on one database: concurrent checks, records, reverts and SETs of one counter, and concurrent subscriptions to two base plans; some serial order of the 200 calls of a history must explain every answer'
const FAULTS = [
  'not serializable',
  'counter mismatch',
  'over budget',
  'second base plan',
  'lost',
  'unanswered',
  'unexpected error',
]

export const races: Scenario = {
  name: 'races',
  what: WHAT,
  weight: 8,
  full: { calls: 36_000 },
  faults: FAULTS,
  breakage: WRITE_WITHOUT_COMPARING,
  run: (trial) => racing(trial, false),
}

export const racesInCells: Scenario = {
  name: 'races-cells',
  what: `users in ${CELLS} cells that are constantly moved between them; ${WHAT}`,
  weight: 4,
  full: { calls: 12_000 },
  faults: FAULTS,
  breakage: WRITE_WITHOUT_COMPARING,
  run: (trial) => racing(trial, true),
}

async function racing(trial: Trial, inCells: boolean): Promise<void> {
  const cluster = await Cluster.make(trial)
  const databaseUrl = await cluster.createDatabase()
  const nodes = [
    await startNode(trial, { DATABASE_URL: databaseUrl }),
    await startNode(trial, { DATABASE_URL: databaseUrl }),
  ] as const
  await furnish(nodes[0], [])
  if (inCells) await spreadOverCells(databaseUrl)
  await breakDatabase(trial, databaseUrl)
  const caller = new Caller(trial)
  const subscribed = new Map<string, string[]>()

  for (let round = 1; trial.goesOn('calls'); round++) {
    const users = named(`round ${round} user `, 4)
    for (const user of users) {
      await nodes[0].admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', {
        id: user,
      })
      const answers = await Promise.all(
        ['plan', 'other'].map((plan, i) => caller.ask((nodes[i] ?? nodes[0]).url, SUBSCRIBE, { user, plan })),
      )
      trial.count('calls', 2)
      subscribed.set(
        user,
        answers.flatMap((answer) => answer?.data?.subscribe?.map((one: { id: string }) => one.id) ?? []),
      )
    }
    const moving = inCells ? keepMoving(trial, async () => databaseUrl, users) : null
    await Promise.all(
      users.map((user) =>
        history(
          trial,
          caller,
          user,
          nodes.map(({ url }) => url),
        ),
      ),
    )
    await moving?.stop()
  }
  await withClient(databaseUrl, async (client) => {
    await checkCounters(trial, client)
    await checkBasePlans(trial, client, subscribed)
  })
}

async function history(trial: Trial, caller: Caller, user: string, urls: readonly string[]): Promise<void> {
  const calls: Recorded<Ask, Answer>[] = []
  let next = 0
  const client = async (url: string) => {
    while (next < HISTORY) {
      next++
      const asked = someAsk(trial)
      const begun = performance.now()
      const answer = await ask(trial, caller, url, user, asked)
      if (answer) calls.push({ asked, answer, begun, ended: performance.now() })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(urls[i % urls.length] ?? '')))
  trial.count('calls', calls.length)
  trial.count('histories')
  for (const { asked, answer } of calls) {
    // Only a SET may exceed the budget, and none here does.
    if ('action' in asked && answer.granted && answer.used > SCARCE_LIMIT)
      trial.fault('over budget', `${user} was told of ${answer.used} of ${SCARCE_LIMIT}`)
  }
  if (serialOrder(calls, 0, rule) === null)
    trial.fault('not serializable', `no order of the ${calls.length} calls on ${user} explains their answers`)
}

/** A mix in which the budget is reached and left again. */
function someAsk({ random }: Trial): Ask {
  const choice = random.int(0, 9)
  if (choice < 3) return { check: random.int(1, 100) }
  if (choice < 4) return { action: 'SET', delta: random.int(0, SCARCE_LIMIT) }
  return { action: 'ADD', delta: choice < 6 ? -random.int(1, 60) : random.int(1, 90) }
}

async function ask(
  trial: Trial,
  caller: Caller,
  url: string,
  user: string,
  asked: Ask,
): Promise<Answer | null> {
  const answer =
    'check' in asked
      ? await caller.ask(url, CHECK, { user, delta: asked.check })
      : await caller.ask(url, RECORD, { input: { userId: user, featureId: 'scarce', ...asked } })
  const { canUseFeature: access, recordUsage: recorded } = answer?.data ?? {}
  if (access) return { granted: access.access, used: access.consumption.used }
  if (recorded) return { granted: recorded.recorded, used: recorded.consumption.used }
  trial.fault('unexpected error', JSON.stringify(answer))
  return null
}
