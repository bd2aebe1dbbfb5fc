/**
 * Meaning of each error code of the service: the class of the SDK's error, and the true HTTP status (the wire says 200 for
 * all of them). A test compares it with the service's own table.
 */
export const ERROR_TABLE = {
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

/** Error code of the service. */
export type ServiceErrorCode = keyof typeof ERROR_TABLE

/** Error code of the SDK. */
export type LocalErrorCode =
  /** No response, or a response that is not from the service. */
  | 'NETWORK_ERROR'
  /** No response within `timeout`. */
  | 'TIMEOUT'
  /** The `signal` of the call was aborted. */
  | 'ABORTED'
  /** The function that fetches the user's token failed. */
  | 'TOKEN_FAILED'
  /** The service is unreachable and the usage queue is full. */
  | 'QUEUE_FULL'
  /** The usage queue's file could not be written. */
  | 'QUEUE_FAILED'
  /** Queued usage that may have been counted already was discarded because its idempotency key has expired. */
  | 'QUEUE_EXPIRED'

/** Values of `error.code`. Later versions of the service may add more, so a `switch` needs a `default`. */
export type ErrorCode = ServiceErrorCode | LocalErrorCode

/** Names of the typed errors, each with a class of that name. `Error` is the name of a plain `TollgateError`. */
export type ErrorName =
  | 'SubscriptionError'
  | 'SubscriptionNotFoundError'
  | 'PackageNotFoundError'
  | 'FeatureNotFoundError'
  | 'UserNotFoundError'
  | 'AuthenticationError'
  | 'NetworkError'
  | 'Error'

/** Properties of an error. */
export interface ErrorDetails {
  /** Machine-readable error code. */
  code: ErrorCode
  /** HTTP status of the failure. */
  status: number
  /** Underlying error. @default none */
  cause?: unknown
  /** See `TollgateError.field`. @default null */
  field?: string | null | undefined
  /** See `TollgateError.path`. @default [] */
  path?: readonly string[] | undefined
  /** See `TollgateError.requestId`. @default null */
  requestId?: string | null | undefined
  /** See `TollgateError.retryAfter`. @default null */
  retryAfter?: number | null | undefined
}

/**
 * Marks the errors of every copy of this package. A program may load it as ESM and as CJS, or in two versions, and an
 * error of one copy is an instance of the other's classes too.
 */
const KIND = Symbol.for('tollgate.error')

/** Base class of all errors. An error without its own class is a plain `TollgateError` with the name `Error`. */
export class TollgateError extends Error {
  /** @internal */
  static readonly kind: ErrorName = 'Error'

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked about, which may be a derived one
    return isInstance(this, value)
  }

  /** Name of the class, as in the `type` of the service's errors. */
  override readonly name: ErrorName = 'Error'
  /** Machine-readable error code. Narrows the type of a result's error. */
  readonly code: ErrorCode
  /** `status` is the HTTP status of the failure, or 0 if there was no response. */
  readonly response: { readonly status: number }
  /** Argument, input field or option with the invalid value; null if the error is not about a single one. */
  readonly field: string | null
  /** Path in the GraphQL document, starting with the operation name. Empty if the error is about the whole request. */
  readonly path: readonly string[]
  /** `X-Request-Id` of the response, which is also in the service's log; null without a response. */
  readonly requestId: string | null
  /** Number of seconds to wait before retrying; null if not specified by the service. */
  readonly retryAfter: number | null

  /** Created by the SDK, not by applications. */
  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = details.code
    this.response = { status: details.status }
    this.field = details.field ?? null
    this.path = details.path ?? []
    this.requestId = details.requestId ?? null
    this.retryAfter = details.retryAfter ?? null
  }

  /** @internal */
  get [KIND](): ErrorName {
    return (this.constructor as typeof TollgateError).kind
  }
}

function isInstance(ofClass: typeof TollgateError, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(ofClass, value)) return true
  // A class that an application derived has no counterpart in another copy.
  if (!Object.hasOwn(ofClass, 'kind')) return false
  const kind = (value as { [KIND]?: ErrorName } | null | undefined)?.[KIND]
  return kind !== undefined && [kind, 'Error'].includes(ofClass.kind)
}

/** `subscribe` failed; the message contains the reason. */
export class SubscriptionError extends TollgateError {
  /** @internal */
  static override readonly kind = 'SubscriptionError'
  override readonly name = 'SubscriptionError'
  declare readonly code: 'BAD_USER_INPUT'
}

/** The subscription does not exist. */
export class SubscriptionNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'SubscriptionNotFoundError'
  override readonly name = 'SubscriptionNotFoundError'
  declare readonly code: 'SUBSCRIPTION_NOT_FOUND'
}

/** The package does not exist. */
export class PackageNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'PackageNotFoundError'
  override readonly name = 'PackageNotFoundError'
  declare readonly code: 'PACKAGE_NOT_FOUND'
}

/** The feature does not exist. */
export class FeatureNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'FeatureNotFoundError'
  override readonly name = 'FeatureNotFoundError'
  declare readonly code: 'FEATURE_NOT_FOUND'
}

/** The user does not exist. */
export class UserNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'UserNotFoundError'
  override readonly name = 'UserNotFoundError'
  declare readonly code: 'USER_NOT_FOUND'
}

/** The API key or token is missing, invalid, or lacks permission. */
export class AuthenticationError extends TollgateError {
  /** @internal */
  static override readonly kind = 'AuthenticationError'
  override readonly name = 'AuthenticationError'
  declare readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN'
}

/** There was no response, or none from the service. The call may or may not have taken effect. */
export class NetworkError extends TollgateError {
  /** @internal */
  static override readonly kind = 'NetworkError'
  override readonly name = 'NetworkError'
  declare readonly code: NetworkErrorCode
  /** Whether an attempt may have reached the service. If false, the call had no effect. */
  mayHaveArrived = true
}

/** Error codes of a `NetworkError`. */
export type NetworkErrorCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'TOKEN_FAILED' | 'QUEUE_FULL' | 'QUEUE_FAILED'

type ClassedError =
  | SubscriptionNotFoundError
  | PackageNotFoundError
  | FeatureNotFoundError
  | UserNotFoundError
  | AuthenticationError
  | NetworkError

type PlainErrors = {
  [Code in Exclude<ErrorCode, ClassedError['code']>]: TollgateError & { readonly code: Code }
}

/**
 * Error of a call. It is always a `TollgateError`, narrowed by its `code`.
 *
 * @example
 * switch (error.code) {
 *   case 'RATE_LIMITED': return retryLater(error.retryAfter)
 *   case 'TIMEOUT': return error.mayHaveArrived // a NetworkError
 * }
 */
export type CallError = ClassedError | SubscriptionError | PlainErrors[keyof PlainErrors]

/** Whether the service was unreachable, as opposed to refusing. */
export const isOutage = (error: TollgateError): boolean =>
  error instanceof NetworkError || error.response.status >= 500

/** Whether the call may have taken effect all the same. */
export const mayHaveHappened = (error: TollgateError): boolean =>
  error instanceof NetworkError ? error.mayHaveArrived : isOutage(error) || error.code === 'ABORTED'

/** The caller aborted the call. */
export const aborted = (cause: unknown): TollgateError =>
  new TollgateError('The call was aborted', { code: 'ABORTED', status: 0, cause })

/** fetch says "fetch failed" and keeps the reason in its cause. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause } = thrown
  return cause instanceof Error
    ? `${message} (${cause.message || (cause as NodeJS.ErrnoException).code})`
    : message
}
