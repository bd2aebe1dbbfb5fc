import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  badUserInput,
  methodNotAllowed,
  rateLimited,
  type TollgateError,
  unavailable,
} from '../domain/errors.ts'
import { sequenceOf } from '../domain/event.ts'
import { MAX_EVENT_STREAMS, MAX_EVENT_STREAMS_PER_APP } from '../domain/limits.ts'
import { Deadline } from '../operations/call/deadline.ts'
import type { Service } from '../operations/call/service.ts'
import { LogWatch, newestCursor } from '../operations/events/watch-log.ts'
import type { RestOperation } from '../rest/operation.ts'
import { EVENT_STREAM_PATH } from '../rest/routes.ts'
import type { AppCaller } from '../store/apps/app-cache.ts'
import type { AdminEndpoint } from './admin-endpoint.ts'
import { NodeExchange } from './exchange.ts'
import { ProblemAnswers } from './problem-answer.ts'
import { type Request, type RequestOutcome, requestHandler, tooLate } from './request-handler.ts'
import type { RequestsUnderWay } from './requests-under-way.ts'

/** Proxies often close connections on which nothing is sent for 30 or 60 seconds. */
const HEARTBEAT_MS = 15_000
/** How long clients wait before they connect again. */
const RECONNECT_MS = 1_000
/** Events that are read at once. */
const PAGE = 100
const NO_BODY = Buffer.alloc(0)

interface StreamRequest {
  response: ServerResponse
  query: URLSearchParams
}

/** One page of events, as `GET /v1/events` answers it. */
interface Page {
  data: readonly { cursor: string }[]
  next: string
}

/**
 * `GET /v1/events/stream`: server-sent events. Every message has the cursor of its event as id, so a client that lost its
 * connection continues with `Last-Event-ID` where it was: whoever ends a stream, nothing is skipped.
 */
export class EventStreams {
  readonly #endpoint: AdminEndpoint
  readonly #events: RestOperation
  readonly #service: Service
  readonly #problems: ProblemAnswers
  readonly #watch: LogWatch
  readonly #handle: (exchange: NodeExchange, target: StreamRequest) => Promise<void>
  /** the open streams of each app */
  readonly #open = new Map<string, number>()
  #count = 0
  readonly #closing = new AbortController()

