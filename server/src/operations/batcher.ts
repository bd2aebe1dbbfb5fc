/** What became of one item of a batch. */
export type Settled<T> = { value: T } | { error: unknown }

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Shares one round trip among all calls that arrive while the last one is under way. There is no timer: a lone
 * call goes out at the end of the turn of the event loop in which it came.
 *
 * Several lanes, told apart by their numbers, work side by side. A lane that is done takes the next batch before its
 * callers are answered, so that PostgreSQL works on the one while we do the other.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: Item[], lane: number) => Promise<Settled<Result>[]>
  readonly #most: number
  readonly #idle: number[]
  #waiting: Waiting<Item, Result>[] = []
  #scheduled = false

  constructor(
    run: (items: Item[], lane: number) => Promise<Settled<Result>[]>,
    { lanes, most }: { lanes: number; most: number },
  ) {
    this.#run = run
    this.#most = most
    this.#idle = Array.from({ length: lanes }, (_, lane) => lane)
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
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
    while (this.#waiting.length > 0) {
      const share = Math.ceil(this.#waiting.length / this.#idle.length)
      // The one that worked last: all that a lone client asks goes down one lane, whose caches are warm.
      const lane = this.#idle.pop()
      if (lane === undefined) return
      void this.#send(this.#waiting.splice(0, Math.min(share, this.#most)), lane)
    }
  }

  async #send(batch: Waiting<Item, Result>[], lane: number): Promise<void> {
    let settled: Settled<Result>[]
    try {
      settled = await this.#run(
        batch.map(({ item }) => item),
        lane,
      )
    } catch (error) {
      settled = batch.map(() => ({ error }))
    }
    this.#idle.push(lane)
    this.#sendWaiting()
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = settled[i]
      if (!result) reject(new Error('a call in a batch was not answered'))
      else if ('error' in result) reject(result.error)
      else resolve(result.value)
    }
  }
}
