import { MAX_REQUESTS_UNDER_WAY } from '../domain/limits.ts'
import type { Deadline } from '../operations/deadline.ts'

/** One request from its arrival to its answer. */
interface UnderWay {
  readonly arrived: number
  readonly deadline: Deadline
  /** Tells the caller that there is no answer in time. */
  expire(): void
}

const SWEEP_MS = 250

/** All requests that are being answered. One timer for all of them sees to it that each gets an answer by its deadline. */
export class RequestsUnderWay {
  readonly #open = new Set<UnderWay>()

  constructor() {
    setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref()
  }

  /** False: there are too many already. */
  begin(request: UnderWay): boolean {
    if (this.#open.size >= MAX_REQUESTS_UNDER_WAY) return false
    this.#open.add(request)
    return true
  }

  end(request: UnderWay): void {
    this.#open.delete(request)
  }

  get count(): number {
    return this.#open.size
  }

  /** How long the oldest one has been under way, in seconds. */
  oldestSeconds(): number {
    const [oldest] = this.#open
    return oldest ? (performance.now() - oldest.arrived) / 1_000 : 0
  }

  #sweep(now: number): void {
    for (const request of this.#open) {
      if (!request.deadline.passedBy(now)) continue
      this.#open.delete(request)
      request.expire()
    }
  }
}
