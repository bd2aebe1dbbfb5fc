/**
 * A map that drops entries not used recently once it is full: strangers decide what goes into it, and must not make it
 * grow. It keeps two generations, so that nothing is moved or searched when it is full.
 */
export class RecentMap<Value> {
  readonly #half: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(most: number) {
    this.#half = Math.ceil(most / 2)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const kept = this.#old.get(key)
    if (kept !== undefined) {
      this.#old.delete(key)
      this.set(key, kept)
    }
    return kept
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
