import { pathTo } from './cells.ts'
import type { Pool } from './database.ts'

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
