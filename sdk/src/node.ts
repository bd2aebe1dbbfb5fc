export type { Retry } from './back-off.ts'
export type * from './call-arguments.ts'
export {
  AuthenticationError,
  type CallError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorName,
  FeatureNotFoundError,
  type LocalErrorCode,
  NetworkError,
  type NetworkErrorCode,
  PackageNotFoundError,
  type ServiceErrorCode,
  SubscriptionError,
  SubscriptionNotFoundError,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
export type { EventStream } from './event-stream.ts'
export type { LiveReservation } from './live-reservation.ts'
export type { CallOptions, MutationOptions, SignalOption, TollgateOptions } from './options.ts'
export type { CacheOptions, Fallback, FallbackPolicy } from './outage/checks.ts'
export type { KeyedEvent } from './outage/queue-store.ts'
export type { QueueOptions } from './outage/usage-queue.ts'
export type { PageSize } from './pages.ts'
export { Tollgate } from './tollgate.ts'
export type * from './types.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookProblem,
  WebhookVerificationError,
} from './webhook.ts'
