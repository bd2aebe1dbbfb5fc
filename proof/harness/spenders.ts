import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../trial.ts'
import { Caller, codeOf, hasAcknowledged, isPassing, type Outcome } from './caller.ts'
import { AGENT_LIMITS, agentOf, SHARED_ENTITIES, type Spendable } from './spending-app.ts'

const RESERVE = 'mutation ($input: ReservationInput!) { reserveUsage(input: $input) { reserved } }'
const EXTEND = `mutation ($id: String!, $add: SafeInt, $ttlSeconds: Int) {
  extendReservation(id: $id, add: $add, ttlSeconds: $ttlSeconds) { reserved } }`
const SETTLE = `mutation ($id: String!, $amount: SafeInt!, $final: Boolean!, $ifOver: IfOver!) {
  settleReservation(id: $id, amount: $amount, final: $final, ifOver: $ifOver) { reserved settled state late reason } }`
const RELEASE = 'mutation ($id: String!) { releaseReservation(id: $id) { reserved settled state } }'
const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'
const REVERT = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used reserved remaining } } }`
const ADD = 'mutation ($input: CreditInput!) { addCredit(input: $input) { id } }'
const VOID = 'mutation ($id: String!) { voidCredit(id: $id) { id } }'
const CAP = 'mutation ($input: CapInput!) { setCap(input: $input) { limit } }'
const CHANGE = `mutation ($user: String!, $plan: String!) {
  changeSubscription(userId: $user, packageId: $plan, when: NOW) { now } }`

/** Few enough seconds that reservations expire while others are made. */
const TTLS = [1, 10]
/** Longer than any recovery, so that a call that is sent again is still valid. */
const CREDIT_MS = 45_000
const PATIENCE_MS = 30_000

interface SpendersOptions {
  urls: () => readonly string[]
  users: readonly string[]
  workers: number
}

/** Usage that a worker can revert: a record by its key, settlements by the id of their reservation. */
interface Revertible {
  revertOf: string
  featureId: Spendable
  units: number
  entities: readonly string[]
}

/**
 * Applications at work on `scarce`, on the pool `token` and on `image`, which only the pool and credits pay for: each worker
 * reserves, extends, settles (in parts, twice, late), releases or forgets, records usage, returns and reverts it, adds and
 * voids credits, edits the cap of its agent and changes plans. It sends a call again, with the same key and to another
 * node, until it is answered, and keeps its own books.
 */
export class Spenders {
  acknowledged = 0
  /** units by user and feature, from records, settlements and reverts */
  readonly units = new Map<string, Record<Spendable, number>>()
  /** units settled, by reservation */
  readonly settled = new Map<string, number>()
  readonly credits = new Map<string, number>()
  /** what the cap of an agent has counted. Only one worker names it. */
  readonly agents = new Map<string, number>()
  readonly #trial: Trial
  readonly #options: SpendersOptions
  readonly #caller: Caller
  readonly #working: Promise<unknown>
  readonly #creditsOf = new Map<string, string[]>()
  /** by worker */
  readonly #revertible = new Map<number, Revertible[]>()
  #last = 0
  #stoppedAt: number | null = null

  constructor(trial: Trial, options: SpendersOptions) {
    this.#trial = trial
    this.#options = options
    this.#caller = new Caller(trial)
    this.#working = Promise.all(Array.from({ length: options.workers }, (_, worker) => this.#work(worker)))
    this.#working.catch(() => {})
  }

  /** Until that many more are acknowledged; false if not in time. */
  reach(more: number, withinMs?: number): Promise<boolean> {
    return hasAcknowledged(this, this.acknowledged + more, withinMs)
  }

  /** Waits until every started call is answered. */
  async finish(): Promise<void> {
    this.#stoppedAt = performance.now()
    await this.#working
  }

  async #work(worker: number): Promise<void> {
    const { users } = this.#options
    const { random } = this.#trial
    const user = users[worker % users.length] as string
    let plan = 'plan'
    await this.#setCap(worker, user)
    while (this.#stoppedAt === null) {
      const choice = random.int(0, 99)
      if (choice < 42) await this.#reserve(worker, user)
      else if (choice < 66) await this.#record(worker, user, random.int(1, 30))
      else if (choice < 74) await this.#record(worker, user, -random.int(1, 100))
      else if (choice < 82) await this.#revert(worker, user)
      else if (choice < 91) await this.#addCredit(worker, user)
      else if (choice < 94) await this.#voidCredit(worker, user)
      else if (choice < 96) await this.#setCap(worker, user)
      else if (worker < users.length) {
        // One worker of each user, so that it knows the plan.
        plan = plan === 'plan' ? 'other' : 'plan'
        await this.#done(worker, CHANGE, { user, plan })
      }
      this.acknowledged++
    }
  }

  #feature(): Spendable {
    return this.#trial.random.pick(['scarce', 'scarce', 'scarce', 'token', 'image'])
  }

  /** Up to four. */
  #entities(worker: number): string[] {
    return [agentOf(worker), ...SHARED_ENTITIES].filter(() => this.#trial.random.chance(0.5))
  }

  async #record(worker: number, userId: string, delta: number): Promise<void> {
    const idempotencyKey = `event ${++this.#last}`
    const featureId = this.#feature()
    const entities = this.#entities(worker)
    const input = { userId, featureId, delta, entities, idempotencyKey }
    const data = await this.#done(worker, RECORD, { input })
    if (!data?.recordUsage.recorded) return
    this.#count(worker, userId, featureId, delta, entities)
    this.#remember(worker, { revertOf: idempotencyKey, featureId, units: delta, entities })
  }

  /** Reverts something this worker has recorded or settled; sometimes twice. */
  async #revert(worker: number, userId: string): Promise<void> {
    const { random } = this.#trial
    const own = this.#revertible.get(worker) ?? []
    const [found] = own.splice(random.int(0, Math.max(0, own.length - 1)), 1)
    if (!found) return
    const { revertOf, featureId, units, entities } = found
    const input = { userId, featureId, delta: 0, revertOf }
    const first = (await this.#done(worker, REVERT, { input }))?.recordUsage
    // Refused if plain returns were faster.
    if (!first?.recorded) return
    this.#trial.count('reverts')
    this.#count(worker, userId, featureId, -units, entities)
    if (!random.chance(0.3)) return
    const second = (await this.#done(worker + 1, REVERT, { input }))?.recordUsage
    if (second && JSON.stringify(second) !== JSON.stringify(first))
      this.#trial.fault(
        'counted twice',
        `the revert of ${revertOf}: ${JSON.stringify(first)}, then ${JSON.stringify(second)}`,
      )
  }

  async #reserve(worker: number, userId: string): Promise<void> {
    const { random } = this.#trial
    const id = `reservation ${++this.#last}`
    const ttlSeconds = random.pick(TTLS)
    const amount = random.int(1, 120)
    const atLeast = random.chance(0.5) ? 1 : amount
    const featureId = this.#feature()
    const entities = this.#entities(worker)
    const input = { id, userId, featureId, amount, atLeast, ttlSeconds, entities }
    let held: number = (await this.#done(worker, RESERVE, { input }))?.reserveUsage.reserved ?? 0
    if (held === 0) return
    this.settled.set(id, 0)
    if (random.chance(0.1)) return
    if (random.chance(0.4)) {
      const more = { id, add: random.int(1, 60), ttlSeconds: random.chance(0.5) ? ttlSeconds : null }
      held = (await this.#done(worker, EXTEND, more, isExpired))?.extendReservation.reserved ?? held
    }
    const count = (units: number) => this.#count(worker, userId, featureId, units, entities)
    if (random.chance(0.4))
      held = (await this.#settle(worker, id, random.int(0, held), false, count)).reserved
    if (ttlSeconds === 1 && random.chance(0.5)) await sleep(1_100)
    const last = random.chance(0.2)
      ? (await this.#done(worker, RELEASE, { id }))?.releaseReservation
      : await this.#settle(worker, id, random.int(0, held + 10), true, count)
    const units = this.settled.get(id) ?? 0
    // One that rejected its settlement is still held.
    const isOver = last && last.state !== 'HELD'
    if (isOver && held === 0 && units > 0)
      this.#remember(worker, { revertOf: id, featureId, units, entities })
  }

  /** Returns what is held afterwards. */
  async #settle(
    worker: number,
    id: string,
    amount: number,
    final: boolean,
    count: (units: number) => void,
  ): Promise<{ reserved: number; state: string }> {
    const { random } = this.#trial
    // RECORD would exceed the budget.
    const variables = { id, amount, final, ifOver: random.pick(['CAP', 'REJECT']) }
    const key = `settlement ${++this.#last}`
    const first = (await this.#done(worker, SETTLE, variables, undefined, key))?.settleReservation
    if (!first) return { reserved: 0, state: 'HELD' }
    count(first.settled - (this.settled.get(id) ?? 0))
    this.settled.set(id, first.settled)
    if (first.late) this.#trial.count('late settlements')
    if (random.chance(0.3)) {
      const second = (await this.#done(worker + 1, SETTLE, variables, undefined, key))?.settleReservation
      if (second && JSON.stringify(second) !== JSON.stringify(first))
        this.#trial.fault('counted twice', `${key}: ${JSON.stringify(first)}, then ${JSON.stringify(second)}`)
    }
    return first
  }

  async #addCredit(worker: number, userId: string): Promise<void> {
    const { random } = this.#trial
    const id = `credit ${++this.#last}`
    const amount = random.int(5, 60)
    const expiresAt = random.chance(0.3) ? new Date(Date.now() + CREDIT_MS).toISOString() : null
    const featureId = this.#feature()
    const input = { id, userId, featureId, amount, priority: random.pick([10, 50, 90]), expiresAt }
    if (!(await this.#done(worker, ADD, { input }))) return
    this.credits.set(id, amount)
    this.#creditsOf.set(userId, [...(this.#creditsOf.get(userId) ?? []), id])
  }

  async #voidCredit(worker: number, userId: string): Promise<void> {
    const own = this.#creditsOf.get(userId) ?? []
    const [id] = own.splice(this.#trial.random.int(0, own.length), 1)
    if (id !== undefined) await this.#done(worker, VOID, { id })
  }

  /** A cap that exists keeps its count. */
  async #setCap(worker: number, userId: string): Promise<void> {
    const limit = this.#trial.random.pick(AGENT_LIMITS)
    const entity = agentOf(worker)
    const input = { userId, featureId: 'scarce', entity, period: 'NEVER', limit }
    if (await this.#done(worker, CAP, { input })) this.agents.set(entity, this.agents.get(entity) ?? 0)
  }

  #count(
    worker: number,
    userId: string,
    featureId: Spendable,
    units: number,
    entities: readonly string[],
  ): void {
    const all = this.units.get(userId) ?? { scarce: 0, token: 0, image: 0 }
    all[featureId] += units
    this.units.set(userId, all)
    const agent = agentOf(worker)
    if (featureId !== 'scarce' || !entities.includes(agent)) return
    // A cap counts what it has seen.
    this.agents.set(agent, Math.max(0, (this.agents.get(agent) ?? 0) + units))
  }

  #remember(worker: number, usage: Revertible): void {
    this.#revertible.set(worker, [...(this.#revertible.get(worker) ?? []), usage].slice(-10))
  }

  /** The data of an answer without errors, or null. */
  async #done(
    worker: number,
    query: string,
    variables: Record<string, unknown>,
    isExpected: (outcome: Outcome) => boolean = () => false,
    key = `call ${++this.#last}`,
  ): Promise<NonNullable<Outcome>['data'] | null> {
    const outcome = await this.#insist(worker, query, variables, key)
    if (!outcome || isExpected(outcome)) return null
    if (!outcome.errors) return outcome.data
    this.#trial.fault('unexpected error', `${query.slice(0, 40)}: ${JSON.stringify(outcome)}`)
    return null
  }

  #givesUp(): boolean {
    if (this.#stoppedAt === null) return false
    if (this.#trial.breakage && this.#trial.red) return true
    if (performance.now() - this.#stoppedAt < PATIENCE_MS) return false
    this.#trial.fault('no recovery', `a call was put off for ${PATIENCE_MS} ms after the last trouble`)
    return true
  }

  /** Sends it to one node after the other until there is a final answer. */
  async #insist(
    worker: number,
    query: string,
    variables: Record<string, unknown>,
    key: string,
  ): Promise<Outcome> {
    for (let attempt = worker; ; attempt++) {
      const urls = this.#options.urls()
      const url = urls[attempt % urls.length] as string
      const outcome = await this.#caller.ask(url, query, variables, { 'Idempotency-Key': key })
      this.#trial.count('calls')
      if (!isPassing(outcome)) {
        if (codeOf(outcome) !== 'INTERNAL_SERVER_ERROR') return outcome
        this.#trial.fault('unexpected error', JSON.stringify(outcome))
      }
      if (this.#givesUp()) return null
      await sleep(50)
    }
  }
}

const isExpired = (outcome: Outcome): boolean =>
  codeOf(outcome) === 'CONFLICT' && /is EXPIRED$/.test(outcome?.errors?.[0]?.message ?? '')
