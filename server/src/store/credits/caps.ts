import type { Cap, CapCount, CountedCap } from '../../domain/cap.ts'
import { textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface CapRow extends CountedCap {
  featureId: string
}

/** Of a cap of the user, or with the limit null of one of the plan. */
export interface CapCountRow extends CapCount {
  featureId: string
}

const COLUMNS = `feature_id as "featureId", nullif(entity, '') as entity, period, "limit", window_start as "windowStart", used`

/** Stores a cap, or changes the limit of the one for the same entity and period, which keeps its count. */
export async function storeCap(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  { entity, period, limit }: Cap,
  windowStart: number,
): Promise<CapRow> {
  const { rows } = await db.query<CapRow>(
    `insert into usage_cap (app_id, user_uid, feature_id, entity, period, "limit", window_start)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (app_id, user_uid, feature_id, entity, period) do update set "limit" = excluded."limit"
     returning ${COLUMNS}`,
    [appId, userUid, featureId, entity ?? '', period, limit, timestamp(windowStart)],
  )
  if (!rows[0]) throw new Error('a cap was not stored')
  return rows[0]
}

/** Removes the limit of a cap, and keeps its count for that of the plan. Null: there was none. */
export async function unlimitCap(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  { entity, period }: Pick<Cap, 'entity' | 'period'>,
): Promise<CapRow | null> {
  const { rows } = await db.query<CapRow>(
    `with own as (
       select * from usage_cap
       where app_id = $1 and user_uid = $2 and feature_id = $3 and entity = $4 and period = $5 and "limit" is not null
       for update
     ), changed as (
       update usage_cap c set "limit" = null from own
       where (c.app_id, c.user_uid, c.feature_id, c.entity, c.period)
         = (own.app_id, own.user_uid, own.feature_id, own.entity, own.period)
     )
     select ${COLUMNS} from own`,
    [appId, userUid, featureId, entity ?? '', period],
  )
  return rows[0] ?? null
}

/** Null: there was none. */
export async function deleteCap(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  { entity, period }: Pick<Cap, 'entity' | 'period'>,
): Promise<CapRow | null> {
  const { rows } = await db.query<CapRow>(
    `delete from usage_cap where app_id = $1 and user_uid = $2 and feature_id = $3 and entity = $4 and period = $5
       and "limit" is not null
     returning ${COLUMNS}`,
    [appId, userUid, featureId, entity ?? '', period],
  )
  return rows[0] ?? null
}

/** By feature, entity and period. `featureId` null: of all features. */
export async function capsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string | null,
): Promise<CapRow[]> {
  const { rows } = await db.query<CapRow>(
    `select ${COLUMNS} from usage_cap
     where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3) and "limit" is not null
     order by feature_id, entity, period`,
    [appId, userUid, featureId],
  )
  return rows
}

/**
 * All caps of a user, and of these features the counts of the plans' caps for all usage of the user and for these entities: a user
 * may have counts of any number of entities.
 */
export async function capCountsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureIds: readonly string[],
  entities: readonly string[],
): Promise<CapCountRow[]> {
  const { rows } = await db.query<CapCountRow>(
    `select ${COLUMNS} from usage_cap where app_id = $1 and user_uid = $2 and "limit" is not null
     union all
     select k.* from unnest($3::text[]) as f (id) cross join lateral (
       select ${COLUMNS} from usage_cap
       where app_id = $1 and user_uid = $2 and feature_id = f.id and entity = any($4::text[]) and "limit" is null) k
     order by "featureId", entity nulls first, period`,
    [appId, userUid, textArray(featureIds, (id) => id), textArray(['', ...entities], (entity) => entity)],
  )
  return rows
}

/** Far longer than a window. A count that is deleted begins again at 0, as that of another window does. */
const AGE = `case period when 'HOUR' then interval '1 day' when 'DAY' then interval '2 days'
  when 'WEEK' then interval '14 days' when 'MONTH' then interval '62 days' when 'YEAR' then interval '732 days' end`

/** Deletes counts of the plans' caps whose window ended long ago by their app's clock. Returns their number. */
export async function pruneCapCounts(db: HomeDb, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from usage_cap where "limit" is null and window_start < now() - ${AGE} and ctid = any(array(
       select old.ctid from unnest(array['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR']) as p (period) cross join lateral (
         select k.ctid from usage_cap k join app on app.id = k.app_id
         where k.period = p.period and "limit" is null and window_start < least(now(), app.test_clock) - ${AGE.replace('period', 'p.period')}
         order by window_start limit $1) old
       limit $1))`,
    [limit],
  )
  return rowCount ?? 0
}
