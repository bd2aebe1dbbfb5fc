import type { UsageAction } from '../../domain/usage.ts'
import { anyRows, sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf, rowsOf } from '../connection/places.ts'

export interface LedgerRow {
  seq: number
  featureId: string
  /** id of the credit that paid; null: the plan */
  credit: string | null
  action: UsageAction
  delta: number
  used: number
  periodStart: number
  recordedAt: number
}

/**
 * A user's entries of these features, newest first, starting before `before`. Each feature's entries are a range of the
 * primary key; an index over all of them would cost every recorded call.
 */
export async function ledgerOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureIds: readonly string[],
  before: number,
  limit: number,
): Promise<LedgerRow[]> {
  const ask = rowsOf<LedgerRow>({
    text: `select l.* from unnest($3::text[]) as f (id) cross join lateral (
       select seq, feature_id as "featureId", case when starts_with(reset_period, 'CREDIT:')
           then substr(reset_period, 8) end as credit, action, delta, used, period_start as "periodStart",
         recorded_at as "recordedAt"
       from usage_ledger where app_id = $1 and user_uid = $2 and feature_id = f.id and seq < $4
       order by seq desc limit $5) l
     order by l.seq desc limit $5`,
    values: [appId, userUid, featureIds, before, limit],
  })
  return db.places.each(ask, anyRows())
}

/** Number of a user's entries of these features whose partition was retired. */
export async function countRetiredEntries(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureIds: readonly string[],
): Promise<number> {
  const { count } = await db.places.each(
    rowOf<{ count: number }>({
      text: `select coalesce(sum(b.entries), 0)::bigint as count
     from ledger_base b join ledger_partition p on p.block = b.block and p.retired_at is not null
     where b.app_id = $1 and b.user_uid = $2 and b.feature_id = any($3)`,
      values: [appId, userUid, featureIds],
    }),
    sums(),
  )
  return count
}
