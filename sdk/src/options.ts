import type { Retry } from './back-off.ts'
import type { CallError } from './errors.ts'
import type { CacheOptions, Fallback } from './outage/checks.ts'
import type { QueueOptions } from './outage/usage-queue.ts'

/** Options of the client. None is required if `TOLLGATE_API_KEY` is set. */
export interface TollgateOptions {
  /** The Admin API key. @default the environment's TOLLGATE_API_KEY */
  apiKey?: string | undefined
  /** Where the service is, without `/graphql`. @default the environment's TOLLGATE_URL, or http://127.0.0.1:4000 */
  baseUrl?: string | undefined
  /** Sends the requests. @default the global fetch */
  fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds that one attempt may take before it is a NetworkError; `Infinity` for no limit. @default 10_000 */
  timeout?: number | undefined
  /**
   * Whether to retry after this error; `retry` counts from 1. It alone decides: it is asked about every error, and
   * there is no other limit. A promise makes the next attempt wait. After `RATE_LIMITED` and
   * `UNAVAILABLE` the client then waits as long as the service asks, at most a minute.
   * @default twice: a NetworkError immediately; RATE_LIMITED and UNAVAILABLE after a wait, within three times `timeout`
   */
  retry?: Retry | undefined
  /**
   * Called with the error of a failed call, after its retries, even if a fallback or the queue replaces the
   * answer. The call waits for it; what it returns or throws changes nothing.
   * @default none
   */
  onError?: ((error: CallError) => unknown) | undefined
  /** Caches the answers of checks. @default off: every check asks the service */
  cache?: CacheOptions | undefined
  /**
   * What a check answers while the service is unreachable, for each feature by its id, and `default` for all others.
   * @default off: the check returns the error
   */
  fallback?: Fallback | undefined
  /** Queues usage recorded while the service is unreachable, and sends it later. @default off */
  queue?: QueueOptions | undefined
  /** Everyone can read an Admin key in a page: the client refuses to run there. @default false */
  dangerouslyAllowBrowser?: boolean | undefined
}

/** Aborts a call. */
export interface SignalOption {
  /** Aborts the call; it returns an error with code `ABORTED`. @default none */
  signal?: AbortSignal | undefined
}

/** The last argument of every call. */
export interface CallOptions extends SignalOption {
  /** Milliseconds that one attempt of this call may take. @default the client's `timeout` */
  timeout?: number | undefined
  /** Whether to try this call again, as the client's `retry` does. @default the client's `retry` */
  retry?: Retry | undefined
}

/** The last argument of a mutation. */
export interface MutationOptions extends CallOptions {
  /**
   * With one key the same request takes effect once, however often it is sent within 24 hours.
   * @default a new one for each call, reused for its retries
   */
  idempotencyKey?: string | undefined
}
