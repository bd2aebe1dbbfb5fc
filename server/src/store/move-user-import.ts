import { inAllCells, refreshCells } from './cells.ts'
import { type Tx, violates } from './database.ts'
import { isCharged, STILL_CHARGED } from './provider-subscriptions.ts'
import type { ImportOutcome } from './user-import-rows.ts'
import { BILLING_ID_TAKEN } from './users.ts'

/** A direction through the rows of an import: apply the new values, or restore the former ones. */
interface Way {
  has: 'old' | 'new'
  gets: 'old' | 'new'
  refused: ImportOutcome
  /** the columns for its progress, and for how many rows were changed and skipped */
  to: string
  counts: [done: string, refused: string]
}

const WAYS = {
  apply: { has: 'old', gets: 'new', refused: 'REFUSED', to: 'applied_to', counts: ['applied', 'refused'] },
  undo: { has: 'new', gets: 'old', refused: 'KEPT', to: 'undone_to', counts: ['undone', 'kept'] },
} as const satisfies Record<string, Way>

export type WayThrough = keyof typeof WAYS

/**
 * Moves the next rows; false when there are no more. A user changed since the import was staged is left alone, and so
 * is one whose billing id now belongs to another, or is being charged. Only these rows are marked: the rest are known by their line, and a
 * write for each would cost as much as the change itself.
 */
export async function moveRows(
  tx: Tx,
  appId: string,
  importId: string,
  way: WayThrough,
  limit: number,
): Promise<boolean> {
  const { has, gets, refused, to, counts } = WAYS[way]
  await refreshCells(tx)
  const cells = inAllCells(tx, 'users')
  // Another process working on this import waits here, then continues from the new position.
  const { rows } = await tx.query<{ to: number }>(
    `select ${to} as to from user_import where app_id = $1 and id = $2 for update`,
    [appId, importId],
  )
  // Joined by the app column of `next`, not by the parameter: to the planner, an app that has grown since the last
  // statistics looks like a few users, and it would scan all of them for each row.
  const { rowCount } = await tx.query(
    `with next as materialized (
       select r.app_id, r.import_id, r.line, r.user_uid, r.${has}_email as has_email, r.${has}_billing_id as has_billing_id,
         r.${gets}_email as email, r.${gets}_billing_id as billing_id,
         r.old_billing_id is distinct from r.new_billing_id and exists (select from users o where o.app_id = r.app_id
           and o.billing_id = r.${gets}_billing_id and o.uid <> r.user_uid) as taken,
         r.old_billing_id is distinct from r.new_billing_id
           and ${isCharged('r.app_id', 'r.user_uid', `r.${has}_billing_id`)} as charged
       from user_import_row r
       where r.app_id = $1 and r.import_id = $2 and r.outcome = 'CHANGE' and r.line > $3 order by r.line limit $4),
     ${cells
       .map(
         (users, i) => `moved_${i} as (
       update ${users} u set email = n.email, billing_id = n.billing_id from next n
       where u.app_id = n.app_id and u.uid = n.user_uid and not n.taken and not n.charged and u.email is not distinct from n.has_email
         and u.billing_id is not distinct from n.has_billing_id
       returning n.line),`,
       )
       .join('')}
     moved as (${cells.map((_, i) => `select line from moved_${i}`).join(' union all ')}),
     refused as (
       update user_import_row r set outcome = '${refused}',
         problem = case when n.taken then 'BILLING_ID_TAKEN' when n.charged then 'BILLING_ID_CHARGED'
           else 'CHANGED_SINCE' end,
         message = case when n.taken then 'Another user has this billingId by now'
           when n.charged then '${STILL_CHARGED}'
           else 'It was changed meanwhile, and stays as it is' end
       from next n where r.app_id = n.app_id and r.import_id = n.import_id and r.line = n.line
         and n.line not in (select line from moved)
       returning r.line)
     update user_import set ${to} = last.line, touched_at = now(),
       ${counts[0]} = ${counts[0]} + (select count(*) from moved),
       ${counts[1]} = ${counts[1]} + (select count(*) from refused)
     from (select max(line) as line from next) last
     where app_id = $1 and id = $2 and last.line is not null`,
    [appId, importId, rows[0]?.to ?? 0, limit],
  )
  return rowCount === 1
}

export const isBillingIdTaken = (error: unknown): boolean => violates(error, BILLING_ID_TAKEN)
