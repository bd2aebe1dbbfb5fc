import type { Pool, Tx } from './database.ts'

/**
 * A pooled connection reserved for one user with many statements, so that none waits for the pool. If it is lost, the
 * next statement gets another.
 */
export class HeldConnection {
  readonly #pool: Pool
  #client: Tx | null = null

  constructor(pool: Pool) {
    this.#pool = pool
  }

  use<T>(work: (client: Tx) => Promise<T>): Promise<T> {
    return this.#client ? work(this.#client) : this.#connect().then(work)
  }

  async #connect(): Promise<Tx> {
    const client = await this.#pool.connect()
    client.once('error', (error) => {
      if (this.#client !== client) return
      this.#client = null
      client.release(error)
    })
    this.#client = client
    return client
  }

  /** Returns it, so that the pool can end. */
  release(): void {
    this.#client?.release()
    this.#client = null
  }
}
