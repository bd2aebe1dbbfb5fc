import type { EventType } from './event.ts'
import type { JsonObject } from './metadata.ts'

/** A row of the outbox. */
export interface Change {
  appId: string
  at: number
  kind: 'USER' | 'SUBSCRIPTION' | 'FEATURE' | 'PACKAGE' | 'PAYMENT' | 'REVERSALS' | 'CREDIT'
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  userUid: number | null
  userId: string | null
  before: JsonObject | null
  after: JsonObject | null
}

/** An event that follows from a row. */
export interface Made {
  type: EventType
  object: JsonObject
  previous?: JsonObject | null
}

/** A time in a row, as PostgreSQL writes it to JSON. */
export const timeIn = (value: unknown): number | null =>
  typeof value === 'string' ? Date.parse(value) : null
