import { setTimeout as delay } from 'node:timers/promises'
import { cursorOf } from '../../domain/event.ts'
import { lastSequence } from '../../store/events/event-log.ts'
import type { Service } from '../call/service.ts'

const POLL_MS = 250

/**
 * Tells readers of event streams when something was published. However many there are, one statement per poll is enough,
 * and none is sent while nobody reads.
 */
export class LogWatch {
  readonly #service: Pick<Service, 'pool'>
  readonly #waiting = new Set<(last: number) => void>()
  #isPolling = false

  constructor(service: Pick<Service, 'pool'>) {
    this.#service = service
  }

  /** Resolves once something was published after this sequence, of any app; at the latest after `ms`, or when aborted. */
  async beyond(sequence: number, ms: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const published = new Promise<void>((resolve) => {
      const look = (last: number) => {
        if (last > sequence) resolve()
      }
      this.#waiting.add(look)
      ended.signal.addEventListener('abort', () => this.#waiting.delete(look))
    })
    if (!this.#isPolling) void this.#poll()
    const late = delay(ms, undefined, { signal: AbortSignal.any([signal, ended.signal]), ref: false })
    await Promise.race([published, late.catch(() => {})])
    ended.abort()
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      // While the database is unavailable, nothing is published.
      const last = await lastSequence(this.#service.pool).catch(() => null)
      if (last !== null) for (const look of this.#waiting) look(last)
      await delay(POLL_MS, undefined, { ref: false })
    }
    this.#isPolling = false
  }
}

/** The cursor after everything that is published now. */
export const newestCursor = async ({ pool }: Pick<Service, 'pool'>): Promise<string> =>
  cursorOf(await lastSequence(pool))
