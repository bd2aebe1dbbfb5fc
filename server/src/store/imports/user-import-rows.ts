import type { KnownAs } from '../../domain/personal-data.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/** The outcome of a row of the file. */
export const IMPORT_OUTCOMES = [
  'BAD',
  'UNCHANGED',
  'CHANGE',
  'CREATE',
  'APPLIED',
  'CREATED',
  'REFUSED',
  'UNDONE',
  'KEPT',
] as const
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number]

export const IMPORT_PROBLEMS = [
  'UNKNOWN_USER',
  'BAD_EMAIL',
  'BAD_BILLING_ID',
  'BAD_NAME',
  'BAD_METADATA',
  'BAD_PLAN',
  'PLAN_DIFFERS',
  'TOO_LONG',
  'DUPLICATE_ID',
  'DUPLICATE_BILLING_ID',
  'BILLING_ID_TAKEN',
  'BILLING_ID_CHARGED',
  'WRONG_COLUMN_COUNT',
  'BAD_QUOTES',
  'INVALID_ENCODING',
  'CHANGED_SINCE',
  'USER_EXISTS',
] as const
export type ImportProblem = (typeof IMPORT_PROBLEMS)[number]

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
  /** null in both: not in the file, or unchanged */
  oldName: string | null
  newName: string | null
  /** JSON */
  oldMetadata: string | null
  newMetadata: string | null
  /** of a new user */
  plan: string | null
}

export interface BadRow {
  line: number
  userId: string | null
  problem: ImportProblem
  message: string
}

export async function insertBadRows(
  db: HomeDb,
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
      numberArray(rows, (r) => r.line),
      textArray(rows, (r) => r.userId),
      textArray(rows, (r) => r.problem),
      textArray(rows, (r) => r.message),
    ],
  )
}

/** A row stays CHANGE or CREATE; the import's progress shows whether that is done or undone. */
const APPLIED = 'r.line <= i.applied_to'
const UNDONE = 'r.line <= i.undone_to'
const OUTCOME = `case when r.outcome not in ('CHANGE', 'CREATE') then r.outcome when ${UNDONE} then 'UNDONE'
  when not ${APPLIED} then r.outcome when r.outcome = 'CREATE' then 'CREATED' else 'APPLIED' end`

function havingOutcome(outcome: ImportOutcome): string {
  switch (outcome) {
    case 'CHANGE':
    case 'CREATE':
      return `and r.outcome = '${outcome}' and not ${APPLIED}`
    case 'APPLIED':
      return `and r.outcome = 'CHANGE' and ${APPLIED} and not ${UNDONE}`
    case 'CREATED':
      return `and r.outcome = 'CREATE' and ${APPLIED} and not ${UNDONE}`
    case 'UNDONE':
      return `and r.outcome in ('CHANGE', 'CREATE') and ${UNDONE}`
    default:
      return `and r.outcome = '${outcome}'`
  }
}

/** Whether a row has only the id of a user: it is invalid, or creates a user who does not exist yet. */
export const hasIdOnly = (row: string) => `(${row}.user_uid is null or ${row}.user_uid < 0)`

/**
 * Whether a row that has only the id of a user is of an import that began while the id was theirs. The
 * parameters from `$first` on are those of `knownTimes`.
 */
export const isBadRowOf = (row: string, first: number) =>
  `${hasIdOnly(row)} and ${row}.user_id = any($${first}) and exists (select from user_import i
     join unnest($${first}::text[], $${first + 1}::timestamptz[], $${first + 2}::timestamptz[]) as k (id, since, until)
       on i.started_at between k.since and coalesce(k.until, 'infinity')
     where i.app_id = ${row}.app_id and i.id = ${row}.import_id and k.id = ${row}.user_id)`

export const knownTimes = (knownAs: readonly KnownAs[]) => [
  knownAs.map(({ id }) => id),
  knownAs.map(({ from }) => timestamp(from)),
  knownAs.map(({ until }) => (until === null ? null : timestamp(until))),
]

/** Deletes the next rows after that line; returns the last one, or null if there are no more. */
export async function deleteRows(
  db: HomeDb,
  appId: string,
  importId: string,
  after: number,
  limit: number,
): Promise<number | null> {
  const { rows } = await db.query<{ last: number | null }>(
    `with next as materialized (
       select line from user_import_row where app_id = $1 and import_id = $2 and line > $3 order by line limit $4),
     gone as (
       delete from user_import_row
       where app_id = $1 and import_id = $2 and line > $3 and line <= (select max(line) from next))
     select max(line) as last from next`,
    [appId, importId, after, limit],
  )
  return rows[0]?.last ?? null
}

/** By line, starting after `after`. */
export async function listImportRows(
  db: HomeDb,
  appId: string,
  importId: string,
  outcome: ImportOutcome | null,
  after: number,
  limit: number,
): Promise<UserImportRow[]> {
  const { rows } = await db.query<UserImportRow>(
    `select r.line, r.user_id as "userId", ${OUTCOME} as outcome, r.problem, r.message, r.old_email as "oldEmail",
       r.new_email as "newEmail", r.old_billing_id as "oldBillingId", r.new_billing_id as "newBillingId",
       r.old_name as "oldName", r.new_name as "newName", r.old_metadata as "oldMetadata",
       r.new_metadata as "newMetadata", r.plan
     from user_import i join user_import_row r on r.app_id = i.app_id and r.import_id = i.id
     where i.app_id = $1 and i.id = $2 and r.line > $3 ${outcome === null ? '' : havingOutcome(outcome)}
     order by r.line limit $4`,
    [appId, importId, after, limit],
  )
  return rows
}
