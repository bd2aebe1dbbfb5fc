import { hash } from 'node:crypto'
import pg, { escapeIdentifier as quoted } from 'pg'
import { unavailable } from '../domain/errors.ts'
import { MAX_ID_CHANGES } from '../domain/limits.ts'
import { awaitCommits, commitTogether, foreignSchema } from './remote-commits.ts'
import { takePlace } from './remote-places.ts'

// Users, their subscriptions and their usage live in cells: schemas with the same tables. As long as there is one cell,
// its tables are where all others are, and nothing here costs anything. With several, their common names are views over
// all of them, which serve whatever only reads; a transaction that writes enters the cell of its user first, so that the
// same names lead to the tables there. What enters no cell and writes is refused by PostgreSQL.
//
// A cell may be on a server of its own: see `remote-cells.ts`.

type Db = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>

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

/** By which the users of a bucket are found. */
export const BUCKET_INDEX = 'users_by_bucket'

/** A user's bucket: ten bits of a hash, as `bucket_of` has them in SQL. */
export function bucketOf(appId: string, userId: string): number {
  const bits = Number.parseInt(hash('sha256', `${appId}\u001f${userId}`).slice(0, 3), 16)
  return bits >> 2
}

/** What a process knows of a database's cells. */
export class Cells {
  /** the schemas of the cells, by number; empty: there is one, beside all other tables */
  #schemas: readonly string[] = []
  /** those of cells on other servers */
  #remote: ReadonlySet<string> = new Set()
  /** the schema of all other tables */
  #home = ''

  get areMany(): boolean {
    return this.#schemas.length > 0
  }

  get schemas(): readonly string[] {
    return this.#schemas
  }

  get home(): string {
    return this.#home
  }

  isRemote(schema: string): boolean {
    return this.#remote.has(schema)
  }

  get anyRemote(): boolean {
    return this.#remote.size > 0
  }

  /** Reads them again. */
  async read(db: Db): Promise<void> {
    const { rows } = await db.query<{ home: string; schemas: string[]; remote: string[] }>(
      `select (select relnamespace::regnamespace::text from pg_class where oid = 'cell'::regclass) as home,
         array(select schema from cell order by id) as schemas, array(select schema from cell where remote) as remote`,
    )
    const { home = '', schemas = [], remote = [] } = rows[0] ?? {}
    this.#home = home
    this.#schemas = schemas
    this.#remote = new Set(remote)
  }
}

const known = new WeakMap<object, Cells>()

/** Tells a pool and its connections of the cells. */
export function attachCells(pool: pg.Pool, cells: Cells): void {
  known.set(pool, cells)
  pool.on('connect', (client) => known.set(client, cells))
}

/** Has a process that was told of these cells know them, if it did not. */
export async function noticeCells(
  db: Db,
  told: readonly { schema: string; remote: boolean }[],
): Promise<void> {
  const cells = known.get(db)
  const isKnown = ({ schema, remote }: { schema: string; remote: boolean }) =>
    cells?.schemas.includes(schema) && cells.isRemote(schema) === remote
  if (cells && !(cells.schemas.length === told.length && told.every(isKnown))) await cells.read(db)
}

/** Null: there is one. */
export function cellsOf(db: object): Cells | null {
  const cells = known.get(db)
  return cells?.areMany ? cells : null
}

const NOT_SUPPORTED = '0A000'
const NOT_PREPARED = '55000'
const WRONG_OBJECT = '42809'
const UNDEFINED_COLUMN = '42703'
const UNDEFINED_TABLE = '42P01'

/** Whether a statement took a view for the table it was until cells were added, or asked a cell that was removed. */
export const metOtherCells = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  [NOT_SUPPORTED, NOT_PREPARED, WRONG_OBJECT, UNDEFINED_COLUMN, UNDEFINED_TABLE].includes(error.code ?? '')

/** Whether a transaction may have failed because this process did not know of the cells; it does now. */
export async function learnOfCells(pool: pg.Pool, error: unknown): Promise<boolean> {
  const cells = known.get(pool)
  if (!cells || !metOtherCells(error)) return false
  await cells.read(pool)
  return cells.areMany
}

export const pathTo = (schema: string, home: string): string => `${quoted(schema)}, ${home}`

/**
 * Has the rest of a transaction work in the cell of a user who exists or is to be created. Until it ends, the users of
 * that bucket are not moved.
 */
export async function enterCell(tx: Db, appId: string, userId: string): Promise<void> {
  const cells = cellsOf(tx)
  if (cells) await enterBucket(tx, cells, appId, bucketOf(appId, userId))
}

async function enterBucket(tx: Db, { home }: Cells, appId: string, bucket: number): Promise<void> {
  const { rows } = await tx.query<{ schema: string; remote: boolean }>(
    `with held as materialized (select cell from ${home}.cell_bucket where bucket = $1 for key share)
     select c.schema, c.remote, set_config('search_path', quote_ident(c.schema) || ', ' || $2, true)
     from held join ${home}.cell c on c.id = held.cell`,
    [bucket, home],
  )
  const [cell] = rows
  if (!cell) throw new Error(`bucket ${bucket} has no cell`)
  await noteEntered(tx, home, cell.schema, cell.remote)
  // Elsewhere a key to the app does that: it is not deleted before this transaction ends.
  if (cell.remote) await tx.query(`select from ${home}.app where id = $1 for key share`, [appId])
}

