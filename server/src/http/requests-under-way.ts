import type { Monotonic } from '../domain/clocks.ts'
import { MAX_REQUESTS_UNDER_WAY } from '../domain/limits.ts'
import type { Deadline } from '../operations/call/deadline.ts'

/** A request from arrival to response: a link of the chain below. */
export abstract class UnderWay {
  abstract readonly arrived: number
  abstract readonly deadline: Deadline
  chained = false
  earlier: UnderWay | null = null
  later: UnderWay | null = null

  /** Responds that the deadline has passed. */
  abstract expire(): void
}

const SWEEP_MS = 250

/**
 * All requests in progress. One timer makes sure that each is answered by its deadline. They are chained, oldest first:
 * a Set would give each an identity hash, at a measurable cost per check.
 */
export class RequestsUnderWay {
  #oldest: UnderWay | null = null
  #newest: UnderWay | null = null
  #count = 0

  readonly #monotonic: Monotonic

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic
    setInterval(() => this.#sweep(monotonic()), SWEEP_MS).unref()
  }

  /** False: there are too many. */
  begin(request: UnderWay): boolean {
    if (this.#count >= MAX_REQUESTS_UNDER_WAY) return false
    request.earlier = this.#newest
    if (this.#newest) this.#newest.later = request
    else this.#oldest = request
    this.#newest = request
    request.chained = true
    this.#count += 1
    return true
  }

  end(request: UnderWay): void {
    if (!request.chained) return
    const { earlier, later } = request
    if (earlier) earlier.later = later
    else this.#oldest = later
    if (later) later.earlier = earlier
    else this.#newest = earlier
    // An older request may still refer to a finished one, which must not keep newer ones alive.
    request.earlier = null
    request.later = null
    request.chained = false
    this.#count -= 1
  }

  get count(): number {
    return this.#count
  }

  /** The age of the oldest request, in seconds. */
  oldestSeconds(): number {
    return this.#oldest ? (this.#monotonic() - this.#oldest.arrived) / 1_000 : 0
  }

  #sweep(now: number): void {
    for (let request = this.#oldest; request; ) {
      const { later } = request
      if (request.deadline.passedBy(now)) {
        this.end(request)
        request.expire()
      }
      request = later
    }
  }
}
