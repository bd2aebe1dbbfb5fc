import { hash } from 'node:crypto'

const NEWLINE = 10
const WORDS = 4

/** A checksum of a table: the number of rows and the sum of their hashes, regardless of their order. */
export interface TableSum {
  name: string
  rows: number
  bytes: number
  sum: string
}

/** Adds up COPY lines. A missing, duplicate or different row changes the sum; another order does not. */
export class RowSum {
  readonly name: string
  readonly #words = new Uint32Array(WORDS)
  rows = 0
  bytes = 0

  constructor(name: string) {
    this.name = name
  }

  /** A piece of whole lines. */
  add(piece: Buffer): void {
    this.bytes += piece.length
    for (let from = 0; ; ) {
      const to = piece.indexOf(NEWLINE, from)
      if (to < 0) return
      const digest = hash('sha256', piece.subarray(from, to), 'buffer')
      for (let word = 0; word < WORDS; word++)
        this.#words[word] = (this.#words[word] ?? 0) + digest.readUInt32LE(4 * word)
      this.rows++
      from = to + 1
    }
  }

  result(): TableSum {
    const sum = [...this.#words].map((word) => word.toString(16).padStart(8, '0')).join('')
    return { name: this.name, rows: this.rows, bytes: this.bytes, sum }
  }
}
