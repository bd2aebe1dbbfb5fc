import type { Monotonic } from '../../domain/clocks.ts'

/**
 * When the caller of a request stops waiting. Past it they have been told that there is no answer, so nothing that is
 * not yet on its way to the database is written any more.
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

  /** Starts again: for work that is known to take longer, or once a body that came slowly is there. */
  renew(ms: number): void {
    this.#at = this.#monotonic() + ms
  }
}
