/** Counts what happened lately under a name, so that it can be slowed down. */
export class Attempts {
  readonly #times = new Map<string, number[]>()
  readonly #most: number
  readonly #windowMs: number

  constructor(most: number, windowMs: number) {
    this.#most = most
    this.#windowMs = windowMs
  }

  /** Notes one more, unless there were too many already. */
  allow(name: string, now: number): boolean {
    const recent = (this.#times.get(name) ?? []).filter((at) => now - at < this.#windowMs)
    if (recent.length >= this.#most) return false
    if (recent.length === 0) this.#forgetOld(now)
    this.#times.set(name, [...recent, now])
    return true
  }

  clear(name: string): void {
    this.#times.delete(name)
  }

  #forgetOld(now: number): void {
    for (const [name, times] of this.#times) {
      if (times.every((at) => now - at >= this.#windowMs)) this.#times.delete(name)
    }
  }
}
