import { bucketOf, pathTo } from './cells.ts'
import type { Pool, Tx } from './database.ts'

/** The user is not in the cell that was asked. */
export class Elsewhere extends Error {}

/** Connections to each cell. */
export class CellPools {
  /** to the only cell, or to all of them through views */
  readonly home: Pool
  readonly #open: (searchPath: string) => Pool
  readonly #homeSchema: () => string
  readonly #pools = new Map<string, Pool>()

  constructor(home: Pool, homeSchema: () => string, open: (searchPath: string) => Pool) {
    this.home = home
    this.#homeSchema = homeSchema
    this.#open = open
  }

  of(schema: string): Pool {
    let pool = this.#pools.get(schema)
    if (!pool) {
      pool = this.#open(pathTo(schema, this.#homeSchema()))
      pool.on('connect', (client) => cells.set(client, schema))
      this.#pools.set(schema, pool)
    }
    return pool
  }
}

const cells = new WeakMap<object, string>()

/** The cell that a connection leads to; undefined: to no particular one. */
export const cellOf = (client: Tx): string | undefined => cells.get(client)

/** Which cell each user of an app is in. */
export class CellMap {
  readonly #schemas: readonly string[]
  readonly #buckets: readonly number[]

  constructor(schemas: readonly string[], buckets: readonly number[]) {
    this.#schemas = schemas
    this.#buckets = buckets
  }

  schemaOf(appId: string, userId: string): string | undefined {
    return this.#schemas[this.#buckets[bucketOf(appId, userId)] ?? 0]
  }
}
