interface Page {
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

const { document, window } = globalThis as {
  document?: Page & { visibilityState: string }
  window?: Page
}

const MAX_DOUBLINGS = 4

/** Beats at intervals while the page is visible, and when it becomes visible or is back online; slower while beats fail. */
export class Pulse {
  readonly #every: number
  /** Resolves with whether it succeeded. */
  readonly #beat: () => Promise<boolean>
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #running = false

  constructor(every: number, beat: () => Promise<boolean>) {
    this.#every = every
    this.#beat = beat
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    document?.addEventListener('visibilitychange', this.#now)
    window?.addEventListener('online', this.#now)
    this.#schedule()
  }

  stop(): void {
    this.#running = false
    clearTimeout(this.#timer)
    document?.removeEventListener('visibilitychange', this.#now)
    window?.removeEventListener('online', this.#now)
  }

  readonly #now = async (): Promise<void> => {
    clearTimeout(this.#timer)
    if (document?.visibilityState === 'hidden') return
    const well = await this.#beat()
    this.#failures = well ? 0 : this.#failures + 1
    this.#schedule()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const ms = this.#every * 2 ** Math.min(this.#failures, MAX_DOUBLINGS)
    if (!this.#running || !(ms > 0 && ms < 2 ** 31)) return
    this.#timer = setTimeout(this.#now, ms)
    // In Node, where pages are rendered, it must not keep the process alive.
    ;(this.#timer as { unref?(): void }).unref?.()
  }
}
