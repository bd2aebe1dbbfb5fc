import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { withClient } from '../../bench/postgres.ts'
import { type Received, startReceiver } from '../../server/test/harness/receiver.ts'
import { furnish, named } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const EVENTS_PER_CALL = 50
const CALLS_PER_KILL = 10
const FAILING = 0.3
/** Less than the attempts that a delivery has. */
const MOST_FAILURES = 7
/** Longer than the lease of a killed process. */
const QUIET_MS = 50_000
const ACCELERATE_MS = 500

export const events: Scenario = {
  name: 'events',
  what: 'every recorded call is an event, delivered to a receiver that fails 30 % of its requests while two nodes, one after the other, are killed with SIGKILL and started again; the waits before retries are shortened',
  weight: 8,
  full: { kills: 100, events: 50_000 },
  faults: ['missing', 'id changed', 'sequence not increasing', 'bad signature', 'not delivered'],
  breakage: {
    what: 'deliveries that a killed process has claimed are never due again',
    sources: [
      {
        file: 'store/webhooks/claim-deliveries.ts',
        find: 'due_at = now() + make_interval(secs => $2)',
        replace: 'due_at = now() + make_interval(days => $2)',
      },
    ],
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const url = await cluster.createDatabase()
    const env = {
      DATABASE_URL: url,
      TOLLGATE_MASTER_KEY: Buffer.alloc(32, 'proof').toString('base64'),
      TOLLGATE_WEBHOOK_ALLOW_PRIVATE: 'on',
    }
    const nodes = [await startNode(trial, env), await startNode(trial, env)] as const
    const users = named('u', 25)
    const app = await furnish(nodes[0], users)
    await app.dashboard.data(
      'mutation ($appId: String!) { updateEventSettings(appId: $appId, usageRecorded: true) { usageRecorded } }',
      { appId: app.id },
    )
    const inbox = new Inbox(trial)
    const receiver = await startReceiver((received) => inbox.answer(received))
    trial.atEnd(() => receiver.stop())
    const { createWebhookEndpoint } = await app.admin.data(
      `mutation ($url: String!) {
        createWebhookEndpoint(input: { url: $url, types: ["usage.recorded"] }) { id secret }
      }`,
      { url: receiver.url },
    )
    inbox.secret = createWebhookEndpoint.secret

    let [recorded, calls] = [0, 0]
    while (trial.goesOn('kills', trial.breakage ? 10 : 3)) {
      const victim = trial.random.pick(nodes)
      const killing = sleep(trial.random.int(0, 1_500)).then(() => victim.kill('SIGKILL'))
      for (let i = 0; i < CALLS_PER_KILL; i++) {
        await record(nodes, users, calls++)
        recorded += EVENTS_PER_CALL
      }
      await killing
      await victim.start()
      await shortenWaits(url)
      trial.count('kills')
      trial.count('events', CALLS_PER_KILL * EVENTS_PER_CALL)
    }
    await untilDelivered(inbox, url, recorded)
    inbox.judge(recorded)
  },
}

/** The same call again, with the same keys, until it is answered. */
async function record(nodes: readonly ServiceNode[], users: readonly string[], call: number): Promise<void> {
  const inputs = Array.from({ length: EVENTS_PER_CALL }, (_, i) => ({
    userId: users[i % users.length],
    featureId: 'call',
    delta: 1,
    idempotencyKey: `${call}-${i}`,
  }))
  for (let attempt = 0; ; attempt++) {
    try {
      const { recordUsages } = await (nodes[attempt % nodes.length] as ServiceNode).admin.data(
        'mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded reason } }',
        { inputs },
      )
      const refused = recordUsages.find(({ recorded }: { recorded: boolean }) => !recorded)
      if (refused) throw new Error(`a call was refused: ${refused.reason}`)
      return
    } catch (error) {
      if (attempt > 300) throw error
      await sleep(100)
    }
  }
}

/** Retries that wait for minutes and hours are due at once. Claims of killed processes are left alone. */
const shortenWaits = (url: string) =>
  withClient(url, (client) =>
    client.query(
      `update webhook_delivery set due_at = now() where state = 'PENDING' and lease is null and due_at > now()`,
    ),
  )

/** Until everything has arrived, or nothing more does. */
async function untilDelivered(inbox: Inbox, url: string, expected: number): Promise<void> {
  let [seen, since] = [0, performance.now()]
  while (inbox.accepted < expected && performance.now() - since < QUIET_MS) {
    await sleep(ACCELERATE_MS)
    await shortenWaits(url)
    if (inbox.accepted > seen) {
      seen = inbox.accepted
      since = performance.now()
    }
  }
}

interface Delivered {
  id: string
  sequence: number
}

/** The receiver: what it was sent, and what it has accepted. */
class Inbox {
  secret = ''
  readonly #trial: Trial
  /** bodies by event id */
  readonly #bodies = new Map<string, string>()
  readonly #failures = new Map<string, number>()
  /** accepted events by user and by the usage that each reports, which counts up from 1 */
  readonly #byUser = new Map<string, Map<number, Delivered>>()
  accepted = 0

  constructor(trial: Trial) {
    this.#trial = trial
  }

  answer({ headers, body }: Received): number {
    const id = String(headers['webhook-id'])
    try {
      new Webhook(this.secret).verify(body, headers as Record<string, string>)
    } catch (error) {
      this.#trial.fault('bad signature', `${id}: ${(error as Error).message}`)
    }
    const before = this.#bodies.get(id)
    if (before !== undefined && before !== body) this.#trial.fault('id changed', `${id} has another body`)
    this.#bodies.set(id, body)
    const failed = this.#failures.get(id) ?? 0
    if (failed < MOST_FAILURES && this.#trial.random.chance(FAILING)) {
      this.#failures.set(id, failed + 1)
      this.#trial.count('failed requests')
      return 500
    }
    this.#take(id, JSON.parse(body))
    return 200
  }

  #take(
    id: string,
    { userId, sequence, data }: { userId: string; sequence: number; data: { object: { used: number } } },
  ) {
    const events = this.#byUser.get(userId) ?? new Map<number, Delivered>()
    this.#byUser.set(userId, events)
    const known = events.get(data.object.used)
    if (known && known.id !== id)
      this.#trial.fault('id changed', `${userId} ${data.object.used}: ${known.id} and ${id}`)
    if (!known) this.accepted += 1
    events.set(data.object.used, { id, sequence })
  }

  /** Every recorded call of every user has arrived, and in its order the sequences rise. */
  judge(expected: number): void {
    if (this.accepted < expected)
      this.#trial.fault(
        'not delivered',
        `${this.accepted} of ${expected} events have arrived`,
        expected - this.accepted,
      )
    for (const [user, events] of this.#byUser) {
      const inOrder = [...events].sort(([a], [b]) => a - b)
      for (const [i, [used, { sequence }]] of inOrder.entries()) {
        if (used !== i + 1) {
          this.#trial.fault('missing', `${user}: ${i + 1} is missing`)
          break
        }
        const last = inOrder[i - 1]?.[1].sequence ?? 0
        if (sequence <= last)
          this.#trial.fault('sequence not increasing', `${user}: ${last}, then ${sequence}`)
      }
    }
  }
}
