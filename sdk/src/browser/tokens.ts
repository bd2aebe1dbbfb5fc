import { NetworkError, reasonOf } from '../errors.ts'
import { within } from '../within.ts'

/** User token, or a function that fetches one from the application's backend. */
export type TokenSource = string | (() => string | Promise<string>)

interface Held {
  token: string
  /** After this, a new one is fetched first. */
  staleAt: number
}

const MAX_MARGIN_MS = 60_000

/** The user's token: fetched when needed, once for all waiting calls, and again before it expires. */
export class Tokens {
  readonly #source: TokenSource
  readonly #timeout: number
  #held: Held | null = null
  #fetching: Promise<string> | null = null

  constructor(source: TokenSource, timeout: number) {
    if (typeof source !== 'function') checkToken(source)
    this.#source = source
    this.#timeout = timeout
  }

  /** Rejects with a NetworkError when none is available. */
  async current(): Promise<string> {
    if (typeof this.#source === 'string') return this.#source
    const held = this.#held
    if (held && performance.now() < held.staleAt) return held.token
    try {
      return await this.#fetch(this.#source)
    } catch (error) {
      // A token that expires soon is better than none; if it has expired, the service says so.
      if (held && held === this.#held) return held.token
      throw error
    }
  }

  /** A token other than the refused one; the same if there is no other. */
  insteadOf(refused: string): Promise<string> {
    if (this.#held?.token === refused) this.#held = null
    return this.current()
  }

  forget(): void {
    this.#held = null
    this.#fetching = null
  }

  #fetch(source: () => string | Promise<string>): Promise<string> {
    if (this.#fetching) return this.#fetching
    const tooLate = () => Promise.reject(new Error(`no token within ${this.#timeout} ms`))
    const fetching = within(this.#timeout, (async () => source())(), tooLate)
      .then((token) => {
        checkToken(token)
        if (this.#fetching === fetching) this.#held = { token, staleAt: staleAt(token) }
        return token
      })
      .catch((cause) => {
        throw new NetworkError(`The user token could not be fetched: ${reasonOf(cause)}`, {
          code: 'TOKEN_FAILED',
          status: 0,
          cause,
        })
      })
      .finally(() => {
        if (this.#fetching === fetching) this.#fetching = null
      })
    this.#fetching = fetching
    return fetching
  }
}

function checkToken(token: unknown): asserts token is string {
  if (typeof token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return
  throw new TypeError(
    'The token must be a user token from generateUserToken. An Admin API key must not be used in a browser.',
  )
}

/** By elapsed time, not by the page's clock, which may be wrong. An unreadable token is used until refused. */
function staleAt(token: string): number {
  try {
    const [, claims = ''] = token.split('.')
    const { exp, iat } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')))
    const lifetime = (exp - iat) * 1000
    if (lifetime > 0) return performance.now() + lifetime - Math.min(MAX_MARGIN_MS, lifetime / 5)
  } catch {
    // It does not look like one of ours: the service decides.
  }
  return Number.POSITIVE_INFINITY
}
