import { availableParallelism } from 'node:os'
import { rateLimited } from '../../domain/errors.ts'
import { MAX_WAITING_PASSWORDS } from '../../domain/limits.ts'

/**
 * Runs a limited number of tasks at once, queues a limited number, and rejects the rest. Hashing a password is
 * expensive on purpose, also in memory, and strangers determine how many there are.
 */
export class BoundedWork {
  readonly #atOnce: number
  readonly #mostWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, mostWaiting: number) {
    this.#atOnce = atOnce
    this.#mostWaiting = mostWaiting
  }

  /** `ahead`: goes first, and is accepted even if others fill the queue. */
  async run<T>(work: () => Promise<T>, { ahead = false } = {}): Promise<T> {
    if (this.#running >= this.#atOnce) await this.#turn(ahead)
    else this.#running += 1
    try {
      return await work()
    } finally {
      // The slot passes to the next in line without becoming free in between.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  #turn(ahead: boolean): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting * (ahead ? 2 : 1)) {
      throw rateLimited('Too many concurrent sign-ins; retry.', 1)
    }
    return new Promise((resolve) => {
      if (ahead) this.#waiting.unshift(resolve)
      else this.#waiting.push(resolve)
    })
  }
}

/** All password hashing in this process. The other half of the cores is left for other work. */
export const passwordWork = new BoundedWork(
  Math.max(1, Math.floor(availableParallelism() / 2)),
  MAX_WAITING_PASSWORDS,
)
