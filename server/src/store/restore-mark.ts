import type { Db } from './database.ts'

/** A table that is there for as long as a restore is under way: no service starts on half of a backup. */
export const RESTORE_MARK = 'tollgate_restore'

export async function markRestore(db: Db): Promise<void> {
  await db.query(`create table ${RESTORE_MARK} (started_at timestamptz not null default now())`)
}

export async function unmarkRestore(db: Db): Promise<void> {
  await db.query(`drop table ${RESTORE_MARK}`)
}
