import { creditObject } from '../../domain/credit-events.ts'
import { type EventType, eventData, type NewEvent } from '../../domain/event.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { Override } from '../../domain/override.ts'
import { overrideObject } from '../../domain/row-events.ts'
import { subscriptionObject } from '../../domain/subscription-events.ts'
import type { Tx } from '../../store/connection/database.ts'
import { creditRows } from '../../store/events/credit-rows.ts'
import type { OutboxRow } from '../../store/events/outbox.ts'
import { subscriptionRows } from '../../store/events/subscription-rows.ts'

type DueRow = OutboxRow & { kind: 'DUE' }

interface Reached {
  row: DueRow
  events: NewEvent[]
  /** whether the user's entitlements changed with it */
  entitles: boolean
}

/** The events whose time has come. A deleted subscription or user has none, nor has a credit that was spent before it expired. */
export async function dueEvents(
  tx: Tx,
  rows: readonly DueRow[],
  userIdOf: (appId: string, uid: number | null) => string | null,
): Promise<Reached[]> {
  const stored = new Map<string, JsonObject>()
  const credits = new Map<string, JsonObject>()
  for (const appId of new Set(rows.map((row) => row.appId))) {
    const ofApp = rows.filter((row) => row.appId === appId)
    const idsOf = (...ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]
    const ids = idsOf(...ofApp.flatMap((row) => [subscriptionOf(row), followedBy(row)]))
    if (ids.length > 0)
      for (const [id, row] of await subscriptionRows(tx, appId, ids)) stored.set(`${appId} ${id}`, row)
    const creditIds = idsOf(...ofApp.map(creditOf))
    if (creditIds.length > 0)
      for (const [id, row] of await creditRows(tx, appId, creditIds)) credits.set(`${appId} ${id}`, row)
  }
  return rows.flatMap((row): Reached[] => {
    const userId = userIdOf(row.appId, row.userUid)
    if (userId === null) return []
    const event = (type: EventType, object: JsonObject, previous: JsonObject | null = null): NewEvent => {
      const { appId, at, userUid } = row
      return { appId, type, at, userUid, userId, data: eventData(object, previous) }
    }
    if (row.operation === 'entitlements.changed') return [{ row, events: [], entitles: true }]
    if (row.operation === 'override.expired') {
      const override = row.after?.data as unknown as Override
      return [{ row, events: [event('override.expired', overrideObject(override, userId))], entitles: true }]
    }
    if (row.operation === 'credit.expired') {
      const credit = credits.get(`${row.appId} ${creditOf(row)}`)
      const object = credit && creditObject(credit, userId, row.at)
      const events = object?.state === 'EXPIRED' ? [event('credit.expired', object)] : []
      return [{ row, events, entitles: false }]
    }
    const found = stored.get(`${row.appId} ${subscriptionOf(row)}`)
    if (!found) return []
    if (row.operation !== 'subscription.started') {
      const object = subscriptionObject(found, userId, row.at)
      return [
        { row, events: [event(row.operation, object)], entitles: row.operation === 'subscription.ended' },
      ]
    }
    // It is no longer planned, and replaces the one it follows.
    const object = { ...subscriptionObject(found, userId, row.at), follows: followedBy(row) }
    const followed = stored.get(`${row.appId} ${followedBy(row)}`)
    const previous = followed
      ? {
          id: followed.id ?? null,
          packageId: followed.package_id ?? null,
          quantity: followed.quantity ?? null,
        }
      : null
    const events = [event('subscription.created', object), event('subscription.changed', object, previous)]
    return [{ row, events, entitles: true }]
  })
}

const subjectOf = ({ after }: DueRow, prefix: string): string | null => {
  const subject = after?.subject
  return typeof subject === 'string' && subject.startsWith(prefix) ? subject.slice(prefix.length) : null
}
const subscriptionOf = (row: DueRow) => subjectOf(row, 's ')
const creditOf = (row: DueRow) => subjectOf(row, 'c ')

const followedBy = ({ after }: DueRow): string | null => {
  const data = after?.data as JsonObject | null | undefined
  return typeof data?.follows === 'string' ? data.follows : null
}
