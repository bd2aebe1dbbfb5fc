import { type Pool, type Tx, transaction } from '../connection/database.ts'
import type { Merge } from '../connection/merge-answers.ts'
import type { PlaceLayout, PlacesFactory, PoolPlaces, ServerSlot, UserDb } from '../connection/places.ts'
import { CellSession } from './cell-session.ts'
import { type Cells, metOtherCells } from './cells.ts'
import { ServerBusy, ServerSlots } from './server-slots.ts'

/** Users spread over cells. As long as there is one, all work goes straight to its tables. */
export const placesIn = (cells: Cells): PlacesFactory => ({
  ofPool: (pool) => new CellPool(pool as Pool, cells),
  ofSession: (client, pool) => new CellSession(client as Tx, cells, (pool as CellPool).slots),
})

type Work<T> = (db: UserDb) => Promise<T>

/** For reading: outside of a transaction nothing keeps a user from being moved. */
class CellPool implements PoolPlaces {
  readonly slots: ServerSlots
  readonly #pool: Pool
  readonly #cells: Cells

  constructor(pool: Pool, cells: Cells) {
    this.#pool = pool
    this.#cells = cells
    this.slots = new ServerSlots(pool.options.max)
  }

  get acrossServers(): boolean {
    return this.#cells.anyRemote
  }

  of<T>(appId: string, userId: string, work: Work<T>): Promise<T> {
    return this.#reading(work, (session) => session.read(appId, userId, work))
  }

  ofUid<T>(appId: string, uid: number, work: Work<T>): Promise<T | null> {
    return this.#reading<T | null>(work, (session) => session.readUid(appId, uid, work))
  }

  ofMany<Item, Result>(
    appId: string,
    items: readonly Item[],
    userIdOf: (item: Item) => string,
    work: (db: UserDb, items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]> {
    return transaction(this.#pool, (tx) => tx.places.ofMany(appId, items, userIdOf, work))
  }

  async each<Answer, Result>(read: Work<Answer>, merge: Merge<Answer, Result>): Promise<Result> {
    if (!this.#cells.areMany) return merge.merge([await read(this.#pool as unknown as UserDb)])
    return transaction(this.#pool, (tx) => tx.places.each(read, merge))
  }

  writeEach<T>(write: Work<T>): Promise<T[]> {
    return transaction(this.#pool, (tx) => tx.places.writeEach(write))
  }

  async refreshIfChanged(layout: PlaceLayout): Promise<void> {
    if (!this.#cells.isAsIn(layout)) await this.#cells.read(this.#pool)
  }

  async admission(error: unknown): Promise<ServerSlot | null> {
    return error instanceof ServerBusy ? error.waitForSlot() : null
  }

  async refreshed(error: unknown): Promise<boolean> {
    if (!metOtherCells(error)) return false
    await this.#cells.read(this.#pool)
    return this.#cells.areMany
  }

  rename = ofTransactions
  holdReferences = ofTransactions
  noteBillingIds = ofTransactions
  holdLedger = ofTransactions

  #reading<T>(work: Work<T>, read: (session: CellSession) => Promise<T>): Promise<T> {
    if (!this.#cells.areMany) return work(this.#pool as unknown as UserDb)
    return transaction(this.#pool, (tx) => read(tx.places as CellSession))
  }
}

async function ofTransactions(): Promise<never> {
  throw new Error('users are changed in a transaction')
}
