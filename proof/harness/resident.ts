import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../trial.ts'
import { Caller, isPassing, type Outcome } from './caller.ts'
import type { Event } from './writers.ts'

const PAUSE_MS = 50

/** What an application asks of a user, over and over; the first is counted. */
const CALLS = {
  recordUsage: 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }',
  canUseFeature: `query ($id: String!) { canUseFeature(userId: $id, featureId: "call") { access } }`,
  showUsage: `query ($id: String!) { showUsage(userId: $id, featureId: "call") { current { periodStart } } }`,
  user: `query ($id: String!) { user(id: $id) { id } }`,
}

export interface ResidentOptions {
  user: string
  /** who are asked for now and then, wherever they are */
  others: readonly string[]
  url: string
  /** the number before that of the first event */
  first: number
  /** told of each call: what it was, when it began, how long it took, and what came back */
  asked: (call: keyof typeof CALLS, began: number, ms: number, outcome: Outcome) => void
}

/** A user who stays in one cell, and whose calls go to one node, one after the other. */
export class Resident {
  /** answered: recorded */
  readonly recorded: Event[] = []
  readonly #options: ResidentOptions
  readonly #caller: Caller
  readonly #trial: Trial
  readonly #working: Promise<void>
  #stopped = false
  /** when the last call began that succeeded */
  #lastGood = 0

  constructor(trial: Trial, options: ResidentOptions) {
    this.#trial = trial
    this.#options = options
    this.#caller = new Caller(trial)
    this.#working = this.#work()
    this.#working.catch(() => {})
  }

  /** Whether a call that began later than that has succeeded, or does so in time. */
  async succeedsAfter(moment: number, withinMs: number): Promise<boolean> {
    while (this.#lastGood <= moment) {
      if (performance.now() - moment > withinMs) return false
      await sleep(5)
    }
    return true
  }

  async finish(): Promise<void> {
    this.#stopped = true
    await this.#working
  }

  async #work(): Promise<void> {
    const { user: id, first } = this.#options
    for (let number = first + 1; !this.#stopped; number++) {
      if (await this.#recorded(number)) this.recorded.push({ number, user: id, feature: 'call' })
      for (const call of ['canUseFeature', 'showUsage', 'user'] as const) {
        await this.#ask(call, { id })
        await sleep(PAUSE_MS)
      }
      await this.#seek()
    }
  }

  /** Users who are moved are always somewhere. */
  async #seek(): Promise<void> {
    const id = this.#trial.random.pick(this.#options.others)
    const outcome = await this.#caller.ask(this.#options.url, CALLS.user, { id })
    this.#trial.count('calls')
    if (!isPassing(outcome) && outcome?.data?.user?.id !== id)
      this.#trial.fault('not found', `${id}: ${JSON.stringify(outcome)}`)
  }

  /** Sent until there is a final answer. One that never comes is found by others, as not back. */
  async #recorded(number: number): Promise<boolean> {
    const input = { userId: this.#options.user, featureId: 'call', delta: number }
    for (;;) {
      const outcome = await this.#ask('recordUsage', {
        input: { ...input, idempotencyKey: `event ${number}` },
      })
      if (!isPassing(outcome) || this.#stopped) return outcome?.data?.recordUsage?.recorded === true
      await sleep(PAUSE_MS)
    }
  }

  async #ask(call: keyof typeof CALLS, variables: Record<string, unknown>): Promise<Outcome> {
    const began = performance.now()
    const outcome = await this.#caller.ask(this.#options.url, CALLS[call], variables)
    this.#trial.count('calls')
    if (!isPassing(outcome) && !outcome?.data)
      this.#trial.fault('unexpected error', `${call}: ${JSON.stringify(outcome)}`)
    if (call === 'recordUsage' && outcome?.data?.recordUsage?.recorded === true) this.#lastGood = began
    this.#options.asked(call, began, performance.now() - began, outcome)
    return outcome
  }
}
