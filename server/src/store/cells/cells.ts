import { hash } from 'node:crypto'
import pg, { escapeIdentifier as quoted } from 'pg'
import type { HomeDb, PlaceLayout } from '../connection/places.ts'

// A cell is a schema with the tables of users, their subscriptions and their usage. With one cell, these tables are
// beside all others, and nothing here costs anything. With several, their names in the common schema are views over all
// cells, for statements that read a few rows by key; writers enter the cell of a user first, so that the names lead to
// the tables there. PostgreSQL rejects writes from outside a cell.
//
// A cell may be on a server of its own: see `remote-cells.ts`.

export const BUCKETS = 1_024

/** The tables of a cell, each after those it refers to. */
export const CELL_TABLES = [
  'users',
  'subscription',
  'usage_counter',
  'usage_ledger',
  'ledger_base',
  'ledger_partition',
] as const

/** Index by which the users of a bucket are found. */
export const BUCKET_INDEX = 'users_by_bucket'

/** A user's bucket: ten bits of a hash, as computed by `bucket_of` in SQL. */
export function bucketOf(appId: string, userId: string): number {
  const bits = Number.parseInt(hash('sha256', `${appId}\u001f${userId}`).slice(0, 3), 16)
  return bits >> 2
}

export interface Cell {
  readonly schema: string
  /** whether it is on another server */
  readonly remote: boolean
}

/** The cells of the database, as this process last read them. */
export class Cells {
  #all: readonly Cell[] = []
  #home = ''

  /** In the order of their numbers; empty if there is one, beside all other tables. */
  get all(): readonly Cell[] {
    return this.#all
  }

  get areMany(): boolean {
    return this.#all.length > 0
  }

  get anyRemote(): boolean {
    return this.#all.some(({ remote }) => remote)
  }

  /** The schema of all other tables. */
  get home(): string {
    return this.#home
  }

  isAsIn({ all }: PlaceLayout): boolean {
    const same = (cell: Cell, i: number) =>
      cell.schema === this.#all[i]?.schema && cell.remote === this.#all[i]?.remote
    return all.length === this.#all.length && all.every(same)
  }

  async read(db: Pick<HomeDb, 'query'>): Promise<void> {
    const { rows } = await db.query<{ home: string; all: Cell[] }>(
      `select (select relnamespace::regnamespace::text from pg_class where oid = 'cell'::regclass) as home,
         (select coalesce(json_agg(json_build_object('schema', schema, 'remote', remote) order by id), '[]') from cell) as all`,
    )
    const { home = '', all = [] } = rows[0] ?? {}
    this.#home = home
    this.#all = all
  }
}

/** The schema in which the tables of a cell on another server are read. */
export const foreignSchema = (schema: string): string => `${schema}_remote`

/** The search path on which the names of user tables lead to a cell. */
export const pathTo = (schema: string, home: string): string => `${quoted(schema)}, ${home}`

const NOT_SUPPORTED = '0A000'
const NOT_PREPARED = '55000'
const WRONG_OBJECT = '42809'
const UNDEFINED_COLUMN = '42703'
const UNDEFINED_TABLE = '42P01'

/** Whether a statement treated a view as the table it was before cells were added, or used a cell that is gone. */
export const metOtherCells = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  [NOT_SUPPORTED, NOT_PREPARED, WRONG_OBJECT, UNDEFINED_COLUMN, UNDEFINED_TABLE].includes(error.code ?? '')
