import { type CallError, NetworkError } from './errors.ts'

/** Decides whether to retry after an error. `retry` counts from 1. A returned promise delays the next attempt. */
export type Retry = (error: CallError, retry: number) => boolean | Promise<boolean>

/** The maximum of the first wait if the service does not say; each further one doubles it. */
const FIRST_WAIT_MS = 500

/** Nobody waits longer than this for one answer. */
export const MAX_WAIT_MS = 60_000

/** The same call will work a little later, and not before. */
const isForLater = ({ code }: CallError): boolean => code === 'RATE_LIMITED' || code === 'UNAVAILABLE'

/** The spec's two retries after a NetworkError, and as many after a transient refusal. */
export const retryTwice: Retry = (error, retry) =>
  retry <= 2 && (error instanceof NetworkError || isForLater(error))

/**
 * Milliseconds before the n-th retry: none after a NetworkError, as the spec says; otherwise as the service asks.
 * Jitter keeps clients that were refused together from coming back together.
 */
export function waitBefore(error: CallError, retry: number): number {
  if (!isForLater(error)) return 0
  const half = (FIRST_WAIT_MS / 2) * 2 ** (retry - 1)
  const least = error.retryAfter === null ? half : error.retryAfter * 1000
  return least + Math.random() * half
}
