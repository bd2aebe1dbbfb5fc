import type { HomeDb } from '../connection/places.ts'

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
  newUsers: number
  applied: number
  created: number
  refused: number
  undone: number
  removed: number
  kept: number
}

/** An import in progress reports more often than this: see `touchImport`. */
const ALIVE = `touched_at > now() - interval '1 minute'`
/**
 * A file is lost with the process that read it; its changes can be continued. Both states are derived, not stored,
 * because a slow process may still continue.
 */
const UNDER_WAY = `state in ('READING', 'APPLYING', 'UNDOING')`
const LEFT = `${UNDER_WAY} and not ${ALIVE}`
const STATE_LEFT = `case state when 'READING' then 'FAILED' when 'APPLYING' then 'CHECKED' else 'APPLIED' end`
const WHY_LEFT = `case state when 'READING' then 'The server stopped while reading the file. Upload it again.'
  when 'APPLYING' then 'The server was stopped. Apply the import again to process the remaining rows.'
  else 'The server was stopped. Undo the import again to process the remaining rows.' end`

const SELECT = `select id, case when ${LEFT} then ${STATE_LEFT} else state end as state,
  case when ${LEFT} then ${WHY_LEFT} else failure end as failure,
  member_email as "memberEmail", started_at as "startedAt",
  case when ${LEFT} then touched_at else finished_at end as "finishedAt", bytes_total as "bytesTotal",
  bytes_read as "bytesRead", rows, bad, unchanged, changed, new_users as "newUsers", applied, created, refused, undone,
  removed, kept
  from user_import where not dropped`

/** False: the id is taken. */
export async function insertUserImport(
  db: HomeDb,
  appId: string,
  made: { id: string; memberEmail: string; bytesTotal: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into user_import (app_id, id, state, member_email, bytes_total) values ($1, $2, 'READING', $3, $4)
     on conflict do nothing`,
    [appId, made.id, made.memberEmail, made.bytesTotal],
  )
  return rowCount === 1
}

/** Removes all but the last `keep` from the list, except those in progress; their rows are deleted later. */
export async function dropImports(db: HomeDb, appId: string, keep: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update user_import set dropped = true where app_id = $1 and not dropped and seq <= (
       select seq from user_import where app_id = $1 and not dropped order by seq desc offset $2 limit 1)
       and not (${UNDER_WAY} and ${ALIVE}) returning id`,
    [appId, keep],
  )
  return rows.map(({ id }) => id)
}

/** Only once its rows are deleted: until then its id is taken. */
export async function deleteUserImport(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(`delete from user_import where app_id = $1 and id = $2 and dropped`, [appId, id])
}

export async function findUserImport(db: HomeDb, appId: string, id: string): Promise<UserImport | null> {
  const { rows } = await db.query<UserImport>(`${SELECT} and app_id = $1 and id = $2`, [appId, id])
  return rows[0] ?? null
}

export async function listUserImports(db: HomeDb, appId: string): Promise<UserImport[]> {
  const { rows } = await db.query<UserImport>(`${SELECT} and app_id = $1 order by seq desc`, [appId])
  return rows
}

/** With `from`: only if it is still in that state, since another process may have taken over. */
export async function setImportState(
  db: HomeDb,
  appId: string,
  id: string,
  state: ImportState,
  failure: string | null = null,
  from: ImportState | null = null,
): Promise<void> {
  await db.query(
    `update user_import set state = $3, failure = $4, touched_at = now(),
       finished_at = case when $3 in ('READING', 'APPLYING', 'UNDOING') then null else now() end
     where app_id = $1 and id = $2 and ($5::text is null or state = $5)`,
    [appId, id, state, failure, from],
  )
}

/** Reports that it is being worked on. */
export async function touchImport(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(`update user_import set touched_at = now() where app_id = $1 and id = $2`, [appId, id])
}

export async function noteProgress(
  db: HomeDb,
  appId: string,
  id: string,
  more: { bytesRead: number; rows: number; bad: number; unchanged: number; changed: number; created: number },
): Promise<void> {
  await db.query(
    `update user_import set bytes_read = $3, rows = rows + $4, bad = bad + $5, unchanged = unchanged + $6,
       changed = changed + $7, new_users = new_users + $8, touched_at = now() where app_id = $1 and id = $2`,
    [appId, id, more.bytesRead, more.rows, more.bad, more.unchanged, more.changed, more.created],
  )
}
