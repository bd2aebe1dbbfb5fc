import type { ResetPeriod } from '../../domain/period.ts'
import { TryAgain, timestamp } from '../connection/database.ts'
import type { HomeDb, UserDb } from '../connection/places.ts'
import { violates } from '../connection/refusals.ts'
import type { LedgerKey } from './spending-move.ts'
import { COUNTER_EXISTS } from './write-usage.ts'

/** The usage of each period of that kind that started since `from`, by start. */
export async function usageSince(
  db: HomeDb,
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

/** The value of a counter; null: nothing was counted. */
export async function usedIn(
  db: UserDb,
  appId: string,
  uid: number,
  { featureId, resetPeriod, periodStart }: LedgerKey,
): Promise<number | null> {
  const { rows } = await db.query<{ used: number }>(
    `select used from usage_counter where app_id = $1 and user_uid = $2 and feature_id = $3 and reset_period = $4
       and period_start = $5`,
    [appId, uid, featureId, resetPeriod, timestamp(periodStart)],
  )
  return rows[0]?.used ?? null
}

/** What the last SET of a counter since then left it at; null: there was none. */
export async function usedAfterSet(
  db: UserDb,
  appId: string,
  uid: number,
  { featureId, resetPeriod, periodStart }: LedgerKey,
  since: number,
): Promise<number | null> {
  const { rows } = await db.query<{ used: number }>(
    `select used from usage_ledger
     where app_id = $1 and user_uid = $2 and feature_id = $3 and reset_period = $4 and period_start = $5
       and action = 'SET' and recorded_at >= $6
     order by seq desc limit 1`,
    [appId, uid, featureId, resetPeriod, timestamp(periodStart), timestamp(since)],
  )
  return rows[0]?.used ?? null
}

/**
 * The values of these counters, in order; 0 where there is none. Until the transaction ends nobody else changes them, and
 * usage that was decided before is decided again: each counter becomes another row, or is created, so that no writer finds
 * what it has read. A lock would only delay a writer, who would then go on with outdated limits.
 *
 * The counters of a user come in the order of their feature ids, as in every statement that writes usage.
 */
export async function holdCounters(
  tx: UserDb,
  appId: string,
  counters: readonly CounterPeriod[],
): Promise<number[]> {
  const values: number[] = []
  for (const { uid, featureId, resetPeriod, periodStart } of counters) {
    const key = [appId, uid, featureId, resetPeriod, timestamp(periodStart)]
    // Not an update: not every release of PostgreSQL compares the place again for a writer that waited for it.
    const { rows } = await tx.query<{ used: number }>(
      `delete from usage_counter where app_id = $1 and user_uid = $2 and feature_id = $3 and reset_period = $4
         and period_start = $5 returning used`,
      key,
    )
    const used = rows[0]?.used ?? 0
    try {
      await tx.query(
        `insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
         values ($1, $2, $3, $4, $5, $6)`,
        [...key, used],
      )
    } catch (error) {
      throw violates(error, COUNTER_EXISTS) ? new TryAgain() : error
    }
    values.push(used)
  }
  return values
}

interface CounterPeriod {
  uid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
}
