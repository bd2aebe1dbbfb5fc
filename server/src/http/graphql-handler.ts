import { randomUUID } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import { TollgateError } from '../domain/errors.ts'
import { Documents } from '../graphql/documents.ts'
import { type ReportFault, type WireError, wireError } from '../graphql/errors.ts'
import type { LongLists } from '../graphql/long-lists.ts'
import type { Service } from '../operations/call.ts'
import type { Exchange } from './exchange.ts'
import { parseGraphqlRequest } from './graphql-request.ts'

/** One GraphQL endpoint: a schema and the callers it is for. */
export interface Endpoint<Caller> {
  schema: GraphQLSchema
  /** Who calls. Throws before anything of the body is looked at. */
  authenticate(exchange: Exchange): Caller | Promise<Caller>
  /** What the resolvers get. */
  context(caller: Caller, exchange: Exchange, body: Buffer): object & { lists?: LongLists }
}

/**
 * Answers every POST with 200 and JSON, whatever comes: authenticate, bound, parse, validate, execute. The true
 * status stands in each error's extensions.
 */
export function graphqlHandler<Caller>(
  name: string,
  endpoint: Endpoint<Caller>,
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
) {
  const documents = new Documents(endpoint.schema)
  // Unique among processes, and cheap: one is made for every request.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return async function handle(exchange: Exchange): Promise<void> {
    const requestId = `${prefix}-${(++requests).toString(36)}`
    const report = (error: unknown) => {
      log.error({ err: error, requestId }, 'request failed')
      return requestId
    }
    const arrived = performance.now()
    let errors: WireErrors
    try {
      errors = await run(exchange, requestId, report)
    } catch (error) {
      errors = [wireError(error, 'BAD_REQUEST', report)]
      if (!exchange.answered) exchange.answer(200, requestId, { errors })
    }
    const outcome = errors?.[0]?.extensions.code ?? 'ok'
    metrics.requests.inc({ endpoint: name, outcome })
    metrics.seconds.observe({ endpoint: name }, (performance.now() - arrived) / 1000)
    log.debug({ requestId, endpoint: name, outcome }, 'request answered')
  }

  async function run(exchange: Exchange, requestId: string, report: ReportFault): Promise<WireErrors> {
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
    const body = received instanceof Promise ? await received : received
    const { query, variables, operationName } = parseGraphqlRequest(body)
    const checked = documents.check(query)
    if ('errors' in checked) {
      const errors = checked.errors.map((error) => wireError(error, checked.code, report))
      exchange.answer(200, requestId, { errors })
      return errors
    }
    const context = endpoint.context(caller, exchange, body)
    const result = await checked.run(context, variables, operationName)
    // An operation that never began, for want of fitting variables, is the caller's mistake too.
    const errors = result.errors?.map((error) => wireError(error, 'BAD_USER_INPUT', report))
    const { lists } = context
    if (lists?.unfinished && result.data) {
      const rest = (name: string) => lists.rest(name, endpoint.schema, context, variables)
      await exchange.stream(requestId, piecesOf(result.data, rest, errors))
    } else {
      exchange.answer(200, requestId, errors ? { ...result, errors } : result)
    }
    return errors
  }
}

const onlyPost = () => new TollgateError('METHOD_NOT_ALLOWED', 'Only POST is supported here')

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
