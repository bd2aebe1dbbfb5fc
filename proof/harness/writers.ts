import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../trial.ts'
import { Caller, codeOf, hasAcknowledged, isPassing, type Outcome } from './caller.ts'

const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'
const CREATE = 'mutation ($id: String!) { createUser(input: { id: $id }) { id } }'
const SUBSCRIBE =
  'mutation ($id: String!, $plan: String!) { subscribe(userId: $id, packageIds: [$plan]) { id } }'

/** The amount of an event is its number: the ledger shows which were counted, and how often. */
export interface Event {
  number: number
  user: string
  feature: 'call' | 'scarce'
}

export interface WriterOptions {
  /** where the worker of this number sends its next call */
  url: (worker: number) => string
  users: readonly string[]
  workers: number
  deadline?: number
  /** how long a worker waits before it sends a call again */
  pause?: number
  /** the number before that of the first event */
  first?: number
  /** creates no users, and uses nothing scarce */
  eventsOnly?: boolean
  /** called for every call that has to be retried */
  failed?: (url: string, outcome: Outcome) => void
}

/** By then, what was started has a final answer, or never will. */
const PATIENCE_MS = 30_000

/**
 * Applications at work: each worker records one event after the other and sends it again, with the same key, until
 * it is answered; now and then one makes a user and subscribes it to two base plans at once.
 */
export class Writers {
  /** answered: recorded */
  readonly recorded: Event[] = []
  /** answered: no room left */
  readonly refused: Event[] = []
  /** of each user that was subscribed to two base plans, the subscriptions that were acknowledged */
  readonly subscribed = new Map<string, string[]>()
  readonly #trial: Trial
  readonly #options: WriterOptions
  readonly #caller: Caller
  readonly #working: Promise<unknown>
  #last: number
  #stoppedAt: number | null = null

  constructor(trial: Trial, options: WriterOptions) {
    this.#trial = trial
    this.#options = options
    this.#caller = new Caller(trial, options.deadline)
    this.#last = options.first ?? 0
    this.#working = Promise.all(Array.from({ length: options.workers }, (_, worker) => this.#work(worker)))
    this.#working.catch(() => {})
  }

  get acknowledged(): number {
    return this.recorded.length + this.refused.length + this.subscribed.size
  }

  /** Until that many more are acknowledged; false if not in time. */
  reach(more: number, withinMs?: number): Promise<boolean> {
    return hasAcknowledged(this, this.acknowledged + more, withinMs)
  }

  /** Waits until every started call is answered; returns the number of the last event. */
  async finish(): Promise<number> {
    this.#stoppedAt = performance.now()
    await this.#working
    return this.#last
  }

  async #work(worker: number): Promise<void> {
    while (this.#stoppedAt === null) {
      const number = ++this.#last
      if (number % 50 === 0 && !this.#options.eventsOnly) await this.#newUser(worker, number)
      else await this.#event(worker, number)
    }
  }

  async #event(worker: number, number: number): Promise<void> {
    const { users, eventsOnly } = this.#options
    const user = users[worker % users.length] as string
    const event: Event = { number, user, feature: number % 3 === 0 && !eventsOnly ? 'scarce' : 'call' }
    const input = { userId: user, featureId: event.feature, delta: event.feature === 'call' ? number : 1 }
    const key = `event ${number}`
    // A key may be in the event or in the header: two paths, two receipts.
    const answer =
      number % 2 === 0
        ? await this.#insist(worker, RECORD, { input: { ...input, idempotencyKey: key } })
        : await this.#insist(worker, RECORD, { input }, key)
    if (answer?.data?.recordUsage?.recorded === true) this.recorded.push(event)
    else if (answer?.data?.recordUsage?.recorded === false && event.feature === 'scarce')
      this.refused.push(event)
    else if (answer) this.#trial.fault('unexpected error', JSON.stringify(answer))
  }

  async #newUser(worker: number, number: number): Promise<void> {
    const id = `new ${number}`
    await this.#insist(worker, CREATE, { id }, `create ${number}`)
    const answers = await Promise.all(
      ['plan', 'other'].map((plan, i) =>
        this.#insist(worker + i, SUBSCRIBE, { id, plan }, `subscribe ${number} ${plan}`),
      ),
    )
    this.subscribed.set(
      id,
      answers.flatMap((answer) => answer?.data?.subscribe?.map((one: { id: string }) => one.id) ?? []),
    )
  }

  #givesUp(): boolean {
    if (this.#stoppedAt === null) return false
    if (this.#trial.breakage && this.#trial.red) return true
    if (performance.now() - this.#stoppedAt < PATIENCE_MS) return false
    this.#trial.fault('no recovery', `a call was put off for ${PATIENCE_MS} ms after the last trouble`)
    return true
  }

  /** Sends it until there is a final answer. */
  async #insist(
    worker: number,
    query: string,
    variables: Record<string, unknown>,
    key?: string,
  ): Promise<Outcome> {
    const { url, pause = 50 } = this.#options
    for (;;) {
      const target = url(worker)
      const outcome = await this.#caller.ask(target, query, variables, key ? { 'Idempotency-Key': key } : {})
      this.#trial.count('calls')
      if (!isPassing(outcome)) {
        if (codeOf(outcome) !== 'INTERNAL_SERVER_ERROR') return outcome
        this.#trial.fault('unexpected error', JSON.stringify(outcome))
      }
      this.#options.failed?.(target, outcome)
      if (this.#givesUp()) return null
      await sleep(pause)
    }
  }
}
