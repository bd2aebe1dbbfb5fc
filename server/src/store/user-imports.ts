import type { Db } from './database.ts'

export const IMPORT_STATES = [
  'READING',
  'CHECKED',
  'APPLYING',
  'APPLIED',
  'UNDOING',
  'UNDONE',
  'FAILED',
] as const
type ImportState = (typeof IMPORT_STATES)[number]

export interface UserImport {
  id: string
  state: ImportState
  failure: string | null
  memberEmail: string
  startedAt: number
  finishedAt: number | null
  bytesTotal: number
  bytesRead: number
  rows: number
  bad: number
  unchanged: number
  changed: number
  applied: number
  refused: number
  undone: number
  kept: number
  /** whether whoever works on it was heard of lately */
  alive: boolean
}

const SELECT = `select id, state, failure, member_email as "memberEmail", started_at as "startedAt",
  finished_at as "finishedAt", bytes_total as "bytesTotal", bytes_read as "bytesRead", rows, bad, unchanged, changed,
  applied, refused, undone, kept, touched_at > now() - interval '1 minute' as alive from user_import`

/** False when the id is taken. Of the earlier ones, the last `keep` stay. */
export async function insertUserImport(
  db: Db,
  appId: string,
  made: { id: string; memberEmail: string; bytesTotal: number },
  keep: number,
): Promise<boolean> {
  const { rows: gone } = await db.query<{ id: string }>(
    `delete from user_import where app_id = $1 and seq <= (
       select seq from user_import where app_id = $1 order by seq desc offset $2 limit 1) returning id`,
    [appId, keep - 1],
  )
  for (const { id } of gone) {
    await db.query(`delete from user_import_row where app_id = $1 and import_id = $2`, [appId, id])
  }
  const { rowCount } = await db.query(
    `insert into user_import (app_id, id, state, member_email, bytes_total) values ($1, $2, 'READING', $3, $4)
     on conflict do nothing`,
    [appId, made.id, made.memberEmail, made.bytesTotal],
  )
  return rowCount === 1
}

export async function findUserImport(db: Db, appId: string, id: string): Promise<UserImport | null> {
  const { rows } = await db.query<UserImport>(`${SELECT} where app_id = $1 and id = $2`, [appId, id])
  return rows[0] ?? null
}

export async function listUserImports(db: Db, appId: string): Promise<UserImport[]> {
  const { rows } = await db.query<UserImport>(`${SELECT} where app_id = $1 order by seq desc`, [appId])
  return rows
}

export async function setImportState(
  db: Db,
  appId: string,
  id: string,
  state: ImportState,
  failure: string | null = null,
): Promise<void> {
  await db.query(
    `update user_import set state = $3, failure = $4, touched_at = now(),
       finished_at = case when $3 in ('READING', 'APPLYING', 'UNDOING') then null else now() end
     where app_id = $1 and id = $2`,
    [appId, id, state, failure],
  )
}

export async function noteProgress(
  db: Db,
  appId: string,
  id: string,
  more: { bytesRead: number; rows: number; bad: number; unchanged: number; changed: number },
): Promise<void> {
  await db.query(
    `update user_import set bytes_read = $3, rows = rows + $4, bad = bad + $5, unchanged = unchanged + $6,
       changed = changed + $7, touched_at = now() where app_id = $1 and id = $2`,
    [appId, id, more.bytesRead, more.rows, more.bad, more.unchanged, more.changed],
  )
}