  constructor(endpoint: AdminEndpoint, events: RestOperation, service: Service, underWay: RequestsUnderWay) {
    this.#endpoint = endpoint
    this.#events = events
    this.#service = service
    this.#problems = new ProblemAnswers(service)
    this.#watch = new LogWatch(service)
    const api = {
      name: 'rest',
      routeOf: () => EVENT_STREAM_PATH,
      run: (request: Request<StreamRequest>) => this.#run(request),
      fail: (request: Request<StreamRequest>, error: unknown) => this.#problems.fail(request, error),
    }
    this.#handle = requestHandler<StreamRequest>(api, service, underWay)
  }

  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    return this.#handle(new NodeExchange(request, response), { response, query: searchParams })
  }

  /** Ends all streams after what they are sending; their clients continue at another process. */
  close(): void {
    this.#closing.abort()
  }

  /** Answers with the first page, or with an error; the rest of the stream is no longer the request's. */
  async #run(request: Request<StreamRequest>): Promise<RequestOutcome> {
    const { exchange, target, deadline } = request
    if (exchange.method !== 'GET') {
      exchange.setHeader('Allow', 'GET')
      throw methodNotAllowed(`${exchange.method} is not supported here. Supported: GET.`)
    }
    const caller = await this.#endpoint.authenticate(exchange)
    if (request.expired) throw tooLate()
    const refusal = this.#refusal(caller)
    if (refusal) throw refusal
    const { query } = target
    if (query.has('first')) throw badUserInput('Unknown query parameter "first"', 'first')
    const values = this.#events.values({ path: {}, query, body: null })
    values.first = PAGE
    const last = exchange.headers['last-event-id']
    if (typeof last === 'string' && last !== '') values.after = last
    const leave = this.#enter(caller.appId)
    let outcome: RequestOutcome = 'ok'
    try {
      values.after ??= await newestCursor(this.#service)
      const page = await this.#read(request, caller, values, deadline)
      if (typeof page === 'string') {
        outcome = page
        return outcome
      }
      if (request.expired) throw tooLate()
      const { response } = target
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        'X-Request-Id': request.id,
      })
      response.write(`retry: ${RECONNECT_MS}\n${positionOf(String(values.after))}`)
      void this.#send(request, caller, values, page).finally(leave)
      return outcome
    } catch (error) {
      leave()
      throw error
    } finally {
      if (outcome !== 'ok') leave()
    }
  }

  #refusal({ appId }: AppCaller): TollgateError | null {
    if (this.#closing.signal.aborted) return unavailable('The service is restarting; reconnect.')
    if (this.#count >= MAX_EVENT_STREAMS || (this.#open.get(appId) ?? 0) >= MAX_EVENT_STREAMS_PER_APP)
      return rateLimited(
        `Too many open event streams: at most ${MAX_EVENT_STREAMS_PER_APP} per app and ${MAX_EVENT_STREAMS} per process`,
        10,
      )
    return null
  }

  /** Returns what is to be called once, or more often, when the stream ends. */
  #enter(appId: string): () => void {
    let isOpen = true
    this.#count += 1
    this.#open.set(appId, (this.#open.get(appId) ?? 0) + 1)
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#count -= 1
      const left = (this.#open.get(appId) ?? 1) - 1
      if (left === 0) this.#open.delete(appId)
      else this.#open.set(appId, left)
    }
  }

  /** The next page; an outcome: the request was answered with an error. */
  async #read(
    request: Request<StreamRequest>,
    caller: AppCaller,
    values: Record<string, unknown>,
    deadline: Deadline,
  ): Promise<Page | RequestOutcome> {
    const context = this.#endpoint.context(caller, request.exchange, NO_BODY, deadline)
    const { data, errors } = await this.#events.run(context, values)
    const [error] = errors ?? []
    if (error) return this.#problems.failed(request, this.#events, values, error, data === undefined)
    if (!data) throw new Error('events have neither data nor errors')
    return this.#events.answer(data, values) as Page
  }

  /** Sends events until the client leaves, its key or cursor is no longer valid, or the service stops. */
  async #send(
    request: Request<StreamRequest>,
    caller: AppCaller,
    values: Record<string, unknown>,
    first: Page,
  ): Promise<void> {
    const { response } = request.target
    const gone = new AbortController()
    const { socket } = response
    const leave = () => gone.abort()
    response.once('close', leave)
    // Half-open connections get their answers, but a stream has no last one.
    socket?.once('end', leave)
    // It may be gone already.
    if (response.destroyed || socket?.readableEnded) leave()
    const ended = AbortSignal.any([gone.signal, this.#closing.signal])
    const { monotonic, requestTimeoutMs, log } = this.#service
    try {
      let page: Page | RequestOutcome = first
      let quietUntil = monotonic() + HEARTBEAT_MS
      while (typeof page !== 'string') {
        for (const event of page.data)
          await this.#write(response, `id: ${event.cursor}\ndata: ${JSON.stringify(event)}\n\n`, gone.signal)
        if (ended.aborted) break
        const { next } = page
        values.after = next
        if (page.data.length > 0) quietUntil = monotonic() + HEARTBEAT_MS
        else if (monotonic() >= quietUntil) {
          await this.#write(response, positionOf(next), gone.signal)
          quietUntil = monotonic() + HEARTBEAT_MS
        }
        if (page.data.length < PAGE)
          await this.#watch.beyond(sequenceOf(next) ?? 0, quietUntil - monotonic(), ended)
        if (ended.aborted) break
        page = await this.#read(
          request,
          caller,
          values,
          new Deadline(monotonic, monotonic(), requestTimeoutMs),
        )
      }
    } catch (error) {
      log.debug({ err: error, requestId: request.id }, 'event stream ended early')
    }
    socket?.off('end', leave)
    if (!response.destroyed) response.end()
  }

  /** No faster than the client reads. */
  async #write(response: ServerResponse, text: string, gone: AbortSignal): Promise<void> {
    if (response.destroyed || response.write(text)) return
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done)
        gone.removeEventListener('abort', done)
        resolve()
      }
      response.on('drain', done)
      gone.addEventListener('abort', done)
      if (gone.aborted) done()
    })
  }
}

/** Moves the client's position without an event: an id and no data. */
const positionOf = (cursor: string): string => `id: ${cursor}\n\n`
