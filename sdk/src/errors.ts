/**
 * What each code of the service means: the class that the SDK answers with, and the true HTTP status (the wire says
 * 200 for all of them). A test holds it against the service's own table.
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

/** What only the SDK itself has to say. */
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
  /** Queued usage that may have been counted already, too long ago for the service to remember its key. */
  | 'QUEUE_EXPIRED'

/** Codes that a later version of the service adds are strings too. */
export type ErrorCode = keyof typeof ERROR_TABLE | LocalErrorCode | (string & {})

/** The names of the spec's typed errors. */
export type ErrorName =
  | 'SubscriptionError'
  | 'SubscriptionNotFoundError'
  | 'PackageNotFoundError'
  | 'FeatureNotFoundError'
  | 'UserNotFoundError'
  | 'AuthenticationError'
  | 'NetworkError'
  | 'Error'

export interface ErrorDetails {
  code: ErrorCode
  status: number
  cause?: unknown
}

/** Every error of the SDK. One that has no class of its own is a plain `TollgateError`, with the name `Error`. */
export class TollgateError extends Error {
  override readonly name: ErrorName = 'Error'
  readonly code: ErrorCode
  /** `status` is the true status of the failure; 0 where there was no answer. */
  readonly response: { readonly status: number }

  constructor(message: string, { code, status, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.response = { status }
  }
}

/** `subscribe` was refused. */
export class SubscriptionError extends TollgateError {
  override readonly name = 'SubscriptionError'
}
export class SubscriptionNotFoundError extends TollgateError {
  override readonly name = 'SubscriptionNotFoundError'
}
export class PackageNotFoundError extends TollgateError {
  override readonly name = 'PackageNotFoundError'
}
export class FeatureNotFoundError extends TollgateError {
  override readonly name = 'FeatureNotFoundError'
}
export class UserNotFoundError extends TollgateError {
  override readonly name = 'UserNotFoundError'
}
/** The API key is missing or not valid. */
export class AuthenticationError extends TollgateError {
  override readonly name = 'AuthenticationError'
}
/** There was no answer, or what answered was not the service. Whether the call had its effect is not known. */
export class NetworkError extends TollgateError {
  override readonly name = 'NetworkError'
  /** False: nobody was there to take any of the attempts, so the call certainly had no effect. */
  mayHaveArrived = true
}

const CLASSES = new Map<string, typeof TollgateError>(
  Object.entries({
    SubscriptionError,
    SubscriptionNotFoundError,
    PackageNotFoundError,
    FeatureNotFoundError,
    UserNotFoundError,
    AuthenticationError,
  }),
)

/** An element of `errors` as the service sends it. Only `message` and `code` are the spec's. */
export interface WireError {
  message: string
  extensions?: { code?: string; type?: string; status?: number }
}

/** What codes mean that come without a type and a status. */
export type ErrorTable = { readonly [code: string]: { readonly type: string; readonly status: number } }

const UNFORESEEN = { type: 'Error', status: 500 }

export function errorFrom({ message, extensions = {} }: WireError, table: ErrorTable): TollgateError {
  const { code = 'INTERNAL_SERVER_ERROR' } = extensions
  const known = (Object.hasOwn(table, code) && table[code]) || UNFORESEEN
  const Class = CLASSES.get(extensions.type ?? known.type) ?? TollgateError
  return new Class(message, { code, status: extensions.status ?? known.status })
}

/** Whether the service could not be asked, as opposed to having said no. */
export const isOutage = (error: TollgateError): boolean =>
  error instanceof NetworkError || error.response.status >= 500
