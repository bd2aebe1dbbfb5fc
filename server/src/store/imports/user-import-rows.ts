import type { KnownAs } from '../../domain/personal-data.ts'
import { isCharged, STILL_CHARGED } from '../billing/provider-subscriptions.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import { billingIdOwners, type HomeDb, implied } from '../connection/places.ts'

/** The outcome of a row of the file. */
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
  'BILLING_ID_CHARGED',
  'WRONG_COLUMN_COUNT',
  'BAD_QUOTES',
  'INVALID_ENCODING',
  'CHANGED_SINCE',
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
}

/** A row with a user and the values to set; with `set…` false, a value is not changed. */
export interface StagedRow {
  line: number
  id: string
  email: string | null
  setEmail: boolean
  billingId: string | null
  setBillingId: boolean
}

interface Staged {
  bad: number
  unchanged: number
  changed: number
  /** the lines of skipped rows; null: none */
  leftOut: number[] | null
}

/**
 * Stores the rows with their users' current values, and counts the outcomes. A row is skipped if an earlier one has the
 * same user, or gives its billing id to another.
 */
export async function stageRows(
  db: HomeDb,
  appId: string,
  importId: string,
  rows: readonly StagedRow[],
): Promise<Staged> {
  const flag = (set: boolean) => (set ? 't' : 'f')
  const { rows: staged } = await db.query<Staged>(
    `with given as materialized (
       select $1 as app_id, r.* from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::boolean[])
         as r (line, id, new_email, set_email, new_billing_id, set_billing_id)),
     found as materialized (
       select r.line, r.id, u.uid, u.email, u.billing_id,
         case when r.set_email then r.new_email else u.email end as new_email,
         case when r.set_billing_id then r.new_billing_id else u.billing_id end as new_billing_id,
         case when u.uid is null then 'UNKNOWN_USER'
           when r.set_billing_id and exists (select from ${billingIdOwners(db)} o where o.app_id = r.app_id
             and o.billing_id = r.new_billing_id and o.uid <> u.uid) then 'BILLING_ID_TAKEN'
           when r.set_billing_id and r.new_billing_id is distinct from u.billing_id
             and ${isCharged('u.app_id', 'u.uid', 'u.billing_id')} then 'BILLING_ID_CHARGED' end as problem
       from given r left join users u on u.app_id = r.app_id and u.id = r.id
         ${implied(db, 'u.app_id = $1 and u.id = any($4)')}),
     kept as (
       insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, problem, message,
         old_email, new_email, old_billing_id, new_billing_id)
       select $1, $2, line, id, case when problem is null then uid end,
         case when problem is not null then 'BAD'
           when (new_email, new_billing_id) is not distinct from (email, billing_id) then 'UNCHANGED'
           else 'CHANGE' end,
         problem,
         case problem when 'UNKNOWN_USER' then 'The user does not exist'
           when 'BILLING_ID_TAKEN' then 'Another user already has this billingId'
           when 'BILLING_ID_CHARGED' then '${STILL_CHARGED}' end,
         email, case when problem is null then new_email end,
         billing_id, case when problem is null then new_billing_id end
       from found order by line
       on conflict do nothing returning line, outcome)
     select count(*) filter (where outcome = 'BAD') as bad, count(*) filter (where outcome = 'UNCHANGED') as unchanged,
       count(*) filter (where outcome = 'CHANGE') as changed,
       (select json_agg(line) from given where line not in (select line from kept)) as "leftOut" from kept`,
    [
      appId,
      importId,
      numberArray(rows, (r) => r.line),
      textArray(rows, (r) => r.id),
      textArray(rows, (r) => r.email),
      textArray(rows, (r) => flag(r.setEmail)),
      textArray(rows, (r) => r.billingId),
      textArray(rows, (r) => flag(r.setBillingId)),
    ],
  )
  const [one] = staged
  if (!one) throw new Error('the aggregate query returned no row')
  return one
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

/** Users that an earlier row of the import already contains. */
export async function usersInImport(
  db: HomeDb,
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

/** A row to be changed is stored as CHANGE; the import's progress shows whether that is done or undone. */
const APPLIED = 'r.line <= i.applied_to'
const UNDONE = 'r.line <= i.undone_to'
const OUTCOME = `case when r.outcome <> 'CHANGE' then r.outcome when ${UNDONE} then 'UNDONE'
  when ${APPLIED} then 'APPLIED' else 'CHANGE' end`

function havingOutcome(outcome: ImportOutcome): string {
  switch (outcome) {
    case 'CHANGE':
      return `and r.outcome = 'CHANGE' and not ${APPLIED}`
    case 'APPLIED':
      return `and r.outcome = 'CHANGE' and ${APPLIED} and not ${UNDONE}`
    case 'UNDONE':
      return `and r.outcome = 'CHANGE' and ${UNDONE}`
    default:
      return `and r.outcome = '${outcome}'`
  }
}

/**
 * Whether a bad row, which has only the id of a user, is of an import that began while the id was theirs. The
 * parameters from `$first` on are those of `knownTimes`.
 */
export const isBadRowOf = (row: string, first: number) =>
  `${row}.user_uid is null and ${row}.user_id = any($${first}) and exists (select from user_import i
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
       r.new_email as "newEmail", r.old_billing_id as "oldBillingId", r.new_billing_id as "newBillingId"
     from user_import i join user_import_row r on r.app_id = i.app_id and r.import_id = i.id
     where i.app_id = $1 and i.id = $2 and r.line > $3 ${outcome === null ? '' : havingOutcome(outcome)}
     order by r.line limit $4`,
    [appId, importId, after, limit],
  )
  return rows
}
