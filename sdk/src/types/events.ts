import type { JsonObject } from './result.ts'

/** Type of an event. */
export type EventType =
  | 'user.created'
  | 'user.updated'
  | 'user.deleted'
  | 'feature.created'
  | 'feature.updated'
  | 'feature.archived'
  | 'feature.deleted'
  | 'package.published'
  | 'package.archived'
  | 'subscription.created'
  | 'subscription.changed'
  | 'subscription.change_scheduled'
  | 'subscription.cancelled'
  | 'subscription.ended'
  | 'trial.started'
  | 'trial.ending'
  | 'trial.ended'
  | 'override.set'
  | 'override.removed'
  | 'override.expired'
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.refunded'
  | 'payment.disputed'
  | 'usage.threshold_reached'
  | 'usage.limit_reached'
  | 'usage.recorded'
  | 'entitlements.changed'

/** Something that happened in the app. */
export interface Event {
  /** Unique ID of the event. */
  id: string
  /** Type of the event. */
  type: EventType
  /** Time of the event (ISO 8601), by the app's clock. */
  at: string
  /** ID of the user at that time; null if the event is about no user, or the user was deleted. */
  userId: string | null
  /** Position of the event. An event with a higher sequence was published later. */
  sequence: number
  /** Payload of the event. */
  data: EventData
}

/** Payload of an event. */
export interface EventData {
  /** Version of the format. */
  version: number
  /** The state after the event. */
  object: JsonObject
  /** The earlier values of the fields that changed. */
  previous: JsonObject | null
  /** Set if fields were left out because the event would be too large. */
  truncated?: true
}

/** One page of events. */
export interface EventPage {
  /** The events, in the order of their publication. */
  nodes: Event[]
  /** Cursor to continue from, also if there are no further events yet. */
  next: string
}
