import type { HomeDb } from '../connection/places.ts'

/** A table that exists while a restore is running: no service starts on half a backup. */
export const RESTORE_MARK = 'tollgate_restore'

export async function markRestore(db: HomeDb): Promise<void> {
  await db.query(`create table ${RESTORE_MARK} (started_at timestamptz not null default now())`)
}

export async function unmarkRestore(db: HomeDb): Promise<void> {
  await db.query(`drop table ${RESTORE_MARK}`)
}
