import type { Cap, CountedCap } from '../../domain/cap.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface CapRow extends CountedCap {
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
     where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3)
     order by feature_id, entity, period`,
    [appId, userUid, featureId],
  )
  return rows
}
