import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Monotonic } from '../domain/clocks.ts'
import { storable } from '../domain/identifier.ts'
import {
  MAX_LOGGED_RESPONSE_CHARACTERS,
  MAX_WEBHOOK_RESPONSE_BYTES,
  WEBHOOK_TIMEOUT_MS,
} from '../domain/limits.ts'
import { privateNetworkOf } from '../domain/public-address.ts'
import { type Resolve, resolveByDns, resolveInPrivateNetwork } from './resolve.ts'

/** One POST to a webhook endpoint. */
interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** The outcome of a POST. A failure is an outcome, not an exception. */
interface WebhookResponse {
  /** null: there was no response */
  status: number | null
  /** reason why there was no response; null: there was one */
  error: string | null
  /** beginning of the body */
  body: string
  retryAfter: string | undefined
  durationMs: number
}

interface SenderOptions {
  /** whether private networks and plain http are allowed */
  allowPrivate: boolean
  monotonic: Monotonic
  /** @default DNS */
  resolve?: Resolve
  timeoutMs?: number
  /** additional certificates to trust */
  ca?: string
}

/** Idle connections per host that are kept for the next delivery, and for how long. */
const IDLE_CONNECTIONS = 8
const IDLE_MS = WEBHOOK_TIMEOUT_MS + 5_000
/** How often a request is repeated at once because an idle connection turned out to be closed. */
const MAX_STALE_CONNECTIONS = 2

const TIMED_OUT = 'timed out'

/** An address that requests of the service must not reach. */
class RefusedAddress extends Error {}

/**
 * Sends requests to URLs that callers have chosen. No redirect is followed, no proxy used, and unless private networks
 * are allowed, every connection is checked by the address that it actually goes to, so that a name cannot resolve to
 * another address after the check.
 */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #agents: { 'http:': http.Agent; 'https:': https.Agent }
  readonly #resolve: Resolve
  readonly #underWay = new Set<AbortController>()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#resolve = options.resolve ?? (options.allowPrivate ? resolveInPrivateNetwork : resolveByDns)
    const settings = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, timeout: IDLE_MS }
    this.#agents = { 'http:': new http.Agent(settings), 'https:': new https.Agent(settings) }
  }

  /** Resolves after the timeout at the latest. Null: `close` has ended it. */
  async send(request: WebhookRequest): Promise<WebhookResponse | null> {
    const { monotonic, timeoutMs = WEBHOOK_TIMEOUT_MS } = this.#options
    const began = monotonic()
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(TIMED_OUT), timeoutMs)
    this.#underWay.add(ending)
    try {
      const answer = await this.#ask(request, ending.signal)
      return { ...answer, error: null, durationMs: monotonic() - began }
    } catch (error) {
      const { aborted, reason } = ending.signal
      if (aborted && reason !== TIMED_OUT) return null
      const message = aborted ? `no response within ${timeoutMs / 1000} s` : reasonOf(error)
      return {
        status: null,
        error: message,
        body: '',
        retryAfter: undefined,
        durationMs: monotonic() - began,
      }
    } finally {
      clearTimeout(timer)
      this.#underWay.delete(ending)
    }
  }

  /** Ends all requests in progress, and closes all connections. */
  close(): void {
    for (const ending of this.#underWay) ending.abort()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #ask(
    request: WebhookRequest,
    signal: AbortSignal,
  ): Promise<Omit<WebhookResponse, 'error' | 'durationMs'>> {
    const url = new URL(request.url)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.#options.allowPrivate)) {
      throw new RefusedAddress('the URL is not https')
    }
    // An IP address needs no lookup.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0) this.#check(host, host)
    const response = await this.#open(url, request, signal)
    const { statusCode = 0, headers } = response
    return { status: statusCode, body: await beginningOf(response), retryAfter: headers['retry-after'] }
  }

  async #open(url: URL, request: WebhookRequest, signal: AbortSignal): Promise<http.IncomingMessage> {
    for (let attempt = 1; ; attempt++) {
      // The last attempt has a new connection.
      const agent =
        attempt <= MAX_STALE_CONNECTIONS ? this.#agents[url.protocol as 'http:' | 'https:'] : false
      const sent = this.#post(url, request, agent, signal)
      try {
        return await sent.response
      } catch (error) {
        // The receiver closed the idle connection while it was taken for this request.
        const wasStale = sent.request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error))
        if (!wasStale || signal.aborted || agent === false) throw error
      }
    }
  }

  #post(url: URL, { headers, body }: WebhookRequest, agent: http.Agent | false, signal: AbortSignal) {
    const { request: open } = url.protocol === 'https:' ? https : http
    const { ca } = this.#options
    const request = open(url, {
      method: 'POST',
      headers,
      agent,
      lookup: this.#lookup,
      signal,
      ...(ca && { ca }),
    })
    // The address is checked once more on the connection itself, before anything is sent.
    request.on('socket', (socket) => {
      if (!socket.connecting) return
      socket.once('connect', () => {
        try {
          this.#check(url.hostname, socket.remoteAddress ?? '')
        } catch (error) {
          request.destroy(error as Error)
        }
      })
    })
    const response = new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve)
      request.on('error', reject)
    })
    request.end(body)
    return { request, response }
  }

  readonly #lookup: LookupFunction = (hostname, { all }, callback) => {
    this.#resolve(hostname).then(
      (addresses) => {
        try {
          for (const { address } of addresses) this.#check(hostname, address)
        } catch (error) {
          return callback(error as Error, [])
        }
        const [first] = addresses
        if (all || !first) callback(first ? null : new Error(`no address for ${hostname}`), addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, []),
    )
  }

  #check(host: string, address: string): void {
    const network = this.#options.allowPrivate ? null : privateNetworkOf(address)
    if (network === null) return
    const found = host === address ? host : `${host}, which resolves to ${address}`
    throw new RefusedAddress(`refused to connect to ${found} (${network} address)`)
  }
}

/** The first characters of a body. More of it is read, up to a limit, so that the connection can be reused. */
async function beginningOf(response: http.IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece)
      size += piece.length
      if (size > MAX_WEBHOOK_RESPONSE_BYTES) break
    }
  } catch {
    // The status decides the outcome. A cut-off body is logged as far as it was received.
  }
  return storable(Buffer.concat(pieces).toString().slice(0, MAX_LOGGED_RESPONSE_CHARACTERS))
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const REASONS: Record<string, string> = {
  ENOTFOUND: 'the host name does not exist',
  ENODATA: 'the host name has no address',
  ESERVFAIL: 'DNS could not resolve the host name',
  ETIMEOUT: 'DNS did not answer in time',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed without a response',
  EPIPE: 'the connection was closed without a response',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  HPE_HEADER_OVERFLOW: 'the headers of the response are too large',
}

/** Why there was no response, for the delivery log. */
function reasonOf(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message
  // Of several addresses, the first one's failure.
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const code = codeOf(first) || codeOf(error)
  const known = REASONS[code]
  if (known !== undefined) return known
  const message = first instanceof Error ? first.message : String(first)
  return code.startsWith('HPE_') ? `the response is not HTTP: ${message}` : message
}
