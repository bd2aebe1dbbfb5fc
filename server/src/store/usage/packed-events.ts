import type { EventData, EventType } from '../../domain/event.ts'

// Events of usage are many, so one row of the outbox has those of a whole batch: a JSON list of them in its column `after`.

declare const packed: unique symbol

/** An event of usage, as JSON text. */
export type PackedEvent = string & { readonly [packed]: true }

export const packedEvent = (event: {
  type: EventType
  userUid: number
  userId: string
  data: EventData
}): PackedEvent => JSON.stringify(event) as PackedEvent

/** SQL: the list, from the texts of its events. An aggregate. */
export const listOfEvents = (text: string, order: string): string =>
  `('[' || string_agg(${text}, ',' order by ${order}) || ']')::json`

/** SQL: the events of a list, as rows `e`, numbered from 1. */
export const usageEventsOf = (list: string): string =>
  `rows from (json_to_recordset(${list}) as (type text, "userUid" bigint, "userId" text, data json))
    with ordinality as e (type, user_uid, user_id, data, number)`
