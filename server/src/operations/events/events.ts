import { badUserInput, eventsExpired } from '../../domain/errors.ts'
import {
  cursorOf,
  dayOfSequence,
  EVENT_TYPES,
  type EventType,
  firstSequenceOf,
  sequenceOf,
} from '../../domain/event.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_EVENT_SCAN, MAX_EVENTS } from '../../domain/limits.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import {
  type EventFilter,
  type EventRow,
  eventsAfter,
  type LogEnds,
  logEnds,
} from '../../store/events/event-log.ts'
import { findUser } from '../../store/users/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { unknownCursor } from '../call/pages.ts'

interface EventQuery {
  after?: string | null | undefined
  types?: readonly string[] | null | undefined
  userId?: string | null | undefined
  first?: number | null | undefined
}

export interface EventPage {
  nodes: EventRow[]
  /** the cursor to continue from, also when there are no more events yet */
  next: string
}

const USUAL = 100

/** Events of the app after a cursor, in the order in which they were published. Without a cursor, from the oldest one. */
export async function events(call: Call, query: EventQuery): Promise<EventPage> {
  const size = query.first ?? USUAL
  if (size < 1 || size > MAX_EVENTS) throw badUserInput(`first must be from 1 to ${MAX_EVENTS}`, 'first')
  const types = checkEventTypes(query.types)
  const { pool } = call.service
  await momentOf(call)
  // First, so that the next statement sees everything up to the end of the log.
  const ends = await logEnds(pool, call.appId)
  const after = startOf(query.after, ends)
  const filter = await filterOf(pool, call.appId, types, query.userId)
  return filter
    ? pageAfter(pool, call.appId, after, filter, ends, size)
    : { nodes: [], next: cursorOf(Math.max(after, ends.last)) }
}

async function pageAfter(
  db: HomeDb,
  appId: string,
  after: number,
  filter: EventFilter,
  { last }: LogEnds,
  size: number,
): Promise<EventPage> {
  const { rows, lookedTo } = await eventsAfter(db, appId, after, filter, {
    limit: size,
    most: MAX_EVENT_SCAN,
  })
  const end = rows.at(-1)?.sequence ?? after
  const reached = rows.length === size ? end : (lookedTo ?? Math.max(end, last))
  return { nodes: rows, next: cursorOf(reached) }
}

/** The sequence after which to read. A cursor from before the retention is refused if anything was published since. */
function startOf(cursor: string | null | undefined, { last, firstDay }: LogEnds): number {
  const oldest = firstSequenceOf(firstDay) - 1
  if (cursor === null || cursor === undefined) return oldest
  const after = sequenceOf(cursor)
  if (after === null) throw unknownCursor()
  if (after < oldest && after < last) throw eventsExpired(dayOfSequence(last) - firstDay)
  return after
}

/** Null: all types. */
export function checkEventTypes(types: readonly string[] | null | undefined): EventType[] | null {
  if (types === null || types === undefined || types.length === 0) return null
  const unknown = types.find((type) => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown !== undefined)
    throw badUserInput(
      `types contains an unknown event type: ${JSON.stringify(unknown.slice(0, 80))}`,
      'types',
    )
  return [...new Set(types)] as EventType[]
}

/** Null: nothing can match. */
async function filterOf(
  db: HomeDb,
  appId: string,
  types: EventType[] | null,
  userId: string | null | undefined,
): Promise<EventFilter | null> {
  if (userId === null || userId === undefined) return { types, userUid: null }
  const user = isIdentifier(userId) ? await findUser(db, appId, userId) : null
  return user && { types, userUid: user.uid }
}
