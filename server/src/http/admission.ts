import type { IncomingHttpHeaders } from 'node:http'
import { rateLimited } from '../domain/errors.ts'
import { type Rate, RateLimit, type RateLimitState } from './rate-limit.ts'
import { sourceAddress, type TrustedProxies } from './source-address.ts'

/** The limits; null: unlimited. */
export interface AdmissionSettings {
  key: Rate | null
  token: Rate | null
  address: Rate | null
  trustedProxies: TrustedProxies
}

/** The parts of a request that matter here, on either HTTP path, and where response headers go. */
interface Arrival {
  readonly headers: IncomingHttpHeaders
  /** of the connection */
  readonly remoteAddress: string | undefined
  setHeader(name: string, value: string): void
}

/** A failed authentication costs a database lookup, and hardly any client needs several. */
const FAILURE_COST = 5

/**
 * Rate limits. A request with a valid key, token or session is counted by that, whatever address it shares with others;
 * all other requests by their address. Each process counts for itself.
 */
export class Admission {
  readonly #keys: RateLimit | null
  readonly #tokens: RateLimit | null
  readonly #addresses: RateLimit | null
  readonly #proxies: TrustedProxies

  constructor({ key, token, address, trustedProxies }: AdmissionSettings, now: () => number) {
    const limit = (rate: Rate | null) => rate && new RateLimit(rate, now)
    this.#keys = limit(key)
    this.#tokens = limit(token)
    this.#addresses = limit(address)
    this.#proxies = trustedProxies
  }

  sourceOf({ remoteAddress, headers }: Arrival): string {
    return sourceAddress(remoteAddress, headers['x-forwarded-for'], this.#proxies)
  }

  /** A caller with a valid Admin key. */
  key(arrival: Arrival, keyHash: string): void {
    if (this.#keys)
      setRateLimitHeaders(arrival, admitted(arrival, this.#keys.take(keyHash), 'with this API key'))
  }

  /** A user with a valid token; all tokens of one user count together. */
  user(arrival: Arrival, appId: string, uid: number): void {
    if (this.#tokens)
      setRateLimitHeaders(arrival, admitted(arrival, this.#tokens.take(`${uid} ${appId}`), 'by this user'))
  }

  /** A caller not authenticated yet; which limit its response headers report is known only afterwards. */
  visitor(arrival: Arrival): RateLimitState | null {
    const limit = this.#addresses
    return limit && admitted(arrival, limit.take(this.sourceOf(arrival)), 'from this address')
  }

  /** A visitor whose key or token was wrong. */
  failed(arrival: Arrival): void {
    const limit = this.#addresses
    if (limit) setRateLimitHeaders(arrival, limit.charge(this.sourceOf(arrival), FAILURE_COST - 1))
  }
}

function admitted(arrival: Arrival, state: RateLimitState, whose: string): RateLimitState {
  const { allowed, retryAfter } = state
  if (allowed) return state
  setRateLimitHeaders(arrival, state)
  throw rateLimited(`Too many requests ${whose}; retry in ${retryAfter} s.`, retryAfter)
}

export function setRateLimitHeaders(arrival: Arrival, { limit, remaining, reset }: RateLimitState): void {
  arrival.setHeader('RateLimit-Limit', String(limit))
  arrival.setHeader('RateLimit-Remaining', String(remaining))
  arrival.setHeader('RateLimit-Reset', String(reset))
}
