import { isCharged, STILL_CHARGED } from '../billing/provider-subscriptions.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import type { Tx } from '../connection/database.ts'
import { billingIdOwners } from '../connection/places.ts'
import { violates } from '../connection/refusals.ts'
import { BILLING_ID_TAKEN } from '../users/users.ts'
import {
  createImportedUsers,
  type ImportPlans,
  type MovedUsers,
  type Problem,
} from './create-imported-users.ts'
import { removeImportedUsers } from './remove-imported-users.ts'
import type { ImportOutcome } from './user-import-rows.ts'

/** A direction through the rows of an import: apply the new values, or restore the previous ones. */
interface Way {
  has: 'old' | 'new'
  gets: 'old' | 'new'
  refused: ImportOutcome
  /** columns for its progress and its numbers of changed, created or removed, and skipped rows */
  to: string
  counts: [done: string, users: string, refused: string]
}

const WAYS = {
  apply: {
    has: 'old',
    gets: 'new',
    refused: 'REFUSED',
    to: 'applied_to',
    counts: ['applied', 'created', 'refused'],
  },
  undo: { has: 'new', gets: 'old', refused: 'KEPT', to: 'undone_to', counts: ['undone', 'removed', 'kept'] },
} as const satisfies Record<string, Way>

export type WayThrough = keyof typeof WAYS

/**
 * Applies the next rows; false if there are no more. A user changed since the import was staged is skipped, and so is
 * one whose billing id now belongs to another, or is being charged. Only skipped rows are marked: the others are known
 * by their line, and a write for each would cost as much as the change itself.
 */
export async function moveRows(
  tx: Tx,
  appId: string,
  importId: string,
  way: WayThrough,
  limit: number,
  plansOf: () => Promise<ImportPlans>,
): Promise<boolean> {
  const { to } = WAYS[way]
  // Another process that works on this import waits here, then continues from the new position.
  const { rows } = await tx.query<{ to: number }>(
    `select ${to} as to from user_import where app_id = $1 and id = $2 for update`,
    [appId, importId],
  )
  const next = [appId, importId, rows[0]?.to ?? 0, limit] as const
  return moveNext(tx, way, next, plansOf)
}

type Next = readonly [appId: string, importId: string, after: number, limit: number]

/**
 * Joined by the app column of `next`, not by the parameter: to the planner, an app that has grown since the last
 * statistics has only a few users, and it would scan all of them for each row.
 */
const nextRows = ({ has, gets }: Way, owners: string) => `
  select r.app_id, r.import_id, r.line, r.user_id, r.user_uid, r.${has}_email as has_email,
    r.${has}_billing_id as has_billing_id, r.${has}_name as has_name, r.${has}_metadata as has_metadata,
    r.${gets}_email as email, r.${gets}_billing_id as billing_id, r.${gets}_name as name, r.${gets}_metadata as metadata,
    r.outcome = 'CREATE' as is_new, r.plan,
    r.old_billing_id is distinct from r.new_billing_id and exists (select from ${owners} o where o.app_id = r.app_id
      and o.billing_id = r.${gets}_billing_id and o.uid <> r.user_uid) as taken,
    r.old_billing_id is distinct from r.new_billing_id
      and ${isCharged('r.app_id', 'r.user_uid', `r.${has}_billing_id`)} as charged
  from user_import_row r
  where r.app_id = $1 and r.import_id = $2 and r.outcome in ('CHANGE', 'CREATE') and r.line > $3
  order by r.line limit $4`

const moving = (next: string) => `
  update users u set email = n.email, billing_id = n.billing_id,
    name = case when n.has_name is distinct from n.name then n.name else u.name end,
    metadata = coalesce(n.metadata::json, u.metadata)
  from ${next} n
  where u.app_id = n.app_id and u.uid = n.user_uid and not n.taken and not n.charged and u.email is not distinct from n.has_email
    and u.billing_id is not distinct from n.has_billing_id
    and (n.has_name is not distinct from n.name or u.name is not distinct from n.has_name)
    and (n.has_metadata is null or u.metadata::text = n.has_metadata)
  returning n.line`

/**
 * Marks the rows of `next` that are not among `moved`, gives new users' rows their numbers, and stores the progress.
 */
const noting = ({ refused, to, counts: [done, users, skipped] }: Way) => `
  refused as (
    update user_import_row r set outcome = '${refused}', problem = n.problem,
      message = case n.problem when 'BILLING_ID_TAKEN' then 'Another user now has this billingId'
        when 'BILLING_ID_CHARGED' then '${STILL_CHARGED}'
        when 'USER_EXISTS' then 'A user with this id was created in the meantime'
        when 'CHANGED_SINCE' then 'The user was changed in the meantime and is left unchanged'
        else n.message end
    from next n where r.app_id = n.app_id and r.import_id = n.import_id and r.line = n.line
      and n.line not in (select line from moved)
    returning r.line),
  numbered as (
    update user_import_row r set user_uid = m.uid from moved m
    where m.uid is not null and r.app_id = $1 and r.import_id = $2 and r.line = m.line)
  update user_import set ${to} = last.line, touched_at = now(),
    ${done} = ${done} + $8, ${users} = ${users} + $9,
    ${skipped} = ${skipped} + (select count(*) from refused)
  from (select max(line) as line from next) last
  where app_id = $1 and id = $2 and last.line is not null`

