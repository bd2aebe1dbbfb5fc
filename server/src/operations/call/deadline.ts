import type { Caller } from '../../store/app-cache.ts'

/**
 * When the caller of a request stops waiting. Past it they have been told that there is no answer, so nothing that is
 * not yet on its way to the database is written any more.
 */
export class Deadline {
  #at: number

  constructor(now: number, ms: number) {
    this.#at = now + ms
  }

  get passed(): boolean {
    return this.passedBy(performance.now())
  }

  passedBy(now: number): boolean {
    return now >= this.#at
  }

  /** Starts again: for work that is known to take longer, or once a body that came slowly is there. */
  renew(ms: number): void {
    this.#at = performance.now() + ms
  }
}

/** Who asks, and until when they wait; null: nobody does. */
export interface WaitingCaller extends Caller {
  deadline: Deadline | null
}
