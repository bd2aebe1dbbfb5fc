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
 * Several lanes work side by side, so that PostgreSQL has the next batch while we answer the last one.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Settled<Result>[]>
  readonly #lanes: number
  readonly #most: number
  #waiting: Waiting<Item, Result>[] = []
  #busy = 0
  #scheduled = false

  constructor(
    run: (items: Item[]) => Promise<Settled<Result>[]>,
    { lanes, most }: { lanes: number; most: number },
  ) {
    this.#run = run
    this.#lanes = lanes
    this.#most = most
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy >= this.#lanes) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#waiting.length > 0 && this.#busy < this.#lanes) void this.#send()
    })
  }

  async #send(): Promise<void> {
    const share = Math.ceil(this.#waiting.length / (this.#lanes - this.#busy))
    const batch = this.#waiting.splice(0, Math.min(share, this.#most))
    this.#busy++
    try {
      const settled = await this.#run(batch.map(({ item }) => item))
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = settled[i]
        if (!result) reject(new Error('a call in a batch was not answered'))
        else if ('error' in result) reject(result.error)
        else resolve(result.value)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      this.#busy--
      if (this.#waiting.length > 0) this.#schedule()
    }
  }
}
