import { LRUCache } from 'lru-cache'
import { MAX_RATE_LIMIT_SOURCES } from '../domain/limits.ts'

/** A rate per second in the long run, and `burst` at once. */
export interface Rate {
  perSecond: number
  burst: number
}

/** The state of a source after a request; all times in whole seconds. */
export interface RateLimitState {
  allowed: boolean
  limit: number
  remaining: number
  /** until the whole burst is available again */
  reset: number
  /** until the same request is allowed; 0: it is now */
  retryAfter: number
}

/**
 * A token bucket for each source. All that is stored of a source is one number, the time at which its bucket is full
 * again; a forgotten or unknown source has a full one.
 */
export class RateLimit {
  readonly #msEach: number
  readonly #msAll: number
  readonly #burst: number
  readonly #now: () => number
  // A `max` would allocate room for all of them at once: 16 ms of every start, and 3 MB.
  readonly #fullAt = new LRUCache<string, number>({
    maxSize: MAX_RATE_LIMIT_SOURCES,
    sizeCalculation: () => 1,
  })

  /** `now` in milliseconds, from a monotonic clock. */
  constructor({ perSecond, burst }: Rate, now: () => number) {
    this.#msEach = 1_000 / perSecond
    this.#burst = burst
    this.#msAll = burst * this.#msEach
    this.#now = now
  }

  /** Takes the cost of a request, or nothing if there is not enough. */
  take(source: string, cost = 1): RateLimitState {
    const now = this.#now()
    const owed = this.#owed(source, now)
    const after = owed + cost * this.#msEach
    const allowed = after <= this.#msAll + ROUNDING_MS
    if (allowed) this.#fullAt.set(source, now + after)
    const retryAfter = allowed ? 0 : Math.max(Math.ceil((after - this.#msAll) / 1_000), 1)
    return this.#state(allowed ? after : owed, retryAfter)
  }

  /** Takes it even if there is not enough left: the cost is known only afterwards. */
  charge(source: string, cost: number): RateLimitState {
    const now = this.#now()
    const owed = this.#owed(source, now)
    const after = Math.min(owed + cost * this.#msEach, this.#msAll)
    this.#fullAt.set(source, now + after)
    return this.#state(after, 0)
  }

  /** Never more than the full bucket, whatever the clock does. */
  #owed(source: string, now: number): number {
    return Math.min(Math.max((this.#fullAt.get(source) ?? now) - now, 0), this.#msAll)
  }

  #state(owed: number, retryAfter: number): RateLimitState {
    return {
      allowed: retryAfter === 0,
      limit: this.#burst,
      remaining: Math.max(Math.floor((this.#msAll - owed + ROUNDING_MS) / this.#msEach), 0),
      reset: Math.ceil(owed / 1_000),
      retryAfter,
    }
  }

  /** how many sources it knows */
  get sources(): number {
    return this.#fullAt.size
  }
}

/** Sums of fractions: far less than the smallest cost. */
const ROUNDING_MS = 1e-6
