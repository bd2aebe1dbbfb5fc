import { PLACE_STATEMENT_MS, type Pool, type PoolOptions } from '../connection/database.ts'
import { type Cells, pathTo } from './cells.ts'

/** Opens a pool per cell, for long statements about one of them; `plain` serves where there is one. */
export class CellPools {
  readonly #cells: Cells
  readonly #plain: Pool
  readonly #open: (options: Partial<PoolOptions>) => Pool
  readonly #pools = new Map<string, Pool>()

  constructor(cells: Cells, plain: Pool, open: (options: Partial<PoolOptions>) => Pool) {
    this.#cells = cells
    this.#plain = plain
    this.#open = open
  }

  /** In the order of the cells. */
  async all(): Promise<[Pool, ...Pool[]]> {
    await this.#cells.read(this.#plain)
    const [first, ...others] = this.#cells.all.map(({ schema }) => this.#of(schema))
    return first ? [first, ...others] : [this.#plain]
  }

  #of(schema: string): Pool {
    const searchPath = pathTo(schema, this.#cells.home)
    const options = { searchPath, statementMs: PLACE_STATEMENT_MS, lockMs: PLACE_STATEMENT_MS }
    const pool = this.#pools.get(schema) ?? this.#open(options)
    this.#pools.set(schema, pool)
    return pool
  }
}
