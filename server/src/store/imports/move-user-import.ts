import { isCharged, STILL_CHARGED } from '../billing/provider-subscriptions.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import type { Tx } from '../connection/database.ts'
import { billingIdOwners } from '../connection/places.ts'
import { violates } from '../connection/refusals.ts'
import { BILLING_ID_TAKEN } from '../users/users.ts'
import type { ImportOutcome } from './user-import-rows.ts'

/** A direction through the rows of an import: apply the new values, or restore the previous ones. */
interface Way {
  has: 'old' | 'new'
  gets: 'old' | 'new'
  refused: ImportOutcome
  /** columns for its progress and its numbers of changed and skipped rows */
  to: string
  counts: [done: string, refused: string]
}

const WAYS = {
  apply: { has: 'old', gets: 'new', refused: 'REFUSED', to: 'applied_to', counts: ['applied', 'refused'] },
  undo: { has: 'new', gets: 'old', refused: 'KEPT', to: 'undone_to', counts: ['undone', 'kept'] },
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
): Promise<boolean> {
  const { to } = WAYS[way]
  // Another process that works on this import waits here, then continues from the new position.
  const { rows } = await tx.query<{ to: number }>(
    `select ${to} as to from user_import where app_id = $1 and id = $2 for update`,
    [appId, importId],
  )
  const next = [appId, importId, rows[0]?.to ?? 0, limit] as const
  return moveNext(tx, WAYS[way], next)
}

type Next = readonly [appId: string, importId: string, after: number, limit: number]

/**
 * Joined by the app column of `next`, not by the parameter: to the planner, an app that has grown since the last
 * statistics has only a few users, and it would scan all of them for each row.
 */
const nextRows = ({ has, gets }: Way, owners: string) => `
  select r.app_id, r.import_id, r.line, r.user_uid, r.${has}_email as has_email, r.${has}_billing_id as has_billing_id,
    r.${gets}_email as email, r.${gets}_billing_id as billing_id,
    r.old_billing_id is distinct from r.new_billing_id and exists (select from ${owners} o where o.app_id = r.app_id
      and o.billing_id = r.${gets}_billing_id and o.uid <> r.user_uid) as taken,
    r.old_billing_id is distinct from r.new_billing_id
      and ${isCharged('r.app_id', 'r.user_uid', `r.${has}_billing_id`)} as charged
  from user_import_row r
  where r.app_id = $1 and r.import_id = $2 and r.outcome = 'CHANGE' and r.line > $3 order by r.line limit $4`

const moving = (next: string) => `
  update users u set email = n.email, billing_id = n.billing_id from ${next} n
  where u.app_id = n.app_id and u.uid = n.user_uid and not n.taken and not n.charged and u.email is not distinct from n.has_email
    and u.billing_id is not distinct from n.has_billing_id
  returning n.line`

/** Marks the rows of `next` that are not among `moved`, and stores the progress. */
const noting = ({ refused, to, counts }: Way) => `
  refused as (
    update user_import_row r set outcome = '${refused}',
      problem = case when n.taken then 'BILLING_ID_TAKEN' when n.charged then 'BILLING_ID_CHARGED'
        else 'CHANGED_SINCE' end,
      message = case when n.taken then 'Another user now has this billingId'
        when n.charged then '${STILL_CHARGED}'
        else 'The user was changed in the meantime and is left unchanged' end
    from next n where r.app_id = n.app_id and r.import_id = n.import_id and r.line = n.line
      and n.line not in (select line from moved)
    returning r.line)
  update user_import set ${to} = last.line, touched_at = now(),
    ${counts[0]} = ${counts[0]} + (select count(*) from moved),
    ${counts[1]} = ${counts[1]} + (select count(*) from refused)
  from (select max(line) as line from next) last
  where app_id = $1 and id = $2 and last.line is not null`

interface NextRow {
  line: number
  uid: number
  hasEmail: string | null
  hasBillingId: string | null
  email: string | null
  billingId: string | null
  taken: boolean
  charged: boolean
}

/** In several statements, since users may be on several servers, and no statement writes to all of them. */
async function moveNext(tx: Tx, way: Way, [appId, importId, ...from]: Next): Promise<boolean> {
  const { rows } = await tx.query<NextRow>(
    `select line, user_uid as uid, has_email as "hasEmail", has_billing_id as "hasBillingId", email,
       billing_id as "billingId", taken, charged from (${nextRows(way, billingIdOwners(tx))}) n`,
    [appId, importId, ...from],
  )
  const values = [
    appId,
    numberArray(rows, (r) => r.line),
    numberArray(rows, (r) => r.uid),
    textArray(rows, (r) => r.hasEmail),
    textArray(rows, (r) => r.hasBillingId),
    textArray(rows, (r) => r.email),
    textArray(rows, (r) => r.billingId),
    textArray(rows, (r) => (r.taken ? 't' : 'f')),
    textArray(rows, (r) => (r.charged ? 't' : 'f')),
  ]
  const given = `(select $1::text as app_id, n.* from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::boolean[], $9::boolean[])
    as n (line, user_uid, has_email, has_billing_id, email, billing_id, taken, charged))`
  const byLine = new Map(rows.map((row) => [row.line, row]))
  const moved = await tx.places.writeEach(async (db) => {
    const { rows: done } = await db.query<{ line: number }>(moving(given), values)
    const theirs = done.flatMap(({ line }) => byLine.get(line) ?? [])
    const had = theirs.map(({ uid, hasBillingId }) => ({ uid, billingId: hasBillingId }))
    await db.places.noteBillingIds(appId, had, theirs)
    return done.map(({ line }) => line)
  })
  const { rowCount } = await tx.query(
    `with next as materialized (
       select $1::text as app_id, $2::text as import_id, n.*
       from unnest($3::bigint[], $4::boolean[], $5::boolean[]) as n (line, taken, charged)),
     moved as materialized (select unnest($6::bigint[]) as line), ${noting(way)}`,
    [appId, importId, values[1], values[7], values[8], moved.flat()],
  )
  return rowCount === 1
}

export const isBillingIdTaken = (error: unknown): boolean => violates(error, BILLING_ID_TAKEN)
