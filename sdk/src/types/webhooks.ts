/**
 * Reason why the service disabled a webhook endpoint. GONE: it answered 410 Gone. FAILING: nothing was delivered for
 * five days.
 */
export type WebhookDisabledReason = 'GONE' | 'FAILING'

/** State of a webhook delivery. PENDING: an attempt is in progress or planned. FAILED: no further attempt is planned. */
export type WebhookDeliveryState = 'PENDING' | 'SUCCEEDED' | 'FAILED'

/** A URL that receives the events of the app. */
export interface WebhookEndpoint {
  /** ID of the endpoint. */
  id: string
  /** Absolute https URL that receives events by POST. */
  url: string
  /** Event types to deliver; empty for all types. */
  types: string[]
  /** Description, for members. */
  description: string | null
  /** Whether events are delivered. Deliveries that are pending wait while it is false. */
  enabled: boolean
  /** Null if the endpoint is enabled, or was disabled by a caller. */
  disabledReason: WebhookDisabledReason | null
  /** Time at which it was disabled (ISO 8601, UTC); null if it is enabled. */
  disabledAt: string | null
  /** Time of the first failed attempt since the last successful one (ISO 8601, UTC); null if the last one succeeded. */
  failingSince: string | null
  /** After a rotation, the time until which the previous secret signs as well (ISO 8601, UTC). */
  previousSecretUntil: string | null
  /** Time of creation (ISO 8601, UTC). */
  createdAt: string
}

/** A webhook endpoint whose signing secret was just created. */
export interface WebhookEndpointWithSecret {
  /** ID of the endpoint. */
  id: string
  /** Signing secret, for `verifyWebhook`. It cannot be retrieved again. */
  secret: string
  /** The endpoint. */
  endpoint: WebhookEndpoint
}

/** One request of a webhook delivery. */
export interface WebhookAttempt {
  /** Time of the request (ISO 8601, UTC). */
  at: string
  /** Time until the response, or until the attempt failed. */
  durationMs: number
  /** HTTP status of the response; null if there was none. */
  status: number | null
  /** Reason why there was no response; null if there was one. */
  error: string | null
  /** First 1,024 characters of the body of the response. */
  body: string
}

/** One event on its way to one webhook endpoint. */
export interface WebhookDelivery {
  /** ID of the delivery. */
  id: string
  /** ID of the event, sent as `webhook-id`. */
  eventId: string
  /** Type of the event. */
  type: string
  /** State of the delivery. */
  state: WebhookDeliveryState
  /** Number of attempts since the event was sent or resent. */
  attemptCount: number
  /** Time of the next attempt (ISO 8601, UTC); null if none is planned or one is in progress. */
  nextAttemptAt: string | null
  /** The latest 20 attempts, oldest first. */
  attempts: WebhookAttempt[]
  /** Body of every request; null if the event is no longer kept. */
  body: string | null
  /** Time of creation (ISO 8601, UTC). */
  createdAt: string
}

/** One page of deliveries, newest first. */
export interface WebhookDeliveries {
  /** The deliveries. */
  nodes: WebhookDelivery[]
  /** Value of `after` for the next page; null on the last page. */
  next: string | null
}

/** An event made for one webhook endpoint. */
export interface TestEvent {
  /** ID of the event. */
  id: string
  /** `webhook.test` */
  type: string
  /** Time of the event (ISO 8601, UTC). */
  at: string
}

/** Result of resending events. */
export interface ResentEvents {
  /** Number of deliveries queued again. */
  resent: number
  /** Whether there may be more failed deliveries, for another call. */
  more: boolean
}

/** The ID of a deleted webhook endpoint. */
export interface DeletedWebhookEndpoint {
  /** ID of the endpoint. */
  id: string
}

/** Input of `createWebhookEndpoint`. */
export interface CreateWebhookEndpointInput {
  /** Absolute https URL that receives events by POST. */
  url: string
  /** Event types to deliver. @default all types */
  types?: readonly string[] | null | undefined
  /** Description, for members. @default null */
  description?: string | null | undefined
}

/** Input of `updateWebhookEndpoint`. Omitted fields are not changed. */
export interface UpdateWebhookEndpointInput {
  /** Absolute https URL that receives events by POST. @default unchanged */
  url?: string | undefined
  /** Event types to deliver; empty for all types. @default unchanged */
  types?: readonly string[] | undefined
  /** Description; null clears it. @default unchanged */
  description?: string | null | undefined
  /** Whether events are delivered. @default unchanged */
  enabled?: boolean | undefined
}
