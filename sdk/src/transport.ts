import { type ErrorTable, errorFrom, NetworkError, TollgateError, type WireError } from './errors.ts'
import type { MutationOptions, TollgateOptions } from './options.ts'

export type TransportOptions = Pick<TollgateOptions, 'fetch' | 'timeout' | 'retry' | 'onError'>

export interface Request extends MutationOptions {
  query: string
  variables?: object | undefined
  /** @default the transport's own */
  authorization?: string
  /** Nobody waits for it: it is tried once, and its error is the sender's business. @default false */
  inBackground?: boolean
}

/** An answer may hold both: what could be found, and the first error. */
export interface Answer {
  data: Record<string, unknown> | null
  error: TollgateError | null
}

/** The spec's two retries, at once. */
const retryTwice = (error: TollgateError, retry: number): boolean =>
  error instanceof NetworkError && retry <= 2

const MAX_TIMER_MS = 2 ** 31 - 1

/** Sends requests, again if need be, and makes an answer of whatever comes of it. Never throws. */
export class Transport {
  readonly #url: string
  readonly #authorization: string
  readonly #fetch: typeof globalThis.fetch
  readonly #timeout: number
  readonly #retry: NonNullable<TollgateOptions['retry']>
  readonly #onError: TollgateOptions['onError']
  readonly #errors: ErrorTable
  #warned = false

  /** A page does without the table of `errors`, to be small: the service states type and status with every error. */
  constructor(url: string, authorization: string, options: TransportOptions, errors: ErrorTable = {}) {
    this.#url = url
    this.#authorization = authorization
    // The global one is looked up at each call: tests and tracers put theirs in its place later on.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#timeout = options.timeout ?? 10_000
    this.#retry = options.retry ?? retryTwice
    this.#onError = options.onError
    this.#errors = errors
  }

  async send(request: Request): Promise<Answer> {
    const { signal, inBackground } = request
    const answer = await this.#untilSettled(request, signal, inBackground ? () => false : this.#retry)
    if (answer.error && !inBackground) await this.report(answer.error)
    return answer
  }

  /** Tells `onError`, and waits for it. */
  async report(error: TollgateError): Promise<void> {
    await this.observe(() => this.#onError?.(error))
  }

  /** What a hook of the application’s says; undefined if it throws, which must not be what the call comes to. */
  async observe<T>(hook: () => T): Promise<Awaited<T> | undefined> {
    try {
      return await hook()
    } catch (thrown) {
      if (!this.#warned) console.warn('Tollgate: a hook threw; this is said once for each client.', thrown)
      this.#warned = true
      return undefined
    }
  }

  async #untilSettled(
    request: Request,
    signal: AbortSignal | undefined,
    retry: NonNullable<TollgateOptions['retry']>,
  ): Promise<Answer> {
    let prepared: Prepared
    try {
      prepared = this.#prepare(request)
    } catch (cause) {
      const message = `The request cannot be sent: ${messageOf(cause)}`
      return failed(new TollgateError(message, { code: 'BAD_REQUEST', status: 400, cause }))
    }
    let mayHaveArrived = false
    for (let retries = 1; ; retries++) {
      const answer = await this.#attempt(prepared, signal)
      if (answer.error === null || answer.error.code === 'ABORTED') return answer
      const { error } = answer
      if (!(error instanceof NetworkError) || error.mayHaveArrived) mayHaveArrived = true
      else error.mayHaveArrived = mayHaveArrived
      if ((await this.observe(() => retry(error, retries))) !== true) return answer
    }
  }

  /** The same bytes and the same key for every attempt: the service knows a repeated request by them. */
  #prepare({ query, variables, idempotencyKey, authorization = this.#authorization }: Request): Prepared {
    const headers = new Headers({ Authorization: authorization, 'Content-Type': 'application/json' })
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
    // A string of JSON within the JSON: the spec's form of variables.
    return { headers, body: JSON.stringify({ query, variables: variables && JSON.stringify(variables) }) }
  }

  async #attempt({ headers, body }: Prepared, signal: AbortSignal | undefined): Promise<Answer> {
    if (signal?.aborted) return failed(aborted(signal))
    const controller = new AbortController()
    const giveUp = () => controller.abort()
    signal?.addEventListener('abort', giveUp, { once: true })
    let timedOut = false
    const timer = this.#timeout > MAX_TIMER_MS ? undefined : setTimeout(onTimeout, this.#timeout)
    function onTimeout() {
      timedOut = true
      giveUp()
    }
    try {
      const response = await this.#fetch(this.#url, {
        method: 'POST',
        headers,
        body,
        signal: controller.signal,
        // A redirected POST may arrive as a GET, and elsewhere: neither is wanted with a key in its headers.
        redirect: 'error',
      })
      return read(response.status, await response.text(), this.#errors)
    } catch (cause) {
      if (signal?.aborted) return failed(aborted(signal))
      if (!timedOut) return failed(unreachable(0, `No answer from ${this.#url}: ${messageOf(cause)}`, cause))
      const message = `No answer from ${this.#url} within ${this.#timeout} ms`
      return failed(new NetworkError(message, { code: 'TIMEOUT', status: 0, cause }))
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
  }
}

interface Prepared {
  headers: Headers
  body: string
}

/** What a reply says, if it is the service's: a proxy in between may say anything. */
function read(status: number, text: string, table: ErrorTable): Answer {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    return failed(unreachable(status, `The answer, with status ${status}, is not JSON`, cause))
  }
  const { data, errors } = (body ?? {}) as { data?: Answer['data']; errors?: WireError[] }
  const [first] = Array.isArray(errors) ? errors : []
  if (first) return { data: data ?? null, error: errorFrom(first, table) }
  if (typeof data === 'object' && data !== null) return { data, error: null }
  return failed(unreachable(status, `The answer, with status ${status}, is not one of Tollgate's`))
}

const failed = (error: TollgateError): Answer => ({ data: null, error })

function unreachable(status: number, message: string, cause?: unknown): NetworkError {
  const error = new NetworkError(message, { code: 'NETWORK_ERROR', status, cause })
  error.mayHaveArrived = !BEFORE_SENDING.includes(reasonOf(cause)?.code ?? '')
  return error
}

/** What Node says when there was no connection to send anything over. */
const BEFORE_SENDING = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** fetch says "fetch failed" and keeps the reason in its cause. */
const reasonOf = (thrown: unknown): NodeJS.ErrnoException | undefined =>
  thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : undefined

const aborted = (signal: AbortSignal): TollgateError =>
  new TollgateError('The call was aborted', { code: 'ABORTED', status: 0, cause: signal.reason })

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const reason = reasonOf(thrown)
  return reason ? `${thrown.message} (${reason.message || reason.code})` : thrown.message
}
