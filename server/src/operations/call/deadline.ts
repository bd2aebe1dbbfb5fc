import type { Monotonic } from '../../domain/clocks.ts'

/**
 * When the caller of a request stops waiting. After that they have been told that there is no answer, so nothing that
 * has not been sent to the database is written any more.
 */
export class Deadline {
  readonly #monotonic: Monotonic
  #at: number

  /** `now` is the monotonic clock's time. */
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

  /** Restarts it: for work known to take longer, or once a slow body has arrived. */
  renew(ms: number): void {
    this.#at = this.#monotonic() + ms
  }
}
