import { erasedData, type NewEvent } from '../../domain/event.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { usageEventsOf } from '../usage/packed-events.ts'
import { FIRST_KEPT_DAY } from './event-partitions.ts'

// The published events of all apps, in the order of their sequence. Only the publisher adds to it.

interface PublisherPosition {
  /** the last published sequence */
  last: number
  /** real time */
  now: number
}

/**
 * Begins a publication: until the transaction ends no other one publishes. Null: another one does. So sequences rise in
 * the order in which publications are committed, and whoever reads sees all up to the last one.
 */
export async function beginPublishing(tx: Tx): Promise<PublisherPosition | null> {
  const { rows: locked } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate events')) as locked`,
  )
  if (locked[0]?.locked !== true) return null
  // A separate statement, so that it sees the commits of the previous publisher.
  const { rows } = await tx.query<PublisherPosition>(
    `select last, (extract(epoch from clock_timestamp()) * 1000)::bigint as now from event_position`,
  )
  if (!rows[0]) throw new Error('the table event_position has no row')
  return rows[0]
}

export async function endPublishing(tx: Tx, last: number): Promise<void> {
  await tx.query(`update event_position set last = $1`, [last])
}

/** A new event and its sequence. */
export type Sequenced = NewEvent & { sequence: number }

export async function insertEvents(tx: Tx, events: readonly Sequenced[]): Promise<void> {
  if (events.length === 0) return
  await tx.query(
    `insert into event_log (app_id, sequence, type, at, user_uid, user_id, data)
     select * from unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::bigint[], $6::text[], $7::json[])`,
    [
      textArray(events, (e) => e.appId),
      numberArray(events, (e) => e.sequence),
      textArray(events, (e) => e.type),
      textArray(events, (e) => timestamp(e.at)),
      numberArray(events, (e) => e.userUid),
      textArray(events, (e) => e.userId),
      textArray(events, (e) => JSON.stringify(e.data)),
    ],
  )
}

/** Publishes events of the outbox unchanged. Each row has the sequence of its first event. */
export async function copyFromOutbox(
  tx: Tx,
  rows: readonly { id: number; sequence: number }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `with copied as (select o.*, r.sequence
       from unnest($1::bigint[], $2::bigint[]) as r (id, sequence) join event_outbox o on o.id = r.id)
     insert into event_log (app_id, sequence, type, at, user_uid, user_id, data)
     select app_id, sequence, type, at, user_uid, user_id, after from copied where kind = 'EVENT'
     union all
     select o.app_id, o.sequence + e.number - 1, e.type, o.at, e.user_uid, e.user_id, e.data
     from copied o cross join ${usageEventsOf('o.after')} where o.kind = 'USAGE'`,
    [numberArray(rows, ({ id }) => id), numberArray(rows, ({ sequence }) => sequence)],
  )
}

/**
 * Removes everything personal from the events of a deleted user. What happened, and when, stays; so does the event that
 * reports the deletion, which has ids alone.
 */
export async function eraseEvents(db: HomeDb, appId: string, uid: number): Promise<void> {
  await db.query(
    `update event_log set data = $3::json, user_id = null
     where app_id = $1 and user_uid = $2 and type <> 'user.deleted'`,
    [appId, uid, JSON.stringify(erasedData())],
  )
}

/** A published event. */
export interface EventRow {
  id: string
  type: string
  at: number
  userId: string | null
  sequence: number
  data: JsonObject
}

/** Where a reader of an app's events is. */
export interface LogEnds {
  /** the last published sequence, of any app */
  last: number
  /** events of earlier days are not kept */
  firstDay: number
}

/** Read before the events, so that all events up to `last` are visible. */
export async function logEnds(db: HomeDb, id: string): Promise<LogEnds> {
  const { rows } = await db.query<LogEnds>({
    name: 'event-log-ends',
    text: `select p.last, ${FIRST_KEPT_DAY} as "firstDay" from event_position p cross join app where app.id = $1`,
    values: [id],
  })
  if (!rows[0]) throw new Error(`the app ${id} no longer exists`)
  return rows[0]
}

/** The last published sequence, of any app. */
export async function lastSequence(db: HomeDb): Promise<number> {
  const { rows } = await db.query<{ last: number }>({
    name: 'event-log-end',
    text: 'select last from event_position',
  })
  return rows[0]?.last ?? 0
}

/** The filters of a reader; null: any. */
export interface EventFilter {
  types: readonly string[] | null
  userUid: number | null
}

/**
 * An app's events after a sequence, in order, at most `limit` of at most `most` that are looked at. With fewer than `limit`,
 * `lookedTo` is where to continue; null: there are no more.
 */
export async function eventsAfter(
  db: HomeDb,
  appId: string,
  after: number,
  { types, userUid }: EventFilter,
  { limit, most }: { limit: number; most: number },
): Promise<{ rows: EventRow[]; lookedTo: number | null }> {
  const ofUser = userUid === null ? '' : 'and user_uid = $3'
  const values = userUid === null ? [appId, after] : [appId, after, userUid]
  const scan = `from event_log where app_id = $1 and sequence > $2 ${ofUser} order by sequence`
  const columns = `id, type, at, user_id as "userId", sequence, data`
  const next = (value: unknown) => `$${values.push(value as never)}`
  const text =
    types === null
      ? `select ${columns} ${scan} limit ${next(limit)}`
      : `select * from (select ${columns} ${scan} limit ${next(most)}) e
         where type = any(${next(types)}::text[]) order by sequence limit ${next(limit)}`
  const { rows } = await db.query<EventRow>(text, values)
  if (types === null || rows.length === limit) return { rows, lookedTo: null }
  const { rows: ends } = await db.query<{ sequence: number }>(
    `select sequence ${scan} offset $${userUid === null ? 3 : 4} limit 1`,
    [...values.slice(0, userUid === null ? 2 : 3), most - 1],
  )
  return { rows, lookedTo: ends[0]?.sequence ?? null }
}

/** A user's events from one sequence to before another, newest first. Null: of all types. */
export async function newestEventsOfUser(
  db: HomeDb,
  appId: string,
  uid: number,
  types: readonly string[] | null,
  { from, before }: { from: number; before: number },
  limit: number,
): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select id, type, at, user_id as "userId", sequence, data from event_log
     where app_id = $1 and user_uid = $2 and sequence >= $3 and sequence < $4
       and ($5::text[] is null or type = any($5)) order by sequence desc limit $6`,
    [appId, uid, from, before, types, limit],
  )
  return rows
}
