import type { Json } from '../../domain/metadata.ts'
import type { Reservation } from '../../domain/reservation.ts'
import type { HeldPart } from '../../domain/split.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface ReservationRow extends Reservation {
  seq: number
  userUid: number
}

const COLUMNS = `r.id, r.seq, r.user_uid as "userUid", r.feature_id as "featureId", r.amount, r.at_least as "atLeast",
  r.ttl_seconds as "ttlSeconds", r.metadata, r.state, r.split as parts, r.settled, r.late, r.reason,
  r.created_at as "createdAt", r.expires_at as "expiresAt"`

export async function findReservation(db: HomeDb, appId: string, id: string): Promise<ReservationRow | null> {
  const { rows } = await db.query<ReservationRow>(
    `select ${COLUMNS} from usage_reservation r where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** With its user, and the version of the spender's row at that moment. */
export interface FoundReservation extends Omit<ReservationRow, 'seq'> {
  userId: string
  version: number
}

/** In the order of the ids; null: there is none. */
export async function findReservations(
  db: HomeDb,
  ids: readonly { appId: string; id: string }[],
): Promise<(FoundReservation | null)[]> {
  const { rows } = await db.query<FoundReservation & { ord: number }>({
    name: 'read-reservations',
    text: `select q.ord::int, ${COLUMNS}, u.id as "userId", s.version
      from unnest($1::text[], $2::text[]) with ordinality as q (app, reservation, ord)
      join usage_reservation r on r.app_id = q.app and r.id = q.reservation
      join users u on u.app_id = r.app_id and u.uid = r.user_uid
      join spender s on s.app_id = r.app_id and s.user_uid = r.user_uid`,
    values: [ids.map(({ appId }) => appId), ids.map(({ id }) => id)],
  })
  const found = new Array<FoundReservation | null>(ids.length).fill(null)
  for (const { ord, ...row } of rows) found[ord - 1] = row
  return found
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

/** Units that live reservations of a user hold. */
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
    `select ${COLUMNS} from usage_reservation r
     where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3) and seq > $4
       and ($5::text is null or $5 = case when state = 'HELD' and expires_at <= $6 then 'EXPIRED' else state end)
     order by seq limit $7`,
    [appId, userUid, featureId, after, state, timestamp(now), limit],
  )
  return rows
}
