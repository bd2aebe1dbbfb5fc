import type { Monotonic } from '../../domain/clocks.ts'
import { rateLimited, unavailable } from '../../domain/errors.ts'
import { MAX_WAITING_CALLS } from '../../domain/limits.ts'
import { type SpanRef, tracing } from '../../telemetry/tracing.ts'

/** The outcome of one item of a batch. */
export type BatchResult<T> = { value: T } | { error: unknown }

interface Waiting<Item, Result> {
  item: Item
  /** of the call; null: no trace */
  span: SpanRef | null
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface BatchOptions<Item> {
  /** of the statement's span */
  name?: string
  monotonic: Monotonic
  lanes: number
  /** items in one batch */
  most: number
  /** Whether nobody is waiting for this item any more: then it is not sent. */
  expired?: (item: Item, now: number) => boolean
}

/**
 * Shares one round trip among all calls that arrive while the last one is running. There is no timer: a lone
 * call is sent at the end of the event-loop turn in which it arrived.
 *
 * Several lanes, identified by number, work side by side. A lane that is done sends the next batch before its
 * callers are answered, so that PostgreSQL and this process work at the same time. The queue is bounded: a call that
 * finds it full is refused immediately.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: Item[], lane: number) => Promise<BatchResult<Result>[]>
  readonly #name: string
  readonly #most: number
  readonly #monotonic: Monotonic
  readonly #expired: (item: Item, now: number) => boolean
  readonly #idle: number[]
  /** when each lane's batch was sent; 0: it is idle */
  readonly #sentAt: number[]
  #waiting: Waiting<Item, Result>[] = []
  /** when a call last found the queue empty */
  #waitingSince = 0
  #scheduled = false

  constructor(
    run: (items: Item[], lane: number) => Promise<BatchResult<Result>[]>,
    { name = 'batch', monotonic, lanes, most, expired = () => false }: BatchOptions<Item>,
  ) {
    this.#run = run
    this.#name = name
    this.#most = most
    this.#monotonic = monotonic
    this.#expired = expired
    this.#sentAt = new Array<number>(lanes).fill(0)
    this.#idle = Array.from({ length: lanes }, (_, lane) => lane)
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAX_WAITING_CALLS) {
        reject(rateLimited('Too many concurrent calls; retry.', 1))
        return
      }
      if (this.#waiting.length === 0) this.#waitingSince = this.#monotonic()
      this.#waiting.push({ item, span: tracing?.current() ?? null, resolve, reject })
      this.#schedule()
    })
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** An upper bound of the oldest call's wait, for its batch or for its answer, in seconds. */
  oldestSeconds(): number {
    const times = this.#sentAt.filter((time) => time > 0)
    if (this.#waiting.length > 0) times.push(this.#waitingSince)
    return times.length === 0 ? 0 : (this.#monotonic() - Math.min(...times)) / 1_000
  }

  #schedule(): void {
    if (this.#scheduled || this.#idle.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    this.#dropExpired()
    while (this.#waiting.length > 0) {
      const share = Math.ceil(this.#waiting.length / this.#idle.length)
      // The lane used last: everything from a lone client goes through one lane, whose caches are warm.
      const lane = this.#idle.pop()
      if (lane === undefined) return
      void this.#send(this.#waiting.splice(0, Math.min(share, this.#most)), lane)
    }
  }

  /** From the front only: calls are in order of arrival, and so nearly in order of deadline. */
  #dropExpired(): void {
    const now = this.#monotonic()
    let count = 0
    for (const { item, reject } of this.#waiting) {
      if (!this.#expired(item, now)) break
      reject(unavailable('The call timed out and had no effect; retry.'))
      count += 1
    }
    if (count > 0) this.#waiting.splice(0, count)
  }

  async #send(batch: Waiting<Item, Result>[], lane: number): Promise<void> {
    let results: BatchResult<Result>[]
    this.#sentAt[lane] = this.#monotonic()
    try {
      const run = () =>
        this.#run(
          batch.map(({ item }) => item),
          lane,
        )
      results = await (tracing
        ? tracing.batch(
            this.#name,
            batch.map(({ span }) => span),
            run,
          )
        : run())
    } catch (error) {
      results = batch.map(() => ({ error }))
    }
    this.#sentAt[lane] = 0
    this.#idle.push(lane)
    this.#sendWaiting()
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = results[i]
      if (!result) reject(new Error('a call of a batch has no result'))
      else if ('error' in result) reject(result.error)
      else resolve(result.value)
    }
  }
}
