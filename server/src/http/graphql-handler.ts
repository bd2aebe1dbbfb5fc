import type { GraphQLSchema } from 'graphql'
import { methodNotAllowed } from '../domain/errors.ts'
import type { DocumentLimits } from '../graphql/engine/document-limits.ts'
import { type Admit, Documents } from '../graphql/engine/documents.ts'
import { type WireError, wireError } from '../graphql/engine/errors.ts'
import type { LongLists } from '../graphql/engine/long-lists.ts'
import { traceOperations } from '../graphql/engine/trace-operations.ts'
import type { Deadline } from '../operations/call/deadline.ts'
import { tracing } from '../telemetry/tracing.ts'
import type { Exchange } from './exchange.ts'
import { parseGraphqlRequest } from './graphql-request.ts'
import {
  faultReporter,
  type Request,
  type RequestOutcome,
  type RequestService,
  requestHandler,
  tooLate,
} from './request-handler.ts'
import type { RequestsUnderWay } from './requests-under-way.ts'

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
  service: RequestService,
  underWay: RequestsUnderWay,
): (exchange: Exchange) => Promise<void> {
  if (tracing) traceOperations(endpoint.schema)
  const documents = new Documents(endpoint.schema, endpoint.limits)
  const handle = requestHandler<null>({ name, run, fail }, service, underWay)
  return (exchange) => handle(exchange, null)

  function fail({ exchange, id }: Request<null>, error: unknown): RequestOutcome {
    const errors = [wireError(error, 'BAD_REQUEST', faultReporter(service, id))]
    if (!exchange.answered) {
      hint(exchange, errors)
      exchange.answer(200, id, { errors })
    }
    return outcomeOf(errors)
  }

  async function run(request: Request<null>): Promise<RequestOutcome> {
    const { exchange, id, deadline } = request
    if (exchange.method !== 'POST') {
      exchange.setHeader('Allow', 'POST')
      const errors = [wireError(onlyPost(), 'METHOD_NOT_ALLOWED', faultReporter(service, id))]
      exchange.answer(405, id, { errors })
      return outcomeOf(errors)
    }
    // Available values are not awaited: a needless await costs a lone call some microseconds.
    const authenticated = endpoint.authenticate(exchange)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
    if (request.expired) throw tooLate()
    const received = exchange.body()
    const body = received instanceof Promise ? await request.arriving(received) : received
    const { query, variables, operationName } = parseGraphqlRequest(body)
    const checked = documents.check(query, endpoint.admit?.(caller))
    if ('errors' in checked) {
      const errors = checked.errors.map((error) => wireError(error, checked.code, faultReporter(service, id)))
      exchange.answer(200, id, { errors })
      return outcomeOf(errors)
    }
    const context = endpoint.context(caller, exchange, body, deadline)
    const result = await checked.run(context, variables, operationName)
    // Invalid variables, because of which an operation never started, are the caller's mistake too.
    const errors = result.errors?.map((error) =>
      wireError(error, 'BAD_USER_INPUT', faultReporter(service, id)),
    )
    if (exchange.answered) return outcomeOf(errors)
    const { lists } = context
    if (lists?.unfinished && result.data) {
      const rest = (name: string) => lists.rest(name, endpoint.schema, context, variables)
      await exchange.stream(id, piecesOf(result.data, rest, errors))
    } else {
      hint(exchange, errors)
      exchange.answer(200, id, errors ? { ...result, errors } : result)
    }
    return outcomeOf(errors)
  }
}

const onlyPost = () => methodNotAllowed('Only POST is supported here')

const outcomeOf = (errors: WireErrors): RequestOutcome => errors?.[0]?.extensions.code ?? 'ok'

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
