import type { Json, JsonObject } from './metadata.ts'

/**
 * Events: what happened, for other systems. A type, once published, keeps its name and meaning; payloads only gain
 * fields. `docs/events.md` describes each.
 */
export const EVENT_TYPES = [
  'user.created',
  'user.updated',
  'user.deleted',
  'feature.created',
  'feature.updated',
  'feature.archived',
  'feature.deleted',
  'package.published',
  'package.archived',
  'subscription.created',
  'subscription.changed',
  'subscription.change_scheduled',
  'subscription.cancelled',
  'subscription.ended',
  'trial.started',
  'trial.ending',
  'trial.ended',
  'override.set',
  'override.removed',
  'override.expired',
  'payment.succeeded',
  'payment.failed',
  'payment.refunded',
  'payment.disputed',
  'credit.added',
  'credit.changed',
  'credit.spent',
  'credit.voided',
  'credit.expired',
  'usage.threshold_reached',
  'usage.limit_reached',
  'usage.recorded',
  'entitlements.changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Of payloads. */
export const FORMAT_VERSION = 1

/** Largest `data` of an event, in bytes of JSON; with the other fields an event stays within 20 KB. */
export const MAX_EVENT_DATA_BYTES = 18 * 1024

export interface EventData {
  version: number
  /** the state after the change */
  object: JsonObject
  /** the earlier values of the fields that changed */
  previous: JsonObject | null
  /** set if fields were left out because the event would be too large: see `fitted` */
  truncated?: true
}

/** An event to be published. */
export interface NewEvent {
  appId: string
  type: EventType
  /** when it became true, by the app's clock */
  at: number
  /** null: not about a user */
  userUid: number | null
  userId: string | null
  data: EventData
}

export function eventData(object: JsonObject, previous: JsonObject | null = null): EventData {
  return fitted({ version: FORMAT_VERSION, object, previous })
}

const bytesOf = (value: Json | EventData): number => Buffer.byteLength(JSON.stringify(value))

/** Leaves out the largest fields, those of `previous` first, until the data has a permitted size. */
function fitted(data: EventData): EventData {
  if (bytesOf(data) <= MAX_EVENT_DATA_BYTES) return data
  const reduced = { ...data, object: { ...data.object }, previous: data.previous && { ...data.previous } }
  const truncated = { ...reduced, truncated: true as const }
  for (const part of [truncated.previous, truncated.object]) {
    if (!part) continue
    const largestFirst = Object.entries(part).sort(([, a], [, b]) => bytesOf(b) - bytesOf(a))
    for (const [name, value] of largestFirst) {
      if (bytesOf(truncated) <= MAX_EVENT_DATA_BYTES) return truncated
      if (bytesOf(value) > SMALL_FIELD_BYTES) part[name] = null
    }
  }
  return truncated
}

/** Identifiers and times are never left out. */
const SMALL_FIELD_BYTES = 1_100

/** Data without personal data, for an event about a deleted user. */
export const erasedData = (): EventData => ({
  version: FORMAT_VERSION,
  object: { erased: true },
  previous: null,
})

/** The fields of `before` whose values differ in `after`; null if there are none. */
export function changedFields(before: JsonObject, after: JsonObject): JsonObject | null {
  const changed = Object.entries(before).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name] ?? null),
  )
  return changed.length > 0 ? Object.fromEntries(changed) : null
}

// Sequences: a day of publication begins at 2^36 times its number since 1970, so that a day is a range of them.

export const SEQUENCES_PER_DAY = 2 ** 36
const DAY_MS = 86_400_000

export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
export const firstSequenceOf = (day: number): number => day * SEQUENCES_PER_DAY
export const dayOfSequence = (sequence: number): number => Math.floor(sequence / SEQUENCES_PER_DAY)

/** The sequence after `last`, published on `day`. A clock that goes back does not take the sequence back. */
export const nextSequence = (last: number, day: number): number => Math.max(last + 1, firstSequenceOf(day))

/** A cursor: after this sequence. Callers treat it as opaque. */
export const cursorOf = (sequence: number): string => `e${sequence.toString(36)}`

/** Null: not a cursor of this service. */
export function sequenceOf(cursor: string): number | null {
  if (!/^e[0-9a-z]{1,11}$/.test(cursor)) return null
  const sequence = Number.parseInt(cursor.slice(1), 36)
  return Number.isSafeInteger(sequence) ? sequence : null
}
