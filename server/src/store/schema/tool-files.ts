import type { HomeDb } from '../connection/places.ts'

// How operators' tools recognise their own files.

/** Identifies a database, also among those of other servers: by the time of its schema and its number there. */
export async function databaseId(db: HomeDb): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `select left(md5(concat_ws(' ', oid, (select extract(epoch from min(applied_at)) from schema_migration))), 8) as id
     from pg_database where datname = current_database()`,
  )
  return rows[0]?.id ?? ''
}

const BACKUPS = `hashtext('tollgate backup')`

/**
 * Counts as a backup in progress for as long as the session lasts. If there is no other, `first` runs before another
 * can begin. Returns whether there was none.
 */
export async function joinBackups(session: HomeDb, first: () => Promise<void>): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(${BACKUPS}) as locked`,
  )
  const locked = rows[0]?.locked === true
  if (locked) await first()
  await session.query(`select pg_advisory_lock_shared(${BACKUPS})`)
  if (locked) await session.query(`select pg_advisory_unlock(${BACKUPS})`)
  return locked
}
