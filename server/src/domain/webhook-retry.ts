/** Seconds between one attempt at a delivery and the next: three days and three hours in all. */
const MINUTE = 60
const HOUR = 60 * MINUTE
export const RETRY_SECONDS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** Part of a delay that is random, so that deliveries that failed together do not return together. */
const JITTER = 0.2
/** The longest `Retry-After` that is honoured. */
const MAX_RETRY_AFTER_SECONDS = 24 * HOUR
/** An endpoint without any success for this long is disabled. */
export const MAX_FAILING_MS = 5 * 24 * HOUR * 1000

/**
 * Seconds until the next attempt after `made` attempts; null: there is none. `random` is in [0, 1). The receiver's
 * `Retry-After` prolongs the wait, and never shortens it.
 */
export function nextAttemptIn(made: number, random: number, retryAfter: number | null): number | null {
  const delay = RETRY_SECONDS[made - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 - JITTER / 2 + JITTER * random)
  return Math.max(jittered, Math.min(retryAfter ?? 0, MAX_RETRY_AFTER_SECONDS))
}

/** The seconds that a `Retry-After` header asks for, as a number or a date; null: it is absent or makes no sense. */
export function retryAfterOf(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // A date in another form than HTTP's would be read in the time zone of this machine.
  const at = /GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000))
}
