/**
 * What each code of the service means: the class of the SDK's error, and the true HTTP status (the wire says 200 for
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
  MIGRATION_NOT_FOUND: { type: 'Error', status: 404 },
  PRICE_NOT_FOUND: { type: 'Error', status: 404 },
  TEMPLATE_NOT_FOUND: { type: 'Error', status: 404 },
  NOTICE_NOT_FOUND: { type: 'Error', status: 404 },
  BILLING_PROVIDER_ERROR: { type: 'Error', status: 502 },
  SUBSCRIPTION_LINK_ERROR: { type: 'SubscriptionLinkError', status: 400 },
  GRAPHQL_PARSE_FAILED: { type: 'Error', status: 400 },
  GRAPHQL_VALIDATION_FAILED: { type: 'Error', status: 400 },
  BAD_REQUEST: { type: 'Error', status: 400 },
  METHOD_NOT_ALLOWED: { type: 'Error', status: 405 },
  CONFLICT: { type: 'Error', status: 409 },
  IDEMPOTENCY_KEY_REUSED: { type: 'Error', status: 409 },
  RATE_LIMITED: { type: 'Error', status: 429 },
  UNAVAILABLE: { type: 'Error', status: 503 },
  INTERNAL_SERVER_ERROR: { type: 'Error', status: 500 },
} as const

/** An error code of the service. */
export type ServiceErrorCode = keyof typeof ERROR_TABLE

/** An error code of the SDK itself. */
export type LocalErrorCode =
  /** No answer, or one that is not the service's. */
  | 'NETWORK_ERROR'
  /** No answer within `timeout`. */
  | 'TIMEOUT'
  /** The call's own `signal` was aborted. */
  | 'ABORTED'
  /** The function that fetches the user's token failed. */
  | 'TOKEN_FAILED'
  /** The service is unreachable and the usage queue has no room. */
  | 'QUEUE_FULL'
  /** The usage queue's file could not be written. */
  | 'QUEUE_FAILED'
  /** Queued usage that may already have been counted, too long ago for the service to remember its key. */
  | 'QUEUE_EXPIRED'

/** Every `error.code`. A later version of the service may add some: give a `switch` over them a `default`. */
export type ErrorCode = ServiceErrorCode | LocalErrorCode

/** The names of the typed errors, each with a class of that name; `Error` is the name of a plain `TollgateError`. */
export type ErrorName =
  | 'SubscriptionError'
  | 'SubscriptionNotFoundError'
  | 'PackageNotFoundError'
  | 'FeatureNotFoundError'
  | 'UserNotFoundError'
  | 'AuthenticationError'
  | 'NetworkError'
  | 'Error'

/** The parts of an error. */
export interface ErrorDetails {
  /** What went wrong, for programs. */
  code: ErrorCode
  /** The true status of the failure. */
  status: number
  /** What it came from. @default none */
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

/** Base class of all errors. One without its own class is a plain `TollgateError`, with the name `Error`. */
export class TollgateError extends Error {
  /** @internal */
  static readonly kind: ErrorName = 'Error'

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked about, which may be a derived one
    return isInstance(this, value)
  }

  /** The class's name, as in the service's own errors. */
  override readonly name: ErrorName = 'Error'
  /** What went wrong, for programs. A result's error is narrowed by it. */
  readonly code: ErrorCode
  /** `status` is the true status of the failure; 0 where there was no answer. */
  readonly response: { readonly status: number }
  /** The argument, input field or option whose value is refused; null: no single one. */
  readonly field: string | null
  /** Where in the document it happened: the operation's name first. Empty where it is about the whole request. */
  readonly path: readonly string[]
  /** The service's `X-Request-Id`, which is also in its log; null without a reply. */
  readonly requestId: string | null
  /** Seconds to wait before the same call may succeed; null where the service does not say. */
  readonly retryAfter: number | null

  /** Created by the SDK; applications do not need to. */
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

/** `subscribe` was refused; the message says why. */
export class SubscriptionError extends TollgateError {
  /** @internal */
  static override readonly kind = 'SubscriptionError'
  override readonly name = 'SubscriptionError'
  declare readonly code: 'BAD_USER_INPUT'
}

/** There is no subscription with this id. */
export class SubscriptionNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'SubscriptionNotFoundError'
  override readonly name = 'SubscriptionNotFoundError'
  declare readonly code: 'SUBSCRIPTION_NOT_FOUND'
}

/** There is no package with this id. */
export class PackageNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'PackageNotFoundError'
  override readonly name = 'PackageNotFoundError'
  declare readonly code: 'PACKAGE_NOT_FOUND'
}

/** There is no feature with this id. */
export class FeatureNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'FeatureNotFoundError'
  override readonly name = 'FeatureNotFoundError'
  declare readonly code: 'FEATURE_NOT_FOUND'
}

/** There is no user with this id. */
export class UserNotFoundError extends TollgateError {
  /** @internal */
  static override readonly kind = 'UserNotFoundError'
  override readonly name = 'UserNotFoundError'
  declare readonly code: 'USER_NOT_FOUND'
}

/** The API key or token is missing, not valid, or not allowed to do this. */
export class AuthenticationError extends TollgateError {
  /** @internal */
  static override readonly kind = 'AuthenticationError'
  override readonly name = 'AuthenticationError'
  declare readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN'
}

/** There was no answer, or not one from the service. Whether the call took effect is unknown. */
export class NetworkError extends TollgateError {
  /** @internal */
  static override readonly kind = 'NetworkError'
  override readonly name = 'NetworkError'
  declare readonly code: NetworkErrorCode
  /** False: no attempt reached the service, so the call certainly had no effect. */
  mayHaveArrived = true
}

/** The codes of a `NetworkError`. */
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
 * The error of a call: always a `TollgateError`, narrowed by its `code`.
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
