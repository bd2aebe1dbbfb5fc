import { type Db, violates } from './database.ts'
import { BILLING_ID_TAKEN } from './users.ts'

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

/** What became of a row of the file. */
export const IMPORT_OUTCOMES = ['BAD', 'UNCHANGED', 'CHANGE', 'APPLIED', 'REFUSED', 'UNDONE', 'KEPT'] as const
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number]

export const IMPORT_PROBLEMS = [
  'UNKNOWN_USER',
  'BAD_EMAIL',
  'BAD_BILLING_ID',
  'TOO_LONG',
  'DUPLICATE_ID',
  'DUPLICATE_BILLING_ID',
  'BILLING_ID_TAKEN',
  'WRONG_COLUMN_COUNT',
  'BAD_QUOTES',
  'INVALID_ENCODING',
  'CHANGED_SINCE',
] as const
export type ImportProblem = (typeof IMPORT_PROBLEMS)[number]

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

export interface UserImportRow {
  line: number
  userId: string | null
  outcome: ImportOutcome
  problem: ImportProblem | null
  message: string | null
  oldEmail: string | null
  newEmail: string | null
  oldBillingId: string | null
  newBillingId: string | null
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
  await db.query(
    `delete from user_import where app_id = $1 and seq <= (
       select seq from user_import where app_id = $1 order by seq desc offset $2 limit 1)`,
    [appId, keep - 1],
  )
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

/** A row that names a user and says what to make of them: `set…` false leaves that as it is. */
export interface StagedRow {
  line: number
  id: string
  email: string | null
  setEmail: boolean
  billingId: string | null
  setBillingId: boolean
}

/**
 * Keeps the rows beside what their users have now. A user that an earlier row names, or a billing id that an earlier
 * row gives to another, is left out: the lines of those that were kept are returned with what they come to.
 */
export async function stageRows(
  db: Db,
  appId: string,
  importId: string,
  rows: readonly StagedRow[],
): Promise<Map<number, ImportOutcome>> {
  const { rows: kept } = await db.query<{ line: number; outcome: ImportOutcome }>(
    `insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, problem, message,
       old_email, new_email, old_billing_id, new_billing_id)
     select $1, $2, line, id, case when problem is null then uid end,
       case when problem is not null then 'BAD'
         when (new_email, new_billing_id) is not distinct from (email, billing_id) then 'UNCHANGED' else 'CHANGE' end,
       problem,
       case problem when 'UNKNOWN_USER' then 'There is no user with this id'
         when 'BILLING_ID_TAKEN' then 'Another user has this billingId' end,
       email, case when problem is null then new_email end,
       billing_id, case when problem is null then new_billing_id end
     from (
       select r.line, r.id, u.uid, u.email, u.billing_id,
         case when r.set_email then r.new_email else u.email end as new_email,
         case when r.set_billing_id then r.new_billing_id else u.billing_id end as new_billing_id,
         case when u.uid is null then 'UNKNOWN_USER'
           when r.set_billing_id and exists (select from users o where o.app_id = $1
             and o.billing_id = r.new_billing_id and o.uid <> u.uid) then 'BILLING_ID_TAKEN' end as problem
       from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::boolean[])
         as r (line, id, new_email, set_email, new_billing_id, set_billing_id)
       left join users u on u.app_id = $1 and u.id = r.id
       order by r.line) s
     on conflict do nothing returning line, outcome`,
    [
      appId,
      importId,
      rows.map((r) => r.line),
      rows.map((r) => r.id),
      rows.map((r) => r.email),
      rows.map((r) => r.setEmail),
      rows.map((r) => r.billingId),
      rows.map((r) => r.setBillingId),
    ],
  )
  return new Map(kept.map(({ line, outcome }) => [line, outcome]))
}

export interface BadRow {
  line: number
  userId: string | null
  problem: ImportProblem
  message: string
}

export async function insertBadRows(
  db: Db,
  appId: string,
  importId: string,
  rows: readonly BadRow[],
): Promise<void> {
  await db.query(
    `insert into user_import_row (app_id, import_id, outcome, line, user_id, problem, message)
     select $1, $2, 'BAD', r.* from unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) as r
     on conflict do nothing`,
    [
      appId,
      importId,
      rows.map((r) => r.line),
      rows.map((r) => r.userId),
      rows.map((r) => r.problem),
      rows.map((r) => r.message),
    ],
  )
}

/** Which of these users an earlier row of the import names. */
export async function usersInImport(
  db: Db,
  appId: string,
  importId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select u.id from users u join user_import_row r on r.app_id = u.app_id and r.import_id = $2 and r.user_uid = u.uid
     where u.app_id = $1 and u.id = any($3)`,
    [appId, importId, ids],
  )
  return new Set(rows.map(({ id }) => id))
}

export async function listImportRows(
  db: Db,
  appId: string,
  importId: string,
  outcome: ImportOutcome | null,
  after: number,
  limit: number,
): Promise<UserImportRow[]> {
  const { rows } = await db.query<UserImportRow>(
    `select line, user_id as "userId", outcome, problem, message, old_email as "oldEmail", new_email as "newEmail",
       old_billing_id as "oldBillingId", new_billing_id as "newBillingId"
     from user_import_row where app_id = $1 and import_id = $2 and line > $3
       ${outcome === null ? '' : 'and outcome = $5'} order by line limit $4`,
    outcome === null ? [appId, importId, after, limit] : [appId, importId, after, limit, outcome],
  )
  return rows
}

/** One way through the rows of an import: from what they were to what they are to be, or back again. */
interface Way {
  from: ImportOutcome
  done: ImportOutcome
  refused: ImportOutcome
  /** the columns of what the user has now, and of what they get */
  has: 'old' | 'new'
  gets: 'old' | 'new'
  counts: [done: string, refused: string]
}

const WAYS = {
  apply: {
    from: 'CHANGE',
    done: 'APPLIED',
    refused: 'REFUSED',
    has: 'old',
    gets: 'new',
    counts: ['applied', 'refused'],
  },
  undo: {
    from: 'APPLIED',
    done: 'UNDONE',
    refused: 'KEPT',
    has: 'new',
    gets: 'old',
    counts: ['undone', 'kept'],
  },
} as const satisfies Record<string, Way>

const CHANGED_SINCE = `problem = 'CHANGED_SINCE', message = 'It was changed meanwhile, and stays as it is'`
const TAKEN = `problem = 'BILLING_ID_TAKEN', message = 'Another user has this billingId by now'`

/**
 * Takes the next rows after a line along; a user who was changed meanwhile stays as they are. Returns the last
 * line that it went through, null where there are no more. Throws where a billing id is taken, and then nothing
 * was done. (After a line, and not just the next ones: the index would lead through all that was done before.)
 */
export async function moveRows(
  db: Db,
  appId: string,
  importId: string,
  way: keyof typeof WAYS,
  after: number,
  limit: number,
): Promise<number | null> {
  const { from, done, refused, has, gets, counts } = WAYS[way]
  const { rows } = await db.query<MovingRow>(
    `select line, user_uid as uid, ${has}_email as "hasEmail", ${has}_billing_id as "hasBillingId",
       ${gets}_email as "getsEmail", ${gets}_billing_id as "getsBillingId"
     from user_import_row where app_id = $1 and import_id = $2 and outcome = '${from}' and line > $3
     order by line limit $4 for update`,
    [appId, importId, after, limit],
  )
  const last = rows.at(-1)
  if (!last) return null
  const moved = await moveUsers(db, appId, rows)
  const lines = { done: [] as number[], refused: [] as number[] }
  for (const { line, uid } of rows) lines[moved.has(uid) ? 'done' : 'refused'].push(line)
  await tellRows(db, appId, importId, lines.done, `outcome = '${done}'`)
  await tellRows(db, appId, importId, lines.refused, `outcome = '${refused}', ${CHANGED_SINCE}`)
  await db.query(
    `update user_import set ${counts[0]} = ${counts[0]} + $3, ${counts[1]} = ${counts[1]} + $4, touched_at = now()
     where app_id = $1 and id = $2`,
    [appId, importId, lines.done.length, lines.refused.length],
  )
  return last.line
}

interface MovingRow {
  line: number
  uid: number
  hasEmail: string | null
  hasBillingId: string | null
  getsEmail: string | null
  getsBillingId: string | null
}

/** The uids of those who still had what they are taken to have. */
async function moveUsers(db: Db, appId: string, rows: readonly MovingRow[]): Promise<Set<number>> {
  const { rows: moved } = await db.query<{ uid: number }>(
    `update users u set email = r.email, billing_id = r.billing_id
     from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
       as r (uid, has_email, has_billing_id, email, billing_id)
     where u.app_id = $1 and u.uid = r.uid and u.email is not distinct from r.has_email
       and u.billing_id is not distinct from r.has_billing_id
     returning u.uid`,
    [
      appId,
      rows.map((r) => r.uid),
      rows.map((r) => r.hasEmail),
      rows.map((r) => r.hasBillingId),
      rows.map((r) => r.getsEmail),
      rows.map((r) => r.getsBillingId),
    ],
  )
  return new Set(moved.map(({ uid }) => uid))
}

async function tellRows(
  db: Db,
  appId: string,
  importId: string,
  lines: readonly number[],
  assignments: string,
): Promise<void> {
  if (lines.length === 0) return
  await db.query(
    `update user_import_row set ${assignments} where app_id = $1 and import_id = $2 and line = any($3::bigint[])`,
    [appId, importId, lines],
  )
}

export const isBillingIdTaken = (error: unknown): boolean => violates(error, BILLING_ID_TAKEN)

/** Leaves the next row after a line as it is. */
export async function refuseRow(
  db: Db,
  appId: string,
  importId: string,
  way: keyof typeof WAYS,
  after: number,
): Promise<void> {
  const { from, refused, counts } = WAYS[way]
  await db.query(
    `update user_import_row set outcome = '${refused}', ${TAKEN}
     where app_id = $1 and import_id = $2 and line = (select min(line) from user_import_row
       where app_id = $1 and import_id = $2 and outcome = '${from}' and line > $3)`,
    [appId, importId, after],
  )
  await db.query(
    `update user_import set ${counts[1]} = ${counts[1]} + 1, touched_at = now() where app_id = $1 and id = $2`,
    [appId, importId],
  )
}
