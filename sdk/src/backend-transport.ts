import type { Retry } from './back-off.ts'
import {
  AuthenticationError,
  aborted,
  ERROR_TABLE,
  FeatureNotFoundError,
  NetworkError,
  PackageNotFoundError,
  SubscriptionError,
  SubscriptionNotFoundError,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
import type { MutationOptions, TollgateOptions } from './options.ts'
import { type Answer, errorFrom, failed, type Reply, type WireError } from './reply.ts'
import { Transport } from './transport.ts'
import { userAgent } from './version.ts'

interface MutationRequest extends MutationOptions {
  query: string
  variables?: object | undefined
}

export interface BackendRequest extends MutationRequest {
  /** Nobody waits for it: it is tried once, and the sender handles its error. @default false */
  inBackground?: boolean
}

const CLASSES = {
  AuthenticationError,
  FeatureNotFoundError,
  PackageNotFoundError,
  SubscriptionError,
  SubscriptionNotFoundError,
  UserNotFoundError,
}

/** Sends requests with an Admin key. Never throws, and calls `onError` with errors. */
export class BackendTransport extends Transport {
  readonly #headers: Record<string, string>
  readonly #retry: Retry | undefined

  constructor(url: string, apiKey: string, options: TollgateOptions) {
    super(url, options)
    const name = userAgent()
    this.#headers = { Authorization: apiKey, ...(name && { 'User-Agent': name }) }
    this.#retry = options.retry
  }

  async request({ inBackground = false, ...request }: BackendRequest): Promise<Answer> {
    const answer = await this.#settled(inBackground ? { ...request, retry: () => false } : request)
    if (answer.error && !inBackground) await this.report(answer.error)
    return answer
  }

  async #settled({
    signal,
    idempotencyKey,
    retry = this.#retry,
    ...request
  }: MutationRequest): Promise<Answer> {
    const key = idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }
    const headers = { ...this.#headers, ...key }
    let giveUp = () => {}
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = () => reject(aborted(signal?.reason))
    })
    givenUp.catch(() => {})
    signal?.addEventListener('abort', giveUp)
    try {
      if (signal?.aborted) throw aborted(signal.reason)
      return await this.send({ ...request, headers, retry, givenUp })
    } catch (cause) {
      if (cause instanceof TollgateError) return failed(cause)
      const message = `The request cannot be sent: ${cause instanceof Error ? cause.message : cause}`
      return failed(new TollgateError(message, { code: 'BAD_USER_INPUT', status: 400, cause }))
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** The spec's errors have no type and no status: both follow from the code. */
  protected override errorFrom(error: WireError, { headers }: Reply): TollgateError {
    const code = error.extensions?.code ?? ''
    const known = Object.hasOwn(ERROR_TABLE, code) ? ERROR_TABLE[code as keyof typeof ERROR_TABLE] : UNKNOWN
    return errorFrom(error, headers, CLASSES, { ...known, retryAfter: secondsIn(headers) })
  }

  /** A proxy's 429 or 503 with `Retry-After` is treated as the service's own. */
  protected override unanswered(why: string, cause?: unknown, reply?: Reply): TollgateError {
    const { status = 0, headers } = reply ?? {}
    const retryAfter = headers ? secondsIn(headers) : null
    const details = { status, cause, retryAfter, requestId: headers?.get('X-Request-Id') }
    if (status === 429) return new TollgateError(why, { code: 'RATE_LIMITED', ...details })
    if (status === 503 && retryAfter !== null)
      return new TollgateError(why, { code: 'UNAVAILABLE', ...details })
    const error = new NetworkError(why, { code: 'NETWORK_ERROR', ...details })
    error.mayHaveArrived = !BEFORE_SENDING.includes(codeOf(cause))
    return error
  }
}

const UNKNOWN = { type: 'Error', status: 500 }

/** Node's error codes for a connection that was never established. */
const BEFORE_SENDING = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

const codeOf = (thrown: unknown): string =>
  ((thrown as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code ?? ''

/** `Retry-After` in seconds, in either of its two forms. */
function secondsIn(headers: Headers): number | null {
  const value = headers.get('Retry-After')
  if (!value) return null
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
