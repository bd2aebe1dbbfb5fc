import pg from 'pg'
import { type Db, transaction } from '../connection/database.ts'
import { cellsOf, isInCell, pathTo, refreshCells } from './cells.ts'
import { merged, mergedStretch, type Stretch } from './merge-pages.ts'
import { awaitCommits } from './remote-commits.ts'
import { takePlace } from './remote-places.ts'

// Reading all cells where some are on other servers. The views over all cells send conditions there, but neither joins nor
// how many rows are wanted: whatever has one of these asks each cell by itself, which is answered where the cell is.

/**
 * The answer of each cell, or of all together where none is on another server; in a transaction that has entered a cell,
 * of that one. `isEnough`: the others need not be asked.
 */
export async function askCells<T>(
  db: Db,
  ask: (db: Db) => Promise<T>,
  isEnough: (answer: T) => boolean = () => false,
): Promise<T[]> {
  if (!cellsOf(db)?.anyRemote || isInCell(db)) return [await ask(db)]
  // Where names lead to is set for a transaction.
  if (db instanceof pg.Pool) return transaction(db, (tx) => askEach(tx, ask, isEnough))
  return askEach(db, ask, isEnough)
}

async function askEach<T>(
  tx: Db,
  ask: (db: Db) => Promise<T>,
  isEnough: (answer: T) => boolean,
): Promise<T[]> {
  const cells = await refreshCells(tx)
  if (!cells) return [await ask(tx)]
  const { rows } = await tx.query<{ plans: string }>(`select current_setting('plan_cache_mode') as plans`)
  const plans = rows[0]?.plans ?? 'auto'
  const answers: T[] = []
  for (const schema of cells.schemas) {
    const remote = cells.isRemote(schema)
    // Citus cannot plan every statement without its values.
    await goTo(tx, pathTo(schema, cells.home), remote ? 'force_custom_plan' : plans)
    if (remote) {
      takePlace(tx, schema)
      await awaitCommits(tx, schema)
    }
    const answer = await ask(tx)
    answers.push(answer)
    if (isEnough(answer)) break
  }
  await goTo(tx, cells.home, plans)
  return answers
}

async function goTo(tx: Db, path: string, plans: string): Promise<void> {
  await tx.query(`select set_config('search_path', $1, true), set_config('plan_cache_mode', $2, true)`, [
    path,
    plans,
  ])
}

/** Asks a cell for the rows of a statement. */
export const rowsOf =
  <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) =>
  async (cell: Db): Promise<Row[]> =>
    (await cell.query<Row>(statement)).rows

/** What cells have counted, in a statement of one row, added up. */
export async function sumOfCells<Counts extends { [name: string]: number }>(
  db: Db,
  statement: pg.QueryConfig,
): Promise<Counts> {
  const rows = (await askCells(db, rowsOf<Counts>(statement))).flat()
  const names = Object.keys(rows[0] ?? {})
  const sum = (name: string) => rows.reduce((total, row) => total + (row[name] as number), 0)
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Counts
}

/** Rows that are all in one cell, whichever that is. */
export async function findInCells<Row>(db: Db, ask: (cell: Db) => Promise<Row[]>): Promise<Row[]> {
  const answers = await askCells(db, ask, (rows) => rows.length > 0)
  return answers.at(-1) ?? []
}

/** The first rows of all cells. `compare` is the order in which each gives its own; equal rows are one. */
export async function firstOfCells<Row>(
  db: Db,
  limit: number,
  compare: (a: Row, b: Row) => number,
  ask: (db: Db) => Promise<Row[]>,
): Promise<Row[]> {
  return merged(await askCells(db, ask), compare).slice(0, limit)
}

/** What is found among a number of rows of each cell. `compare` orders the numbers of rows. */
export async function stretchOfCells<Row>(
  db: Db,
  limit: number,
  numberOf: (row: Row) => number,
  compare: (a: number, b: number) => number,
  ask: (db: Db) => Promise<Stretch<Row>>,
): Promise<Stretch<Row>> {
  return mergedStretch(await askCells(db, ask), limit, numberOf, compare)
}

/**
 * A condition that a join implies, for statements that look up keys in all cells at once: other servers are sent it, but
 * not the join.
 */
export const implied = (db: object, condition: string): string =>
  cellsOf(db)?.anyRemote && !isInCell(db) ? `and ${condition}` : ''

/** Where it is found who has a billing id. With cells on other servers it is also noted on this one. */
export const billingIds = (db: object): string => (cellsOf(db)?.anyRemote ? 'user_billing_id' : 'users')
