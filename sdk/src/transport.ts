import { MAX_WAIT_MS, type Retry, retryTwice, waitBefore } from './back-off.ts'
import {
  AuthenticationError,
  FeatureNotFoundError,
  NetworkError,
  reasonOf,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
import { exchange, type Limits } from './exchange.ts'
import type { TollgateOptions } from './options.ts'
import { type Answer, errorFrom, failed, type Reply, type WireError } from './reply.ts'
import { isTimeout, within } from './within.ts'

export type TransportOptions = Pick<TollgateOptions, 'fetch' | 'timeout' | 'onError'>

export interface Request {
  query: string
  variables?: object | undefined
  headers: Record<string, string>
  /** Rejects when the caller aborts the request. @default never */
  givenUp?: Promise<never> | undefined
  /** @default the client's own */
  timeout?: number | undefined
  /** @default the spec's two retries, and as many after a wait, if there is time for it */
  retry?: Retry | undefined
}

/** The errors of the client API. */
const CLASSES = { AuthenticationError, FeatureNotFoundError, UserNotFoundError }

/**
 * Sends requests, with retries, and turns every outcome into an answer. This is all that a page needs, and it must be
 * small; what only a backend needs is in BackendTransport.
 */
export class Transport {
  protected readonly url: string
  readonly #fetch: typeof globalThis.fetch
  readonly timeout: number
  readonly #onError: TollgateOptions['onError']
  #warned = false

  constructor(url: string, { fetch, timeout = 10_000, onError }: TransportOptions) {
    if (!isTimeout(timeout)) throw new TypeError('timeout must be a positive number of milliseconds')
    this.url = url
    // The global one is looked up at each call: tests and tracers may replace it later.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.timeout = timeout
    this.#onError = onError
  }

  /** The same bytes and headers for every attempt: the service recognises a repeated request by them. */
  async send(request: Request): Promise<Answer> {
    const {
      query,
      variables,
      givenUp = new Promise<never>(() => {}),
      timeout = this.timeout,
      retry = retryTwice,
    } = request
    const init: RequestInit = {
      method: 'POST',
      headers: new Headers({ 'Content-Type': 'application/json', ...request.headers }),
      // A string of JSON within the JSON: the spec's form of variables.
      body: JSON.stringify({ query, variables: variables && JSON.stringify(variables) }),
      // A redirected POST may arrive as a GET, or elsewhere: neither is wanted with a key in the headers.
      redirect: 'error',
    }
    const startedAt = performance.now()
    let mayHaveArrived = false
    for (let retries = 1; ; retries++) {
      const answer = await this.#attempt(init, { timeout, givenUp })
      const { error } = answer
      if (!error || error.code === 'ABORTED') return answer
      if (!(error instanceof NetworkError) || error.mayHaveArrived) mayHaveArrived = true
      else error.mayHaveArrived = mayHaveArrived
      const again = await Promise.race([this.observe(() => retry(error, retries)), givenUp])
      if (again !== true) return answer
      const wait = waitBefore(error, retries)
      if (wait === 0) continue
      // By default the client waits only if a whole attempt still fits into three times `timeout`.
      const isTooLong = wait > MAX_WAIT_MS || performance.now() - startedAt + wait > 2 * timeout
      if (!request.retry && isTooLong) return answer
      await within<void>(Math.min(wait, MAX_WAIT_MS), givenUp, () => {})
    }
  }

  /** Calls `onError`, and waits for it. */
  async report(error: TollgateError): Promise<void> {
    await this.observe(() => this.#onError?.(failed(error).error))
  }

  /** The result of an application's hook; undefined if it throws, which must not fail the call. */
  async observe<T>(hook: () => T): Promise<Awaited<T> | undefined> {
    try {
      return await hook()
    } catch (thrown) {
      if (!this.#warned)
        console.warn('Tollgate: a hook threw an error (further errors are not logged)', thrown)
      this.#warned = true
      return undefined
    }
  }

  /** An error as the service states it, with type and status. */
  protected errorFrom(error: WireError, { headers }: Reply): TollgateError {
    return errorFrom(error, headers, CLASSES)
  }

  /** Why there is no answer: `reply` is not the service's, or there is none. */
  protected unanswered(why: string, cause?: unknown, reply?: Reply): TollgateError {
    return new NetworkError(why, { code: 'NETWORK_ERROR', status: reply?.status ?? 0, cause })
  }

  async #attempt(init: RequestInit, limits: Limits): Promise<Answer> {
    try {
      return this.#read(await exchange(this.#fetch, this.url, init, limits))
    } catch (cause) {
      return failed(
        cause instanceof TollgateError
          ? cause
          : this.unanswered(`No response from ${this.url}: ${reasonOf(cause)}`, cause),
      )
    }
  }

  /** The content of a reply, if it is the service's: a proxy in between may send anything. */
  #read(reply: Reply): Answer {
    const why = `The response, with status ${reply.status}, is not `
    let body: { data?: Answer['data']; errors?: WireError[] } | null
    try {
      body = JSON.parse(reply.text)
    } catch (cause) {
      throw this.unanswered(`${why}JSON`, cause, reply)
    }
    const { data = null, errors } = body ?? {}
    if (Array.isArray(errors) && errors[0]) return { ...failed(this.errorFrom(errors[0], reply)), data }
    if (data instanceof Object) return { data, error: null }
    throw this.unanswered(`${why}from Tollgate`, undefined, reply)
  }
}
