import pg from 'pg'
import { unavailable } from '../domain/errors.ts'
import { MAX_ID_CHANGES } from '../domain/limits.ts'
import { bucketOf, type CELL_TABLES, cellsOf } from './cells.ts'
import { type Db, transaction } from './database.ts'
import { awaitCommits, foreignSchema } from './remote-commits.ts'
import { takePlace } from './remote-places.ts'

/** The name of a table in the cell that is read. */
type NameOf = (table: (typeof CELL_TABLES)[number]) => string

/**
 * Reads what is one user's where that user is, so that the loss of another server does not concern it. The views over all
 * cells would ask every server; and since these are not asked at the same moment, a user who is being moved may be in none.
 * On a connection that has entered no cell.
 */
export async function readInCellOf<T>(
  db: Db,
  appId: string,
  userId: string,
  read: (db: Db, nameOf: NameOf) => Promise<T>,
): Promise<T> {
  const cells = cellsOf(db)
  if (!cells) return read(db, (table) => table)
  const bucket = bucketOf(appId, userId)
  let place = await placeOf(db, cells.home, bucket)
  // All on this server: one statement reads them at one moment. Asked each time, since what the process knows may be old.
  if (!place.anyRemote) return read(db, (table) => table)
  for (let moves = 0; moves <= MAX_ID_CHANGES; moves++) {
    const { schema, remote } = place
    const result = remote
      ? await readThere(db, schema, (there) => read(there, (table) => `${foreignSchema(schema)}.${table}`))
      : await read(db, (table) => `${schema}.${table}`)
    const after = await placeOf(db, cells.home, bucket)
    if (after.version === place.version) return result
    place = after
  }
  throw unavailable('User temporarily unavailable; retry.')
}

/** On another server: as one of the transactions that may wait for it at once. */
async function readThere<T>(db: Db, schema: string, read: (db: Db) => Promise<T>): Promise<T> {
  const readIn = async (there: Db) => {
    takePlace(there, schema)
    await awaitCommits(there, schema)
    return read(there)
  }
  return db instanceof pg.Pool ? transaction(db, readIn) : readIn(db)
}

interface Place {
  schema: string
  remote: boolean
  /** whether any cell is on another server */
  anyRemote: boolean
  /** of the bucket's row: another one after each move */
  version: string
}

async function placeOf(db: Db, home: string, bucket: number): Promise<Place> {
  const { rows } = await db.query<Place>(
    `select c.schema, c.remote, b.xmin::text as version,
       exists (select from ${home}.cell where remote) as "anyRemote"
     from ${home}.cell_bucket b join ${home}.cell c on c.id = b.cell where b.bucket = $1`,
    [bucket],
  )
  if (!rows[0]) throw new Error(`bucket ${bucket} has no cell`)
  return rows[0]
}
