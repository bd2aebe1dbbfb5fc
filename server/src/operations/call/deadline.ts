import type { Monotonic } from '../../domain/clocks.ts'

/**
 * When the caller of a request stops waiting. Afterwards they have received an error, so nothing is written that has
 * not been sent to the database.
 */
export class Deadline {
  readonly #monotonic: Monotonic
  #at: number

  /** `now` is the time of the monotonic clock. */
  constructor(monotonic: Monotonic, now: number, ms: number) {
    this.#monotonic = monotonic
    this.#at = now + ms
  }

  get passed(): boolean {
    return this.passedBy(this.#monotonic())
  }

  passedBy(now: number): boolean {
    return now >= this.#at
  }

  /** Restarts it, for work known to take longer, or once a slow body has arrived. */
  renew(ms: number): void {
    this.#at = this.#monotonic() + ms
  }
}
