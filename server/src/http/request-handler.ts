import { randomUUID } from 'node:crypto'
import type { Monotonic } from '../domain/clocks.ts'
import { ERRORS, type ErrorCode, rateLimited, unavailable } from '../domain/errors.ts'
import type { ReportFault } from '../graphql/engine/errors.ts'
import { Deadline } from '../operations/call/deadline.ts'
import type { Service } from '../operations/call/service.ts'
import { isOutage } from '../store/connection/outage.ts'
import type { Span } from '../telemetry/tracing.ts'
import type { Exchange } from './exchange.ts'
import { requestIdOf } from './request-id.ts'
import { type RequestsUnderWay, UnderWay } from './requests-under-way.ts'
import { traceRequest } from './trace-request.ts'

/** The parts of the service that answer a request of any API. */
export type RequestService = Pick<Service, 'log' | 'metrics' | 'monotonic' | 'outages' | 'requestTimeoutMs'>

export type RequestOutcome = 'ok' | ErrorCode

/** How one API answers a request, in GraphQL or REST. */
interface Api<Target> {
  /** in the metrics */
  name: string
  /** in traces, if it is more exact than the name; a template, which has no ids */
  routeOf?(target: Target): string | undefined
  run(request: Request<Target>): Promise<RequestOutcome>
  /** Answers with this error, unless the request has been answered. */
  fail(request: Request<Target>, error: unknown): RequestOutcome
}

/** Gives every request an id, a deadline and an answer, and counts it. */
export function requestHandler<Target>(
  api: Api<Target>,
  { log, metrics, monotonic, requestTimeoutMs }: RequestService,
  underWay: RequestsUnderWay,
) {
  // Unique across processes, and cheap: every request gets one.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return (exchange: Exchange, target: Target): Promise<void> =>
    traceRequest(exchange.method, api.routeOf?.(target) ?? api.name, exchange.headers, (span) =>
      handle(exchange, target, span),
    )

  async function handle(exchange: Exchange, target: Target, span: Span | null): Promise<void> {
    const id = requestIdOf(exchange.headers) ?? span?.traceId ?? `${prefix}-${(++requests).toString(36)}`
    const request = new Request(exchange, target, id, monotonic, requestTimeoutMs, expire)
    request.span = span
    if (!underWay.begin(request)) {
      count(request, api.fail(request, rateLimited('Too many requests in progress; retry.', 1)))
      return
    }
    let outcome: RequestOutcome = 'ok'
    try {
      outcome = await api.run(request)
    } catch (error) {
      if (request.expired)
        log.debug({ err: error, requestId: request.id }, 'request failed after its deadline')
      else outcome = api.fail(request, error)
    }
    underWay.end(request)
    if (!request.expired) count(request, outcome)
  }

  function expire(request: Request<Target>): void {
    // The reader's speed limits a streamed list.
    if (request.exchange.answered) return
    request.expired = true
    count(request, api.fail(request, tooLate()))
  }

  function count({ id, arrived, span }: Request<Target>, outcome: RequestOutcome): void {
    if (span) describe(span, id, outcome)
    metrics.requests.inc({ endpoint: api.name, outcome })
    metrics.seconds.observe({ endpoint: api.name }, (monotonic() - arrived) / 1000)
    log.debug({ requestId: id, endpoint: api.name, outcome }, 'request answered')
  }
}

/** One object per request: closures would have to be created for every check. */
export class Request<Target> extends UnderWay {
  readonly exchange: Exchange
  readonly target: Target
  readonly id: string
  readonly arrived: number
  readonly deadline: Deadline
  expired = false
  /** null: tracing is off */
  span: Span | null = null
  readonly #timeoutMs: number
  readonly #onExpiry: (request: Request<Target>) => void

  constructor(
    exchange: Exchange,
    target: Target,
    id: string,
    monotonic: Monotonic,
    timeoutMs: number,
    onExpiry: (request: Request<Target>) => void,
  ) {
    super()
    this.exchange = exchange
    this.target = target
    this.id = id
    this.arrived = monotonic()
    this.deadline = new Deadline(monotonic, this.arrived, timeoutMs)
    this.#timeoutMs = timeoutMs
    this.#onExpiry = onExpiry
  }

  expire(): void {
    this.#onExpiry(this)
  }

  /** Reading the body has its own limit; the deadline starts afterwards. */
  async arriving(body: Promise<Buffer>): Promise<Buffer> {
    this.deadline.renew(Number.POSITIVE_INFINITY)
    try {
      return await body
    } finally {
      this.deadline.renew(this.#timeoutMs)
    }
  }
}

/** An error that is the caller's own is an outcome; the span has not failed. */
function describe(span: Span, requestId: string, outcome: RequestOutcome): void {
  span.set({ 'tollgate.request_id': requestId, 'tollgate.outcome': outcome })
  if (outcome !== 'ok' && ERRORS[outcome].status >= 500) span.fail(outcome)
}

/** Logs an unforeseen error of a request under its id. */
export function faultReporter({ log, outages }: RequestService, id: string): ReportFault {
  return (error) => {
    if (isOutage(error)) outages.note(error)
    else log.error({ err: error, requestId: id }, 'request failed')
    return id
  }
}

export const tooLate = () =>
  unavailable('The request timed out; retry. A mutation with the same Idempotency-Key takes effect once.')
