import type { Json, JsonObject } from '../../domain/metadata.ts'
import type { NewReservation } from '../../domain/reservation.ts'
import { poolOf } from '../../domain/reservation.ts'
import type { HeldPart } from '../../domain/split.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface ReservationRow {
  id: string
  seq: number
  userUid: number
  featureId: string
  /** as requested */
  amount: number
  atLeast: number
  ttlSeconds: number
  metadata: JsonObject
  /** HELD also after it has expired */
  state: 'HELD' | 'SETTLED' | 'RELEASED'
  parts: HeldPart[]
  settled: number
  late: boolean
  reason: string | null
  createdAt: number
  expiresAt: number
}

const COLUMNS = `id, seq, user_uid as "userUid", feature_id as "featureId", amount, at_least as "atLeast",
  ttl_seconds as "ttlSeconds", metadata, state, split as parts, settled, late, reason, created_at as "createdAt",
  expires_at as "expiresAt"`

/** False: the id is taken. */
export async function insertReservation(
  db: HomeDb,
  appId: string,
  userUid: number,
  { id, featureId, amount, atLeast, ttlSeconds, metadata }: NewReservation & { id: string; atLeast: number },
  parts: readonly HeldPart[],
  at: { now: number; expiresAt: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into usage_reservation (app_id, id, user_uid, feature_id, amount, at_least, ttl_seconds, metadata, state,
       split, created_at, expires_at, pool_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'HELD', $9, $10, $11, $12) on conflict do nothing`,
    [
      ...[appId, id, userUid, featureId, amount, atLeast, ttlSeconds, JSON.stringify(metadata)],
      ...[JSON.stringify(parts), timestamp(at.now), timestamp(at.expiresAt), poolOf(parts)],
    ],
  )
  return rowCount === 1
}

/** The spender's row is locked. */
export async function updateReservation(
  db: HomeDb,
  appId: string,
  { id, state, parts, settled, late, reason, expiresAt }: ReservationRow,
): Promise<void> {
  await db.query(
    `update usage_reservation set state = $3, split = $4, settled = $5, late = $6, reason = $7, expires_at = $8,
       pool_id = $9
     where app_id = $1 and id = $2`,
    [appId, id, state, JSON.stringify(parts), settled, late, reason, timestamp(expiresAt), poolOf(parts)],
  )
}

export async function findReservation(db: HomeDb, appId: string, id: string): Promise<ReservationRow | null> {
  const { rows } = await db.query<ReservationRow>(
    `select ${COLUMNS} from usage_reservation where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** The answer to the call that reverted it; null: none did. The spender's row is locked. */
export async function revertedAs(db: HomeDb, appId: string, id: string): Promise<Json | null> {
  const { rows } = await db.query<{ reverted: Json | null }>(
    `select reverted from usage_reservation where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0]?.reverted ?? null
}

export async function storeReverted(db: HomeDb, appId: string, id: string, answer: Json): Promise<void> {
  await db.query(`update usage_reservation set reverted = $3 where app_id = $1 and id = $2`, [
    appId,
    id,
    JSON.stringify(answer),
  ])
}

export async function countLiveReservations(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  now: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from usage_reservation
     where app_id = $1 and user_uid = $2 and feature_id = $3 and state = 'HELD' and expires_at > $4`,
    [appId, userUid, featureId, timestamp(now)],
  )
  return rows[0]?.count ?? 0
}

/** Deletes some of those that expired before, oldest first. */
export async function deleteOldReservations(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  before: number,
): Promise<void> {
  await db.query(
    `delete from usage_reservation where app_id = $1 and id = any(array(
       select id from usage_reservation
       where app_id = $1 and user_uid = $2 and feature_id = $3 and expires_at < $4 order by seq limit 100))`,
    [appId, userUid, featureId, timestamp(before)],
  )
}

/** What live reservations of a user hold. */
export async function heldOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  now: number,
): Promise<{ featureId: string; parts: HeldPart[] }[]> {
  const { rows } = await db.query<{ featureId: string; parts: HeldPart[] }>(
    `select feature_id as "featureId", split as parts from usage_reservation
     where app_id = $1 and user_uid = $2 and state = 'HELD' and expires_at > $3`,
    [appId, userUid, timestamp(now)],
  )
  return rows
}

interface ReservationFilter {
  featureId: string | null
  /** EXPIRED: held, and past its time */
  state: 'HELD' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | null
  after: number
  limit: number
}

/** Oldest first. */
export async function reservationsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  { featureId, state, after, limit }: ReservationFilter,
  now: number,
): Promise<ReservationRow[]> {
  const { rows } = await db.query<ReservationRow>(
    `select ${COLUMNS} from usage_reservation
     where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3) and seq > $4
       and ($5::text is null or $5 = case when state = 'HELD' and expires_at <= $6 then 'EXPIRED' else state end)
     order by seq limit $7`,
    [appId, userUid, featureId, after, state, timestamp(now), limit],
  )
  return rows
}
