import { unavailable } from '../../domain/errors.ts'
import { MAX_ID_CHANGES } from '../../domain/limits.ts'
import type { Tx } from '../connection/database.ts'
import { awaitCommits, commitTogether } from '../connection/distributed-commits.ts'
import type { Merge } from '../connection/merge-answers.ts'
import type {
  OwnBillingId,
  PaidBy,
  PlaceLayout,
  ServerSlot,
  SessionPlaces,
  UserDb,
  UserTx,
} from '../connection/places.ts'
import { bucketOf, type Cell, type Cells, pathTo } from './cells.ts'
import { holdLedgerOf } from './hold-ledger.ts'
import { moveForNewId } from './move-users.ts'
import { holdReferences, noteBillingIds } from './remote-references.ts'
import type { ServerSlots } from './server-slots.ts'

type TxWork<T> = (tx: UserTx) => Promise<T>

const keptMoving = () => unavailable('User temporarily unavailable; retry.')

/** A connection whose transactions enter and leave cells. */
export class CellSession implements SessionPlaces {
  readonly #tx: Tx
  readonly #cells: Cells
  readonly #slots: ServerSlots
  /** The cell that the transaction is in. */
  #in: Cell | null = null
  #limited = false

  constructor(tx: Tx, cells: Cells, slots: ServerSlots) {
    this.#tx = tx
    this.#cells = cells
    this.#slots = slots
  }

  get acrossServers(): boolean {
    return this.#cells.anyRemote
  }

  begin(limited: boolean, admission: ServerSlot | null): void {
    this.#in = null
    this.#limited = limited
    if (admission) this.#slots.give(admission, this.#tx)
  }

  end(): void {
    this.#limited = false
    this.#slots.release(this.#tx)
  }

