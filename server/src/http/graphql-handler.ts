import { randomUUID } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import type { Monotonic } from '../domain/clocks.ts'
import { rateLimited, TollgateError, unavailable } from '../domain/errors.ts'
import type { DocumentLimits } from '../graphql/engine/document-limits.ts'
import { type Admit, Documents } from '../graphql/engine/documents.ts'
import { type ReportFault, type WireError, wireError } from '../graphql/engine/errors.ts'
import type { LongLists } from '../graphql/engine/long-lists.ts'
import type { Service } from '../operations/call/call.ts'
import { Deadline } from '../operations/call/deadline.ts'
import { isOutage } from '../store/outage.ts'
import type { Exchange } from './exchange.ts'
import { parseGraphqlRequest } from './graphql-request.ts'
import { requestIdOf } from './request-id.ts'
import { type RequestsUnderWay, UnderWay } from './requests-under-way.ts'

/** One GraphQL endpoint: a schema and the callers it is for. */
export interface Endpoint<Caller> {
  schema: GraphQLSchema
  limits: DocumentLimits
  /** Who calls. Throws before anything of the body is looked at. */
  authenticate(exchange: Exchange): Caller | Promise<Caller>
  /** What a document must pass before it is validated, for callers who may not ask everything. */
  admit?(caller: Caller): Admit | null
  /** What the resolvers get. */
  context(
    caller: Caller,
    exchange: Exchange,
    body: Buffer,
    deadline: Deadline,
  ): object & { lists?: LongLists }
}

/**
 * Answers every POST with 200 and JSON, whatever comes: authenticate, bound, parse, validate, execute. The true
 * status stands in each error's extensions. Each is answered by its deadline, whatever its work waits for.
 */
export function graphqlHandler<Caller>(
  name: string,
  endpoint: Endpoint<Caller>,
  service: Pick<Service, 'log' | 'metrics' | 'monotonic' | 'outages' | 'requestTimeoutMs'>,
  underWay: RequestsUnderWay,
) {
  const { log, metrics, monotonic, outages, requestTimeoutMs } = service
  const documents = new Documents(endpoint.schema, endpoint.limits)
  // Unique among processes, and cheap: one is made for every request.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return async function handle(exchange: Exchange): Promise<void> {
    const id = requestIdOf(exchange.headers) ?? `${prefix}-${(++requests).toString(36)}`
    const request = new Request(exchange, id, monotonic, requestTimeoutMs, expire)
    if (!underWay.begin(request)) {
      count(request, fail(request, rateLimited('Too many requests are under way; try again in a moment', 1)))
      return
    }
    let errors: WireErrors
    try {
      errors = await run(request)
    } catch (error) {
      if (request.expired) log.debug({ err: error, requestId: request.id }, 'failed after its deadline')
      else errors = fail(request, error)
    }
    underWay.end(request)
    if (!request.expired) count(request, errors)
  }
  function expire(request: Request): void {
    // A list that is on its way is bounded by how fast it is read.
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
    // What is there already is not waited for: a wait for nothing takes a lone call some microseconds.
    const authenticated = endpoint.authenticate(exchange)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
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
    // An operation that never began, for want of fitting variables, is the caller's mistake too.
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

  /** How long a body may take is bounded where it is read; the answer's time begins when it is there. */
  async function arriving(body: Promise<Buffer>, deadline: Deadline): Promise<Buffer> {
    deadline.renew(Number.POSITIVE_INFINITY)
    try {
      return await body
    } finally {
      deadline.renew(requestTimeoutMs)
    }
  }
}

/** One for all that is kept of a request: closures of its own would be made for every check. */
class Request extends UnderWay {
  readonly exchange: Exchange
  readonly id: string
  readonly arrived: number
  readonly deadline: Deadline
  /** whether it was answered by its deadline */
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
  unavailable(
    'There was no answer in time. Try again; a mutation with the same Idempotency-Key takes effect once',
  )
const onlyPost = () => new TollgateError('METHOD_NOT_ALLOWED', 'Only POST is supported here')

/** The header beside `extensions.retryAfter`, for clients and proxies that know nothing of GraphQL. */
function hint(exchange: Exchange, errors: WireErrors): void {
  const wait = errors?.find(({ extensions }) => extensions.retryAfter !== undefined)?.extensions.retryAfter
  if (wait !== undefined) exchange.setHeader('Retry-After', String(wait))
}

/** What an answer tells of failures; undefined where all went well. */
type WireErrors = readonly WireError[] | undefined

/** The text of an answer whose lists go on after what was executed first. */
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
      // The list is kept open: its closing bracket comes after the last stretch.
      const more = JSON.stringify(rows).slice(1, -1)
      yield open ? `,${more}` : `${lead}${JSON.stringify(name)}:${text.slice(0, -1)},${more}`
      open = true
    }
    yield open ? ']' : `${lead}${JSON.stringify(name)}:${text}`
    lead = ','
  }
  yield errors ? `},"errors":${JSON.stringify(errors)}}` : '}}'
}