interface NextRow {
  line: number
  userId: string | null
  uid: number
  hasEmail: string | null
  hasBillingId: string | null
  hasName: string | null
  hasMetadata: string | null
  email: string | null
  billingId: string | null
  name: string | null
  metadata: string | null
  isNew: boolean
  plan: string | null
  taken: boolean
  charged: boolean
}

/** In several statements, since users may be on several servers, and no statement writes to all of them. */
async function moveNext(
  tx: Tx,
  name: WayThrough,
  [appId, importId, ...from]: Next,
  plansOf: () => Promise<ImportPlans>,
): Promise<boolean> {
  const way = WAYS[name]
  const { rows } = await tx.query<NextRow>(
    `select line, user_id as "userId", user_uid as uid, has_email as "hasEmail", has_billing_id as "hasBillingId",
       has_name as "hasName", has_metadata as "hasMetadata", email, billing_id as "billingId", name, metadata,
       is_new as "isNew", plan, taken, charged from (${nextRows(way, billingIdOwners(tx))}) n`,
    [appId, importId, ...from],
  )
  const isUsers = rows.filter(({ isNew }) => isNew)
  const users = isUsers.length === 0 ? NO_USERS : await moveUsers(tx, appId, name, isUsers, plansOf)
  const changed = await changeUsers(
    tx,
    appId,
    rows.filter(({ isNew }) => !isNew),
  )
  const moved = [...changed.map((line) => ({ line, uid: null })), ...users.moved]
  const problemOf = (row: NextRow): Problem => {
    if (row.taken) return { problem: 'BILLING_ID_TAKEN' }
    if (row.charged) return { problem: 'BILLING_ID_CHARGED' }
    return users.problems.get(row.line) ?? { problem: 'CHANGED_SINCE' }
  }
  const problems = rows.map(problemOf)
  const { rowCount } = await tx.query(
    `with next as materialized (
       select $1::text as app_id, $2::text as import_id, n.*
       from unnest($3::bigint[], $4::text[], $5::text[]) as n (line, problem, message)),
     moved as materialized (select * from unnest($6::bigint[], $7::bigint[]) as m (line, uid)), ${noting(way)}`,
    [
      appId,
      importId,
      numberArray(rows, (r) => r.line),
      textArray(problems, (p) => p.problem),
      textArray(problems, (p) => p.message ?? null),
      numberArray(moved, (m) => m.line),
      numberArray(moved, (m) => m.uid),
      changed.length,
      users.moved.length,
    ],
  )
  return rowCount === 1
}

const NO_USERS: MovedUsers = { moved: [], problems: new Map() }

/** Creates the users of these rows, or removes them again. */
async function moveUsers(
  tx: Tx,
  appId: string,
  way: WayThrough,
  rows: readonly NextRow[],
  plansOf: () => Promise<ImportPlans>,
): Promise<MovedUsers> {
  if (way === 'apply') {
    const free = rows.filter(({ taken }) => !taken)
    return createImportedUsers(tx, appId, free, await plansOf())
  }
  const created = rows.map((row) => ({
    ...row,
    email: row.hasEmail,
    billingId: row.hasBillingId,
    name: row.hasName,
    metadata: row.hasMetadata,
  }))
  return { moved: await removeImportedUsers(tx, appId, created), problems: new Map() }
}

/** The lines of the users that were changed. */
async function changeUsers(tx: Tx, appId: string, rows: readonly NextRow[]): Promise<number[]> {
  const values = [
    appId,
    numberArray(rows, (r) => r.line),
    numberArray(rows, (r) => r.uid),
    textArray(rows, (r) => r.hasEmail),
    textArray(rows, (r) => r.hasBillingId),
    textArray(rows, (r) => r.hasName),
    textArray(rows, (r) => r.hasMetadata),
    textArray(rows, (r) => r.email),
    textArray(rows, (r) => r.billingId),
    textArray(rows, (r) => r.name),
    textArray(rows, (r) => r.metadata),
    textArray(rows, (r) => (r.taken ? 't' : 'f')),
    textArray(rows, (r) => (r.charged ? 't' : 'f')),
  ]
  const given = `(select $1::text as app_id, n.* from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::boolean[], $13::boolean[])
    as n (line, user_uid, has_email, has_billing_id, has_name, has_metadata, email, billing_id, name, metadata, taken,
      charged))`
  const byLine = new Map(rows.map((row) => [row.line, row]))
  const moved = await tx.places.writeEach(async (db) => {
    const { rows: done } = await db.query<{ line: number }>(moving(given), values)
    const theirs = done.flatMap(({ line }) => byLine.get(line) ?? [])
    const had = theirs.map(({ uid, hasBillingId }) => ({ uid, billingId: hasBillingId }))
    await db.places.noteBillingIds(appId, had, theirs)
    return done.map(({ line }) => line)
  })
  return moved.flat()
}

export const isBillingIdTaken = (error: unknown): boolean => violates(error, BILLING_ID_TAKEN)
