import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export const DELIVERY_STATES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** One attempt at a delivery. */
export interface Attempt {
  at: number
  durationMs: number
  /** HTTP status; null: there was no response */
  status: number | null
  /** reason why there was no response */
  error: string | null
  /** beginning of the body of the response */
  body: string
}

/** One event on its way to one endpoint. */
export interface DeliveryRow {
  seq: number
  eventId: string
  eventType: string
  sequence: number | null
  state: DeliveryState
  /** since it was sent or resent */
  attempts: number
  /** null: no further attempt is planned */
  dueAt: number | null
  /** whether an attempt is in progress */
  underWay: boolean
  /** the latest attempts, oldest first */
  log: Attempt[]
  createdAt: number
  /** of the event; all null for a test event and for a deleted event */
  eventAt: number | null
  userId: string | null
  data: unknown
}

const SELECT = `select d.seq, d.event_id as "eventId", d.event_type as "eventType", d.sequence, d.state, d.attempts,
    d.due_at as "dueAt", d.lease is not null as "underWay", d.log, d.created_at as "createdAt",
    e.at as "eventAt", e.user_id as "userId", e.data
  from webhook_delivery d left join event_log e on e.app_id = d.app_id and e.sequence = d.sequence`

/** Newest first, starting before the number `before`. */
export async function listDeliveries(
  db: HomeDb,
  appId: string,
  { endpointId, state }: { endpointId: string; state: DeliveryState | null },
  before: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `${SELECT} where d.app_id = $1 and d.endpoint_id = $2 and ($3::text is null or d.state = $3) and d.seq < $4
     order by d.seq desc limit $5`,
    [appId, endpointId, state, before, limit],
  )
  return rows
}

/**
 * Queues the events of these sequences, just published, for every endpoint that wants them. The statement begins with the
 * endpoints, since most apps have none: an event that nobody wants is not read.
 */
export async function insertDeliveries(tx: Tx, { from, to }: { from: number; to: number }): Promise<void> {
  await tx.query(
    `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, sequence)
     select w.app_id, w.id, e.id, e.type, e.sequence from webhook_endpoint w
     join event_log e on e.app_id = w.app_id and e.sequence between $1 and $2
     where w.enabled and (w.types = '{}' or e.type = any(w.types)) order by e.sequence
     on conflict (app_id, endpoint_id, event_id) do nothing`,
    [from, to],
  )
}

/** A test event has no row in the event log. Returns when it was created. */
export async function insertTestDelivery(
  db: HomeDb,
  appId: string,
  endpointId: string,
  event: { id: string; type: string },
): Promise<number> {
  const { rows } = await db.query<{ createdAt: number }>(
    `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type) values ($1, $2, $3, $4)
     returning created_at as "createdAt"`,
    [appId, endpointId, event.id, event.type],
  )
  if (!rows[0]) throw new Error('an insert returned no row')
  return rows[0].createdAt
}

const RESEND = `state = 'PENDING', attempts = 0, due_at = now(), lease = null`

/** Queues events again, or for the first time if they are older than the endpoint. Returns the ids of existing events. */
export async function resendDeliveries(
  db: HomeDb,
  appId: string,
  endpointId: string,
  eventIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with again as (
       update webhook_delivery d set ${RESEND}
       where app_id = $1 and endpoint_id = $2 and event_id = any($3) returning event_id),
     added as (
       insert into webhook_delivery as d (app_id, endpoint_id, event_id, event_type, sequence)
       select e.app_id, $2, e.id, e.type, e.sequence from event_log e
       where e.app_id = $1 and e.id = any($3) and not exists (select from webhook_delivery d
         where d.app_id = $1 and d.endpoint_id = $2 and d.event_id = e.id) order by e.sequence
       on conflict (app_id, endpoint_id, event_id) do update set ${RESEND} returning event_id)
     select event_id as id from again union all select event_id from added`,
    [appId, endpointId, eventIds],
  )
  return rows.map(({ id }) => id)
}

/** Queues at most `limit` failed deliveries of a time again. Returns their number. */
export async function resendFailed(
  db: HomeDb,
  appId: string,
  endpointId: string,
  { from, to, limit }: { from: string | null; to: string | null; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    // By address: by key, and before there are statistics, each would be looked for among all of the endpoint's.
    `update webhook_delivery set ${RESEND} where state = 'FAILED' and ctid = any(array(
       select ctid from webhook_delivery
       where app_id = $1 and endpoint_id = $2 and state = 'FAILED'
         and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)
       order by seq limit $5))`,
    [appId, endpointId, from, to, limit],
  )
  return rowCount ?? 0
}

interface Backlog {
  /** at most the given number */
  pending: number
  /** seconds since the oldest due delivery was due; 0: none is due */
  oldestSeconds: number
}

/** Of the enabled endpoints of all apps. */
export async function deliveryBacklog(db: HomeDb, most: number): Promise<Backlog> {
  const { rows } = await db.query<Backlog>(
    `with recursive waiting as (
       (select app_id, endpoint_id, due_at from webhook_delivery where state = 'PENDING'
        order by app_id, endpoint_id, due_at limit 1)
       union all
       select n.* from waiting w cross join lateral (
         select app_id, endpoint_id, due_at from webhook_delivery
         where state = 'PENDING' and (app_id, endpoint_id) > (w.app_id, w.endpoint_id)
         order by app_id, endpoint_id, due_at limit 1) n),
     enabled as (
       select w.* from waiting w join webhook_endpoint e on e.app_id = w.app_id and e.id = w.endpoint_id and e.enabled)
     select (select count(*) from (select from enabled e cross join lateral (select from webhook_delivery d
         where d.app_id = e.app_id and d.endpoint_id = e.endpoint_id and d.state = 'PENDING' limit $1) p limit $1) c) as pending,
       greatest(coalesce(extract(epoch from now() - min(due_at)), 0), 0)::float8 as "oldestSeconds" from enabled`,
    [most],
  )
  return rows[0] ?? { pending: 0, oldestSeconds: 0 }
}
