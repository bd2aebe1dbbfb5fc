import type { Retry } from './back-off.ts'
import type { CallError } from './errors.ts'
import type { CacheOptions, Fallback } from './outage/checks.ts'
import type { QueueOptions } from './outage/usage-queue.ts'

/** Options of `Tollgate`. None is required if `TOLLGATE_API_KEY` is set. */
export interface TollgateOptions {
  /** Admin API key. @default the environment variable TOLLGATE_API_KEY */
  apiKey?: string | undefined
  /** Base URL of the service, without `/graphql`. @default the environment variable TOLLGATE_URL, or http://127.0.0.1:4000 */
  baseUrl?: string | undefined
  /** Function that sends the requests. @default the global fetch */
  fetch?: typeof globalThis.fetch | undefined
  /** Time limit of one attempt in milliseconds; `Infinity` for none. Exceeding it is a NetworkError. @default 10_000 */
  timeout?: number | undefined
  /**
   * Decides whether to retry after an error; `retry` counts from 1. It is called for every error, without any other
   * limit on the number of retries. A returned promise delays the next attempt. After `RATE_LIMITED` and
   * `UNAVAILABLE` the client also waits as long as the service asks, at most one minute.
   * @default two: a NetworkError immediately; RATE_LIMITED and UNAVAILABLE after a wait, within three times `timeout`
   */
  retry?: Retry | undefined
  /**
   * Called with the error of a failed call after its retries, even if a fallback or the queue provides the result.
   * The call waits for it. Its return value and exceptions are ignored.
   * @default none
   */
  onError?: ((error: CallError) => unknown) | undefined
  /** Caches the results of checks. @default off: every check calls the service */
  cache?: CacheOptions | undefined
  /**
   * Result of checks while the service is unreachable, by feature ID, with `default` for all other features.
   * @default off: the check returns the error
   */
  fallback?: Fallback | undefined
  /** Queues usage recorded while the service is unreachable and sends it later. @default off */
  queue?: QueueOptions | undefined
  /** Allows use in a browser, where everyone can read the Admin key. @default false */
  dangerouslyAllowBrowser?: boolean | undefined
}

/** Option to abort a call. */
export interface SignalOption {
  /** Aborts the call, which then returns an error with code `ABORTED`. @default none */
  signal?: AbortSignal | undefined
}

/** Options of a call, passed as its last argument. */
export interface CallOptions extends SignalOption {
  /** Time limit of one attempt of this call in milliseconds. @default the client's `timeout` */
  timeout?: number | undefined
  /** Decides whether to retry this call, as the client's `retry` does. @default the client's `retry` */
  retry?: Retry | undefined
}

/** Options of a mutation, passed as its last argument. */
export interface MutationOptions extends CallOptions {
  /**
   * Idempotency key: the same request with the same key takes effect once within 24 hours.
   * @default a new key for each call, reused for its retries
   */
  idempotencyKey?: string | undefined
}
