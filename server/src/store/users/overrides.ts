import type { Override } from '../../domain/override.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { descending, firstScanned, type Scan } from '../connection/merge-answers.ts'
import type { HomeDb, UserDb } from '../connection/places.ts'

/** Replaces all overrides of a locked user. */
export async function storeOverrides(
  db: UserDb,
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

/** Makes checks of the feature read the counters of this reset period too. */
export async function addOverridePeriod(
  db: HomeDb,
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

interface Overridden {
  uid: number
  id: string
  name: string | null
  email: string | null
  overrides: Override[]
}

/**
 * Users with an override of the feature, in force or not, among the `most` newest before `before` who have any; with
 * fewer than `limit`, where to continue.
 */
export async function usersWithOverride(
  db: HomeDb,
  appId: string,
  featureId: string,
  before: number,
  limit: number,
  most: number,
): Promise<Scan<Overridden>> {
  const look = async (cell: HomeDb): Promise<Scan<Overridden>> => {
    const scan = `select uid, id, name, email, overrides from users
      where app_id = $1 and uid < $2 and overrides is not null order by uid desc`
    const { rows } = await cell.query<Overridden>(
      `select * from (${scan} limit $3) u
       where exists (select from json_array_elements(overrides) o where o->>'featureId' = $4)
       order by uid desc limit $5`,
      [appId, before, most, featureId, limit],
    )
    if (rows.length === limit) return { rows, scannedTo: null }
    const ends = await cell.query<{ uid: number }>(`${scan} offset $3 limit 2`, [appId, before, most - 1])
    const [last, next] = ends.rows
    return { rows, scannedTo: last && next ? last.uid : null }
  }
  return db.places.each(
    look,
    firstScanned(limit, ({ uid }) => uid, descending),
  )
}
