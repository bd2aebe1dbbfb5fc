import type pg from 'pg'
import type { Merge } from './merge-answers.ts'

// Some tables exist once: apps, catalogues, members, payments. Others belong to users and grow with them: users,
// subscriptions, usage. Those live in a place, which is one schema unless an operator has added more (`store/cells/`).
// They are accessed through the handles defined here, so that omitting the place is a type error.

type Queryable = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>

/** A pool or one of its connections, for tables that exist once. */
export type HomeDb = Queryable & { readonly places: UserPlaces }

declare const userTables: unique symbol

/** The same, where the names of user tables lead to those of the users concerned. */
export type UserDb = HomeDb & { readonly [userTables]: true }

/** The same in a transaction. */
export type UserTx = UserDb & pg.PoolClient & { readonly places: SessionPlaces }

/** Access to the tables of users. */
interface UserPlaces {
  /** Whether some users are on another server, which no join, lock or key of this server reaches. */
  readonly acrossServers: boolean

  /** Works on the rows of one user, who exists or is about to be created. */
  of<T>(appId: string, userId: string, work: (db: UserDb) => Promise<T>): Promise<T>

  /** The same for a user known by uid. Null if there is no such user. */
  ofUid<T>(appId: string, uid: number, work: (db: UserDb) => Promise<T>): Promise<T | null>

  /** The same for several users, together if they share a place. One result per item, in the order of the items. */
  ofMany<Item, Result>(
    appId: string,
    items: readonly Item[],
    userIdOf: (item: Item) => string,
    work: (db: UserDb, items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]>

  /** Reads in every place, or within `of` in that one, and merges the results. */
  each<Answer, Result>(read: (db: UserDb) => Promise<Answer>, merge: Merge<Answer, Result>): Promise<Result>

  /** Writes in every place, all or nothing. */
  writeEach<T>(write: (db: UserDb) => Promise<T>): Promise<T[]>

  /** Rereads the layout if this process knows another one than `layout`, which was just read. */
  refreshIfChanged(layout: PlaceLayout): Promise<void>

  /** Moves a locked user whose id is about to change to the place of the new id. */
  rename(appId: string, uid: number, from: string, to: string): Promise<void>

  // Done by foreign keys and triggers here, but not for users on another server:

  /** Locks what new subscriptions refer to until the transaction ends. */
  holdReferences(appId: string, packageIds: readonly string[], paid: PaidBy | null): Promise<void>
  /** Keeps billing ids unique across places. */
  noteBillingIds(
    appId: string,
    before: readonly OwnBillingId[],
    after: readonly OwnBillingId[],
  ): Promise<void>
  /** Prevents the retirement of ledger partitions whose entries are about to change. */
  holdLedger(): Promise<void>
}

export interface PaidBy {
  provider: string
  ref: string
}

export interface OwnBillingId {
  uid: number
  billingId: string | null
}

/** Which place each user is in. Only `store/cells/` knows its content. */
export interface PlaceLayout {
  readonly all: readonly { schema: string; remote: boolean }[]
  readonly buckets: readonly number[]
}

/** Of a connection, informed of the start and end of its transactions. */
export interface SessionPlaces extends UserPlaces {
  of<T>(appId: string, userId: string, work: (tx: UserTx) => Promise<T>): Promise<T>
  ofUid<T>(appId: string, uid: number, work: (tx: UserTx) => Promise<T>): Promise<T | null>
  ofMany<Item, Result>(
    appId: string,
    items: readonly Item[],
    userIdOf: (item: Item) => string,
    work: (tx: UserTx, items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]>

  /** `limited`: the transaction is retried if it has to wait for admission to another server */
  begin(limited: boolean, admission: ServerSlot | null): void
  end(): void
}

/** Of a pool: decides whether a failed transaction may succeed when retried. */
export interface PoolPlaces extends UserPlaces {
  /** Waits for admission to a server that had too many transactions. Null: the error has another cause. */
  admission(error: unknown): Promise<ServerSlot | null>
  /** Whether the error may be caused by an outdated layout, which has been refreshed. */
  refreshed(error: unknown): Promise<boolean>
}

/** The right to one more transaction on another server. */
export interface ServerSlot {
  release(): void
}

export interface PlacesFactory {
  ofPool(pool: pg.Pool): PoolPlaces
  ofSession(client: pg.PoolClient, pool: PoolPlaces): SessionPlaces
}

/** One schema for everything, as in most installations. */
class OnePlace implements PoolPlaces, SessionPlaces {
  readonly acrossServers = false
  readonly #db: UserTx

  constructor(db: Queryable) {
    this.#db = db as unknown as UserTx
  }

  of<T>(_appId: string, _userId: string, work: (db: UserTx) => Promise<T>): Promise<T> {
    return work(this.#db)
  }

  ofUid<T>(_appId: string, _uid: number, work: (db: UserTx) => Promise<T>): Promise<T | null> {
    return work(this.#db)
  }

  async ofMany<Item, Result>(
    _appId: string,
    items: readonly Item[],
    _userIdOf: (item: Item) => string,
    work: (db: UserTx, items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]> {
    return [...(await work(this.#db, items))]
  }

  async each<Answer, Result>(
    read: (db: UserDb) => Promise<Answer>,
    { merge }: Merge<Answer, Result>,
  ): Promise<Result> {
    return merge([await read(this.#db)])
  }

  async writeEach<T>(write: (db: UserDb) => Promise<T>): Promise<T[]> {
    return [await write(this.#db)]
  }

  async refreshIfChanged(): Promise<void> {}
  async rename(): Promise<void> {}
  async holdReferences(): Promise<void> {}
  async noteBillingIds(): Promise<void> {}
  async holdLedger(): Promise<void> {}

  begin(): void {}
  end(): void {}
  async admission(): Promise<null> {
    return null
  }
  async refreshed(): Promise<boolean> {
    return false
  }
}

export const ONE_PLACE: PlacesFactory = {
  ofPool: (pool) => new OnePlace(pool),
  ofSession: (client) => new OnePlace(client),
}

/** Reads the rows of a statement. */
export const rowsOf =
  <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) =>
  async (db: HomeDb): Promise<Row[]> =>
    (await db.query<Row>(statement)).rows

/** Reads the only row of a statement. */
export const rowOf =
  <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) =>
  async (db: HomeDb): Promise<Row> => {
    const [row] = await rowsOf<Row>(statement)(db)
    if (!row) throw new Error('a statement of one row returned none')
    return row
  }

/** A condition that follows from a join: other servers receive conditions, but no joins. */
export const implied = (db: HomeDb, condition: string): string =>
  db.places.acrossServers ? `and ${condition}` : ''

/** The table by which the owner of a billing id is found. */
export const billingIdOwners = (db: HomeDb): string => (db.places.acrossServers ? 'user_billing_id' : 'users')
