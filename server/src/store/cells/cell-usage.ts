import { escapeLiteral } from 'pg'
import type { Tx } from '../connection/database.ts'
import type { PlaceLayout } from '../connection/places.ts'
import { enrolEach, type Stranger } from '../usage/enrol.ts'
import type { Question } from '../usage/holding-questions.ts'
import { type Holding, readHoldings } from '../usage/read-holdings.ts'
import type { SpendingMove } from '../usage/spending-move.ts'
import type { CounterMove, CounterRef, MadeMoves, Receipt } from '../usage/usage-moves.ts'
import { ONE_PLACE_USAGE, type UsageOptions, type UsageStore } from '../usage/usage-store.ts'
import { writeSpending } from '../usage/write-spending.ts'
import { writeUsage } from '../usage/write-usage.ts'
import { bucketOf, type Cell, type Cells, metOtherCells, pathTo } from './cells.ts'
import { readRemote } from './read-remote-holdings.ts'
import { writeRemote } from './write-remote-usage.ts'

// The hot paths with several cells. Cells on this server use the statements of one schema, one cell after the other:
// they exist to try sharding without other servers. A cell on another server has statements of its own.

/** A counter in a cell. */
interface CellRef {
  cell: Cell
  bucket: number
  /** as the statements of one schema know it */
  row: CounterRef
}

const refIn = (cell: Cell, bucket: number, row: CounterRef): CounterRef =>
  ({ cell, bucket, row }) satisfies CellRef as unknown as CounterRef
const cellRef = ({ ref }: { ref: CounterRef }): CellRef => ref as unknown as CellRef

export class CellUsage implements UsageStore {
  readonly #cells: Cells

  constructor(cells: Cells) {
    this.#cells = cells
  }

  queueOf(layout: PlaceLayout | null, appId: string, userId: string): string | null {
    if (!layout) return null
    const { schema, remote } = cellIn(layout, bucketOf(appId, userId))
    return remote ? schema : null
  }

  async holdings(
    client: Tx,
    questions: readonly Question[],
    { inTransaction = false }: UsageOptions,
  ): Promise<(Holding | undefined)[]> {
    // If there are cells after all, the statement fails.
    if (questions.some(({ layout }) => layout === null)) return readHoldings(client, questions)
    const located = questions.map((question, index) => {
      const bucket = bucketOf(question.appId, question.userId)
      return { question, index, bucket, cell: cellIn(question.layout as PlaceLayout, bucket) }
    })
    const holdings = new Array<Holding | undefined>(questions.length)
    for (const some of byCell(located, ({ cell }) => cell)) {
      const { cell } = some[0] as (typeof located)[number]
      const asked = some.map(({ question }) => question)
      const read = () => (cell.remote ? readRemote(client, cell.schema, asked) : readHoldings(client, asked))
      const found = cell.remote || inTransaction ? await read() : await this.#inCell(client, cell, '', read)
      for (const [k, { index, bucket }] of some.entries()) {
        const holding = found[k]
        if (!holding) continue
        holding.ref = refIn(cell, bucket, holding.ref)
        for (const counter of holding.counters) counter.ref = refIn(cell, bucket, counter.ref)
        holdings[index] = holding
      }
    }
    return holdings
  }

  async write(
    client: Tx,
    moves: readonly CounterMove[],
    receipts: readonly Receipt[],
    made: (moves: MadeMoves) => void,
    how: UsageOptions,
  ): Promise<boolean> {
    const isPlain = ({ ref }: CounterMove) => typeof ref === 'string'
    if (moves.every(isPlain)) return ONE_PLACE_USAGE.write(client, moves, receipts, made, how)
    let others = receipts
    let complete = true
    for (const some of byCell(moves, (move) => cellRef(move).cell)) {
      const done = await this.#writeIn(client, some, others, how)
      made(done)
      if (done.size < some.length) complete = false
      others = []
    }
    return complete
  }

