import type { Retry } from './back-off.ts'
import type { CallError } from './errors.ts'
import type { CacheOptions, Fallback } from './outage/checks.ts'
import type { QueueOptions } from './outage/usage-queue.ts'

/** Every setting of the client. None is required where `TOLLGATE_API_KEY` is set. */
export interface TollgateOptions {
  /** The Admin API key. @default the environment's TOLLGATE_API_KEY */
  apiKey?: string | undefined
  /** Where the service is, without `/graphql`. @default the environment's TOLLGATE_URL, or http://127.0.0.1:4000 */
  baseUrl?: string | undefined
  /** Sends the requests. @default the global fetch */
  fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds that one attempt may take, `Infinity` for no bound; then it is a NetworkError. @default 10_000 */
  timeout?: number | undefined
  /**
   * Whether to try again after this error; `retry` counts from 1. It decides alone: it is asked about every error,
   * and there is no bound but its answer. A promise makes the next attempt wait. After `RATE_LIMITED` and
   * `UNAVAILABLE` the client then waits as long as the service asks, at most a minute.
   * @default twice: a NetworkError at once; RATE_LIMITED and UNAVAILABLE after a wait, within three times `timeout`
   */
  retry?: Retry | undefined
  /**
   * Told of the error that a call came to, after its retries, also where a fallback or the queue stands in for the
   * answer. The call waits for it; what it returns or throws changes nothing.
   * @default nobody is told
   */
  onError?: ((error: CallError) => unknown) | undefined
  /** Keeps the answers of checks for a while. @default off: every check asks the service */
  cache?: CacheOptions | undefined
  /**
   * What a check answers while the service is unreachable, for each feature by its id, and `default` for all others.
   * @default off: the check answers with the error
   */
  fallback?: Fallback | undefined
  /** Keeps usage that is recorded while the service is unreachable, and sends it later. @default off */
  queue?: QueueOptions | undefined
  /** An Admin key in a page is everybody's: the client refuses to run there. @default false */
  dangerouslyAllowBrowser?: boolean | undefined
}

/** What gives a call up. */
export interface SignalOption {
  /** Gives the call up; it answers with an error of code `ABORTED`. @default none */
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
   * Under one key the same request has its effect once, however often it is sent within 24 hours.
   * @default a new one for each call, kept for its retries
   */
  idempotencyKey?: string | undefined
}
