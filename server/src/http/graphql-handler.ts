import { randomUUID } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import { rateLimited, TollgateError, unavailable } from '../domain/errors.ts'
import type { DocumentLimits } from '../graphql/document-limits.ts'
import { type Admit, Documents } from '../graphql/documents.ts'
import { type ReportFault, type WireError, wireError } from '../graphql/errors.ts'
import type { LongLists } from '../graphql/long-lists.ts'
import type { Service } from '../operations/call.ts'
import { Deadline } from '../operations/deadline.ts'
import { isOutage } from '../store/outage.ts'
import type { Exchange } from './exchange.ts'
import { parseGraphqlRequest } from './graphql-request.ts'
import { requestIdOf } from './request-id.ts'
import type { RequestsUnderWay } from './requests-under-way.ts'

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
  {
    log,
    metrics,
    outages,
    requestTimeoutMs,
  }: Pick<Service, 'log' | 'metrics' | 'outages' | 'requestTimeoutMs'>,
  underWay: RequestsUnderWay,
) {
  const documents = new Documents(endpoint.schema, endpoint.limits)
  // Unique among processes, and cheap: one is made for every request.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return async function handle(exchange: Exchange): Promise<void> {
    const requestId = requestIdOf(exchange.headers) ?? `${prefix}-${(++requests).toString(36)}`
    const report = (error: unknown) => {
      if (isOutage(error)) outages.note(error)
      else log.error({ err: error, requestId }, 'request failed')
      return requestId
    }
    const arrived = performance.now()
    const count = (errors: WireErrors) => {
      const outcome = errors?.[0]?.extensions.code ?? 'ok'
      metrics.requests.inc({ endpoint: name, outcome })
      metrics.seconds.observe({ endpoint: name }, (performance.now() - arrived) / 1000)
      log.debug({ requestId, endpoint: name, outcome }, 'request answered')
    }
    const fail = (error: unknown) => {
      const errors = [wireError(error, 'BAD_REQUEST', report)]
      if (!exchange.answered) {
        hint(exchange, errors)
        exchange.answer(200, requestId, { errors })
      }
      return errors
    }
    let expired = false
    const request = {
      arrived,
      deadline: new Deadline(arrived, requestTimeoutMs),
      expire: () => {
        // A list that is on its way is bounded by how fast it is read.
        if (exchange.answered) return
        expired = true
        count(fail(tooLate()))
      },
    }
    if (!underWay.begin(request)) {
      count(fail(rateLimited('Too many requests are under way; try again in a moment', 1)))
      return
    }
    let errors: WireErrors
    try {
      errors = await run(exchange, requestId, request.deadline, report)
    } catch (error) {
      if (expired) log.debug({ err: error, requestId }, 'failed after its deadline')
      else errors = fail(error)
    }
    underWay.end(request)
    if (!expired) count(errors)
  }

  async function run(
    exchange: Exchange,
    requestId: string,
    deadline: Deadline,
    report: ReportFault,
  ): Promise<WireErrors> {
    if (exchange.method !== 'POST') {
      exchange.setHeader('Allow', 'POST')
      const errors = [wireError(onlyPost(), 'METHOD_NOT_ALLOWED', report)]
      exchange.answer(405, requestId, { errors })
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
      const errors = checked.errors.map((error) => wireError(error, checked.code, report))
      exchange.answer(200, requestId, { errors })
      return errors
    }
    const context = endpoint.context(caller, exchange, body, deadline)
    const result = await checked.run(context, variables, operationName)
    // An operation that never began, for want of fitting variables, is the caller's mistake too.
    const errors = result.errors?.map((error) => wireError(error, 'BAD_USER_INPUT', report))
    if (exchange.answered) return errors
    const { lists } = context
    if (lists?.unfinished && result.data) {
      const rest = (name: string) => lists.rest(name, endpoint.schema, context, variables)
      await exchange.stream(requestId, piecesOf(result.data, rest, errors))
    } else {
      hint(exchange, errors)
      exchange.answer(200, requestId, errors ? { ...result, errors } : result)
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
