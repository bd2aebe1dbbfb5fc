import type { Pool } from '../connection/database.ts'
import { pathTo } from './cells.ts'

/** A statement about one cell takes at most minutes; one that takes longer waits for a server that hangs. */
export const CELL_STATEMENT_MS = 15 * 60_000

/** Connections on which names lead to one of several cells. */
export class CellPools {
  readonly #open: (searchPath: string) => Pool
  readonly #home: () => string
  readonly #pools = new Map<string, Pool>()

  constructor(home: () => string, open: (searchPath: string) => Pool) {
    this.#home = home
    this.#open = open
  }

  of(schema: string): Pool {
    let pool = this.#pools.get(schema)
    if (!pool) {
      pool = this.#open(pathTo(schema, this.#home()))
      this.#pools.set(schema, pool)
    }
    return pool
  }
}
