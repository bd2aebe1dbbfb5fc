import { pino } from 'pino'
import { placesIn } from '../../src/store/cells/cell-places.ts'
import { Cells } from '../../src/store/cells/cells.ts'
import { openPool, type Pool, type PoolOptions } from '../../src/store/connection/database.ts'
import type { HomeDb, UserTx } from '../../src/store/connection/places.ts'
import type { Basis, CounterRef } from '../../src/store/usage/usage-moves.ts'
import { writingByHand } from './cells-by-hand.ts'
import { createDatabase } from './database.ts'
import { inOneCell } from './one-cell.ts'

export interface TestStore {
  pool: Pool
  url: string
  close(): Promise<void>
}

/** A database with the schema and no service on it, for tests of the store's own functions. */
export const openStore = (options: Partial<PoolOptions> = {}): Promise<TestStore> =>
  openOn(async () => options)

/** The same, where all users are in one cell and names lead there. */
export const openStoreInCell = (): Promise<TestStore> => openOn(async (url) => (await inOneCell(url)).pool)

async function openOn(prepare: (url: string) => Promise<Partial<PoolOptions>>): Promise<TestStore> {
  const { url, drop } = await createDatabase()
  const pool = await openTestPool(url, await prepare(url))
  return {
    pool,
    url,
    async close() {
      await pool.end()
      await drop()
    },
  }
}

/** Connections like those of the service, which may write by hand too. */
export async function openTestPool(url: string, options: Partial<PoolOptions> = {}): Promise<Pool> {
  const cells = new Cells()
  const silent = pino({ level: 'silent' })
  const pool = writingByHand(
    openPool({ connectionString: url }, { max: 4, places: placesIn(cells), ...options }, silent),
  )
  await cells.read(pool)
  return pool
}

/** A connection on which the names of user tables lead to the only place, or to the one it was opened in. */
export const inItsPlace = (db: HomeDb): UserTx => db as unknown as UserTx

/** How the statements of one schema refer to the row of a counter. */
export const counterAt = (ctid: string): CounterRef => ctid as unknown as CounterRef

/** What usage of this user is decided by now. */
export async function basisOf(db: HomeDb, appId: string, uid: number): Promise<Basis> {
  const { rows } = await db.query<{ version: number; tid: string; xmin: string }>(
    `select app.version, u.ctid::text as tid, u.xmin::text from app join users u on u.app_id = app.id
     where app.id = $1 and u.uid = $2`,
    [appId, uid],
  )
  if (!rows[0]) throw new Error(`the app ${appId} has no user ${uid}`)
  const { version, tid, xmin } = rows[0]
  return { version, user: { tid, version: xmin }, since: 0, until: null }
}