  /** Until the transaction ends, the users of that bucket are not moved. */
  async of<T>(appId: string, userId: string, work: TxWork<T>): Promise<T> {
    if (!this.#cells.areMany) return work(this.#db)
    const outer = this.#in
    await this.#enterBucket(appId, bucketOf(appId, userId))
    return this.#andReturn(outer, () => work(this.#db))
  }

  async ofUid<T>(appId: string, uid: number, work: TxWork<T>): Promise<T | null> {
    if (!this.#cells.areMany) return work(this.#db)
    // A user created on another server by this transaction is visible there alone.
    if (this.#in?.remote && (await this.#idOf('users', appId, uid)) !== null) return work(this.#db)
    const outer = this.#in
    for (let changes = 0; changes <= MAX_ID_CHANGES; changes++) {
      const before = await this.#idOf(`${this.#cells.home}.users`, appId, uid)
      if (before === null) return null
      await this.#enterBucket(appId, bucketOf(appId, before))
      // Renamed meanwhile, and so perhaps moved? The cell itself knows: a transaction sees other servers as they were
      // when it first looked.
      if ((await this.#idOf('users', appId, uid)) === before)
        return this.#andReturn(outer, () => work(this.#db))
      await this.#go(outer)
    }
    throw keptMoving()
  }

  async ofMany<Item, Result>(
    appId: string,
    items: readonly Item[],
    userIdOf: (item: Item) => string,
    work: (db: UserTx, items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]> {
    if (!this.#cells.areMany) return [...(await work(this.#db, items))]
    const buckets = new Map<number, number[]>()
    for (const [i, item] of items.entries()) {
      const bucket = bucketOf(appId, userIdOf(item))
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), i])
    }
    const results = new Array<Result>(items.length)
    // In the order of the buckets, like every transaction that holds several.
    for (const [, indexes] of [...buckets].sort(([a], [b]) => a - b)) {
      const some = indexes.map((i) => items[i] as Item)
      const made = await this.of(appId, userIdOf(some[0] as Item), (db) => work(db, some))
      for (const [k, i] of indexes.entries()) results[i] = made[k] as Result
    }
    return results
  }

  async each<Answer, Result>(
    read: (db: UserDb) => Promise<Answer>,
    { merge, enough }: Merge<Answer, Result>,
  ): Promise<Result> {
    if (!this.#cells.areMany || this.#in) return merge([await read(this.#db)])
    await this.#cells.read(this.#tx)
    const { rows } = await this.#tx.query<{ plans: string }>(
      `select current_setting('plan_cache_mode') as plans`,
    )
    const plans = rows[0]?.plans ?? 'auto'
    const answers: Answer[] = []
    const readAll = async () => {
      for (const cell of this.#cells.all) {
        await this.#go(cell)
        if (cell.remote) {
          this.#takeSlot(cell)
          await awaitCommits(this.#tx, cell.schema)
        }
        // Citus cannot plan every statement without its values.
        await this.#planWith(cell.remote ? 'force_custom_plan' : plans)
        const answer = await read(this.#db)
        answers.push(answer)
        if (enough?.(answer)) break
      }
      await this.#planWith(plans)
    }
    await this.#andReturn(null, readAll)
    return merge(answers)
  }

  async writeEach<T>(write: TxWork<T>): Promise<T[]> {
    if (!this.#cells.areMany) return [await write(this.#db)]
    const outer = this.#in
    await this.#cells.read(this.#tx)
    const results: T[] = []
    await this.#andReturn(outer, async () => {
      for (const cell of this.#cells.all) {
        await this.#go(cell)
        await this.#joinServer(cell)
        results.push(await write(this.#db))
      }
    })
    return results
  }

  /** Reads one user without a lock, again if the user was moved meanwhile. */
  async read<T>(appId: string, userId: string, work: TxWork<T>): Promise<T> {
    const bucket = bucketOf(appId, userId)
    let cell = await this.#cellOf(bucket)
    for (let moves = 0; moves <= MAX_ID_CHANGES; moves++) {
      const { schema, remote } = cell
      await this.#go({ schema, remote })
      if (remote) {
        this.#takeSlot(cell)
        await awaitCommits(this.#tx, schema)
      }
      const result = await work(this.#db)
      const after = await this.#cellOf(bucket)
      if (after.version === cell.version) return result
      cell = after
    }
    throw keptMoving()
  }

  async readUid<T>(appId: string, uid: number, work: TxWork<T>): Promise<T | null> {
    for (let changes = 0; changes <= MAX_ID_CHANGES; changes++) {
      const before = await this.#idOf(`${this.#cells.home}.users`, appId, uid)
      if (before === null) return null
      const { result, id } = await this.read(appId, before, async (db) => ({
        result: await work(db),
        id: await this.#idOf('users', appId, uid),
      }))
      if (id === before) return result
    }
    throw keptMoving()
  }

  async refreshIfChanged(layout: PlaceLayout): Promise<void> {
    if (!this.#cells.isAsIn(layout)) await this.#cells.read(this.#tx)
  }

  async rename(appId: string, uid: number, from: string, to: string): Promise<void> {
    if (!this.#cells.areMany) return
    await this.#go(null)
    const cell = await moveForNewId(this.#tx, { appId, uid }, [bucketOf(appId, from), bucketOf(appId, to)])
    await this.#go(cell)
    await this.#joinServer(cell)
  }

  async holdReferences(appId: string, packageIds: readonly string[], paid: PaidBy | null): Promise<void> {
    if (this.#in?.remote) await holdReferences(this.#tx, this.#cells.home, appId, packageIds, paid)
  }

  async noteBillingIds(
    appId: string,
    before: readonly OwnBillingId[],
    after: readonly OwnBillingId[],
  ): Promise<void> {
    if (this.#in?.remote) await noteBillingIds(this.#tx, this.#cells.home, appId, before, after)
  }

  async holdLedger(): Promise<void> {
    if (this.#in?.remote) await holdLedgerOf(this.#tx, 'ledger_partition')
  }

  get #db(): UserTx {
    return this.#tx as unknown as UserTx
  }

  async #enterBucket(appId: string, bucket: number): Promise<void> {
    const { home } = this.#cells
    const { rows } = await this.#tx.query<Cell>(
      `with held as materialized (select cell from ${home}.cell_bucket where bucket = $1 for key share)
       select c.schema, c.remote, set_config('search_path', quote_ident(c.schema) || ', ' || $2, true)
       from held join ${home}.cell c on c.id = held.cell`,
      [bucket, home],
    )
    const [cell] = rows
    if (!cell) throw new Error(`bucket ${bucket} is in no cell`)
    this.#in = { schema: cell.schema, remote: cell.remote }
    await this.#joinServer(cell)
    // On this server a foreign key does that: the app is not deleted before this transaction ends.
    if (cell.remote) await this.#tx.query(`select from ${home}.app where id = $1 for key share`, [appId])
  }

  /** From here on the transaction commits on both servers or on neither. */
  async #joinServer(cell: Cell): Promise<void> {
    if (!cell.remote) return
    this.#takeSlot(cell)
    await awaitCommits(this.#tx, cell.schema)
    await commitTogether(this.#tx, this.#cells.home, [cell.schema])
  }

  #takeSlot({ schema }: Cell): void {
    if (this.#limited) this.#slots.take(this.#tx, schema)
  }

  async #andReturn<T>(outer: Cell | null, work: () => Promise<T>): Promise<T> {
    let result: T
    try {
      result = await work()
    } catch (error) {
      // Where the transaction was aborted this fails, and its rollback restores the path.
      await this.#go(outer).catch(() => {})
      this.#in = outer
      throw error
    }
    await this.#go(outer)
    return result
  }

  /** Lets the names of user tables lead to a cell, or to the views over all of them. */
  async #go(cell: Cell | null): Promise<void> {
    if (cell?.schema === this.#in?.schema) return
    const { home } = this.#cells
    await this.#tx.query(`select set_config('search_path', $1, true)`, [
      cell ? pathTo(cell.schema, home) : home,
    ])
    this.#in = cell
  }

  async #planWith(plans: string): Promise<void> {
    await this.#tx.query(`select set_config('plan_cache_mode', $1, true)`, [plans])
  }

  /** `version`: changes with every move of the bucket */
  async #cellOf(bucket: number): Promise<Cell & { version: string }> {
    const { home } = this.#cells
    const { rows } = await this.#tx.query<Cell & { version: string }>(
      `select c.schema, c.remote, b.xmin::text as version
       from ${home}.cell_bucket b join ${home}.cell c on c.id = b.cell where b.bucket = $1`,
      [bucket],
    )
    if (!rows[0]) throw new Error(`bucket ${bucket} is in no cell`)
    return rows[0]
  }

  async #idOf(users: string, appId: string, uid: number): Promise<string | null> {
    const { rows } = await this.#tx.query<{ id: string }>(
      `select id from ${users} where app_id = $1 and uid = $2`,
      [appId, uid],
    )
    return rows[0]?.id ?? null
  }
}
