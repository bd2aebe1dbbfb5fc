import type { Logger } from 'pino'
import type { Monotonic } from '../../domain/clocks.ts'

const LINE_EVERY_MS = 1_000

/** Logs that the database is unavailable, at most once a second. */
export class Outages {
  readonly #log: Logger
  readonly #monotonic: Monotonic
  #unsaid = 0
  #lastLine = Number.NEGATIVE_INFINITY

  constructor(log: Logger, monotonic: Monotonic) {
    this.#log = log
    this.#monotonic = monotonic
  }

  note(error: unknown): void {
    const now = this.#monotonic()
    this.#unsaid += 1
    if (now - this.#lastLine < LINE_EVERY_MS) return
    const { message, code } = error as NodeJS.ErrnoException
    this.#log.warn({ reason: message || code, code, calls: this.#unsaid }, 'the database is unavailable')
    this.#unsaid = 0
    this.#lastLine = now
  }
}
