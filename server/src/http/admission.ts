import type { IncomingHttpHeaders } from 'node:http'
import { rateLimited } from '../domain/errors.ts'
import { type Rate, RateLimit, type Standing } from './rate-limit.ts'
import { sourceAddress, type TrustedProxies } from './source-address.ts'

/** How much each may ask for; null: as much as they like. */
export interface AdmissionSettings {
  key: Rate | null
  token: Rate | null
  address: Rate | null
  trustedProxies: TrustedProxies
}

/** What is looked at of a request, whichever way it came, and where headers of its answer go. */
interface Arrival {
  readonly headers: IncomingHttpHeaders
  /** of the connection */
  readonly remoteAddress: string | undefined
  setHeader(name: string, value: string): void
}

/** A failed authentication costs a look into the database, and hardly anybody needs several. */
const FAILURE_COST = 5

/**
 * Who may ask for how much. Whoever shows a good key, token or session is counted by that, whatever address they share
 * with others; everybody else by their address. Counted by each process for itself.
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

  /** Somebody with a good Admin key. */
  key(arrival: Arrival, keyHash: string): void {
    if (this.#keys) tell(arrival, admitted(arrival, this.#keys.take(keyHash), 'with this API key'))
  }

  /** A user with a good token; all tokens of one user count together. */
  user(arrival: Arrival, appId: string, uid: number): void {
    if (this.#tokens) tell(arrival, admitted(arrival, this.#tokens.take(`${uid} ${appId}`), 'by this user'))
  }

  /** Somebody who has yet to show who they are; whose limits they are told of is known only then. */
  visitor(arrival: Arrival): Standing | null {
    const limit = this.#addresses
    return limit && admitted(arrival, limit.take(this.sourceOf(arrival)), 'from this address')
  }

  /** A visitor whose key or token was wrong. */
  failed(arrival: Arrival): void {
    const limit = this.#addresses
    if (limit) tell(arrival, limit.charge(this.sourceOf(arrival), FAILURE_COST - 1))
  }
}

function admitted(arrival: Arrival, standing: Standing, whose: string): Standing {
  const { allowed, retryAfter } = standing
  if (allowed) return standing
  tell(arrival, standing)
  throw rateLimited(`Too many requests ${whose}; try again in ${retryAfter} s`, retryAfter)
}

export function tell(arrival: Arrival, { limit, remaining, reset }: Standing): void {
  arrival.setHeader('RateLimit-Limit', String(limit))
  arrival.setHeader('RateLimit-Remaining', String(remaining))
  arrival.setHeader('RateLimit-Reset', String(reset))
}
