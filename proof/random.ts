/** Seeded random numbers: the same seed and name give the same ones in every run. */
export class Random {
  #state: number

  constructor(seed: number, name = '') {
    this.#state = seed >>> 0
    for (const character of name) this.#state = Math.imul(this.#state ^ character.charCodeAt(0), 0x01000193)
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(all: readonly T[]): T {
    return all[this.int(0, all.length - 1)] as T
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.int(0, 255)))
  }
}
