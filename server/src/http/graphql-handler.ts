import { randomUUID } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import type { Monotonic } from '../domain/clocks.ts'
import { rateLimited, TollgateError, unavailable } from '../domain/errors.ts'
import type { DocumentLimits } from '../graphql/engine/document-limits.ts'
import { type Admit, Documents } from '../graphql/engine/documents.ts'
import { type ReportFault, type WireError, wireError } from '../graphql/engine/errors.ts'
import type { LongLists } from '../graphql/engine/long-lists.ts'
import { Deadline } from '../operations/call/deadline.ts'
import type { Service } from '../operations/call/service.ts'
import { isOutage } from '../store/connection/outage.ts'
import type { Exchange } from './exchange.ts'
import { parseGraphqlRequest } from './graphql-request.ts'
import { requestIdOf } from './request-id.ts'
import { type RequestsUnderWay, UnderWay } from './requests-under-way.ts'

/** One GraphQL endpoint: a schema and its callers. */
export interface Endpoint<Caller> {
  schema: GraphQLSchema
  limits: DocumentLimits
  /** Authenticates the caller; throws before the body is read. */
  authenticate(exchange: Exchange): Caller | Promise<Caller>
  /** A check before validation, for callers who may not use the whole schema. */
  admit?(caller: Caller): Admit | null
  /** The resolvers' context. */
  context(
    caller: Caller,
    exchange: Exchange,
    body: Buffer,
    deadline: Deadline,
  ): object & { lists?: LongLists }
}

/**
 * Responds to every POST with 200 and JSON: authenticates, checks limits, parses, validates, executes. The true status
 * is in each error's extensions. Every request gets a response by its deadline.
 */
export function graphqlHandler<Caller>(
  name: string,
  endpoint: Endpoint<Caller>,
  service: Pick<Service, 'log' | 'metrics' | 'monotonic' | 'outages' | 'requestTimeoutMs'>,
  underWay: RequestsUnderWay,
) {
  const { log, metrics, monotonic, outages, requestTimeoutMs } = service
  const documents = new Documents(endpoint.schema, endpoint.limits)
  // Unique across processes, and cheap: every request gets one.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return async function handle(exchange: Exchange): Promise<void> {
    const id = requestIdOf(exchange.headers) ?? `${prefix}-${(++requests).toString(36)}`
    const request = new Request(exchange, id, monotonic, requestTimeoutMs, expire)
    if (!underWay.begin(request)) {
      count(request, fail(request, rateLimited('Too many requests in progress; retry.', 1)))
      return
    }
    let errors: WireErrors
    try {
      errors = await run(request)
    } catch (error) {
      if (request.expired)
        log.debug({ err: error, requestId: request.id }, 'request failed after its deadline')
      else errors = fail(request, error)
    }
    underWay.end(request)
    if (!request.expired) count(request, errors)
  }
  function expire(request: Request): void {
    // A streamed list is limited by how fast it is read.
    if (request.exchange.answered) return
    request.expired = true
    count(request, fail(request, tooLate()))
  }

  function count({ id, arrived }: Request, errors: WireErrors): void {
    const outcome = errors?.[0]?.extensions.code ?? 'ok'
    metrics.requests.inc({ endpoint: name, outcome })
    metrics.seconds.observe({ endpoint: name }, (monotonic() - arrived) / 1000)
    log.debug({ requestId: id, endpoint: name, outcome }, 'request answered')
  }

  function fail(request: Request, error: unknown): WireErrors {
    const { exchange, id } = request
    const errors = [wireError(error, 'BAD_REQUEST', reporter(request))]
    if (!exchange.answered) {
      hint(exchange, errors)
      exchange.answer(200, id, { errors })
    }
    return errors
  }

  function reporter({ id }: Request): ReportFault {
    return (error) => {
      if (isOutage(error)) outages.note(error)
      else log.error({ err: error, requestId: id }, 'request failed')
      return id
    }
  }

  async function run(request: Request): Promise<WireErrors> {
    const { exchange, id, deadline } = request
    if (exchange.method !== 'POST') {
      exchange.setHeader('Allow', 'POST')
      const errors = [wireError(onlyPost(), 'METHOD_NOT_ALLOWED', reporter(request))]
      exchange.answer(405, id, { errors })
      return errors
    }
    // Available values are not awaited: a needless await costs a lone call some microseconds.
    const authenticated = endpoint.authenticate(exchange)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
    if (request.expired) throw tooLate()
    const received = exchange.body()
    const body = received instanceof Promise ? await arriving(received, deadline) : received
    const { query, variables, operationName } = parseGraphqlRequest(body)
    const checked = documents.check(query, endpoint.admit?.(caller))
    if ('errors' in checked) {
      const errors = checked.errors.map((error) => wireError(error, checked.code, reporter(request)))
      exchange.answer(200, id, { errors })
      return errors
    }
    const context = endpoint.context(caller, exchange, body, deadline)
    const result = await checked.run(context, variables, operationName)
    // Invalid variables, because of which an operation never started, are the caller's mistake too.
    const errors = result.errors?.map((error) => wireError(error, 'BAD_USER_INPUT', reporter(request)))
    if (exchange.answered) return errors
    const { lists } = context
    if (lists?.unfinished && result.data) {
      const rest = (name: string) => lists.rest(name, endpoint.schema, context, variables)
      await exchange.stream(id, piecesOf(result.data, rest, errors))
    } else {
      hint(exchange, errors)
      exchange.answer(200, id, errors ? { ...result, errors } : result)
    }
    return errors
  }

  /** Reading the body has its own limit; the deadline starts afterwards. */
  async function arriving(body: Promise<Buffer>, deadline: Deadline): Promise<Buffer> {
    deadline.renew(Number.POSITIVE_INFINITY)
    try {
      return await body
    } finally {
      deadline.renew(requestTimeoutMs)
    }
  }
}