  /** Users on another server have no credits or reservations. */
  async spend(
    client: Tx,
    moves: readonly SpendingMove[],
    { inTransaction = false }: UsageOptions,
  ): Promise<ReadonlySet<SpendingMove>> {
    if (moves.every(({ ref }) => typeof ref === 'string')) return writeSpending(client, moves)
    const made = new Set<SpendingMove>()
    for (const some of byCell(moves, (move) => cellRef(move).cell)) {
      const { cell } = cellRef(some[0] as SpendingMove)
      const inRow = new Map(some.map((move) => [withRows(move), move]))
      const write = () => writeSpending(client, [...inRow.keys()])
      const done = inTransaction
        ? await write()
        : await this.#inCell(client, cell, holding(this.#cells.home, some), write)
      for (const inner of done) made.add(inRow.get(inner) as SpendingMove)
    }
    return made
  }

  /** Users on another server draw on no pools. */
  async enrol(
    client: Tx,
    strangers: readonly Stranger[],
    { inTransaction = false }: UsageOptions,
  ): Promise<void> {
    if (inTransaction || strangers.every(({ ref }) => typeof ref === 'string'))
      return enrolEach(client, strangers)
    for (const some of byCell(strangers, (stranger) => cellRef(stranger).cell)) {
      const { cell } = cellRef(some[0] as Stranger)
      await this.#inCell(client, cell, holding(this.#cells.home, some), () => enrolEach(client, some))
    }
  }

  async isOutdated(client: Tx, error: unknown): Promise<boolean> {
    if (!metOtherCells(error)) return false
    await this.#cells.read(client)
    return this.#cells.areMany
  }

  async #writeIn(
    client: Tx,
    moves: readonly CounterMove[],
    receipts: readonly Receipt[],
    how: UsageOptions,
  ): Promise<MadeMoves> {
    const { cell } = cellRef(moves[0] as CounterMove)
    if (cell.remote) return writeRemote(client, this.#cells.home, cell.schema, moves, receipts, how)
    const write = async () => {
      const inRow = new Map(moves.map((move) => [{ ...move, ref: cellRef(move).row }, move]))
      const made = new Map<CounterMove, CounterRef | null>()
      for (const [inner, row] of await writeUsage(client, [...inRow.keys()], receipts)) {
        const move = inRow.get(inner) as CounterMove
        made.set(move, row && refIn(cell, cellRef(move).bucket, row))
      }
      return made
    }
    if (how.inTransaction) return write()
    // A user who has left the cell before is not found; from here on, none leaves it.
    return this.#inCell(client, cell, holding(this.#cells.home, moves), write)
  }

  /** In a transaction of its own, on a connection that is in none. */
  async #inCell<T>(client: Tx, { schema }: Cell, first: string, work: () => Promise<T>): Promise<T> {
    const path = escapeLiteral(pathTo(schema, this.#cells.home))
    await client.query('begin')
    try {
      await client.query(`select set_config('search_path', ${path}, true); ${first}`)
      const result = await work()
      await client.query('commit')
      return result
    } catch (error) {
      // If this fails, the connection is broken, and its next statement fails.
      await client.query('rollback').catch(() => {})
      throw error
    }
  }
}

/** Locks buckets, so that their users stay where they are until the transaction ends. */
function holding(home: string, moves: readonly { ref: CounterRef }[]): string {
  const buckets = [...new Set(moves.map((move) => cellRef(move).bucket))].sort((a, b) => a - b)
  return `select from ${home}.cell_bucket where bucket in (${buckets.join(', ')}) order by bucket for key share`
}

/** With the counters as the statements of one schema know them. */
const withRows = (move: SpendingMove): SpendingMove => ({
  ...move,
  counters: new Map(
    [...move.counters].map(([name, counter]) => {
      const { ref } = counter
      return [name, { ...counter, ref: ref && cellRef({ ref }).row }]
    }),
  ),
})

const cellIn = ({ all, buckets }: PlaceLayout, bucket: number): Cell => all[buckets[bucket] ?? 0] as Cell

function byCell<Item>(items: readonly Item[], cellOf: (item: Item) => Cell): Item[][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const { schema } = cellOf(item)
    groups.set(schema, [...(groups.get(schema) ?? []), item])
  }
  return [...groups.values()]
}
