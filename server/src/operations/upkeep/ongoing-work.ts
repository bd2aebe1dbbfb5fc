import type { Logger } from 'pino'

/** Work that continues after its response. The service never stops in the middle of a step. */
export class OngoingWork {
  readonly #log: Logger
  readonly #running = new Set<Promise<void>>()
  #stopping = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** Checked between steps, where the work can be resumed later. */
  get stopping(): boolean {
    return this.#stopping
  }

  run(what: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error) => this.#log.error({ err: error }, `${what} failed`))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Repeatedly until the service stops, and once more then. */
  every(ms: number, what: string, work: () => Promise<void>): () => Promise<void> {
    const timer = setInterval(() => this.run(what, work), ms)
    timer.unref()
    return async () => {
      clearInterval(timer)
      this.run(what, work)
      await this.stop()
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running)
  }
}
