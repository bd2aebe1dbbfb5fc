import type { ResetPeriod } from '../../domain/period.ts'
import { readInCellOf } from '../cells/read-in-cell.ts'
import { type Db, timestamp } from '../connection/database.ts'

/** The usage of each period of that kind that started since `from`, by start. */
export async function usageSince(
  db: Db,
  appId: string,
  user: { id: string; uid: number },
  featureId: string,
  resetPeriod: ResetPeriod,
  from: number,
): Promise<Map<number, number>> {
  const { rows } = await readInCellOf(db, appId, user.id, (cell, nameOf) =>
    cell.query<{ period_start: number; used: number }>(
      `select period_start, used from ${nameOf('usage_counter')}
       where app_id = $1 and user_uid = $2 and feature_id = $3 and reset_period = $4 and period_start >= $5`,
      [appId, user.uid, featureId, resetPeriod, timestamp(from)],
    ),
  )
  return new Map(rows.map((row) => [row.period_start, row.used]))
}

export async function countCounters(db: Db, appId: string, userUid: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from usage_counter where app_id = $1 and user_uid = $2`,
    [appId, userUid],
  )
  return rows[0]?.count ?? 0
}
