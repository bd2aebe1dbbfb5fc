import type { Logger } from 'pino'

/** Work that goes on after its request was answered. The service does not stop in the middle of a step of it. */
export class OngoingWork {
  readonly #log: Logger
  readonly #running = new Set<Promise<void>>()
  #stopping = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** Asked between two steps: work leaves off then, where it can be taken up again. */
  get stopping(): boolean {
    return this.#stopping
  }

  run(what: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error) => this.#log.error({ err: error }, `${what} failed`))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Again and again, until the service stops; the last time as it does. */
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
