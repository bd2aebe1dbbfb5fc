import { READY_TIMEOUT_MS } from '../../domain/limits.ts'
import { answers, readAndWrite } from '../../store/connection/liveness.ts'
import type { Service } from '../call/service.ts'

/** Whether the service can work, and the reason if not. */
type Readiness = { ready: true } | { ready: false; reason: unknown }

/**
 * Checks that the database reads and writes, through the pools that requests use, and that no call is stuck. Concurrent
 * callers share one check.
 */
export class ReadyCheck {
  readonly #service: Service
  #looking: Promise<Readiness> | null = null

  constructor(service: Service) {
    this.#service = service
  }

  look(): Promise<Readiness> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #look(): Promise<Readiness> {
    const { pool, lookups, usage } = this.#service
    const stuck = usage.oldestSeconds() * 1_000 > READY_TIMEOUT_MS
    if (stuck) return { ready: false, reason: new Error('calls are waiting for the database') }
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the database did not answer in time')), READY_TIMEOUT_MS)
    })
    try {
      await Promise.race([Promise.all([readAndWrite(lookups), answers(pool)]), tooLong])
      return { ready: true }
    } catch (reason) {
      return { ready: false, reason }
    } finally {
      clearTimeout(timer)
    }
  }
}
