import { atEnd } from '../bench/cleanup.ts'
import type { Breakage } from './breakage.ts'
import { Random } from './random.ts'

interface Fault {
  count: number
  /** the first of them */
  detail: string
}

/** What a trial is of: how far it goes and what it looks for. */
export interface TrialPlan {
  name: string
  /** what a run without a time limit comes to, by the names of the trial's counts */
  full: Readonly<Record<string, number>>
  /** what is looked for; the report says for each how often it was found */
  faults: readonly string[]
}

export interface TrialOptions {
  seed: number
  /** null: until the full size is reached */
  seconds: number | null
  breakage: Breakage | null
  /** the ref that is "the previous version" */
  previous: string | null
}

/** One run of a scenario: how far it is to go, what was counted and what was found. */
export class Trial {
  readonly random: Random
  readonly breakage: Breakage | null
  readonly previous: string | null
  readonly counts = new Map<string, number>()
  readonly faults = new Map<string, Fault>()
  readonly notes: string[] = []
  /** the slowest answered call, in milliseconds */
  slowest = 0
  /** how long it took, each time, until calls succeeded again */
  readonly recoveries: number[] = []
  readonly #plan: TrialPlan
  readonly #began = performance.now()
  readonly #seconds: number | null
  #ended: number | null = null
  readonly #steps: (() => Promise<void>)[] = []

  constructor(plan: TrialPlan, { seed, seconds, breakage, previous }: TrialOptions) {
    this.#plan = plan
    this.#seconds = seconds
    this.random = new Random(seed, plan.name)
    this.breakage = breakage
    this.previous = previous
    for (const name of Object.keys(plan.full)) this.counts.set(name, 0)
    for (const name of plan.faults) this.faults.set(name, { count: 0, detail: '' })
  }

  /** Until now, or until it ended. */
  get elapsedSeconds(): number {
    return ((this.#ended ?? performance.now()) - this.#began) / 1_000
  }

  get red(): boolean {
    return [...this.faults.values()].some(({ count }) => count > 0)
  }

  get timeIsUp(): boolean {
    return this.#seconds !== null && this.elapsedSeconds >= this.#seconds
  }

  /** Whether there is more to do of what is counted by this name. A broken product has only to be found out. */
  goesOn(name: string, least = 1): boolean {
    if (this.breakage && this.red) return false
    const done = this.counts.get(name) ?? 0
    if (done >= (this.#plan.full[name] ?? Number.POSITIVE_INFINITY)) return false
    return done < least || !this.timeIsUp
  }

  count(name: string, more = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + more)
  }

  fault(name: string, detail: string, count = 1): void {
    const known = this.faults.get(name)
    if (!known) throw new Error(`${this.#plan.name} does not look for "${name}"`)
    if (count === 0) return
    if (known.count === 0) known.detail = detail
    known.count += count
  }

  answered(ms: number): void {
    this.slowest = Math.max(this.slowest, ms)
  }

  recovered(ms: number): void {
    this.recoveries.push(ms)
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text)
  }

  /** Has `step` done when the trial ends, or when the whole run is broken off. */
  atEnd(step: () => Promise<unknown>): void {
    this.#steps.push(atEnd(step))
  }

  async cleanUp(): Promise<void> {
    this.#ended = performance.now()
    for (const step of this.#steps.splice(0).reverse()) await step()
  }
}
