import type { BulkOutcome, BulkReason } from '../../domain/bulk-change.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { BulkChange } from './bulk-changes.ts'

/** Subscription that undoing a change of plan restores. It has no text about the user, since the row is not erased with them. */
interface BulkUndo {
  packageId: string
  quantity: number
}

export interface BulkRow {
  number: number
  userUid: number
  subscriptionId: string | null
  outcome: BulkOutcome
  message: string | null
  undo: BulkUndo | null
}

const ROW = `select number, user_uid as "userUid", subscription_id as "subscriptionId", outcome, message, undo
  from bulk_change_row`

export interface CheckedRow {
  userUid: number
  subscriptionId: string | null
  /** null: it can be changed */
  reason: BulkReason | null
}

/** Adds the rows of one page that are not in the change yet, and where to continue. */
export async function addBulkRows(
  tx: Tx,
  appId: string,
  found: BulkChange,
  rows: readonly (CheckedRow & { message: string | null })[],
  continueAt: string | null,
): Promise<void> {
  const { rows: last } = await tx.query<{ number: number }>(
    'select number from bulk_change_row where app_id = $1 and bulk_id = $2 order by number desc limit 1',
    [appId, found.id],
  )
  const before = last[0]?.number ?? 0
  const { rows: inserted } = await tx.query<{ number: number }>(
    `insert into bulk_change_row (app_id, bulk_id, number, user_uid, subscription_id, outcome, message)
     select $1, $2, $3::int + r.ord, r.user_uid, r.subscription_id, r.outcome, r.message
     from unnest($4::bigint[], $5::text[], $6::text[], $7::text[])
       with ordinality as r (user_uid, subscription_id, outcome, message, ord)
     on conflict do nothing returning number`,
    [
      appId,
      found.id,
      before,
      rows.map((row) => row.userUid),
      rows.map((row) => row.subscriptionId),
      rows.map((row) => (row.reason === null ? 'CHANGE' : 'SKIP')),
      rows.map((row) => row.message),
    ],
  )
  const reasons = inserted.map(({ number }) => rows[number - before - 1]?.reason ?? null)
  const skipped = { ...found.skipped }
  for (const reason of reasons) if (reason !== null) skipped[reason] = (skipped[reason] ?? 0) + 1
  await tx.query(
    `update bulk_change set rows = rows + $3, changing = changing + $4, skipped = $5, continue_at = $6
     where app_id = $1 and id = $2`,
    [
      appId,
      found.id,
      reasons.length,
      reasons.filter((reason) => reason === null).length,
      JSON.stringify(skipped),
      continueAt,
    ],
  )
}

export async function rowsToMove(
  db: HomeDb,
  appId: string,
  id: string,
  outcome: 'CHANGE' | 'DONE',
  limit: number,
): Promise<BulkRow[]> {
  const { rows } = await db.query<BulkRow>(
    `${ROW} where app_id = $1 and bulk_id = $2 and outcome = $3 order by number limit $4`,
    [appId, id, outcome, limit],
  )
  return rows
}

/** Keeps what takes the row's change back. */
export async function keepUndo(
  db: HomeDb,
  appId: string,
  id: string,
  number: number,
  { packageId, quantity }: BulkUndo,
): Promise<void> {
  await db.query(`update bulk_change_row set undo = $4 where app_id = $1 and bulk_id = $2 and number = $3`, [
    appId,
    id,
    number,
    JSON.stringify({ packageId, quantity }),
  ])
}

const COUNTED = { DONE: 'done', REFUSED: 'refused', UNDONE: 'undone', KEPT: 'kept' } as const

/** Notes what became of a row, and counts it once. `made`: the subscription that the change made. */
export async function moveRow(
  db: HomeDb,
  appId: string,
  id: string,
  { number, outcome: before }: BulkRow,
  outcome: keyof typeof COUNTED,
  message: string | null,
  made: string | null,
): Promise<void> {
  const count = COUNTED[outcome]
  await db.query(
    `with moved as (update bulk_change_row set outcome = $4, message = $5,
         subscription_id = coalesce($7, subscription_id)
       where app_id = $1 and bulk_id = $2 and number = $3 and outcome = $6 returning 1)
     update bulk_change set ${count} = ${count} + (select count(*) from moved) where app_id = $1 and id = $2`,
    [appId, id, number, outcome, message, before, made],
  )
}

export async function listBulkRows(
  db: HomeDb,
  appId: string,
  id: string,
  outcome: BulkOutcome | null,
  after: number,
  limit: number,
): Promise<BulkRow[]> {
  const { rows } = await db.query<BulkRow>(
    `${ROW} where app_id = $1 and bulk_id = $2 and number > $3 ${outcome === null ? '' : 'and outcome = $5'}
     order by number limit $4`,
    outcome === null ? [appId, id, after, limit] : [appId, id, after, limit, outcome],
  )
  return rows
}

/** Deletes up to `limit` rows, and the change once it has none. True: there are more. */
export async function deleteBulkRows(db: HomeDb, appId: string, id: string, limit: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from bulk_change_row where app_id = $1 and bulk_id = $2 and number in (
       select number from bulk_change_row where app_id = $1 and bulk_id = $2 order by number limit $3)`,
    [appId, id, limit],
  )
  if (rowCount === limit) return true
  await db.query('delete from bulk_change where app_id = $1 and id = $2', [appId, id])
  return false
}
