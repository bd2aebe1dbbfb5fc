import type { Override } from '../domain/override.ts'
import type { ResetPeriod } from '../domain/period.ts'
import type { Db } from './database.ts'

/** Replaces all overrides of a user, who is locked. */
export async function storeOverrides(
  db: Db,
  appId: string,
  uid: number,
  overrides: readonly Override[],
): Promise<void> {
  await db.query(`update users set overrides = $3 where app_id = $1 and uid = $2`, [
    appId,
    uid,
    overrides.length > 0 ? JSON.stringify(overrides) : null,
  ])
}

/** Has checks of the feature read the counters of this reset period too. */
export async function addOverridePeriod(
  db: Db,
  appId: string,
  featureId: string,
  resetPeriod: ResetPeriod,
): Promise<void> {
  await db.query(
    `update feature set override_periods = array_append(override_periods, $3)
     where app_id = $1 and id = $2 and $3 <> all (override_periods)`,
    [appId, featureId, resetPeriod],
  )
}
