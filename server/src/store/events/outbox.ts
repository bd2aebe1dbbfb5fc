import { type EventType, eventData, type NewEvent } from '../../domain/event.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { Change } from '../../domain/row-change.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { listOfEvents, type PackedEvent, usageEventsOf } from '../usage/packed-events.ts'

// The outbox: what has happened and is not published yet. Triggers write most of it, see migrations/003-events.sql.

interface Row {
  id: number
  appId: string
  at: number
  /** the transaction that wrote it */
  txn: string
  userUid: number | null
  userId: string | null
  before: JsonObject | null
  after: JsonObject | null
  /** how many events the row contains; those of others are derived */
  events: number
}

/** A row of the outbox. */
export type OutboxRow = Row &
  (
    | Pick<Change, 'kind' | 'operation'>
    /** an event to publish; its data stays in the database */
    | { kind: 'EVENT'; operation: EventType }
    /** events of usage to publish, which stay there as well */
    | { kind: 'USAGE'; operation: 'INSERT' }
    /** a time that was reached */
    | { kind: 'DUE'; operation: EventType | 'subscription.started' }
    /** an entry of a package's history */
    | { kind: 'HISTORY'; operation: 'INSERT' | 'UPDATE' }
    /** the users of a package from here on */
    | { kind: 'FANOUT'; operation: 'USERS' }
  )

/** Writes events that no trigger derives, in the transaction of their cause. */
export async function emit(
  db: HomeDb,
  events: readonly (Pick<NewEvent, 'appId' | 'type' | 'at' | 'userUid' | 'userId'> & {
    object: JsonObject
    previous?: JsonObject | null
  })[],
): Promise<void> {
  if (events.length === 0) return
  await db.query(
    `insert into event_outbox (app_id, at, kind, type, user_uid, user_id, after)
     select app_id, at, 'EVENT', type, user_uid, user_id, data
     from unnest($1::text[], $2::timestamptz[], $3::text[], $4::bigint[], $5::text[], $6::json[])
       as e (app_id, at, type, user_uid, user_id, data)`,
    [
      textArray(events, (e) => e.appId),
      textArray(events, (e) => timestamp(e.at)),
      textArray(events, (e) => e.type),
      numberArray(events, (e) => e.userUid),
      textArray(events, (e) => e.userId),
      textArray(events, ({ object, previous }) => JSON.stringify(eventData(object, previous))),
    ],
  )
}

/** Events of usage, apart from those that the statements of the hot paths write themselves. */
export async function emitUsage(
  db: HomeDb,
  events: readonly ({ event: PackedEvent } & Pick<NewEvent, 'appId' | 'at'>)[],
): Promise<void> {
  if (events.length === 0) return
  await db.query(
    `insert into event_outbox (app_id, at, kind, type, after)
     select app_id, at, 'USAGE', 'INSERT', ${listOfEvents('event', 'place')}
     from unnest($1::text[], $2::timestamptz[], $3::text[]) with ordinality as e (app_id, at, event, place)
     group by app_id, at order by at`,
    [
      textArray(events, (e) => e.appId),
      textArray(events, (e) => timestamp(e.at)),
      textArray(events, (e) => e.event),
    ],
  )
}

/** For the rest of a transaction, changes are no events: sample data and restored rows are not news. */
export async function silenceEvents(tx: HomeDb): Promise<void> {
  await tx.query(`select set_config('tollgate.events', 'off', true)`)
}

/**
 * The oldest `limit` rows, with those that the same transactions wrote shortly afterwards. The rows of one transaction
 * belong together.
 */
export async function readOutbox(db: HomeDb, limit: number): Promise<OutboxRow[]> {
  const { rows } = await db.query<OutboxRow>(
    `with first as materialized (select id, txn from event_outbox order by id limit $1),
     last as materialized (select max(id) as id from first)
     select o.id, app_id as "appId", at, o.txn::text, kind, type as operation, user_uid as "userUid",
       user_id as "userId", before, case when kind not in ('EVENT', 'USAGE') then after end as after,
       case kind when 'EVENT' then 1 when 'USAGE' then json_array_length(after) else 0 end as events
     from event_outbox o
     where o.id <= (select id + $2 from last)
       and (o.id <= (select id from last) or o.txn in (select txn from first))
     order by o.id`,
    [limit, TOGETHER],
  )
  return rows
}

/** Distance within which rows of one transaction are searched: rows of one change of one user are adjacent. */
const TOGETHER = 100

/** Unpublished events of deleted users are dropped, except the deletion. */
export async function eraseFromOutbox(db: HomeDb, appId: string, uids: readonly number[]): Promise<void> {
  await db.query(
    `with dropped as (
       delete from event_outbox
       where app_id = $1 and user_uid = any($2::bigint[]) and not (kind = 'USER' and type = 'DELETE'))
     update event_outbox o set after = (
       select coalesce(json_agg(e order by n) filter (where (e->>'userUid')::bigint <> all($2::bigint[])), '[]')
       from json_array_elements(o.after) with ordinality as list (e, n))
     where app_id = $1 and kind = 'USAGE' and user_uid is null
       and exists (select from ${usageEventsOf('o.after')} where e.user_uid = any($2::bigint[]))`,
    [appId, numberArray(uids, (uid) => uid)],
  )
}

export async function deleteFromOutbox(db: HomeDb, ids: readonly number[]): Promise<void> {
  await db.query(`delete from event_outbox where id = any($1::bigint[])`, [numberArray(ids, (id) => id)])
}

/** Has the users of a package from this subscription on noticed of a change of it. */
export async function insertFanout(
  db: HomeDb,
  appId: string,
  { packageId, after }: { packageId: string; after: number },
): Promise<void> {
  await db.query(
    `insert into event_outbox (app_id, at, kind, type, after)
     select $1, statement_timestamp(), 'FANOUT', 'USERS', json_build_object('packageId', $2::text, 'after', $3::bigint)`,
    [appId, packageId, after],
  )
}

/** Rows that are not published yet, and the age of the oldest in seconds. */
export async function unpublished(db: HomeDb): Promise<{ rows: number; oldestSeconds: number }> {
  const { rows } = await db.query<{ rows: number; oldestSeconds: number }>(
    `select (select count(*) from (select from event_outbox limit $1) counted) as rows,
       coalesce((select greatest(0, extract(epoch from clock_timestamp() - written_at))::float8
         from event_outbox order by id limit 1), 0) as "oldestSeconds"`,
    [MOST_COUNTED],
  )
  return rows[0] ?? { rows: 0, oldestSeconds: 0 }
}

/** Counting more would cost more than the number is worth. */
const MOST_COUNTED = 100_000