/** The connections whose transaction is in a cell: the schema of all other tables, and whether the cell is on another server. */
const entered = new WeakMap<object, { home: string; remote: boolean }>()

/** A new transaction is in none. */
export const beginOutside = (tx: object): void => void entered.delete(tx)

export const isInCell = (tx: object): boolean => entered.has(tx)

/** Null: the transaction is in no cell on another server. */
export function homeOfRemote(tx: object): string | null {
  const cell = entered.get(tx)
  return cell?.remote ? cell.home : null
}

async function noteEntered(tx: Db, home: string, schema: string, remote: boolean): Promise<void> {
  if (remote) {
    takePlace(tx, schema)
    await awaitCommits(tx, schema)
    await commitTogether(tx, home, [schema])
  }
  entered.set(tx, { home, remote })
}

/** The same for a user who is known by number. False: there is no such user. */
export async function enterCellOf(tx: Db, appId: string, uid: number): Promise<boolean> {
  const cells = cellsOf(tx)
  if (!cells) return true
  // One whom this transaction has created on another server is known there alone.
  if (homeOfRemote(tx) !== null && (await idOf(tx, 'users', appId, uid)) !== null) return true
  for (let changes = 0; changes <= MAX_ID_CHANGES; changes++) {
    const before = await idOf(tx, `${cells.home}.users`, appId, uid)
    if (before === null) return false
    await enterCell(tx, appId, before)
    // Renamed in between, and so perhaps moved? Asked in the cell itself: a transaction sees other servers as they were
    // when it first looked.
    if ((await idOf(tx, 'users', appId, uid)) === before) return true
  }
  throw unavailable('User temporarily unavailable; retry.')
}

async function idOf(db: Db, users: string, appId: string, uid: number): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(`select id from ${users} where app_id = $1 and uid = $2`, [
    appId,
    uid,
  ])
  return rows[0]?.id ?? null
}

/** Has the rest of a transaction work in a cell whose bucket it holds. */
export async function goInto(tx: Db, home: string, schema: string, remote: boolean): Promise<void> {
  await tx.query(`select set_config('search_path', $1, true)`, [pathTo(schema, home)])
  await noteEntered(tx, home, schema, remote)
}

/** Has the rest of a transaction see all cells again, for reading. */
export async function leaveCell(tx: Db): Promise<void> {
  const cells = cellsOf(tx)
  entered.delete(tx)
  if (cells) await tx.query(`select set_config('search_path', $1, true)`, [cells.home])
}

/** For what concerns all cells: one may have been added since. */
export async function refreshCells(tx: Db): Promise<Cells | null> {
  const cells = cellsOf(tx)
  await cells?.read(tx)
  return cells
}

/** Does the same in each cell, one after the other, and returns what each has given. */
export async function inEachCell<T>(tx: pg.PoolClient, work: () => Promise<T>): Promise<T[]> {
  const cells = await refreshCells(tx)
  if (!cells) return [await work()]
  const results: T[] = []
  for (const schema of cells.schemas) {
    await goInto(tx, cells.home, schema, cells.isRemote(schema))
    results.push(await work())
  }
  await leaveCell(tx)
  return results
}

/** The names of a table of all cells, for a transaction that writes to all. */
export function inAllCells(db: object, table: (typeof CELL_TABLES)[number]): string[] {
  const cells = cellsOf(db)
  return cells ? cells.schemas.map((schema) => `${quoted(schema)}.${table}`) : [table]
}

/** The same, for reading one after the other. */
export function readInAllCells(db: object, table: (typeof CELL_TABLES)[number]): string[] {
  const cells = cellsOf(db)
  if (!cells) return [table]
  const readAs = (schema: string) => (cells.isRemote(schema) ? foreignSchema(schema) : quoted(schema))
  return cells.schemas.map((schema) => `${readAs(schema)}.${table}`)
}

/** Has the transaction be committed in all cells or in none, wherever they are. */
export async function commitInAllCells(tx: Db): Promise<void> {
  const cells = cellsOf(tx)
  if (!cells?.anyRemote) return
  const remote = cells.schemas.filter((schema) => cells.isRemote(schema))
  await commitTogether(tx, cells.home, remote)
}

/** The name under which all cells are read, also inside one of them. */
export function everywhere(db: object, table: (typeof CELL_TABLES)[number]): string {
  const cells = cellsOf(db)
  return cells ? `${cells.home}.${table}` : table
}

/** Does `work` for some users, in the cell of each; returns one result per item, in their order. */
export async function inCellsOf<Item, Result>(
  tx: pg.PoolClient,
  appId: string,
  items: readonly Item[],
  userIdOf: (item: Item) => string,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  if (!cellsOf(tx)) return [...(await work(items))]
  const buckets = new Map<number, number[]>()
  for (const [i, item] of items.entries()) {
    const bucket = bucketOf(appId, userIdOf(item))
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), i])
  }
  const results = new Array<Result>(items.length)
  // In the order of the buckets, as everybody who holds several.
  for (const [, indexes] of [...buckets].sort(([a], [b]) => a - b)) {
    await enterCell(tx, appId, userIdOf(items[indexes[0] as number] as Item))
    const made = await work(indexes.map((i) => items[i] as Item))
    for (const [k, i] of indexes.entries()) results[i] = made[k] as Result
  }
  // What is read next is what was written: on another server, in the cell alone.
  if (buckets.size > 1) await leaveCell(tx)
  return results
}
