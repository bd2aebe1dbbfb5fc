import { MAX_LOGGED_ATTEMPTS } from './limits.ts'
import { nextAttemptIn } from './webhook-retry.ts'

/** The consequences of one delivery attempt. */
interface DeliveryOutcome {
  state: 'PENDING' | 'SUCCEEDED' | 'FAILED'
  /** seconds until the next attempt; null unless pending */
  nextIn: number | null
  /** The receiver answered 410 Gone, so deliveries end. */
  gone: boolean
}

interface Answer {
  /** null: there was no response */
  status: number | null
  /** seconds; null: the receiver did not ask to wait */
  retryAfter: number | null
}

/** After `made` attempts, this one included. Any 2xx is success; a redirect is not followed, so it is a failure. */
export function deliveryOutcome(
  { status, retryAfter }: Answer,
  made: number,
  random: number,
): DeliveryOutcome {
  if (status !== null && status >= 200 && status < 300)
    return { state: 'SUCCEEDED', nextIn: null, gone: false }
  if (status === 410) return { state: 'FAILED', nextIn: null, gone: true }
  const nextIn = nextAttemptIn(made, random, retryAfter)
  return { state: nextIn === null ? 'FAILED' : 'PENDING', nextIn, gone: false }
}

/** The log of a delivery with one more attempt. The oldest are dropped. */
export const withAttempt = <Attempt>(log: readonly Attempt[], attempt: Attempt): Attempt[] =>
  [...log, attempt].slice(-MAX_LOGGED_ATTEMPTS)