/** One object per request: closures would have to be created for every check. */
class Request extends UnderWay {
  readonly exchange: Exchange
  readonly id: string
  readonly arrived: number
  readonly deadline: Deadline
  expired = false
  readonly #onExpiry: (request: Request) => void

  constructor(
    exchange: Exchange,
    id: string,
    monotonic: Monotonic,
    timeoutMs: number,
    onExpiry: (request: Request) => void,
  ) {
    super()
    this.exchange = exchange
    this.id = id
    this.arrived = monotonic()
    this.deadline = new Deadline(monotonic, this.arrived, timeoutMs)
    this.#onExpiry = onExpiry
  }

  expire(): void {
    this.#onExpiry(this)
  }
}

const tooLate = () =>
  unavailable('The request timed out; retry. A mutation with the same Idempotency-Key takes effect once.')
const onlyPost = () => new TollgateError('METHOD_NOT_ALLOWED', 'Only POST is supported here')

/** The header for `extensions.retryAfter`, for clients and proxies that do not know GraphQL. */
function hint(exchange: Exchange, errors: WireErrors): void {
  const wait = errors?.find(({ extensions }) => extensions.retryAfter !== undefined)?.extensions.retryAfter
  if (wait !== undefined) exchange.setHeader('Retry-After', String(wait))
}

type WireErrors = readonly WireError[] | undefined

/** The text of a response whose lists continue after the first chunk. */
async function* piecesOf(
  data: Record<string, unknown>,
  rest: (name: string) => AsyncIterable<unknown[]>,
  errors: WireErrors,
): AsyncGenerator<string> {
  let lead = '{"data":{'
  for (const [name, value] of Object.entries(data)) {
    const text = JSON.stringify(value)
    let open = false
    for await (const rows of rest(name)) {
      if (rows.length === 0) continue
      // The list stays open: its closing bracket follows the last chunk.
      const more = JSON.stringify(rows).slice(1, -1)
      yield open ? `,${more}` : `${lead}${JSON.stringify(name)}:${text.slice(0, -1)},${more}`
      open = true
    }
    yield open ? ']' : `${lead}${JSON.stringify(name)}:${text}`
    lead = ','
  }
  yield errors ? `},"errors":${JSON.stringify(errors)}}` : '}}'
}
