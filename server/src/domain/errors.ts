/**
 * All errors. `type` is the class name in the SDKs, `status` the true HTTP status: REST answers with it, GraphQL always
 * with 200.
 */
export const ERRORS = {
  UNAUTHENTICATED: { type: 'AuthenticationError', status: 401 },
  FORBIDDEN: { type: 'AuthenticationError', status: 403 },
  BAD_USER_INPUT: { type: 'Error', status: 400 },
  FEATURE_NOT_FOUND: { type: 'FeatureNotFoundError', status: 404 },
  PACKAGE_NOT_FOUND: { type: 'PackageNotFoundError', status: 404 },
  USER_NOT_FOUND: { type: 'UserNotFoundError', status: 404 },
  SUBSCRIPTION_NOT_FOUND: { type: 'SubscriptionNotFoundError', status: 404 },
  APP_NOT_FOUND: { type: 'Error', status: 404 },
  API_KEY_NOT_FOUND: { type: 'Error', status: 404 },
  MEMBER_NOT_FOUND: { type: 'Error', status: 404 },
  IMPORT_NOT_FOUND: { type: 'Error', status: 404 },
  BULK_CHANGE_NOT_FOUND: { type: 'Error', status: 404 },
  MIGRATION_NOT_FOUND: { type: 'Error', status: 404 },
  PRICE_NOT_FOUND: { type: 'Error', status: 404 },
  TEMPLATE_NOT_FOUND: { type: 'Error', status: 404 },
  CREDIT_NOT_FOUND: { type: 'Error', status: 404 },
  RESERVATION_NOT_FOUND: { type: 'Error', status: 404 },
  NOTICE_NOT_FOUND: { type: 'Error', status: 404 },
  WEBHOOK_ENDPOINT_NOT_FOUND: { type: 'Error', status: 404 },
  BILLING_PROVIDER_ERROR: { type: 'Error', status: 502 },
  SUBSCRIPTION_LINK_ERROR: { type: 'SubscriptionLinkError', status: 400 },
  GRAPHQL_PARSE_FAILED: { type: 'Error', status: 400 },
  GRAPHQL_VALIDATION_FAILED: { type: 'Error', status: 400 },
  BAD_REQUEST: { type: 'Error', status: 400 },
  NOT_FOUND: { type: 'Error', status: 404 },
  METHOD_NOT_ALLOWED: { type: 'Error', status: 405 },
  CONTENT_TOO_LARGE: { type: 'Error', status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { type: 'Error', status: 415 },
  EVENTS_EXPIRED: { type: 'Error', status: 410 },
  CONFLICT: { type: 'Error', status: 409 },
  IDEMPOTENCY_KEY_REUSED: { type: 'Error', status: 409 },
  RATE_LIMITED: { type: 'Error', status: 429 },
  UNAVAILABLE: { type: 'Error', status: 503 },
  INTERNAL_SERVER_ERROR: { type: 'Error', status: 500 },
} as const

export type ErrorCode = keyof typeof ERRORS

/** An error that the caller can act on. Its message is sent to them unchanged. */
export class TollgateError extends Error {
  readonly code: ErrorCode
  readonly type: string
  /** argument or input field with the rejected value; null: no single one */
  readonly field: string | null
  /** seconds to wait before a retry; null: a retry would not help */
  readonly retryAfter: number | null

  constructor(
    code: ErrorCode,
    message: string,
    type: string = ERRORS[code].type,
    field: string | null = null,
    retryAfter: number | null = null,
  ) {
    super(message)
    this.code = code
    this.type = type
    this.field = field
    this.retryAfter = retryAfter
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

export const badUserInput = (message: string, field: string | null = null) =>
  new TollgateError('BAD_USER_INPUT', message, undefined, field)
export const badRequest = (message: string) => new TollgateError('BAD_REQUEST', message)
/** Too many requests, or too little capacity: the same call will work a little later. */
export const rateLimited = (message: string, retryAfter: number) =>
  new TollgateError('RATE_LIMITED', message, undefined, null, retryAfter)
/** No answer in time, or none available. A mutation may have taken effect: retry it with its Idempotency-Key. */
export const unavailable = (message: string, retryAfter = 1) =>
  new TollgateError('UNAVAILABLE', message, undefined, null, retryAfter)
export const unauthenticated = () =>
  new TollgateError('UNAUTHENTICATED', 'A valid API key is required in the Authorization header')
export const invalidToken = () =>
  new TollgateError('UNAUTHENTICATED', 'A valid user token is required in the Authorization header')

export const notFound = (message: string) => new TollgateError('NOT_FOUND', message)
export const methodNotAllowed = (message: string) => new TollgateError('METHOD_NOT_ALLOWED', message)

export const featureNotFound = (id: string) =>
  new TollgateError('FEATURE_NOT_FOUND', `Feature not found: ${quote(id)}`)
export const packageNotFound = (id: string) =>
  new TollgateError('PACKAGE_NOT_FOUND', `Package not found: ${quote(id)}`)
export const userNotFound = (id: string) =>
  new TollgateError('USER_NOT_FOUND', `User not found: ${quote(id)}`)
export const subscriptionNotFound = (id: string) =>
  new TollgateError('SUBSCRIPTION_NOT_FOUND', `Subscription not found: ${quote(id)}`)
export const creditNotFound = (id: string) =>
  new TollgateError('CREDIT_NOT_FOUND', `Credit not found: ${quote(id)}`)
export const reservationNotFound = (id: string) =>
  new TollgateError('RESERVATION_NOT_FOUND', `Reservation not found: ${quote(id)}`)
export const conflict = (message: string, field: string | null = null) =>
  new TollgateError('CONFLICT', message, undefined, field)
export const appNotFound = (id: string) => new TollgateError('APP_NOT_FOUND', `App not found: ${quote(id)}`)
/** A reader of events was away for longer than they are kept, and may have missed some. */
export const eventsExpired = (days: number) =>
  new TollgateError(
    'EVENTS_EXPIRED',
    `Events after this cursor are no longer available: events are kept for ${days} days. Read the current state, then continue without after.`,
    undefined,
    'after',
  )
export const subscriptionLinkError = (message: string) =>
  new TollgateError('SUBSCRIPTION_LINK_ERROR', message)

/** Refusals of `subscribe`. The first three messages are taken from the spec verbatim. */
export const SUBSCRIBE_REFUSALS = {
  missingTier: 'Cannot subscribe to addon. Missing live tier subscription.',
  severalTiers: 'Cannot subscribe to multiple tiers',
  unknownPackage: 'Package Id not found for app',
  notPublished: 'Package is not published',
  archived: 'Package is archived. Restore it in the dashboard or choose another package.',
  alreadySubscribed: 'User is already subscribed to package',
} as const

export const subscriptionError = (message: string) =>
  new TollgateError('BAD_USER_INPUT', message, 'SubscriptionError', 'packageIds')

/** An id for use in a message: shortened, and safe for a terminal. */
export function quote(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id).replace(UNPRINTABLE, escaped)
}

/** Characters that JSON does not escape but a terminal interprets: DEL and C1 controls, line and direction marks. */
const UNPRINTABLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The reason why the service cannot start, on one line, with what to do about it. */
export class StartError extends Error {}
