import type { ResetPeriod } from '../../domain/period.ts'
import { timestamp } from '../connection/database.ts'
import type { Db, UserDb } from '../connection/places.ts'

/** The usage of each period of that kind that started since `from`, by start. */
export async function usageSince(
  db: Db,
  appId: string,
  user: { id: string; uid: number },
  featureId: string,
  resetPeriod: ResetPeriod,
  from: number,
): Promise<Map<number, number>> {
  const { rows } = await db.places.of(appId, user.id, (users) =>
    users.query<{ period_start: number; used: number }>(
      `select period_start, used from usage_counter
       where app_id = $1 and user_uid = $2 and feature_id = $3 and reset_period = $4 and period_start >= $5`,
      [appId, user.uid, featureId, resetPeriod, timestamp(from)],
    ),
  )
  return new Map(rows.map((row) => [row.period_start, row.used]))
}

export async function countCounters(db: UserDb, appId: string, userUid: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from usage_counter where app_id = $1 and user_uid = $2`,
    [appId, userUid],
  )
  return rows[0]?.count ?? 0
}
