import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { TollgateError } from '../domain/errors.ts'
import { Documents } from '../graphql/documents.ts'
import { type ReportFault, type WireError, wireError } from '../graphql/errors.ts'
import type { LongLists } from '../graphql/long-lists.ts'
import type { Service } from '../operations/call.ts'
import { type Answer, answerJson, answerStream } from './answer.ts'
import { readBody } from './body.ts'
import { parseGraphqlRequest } from './graphql-request.ts'

/** One GraphQL endpoint: a schema and the callers it is for. */
export interface Endpoint<Caller> {
  schema: GraphQLSchema
  /** Who calls. Throws before anything of the body is looked at. */
  authenticate(request: IncomingMessage, response: ServerResponse): Promise<Caller>
  /** What the resolvers get. */
  context(
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
  ): object & { lists?: LongLists }
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

  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = `${prefix}-${(++requests).toString(36)}`
    const answer = { request, response, requestId }
    const report = (error: unknown) => {
      log.error({ err: error, requestId }, 'request failed')
      return requestId
    }
    const arrived = performance.now()
    let errors: WireErrors
    try {
      errors = request.method === 'POST' ? await run(answer, report) : refuseMethod(answer, report)
    } catch (error) {
      errors = [wireError(error, 'BAD_REQUEST', report)]
      if (!response.headersSent) answerJson(answer, 200, { errors })
    }
    const outcome = errors?.[0]?.extensions.code ?? 'ok'
    metrics.requests.inc({ endpoint: name, outcome })
    metrics.seconds.observe({ endpoint: name }, (performance.now() - arrived) / 1000)
    log.debug({ requestId, url: request.url, outcome }, 'request answered')
  }

  async function run(answer: Answer, report: ReportFault): Promise<WireErrors> {
    const { request, response } = answer
    const caller = await endpoint.authenticate(request, response)
    const body = await readBody(request)
    const { query, variables, operationName } = parseGraphqlRequest(body)
    const checked = documents.check(query)
    if ('errors' in checked) {
      const errors = checked.errors.map((error) => wireError(error, checked.code, report))
      answerJson(answer, 200, { errors })
      return errors
    }
    const context = endpoint.context(caller, request, response, body)
    const result = await checked.run(context, variables, operationName)
    // An operation that never began, for want of fitting variables, is the caller's mistake too.
    const errors = result.errors?.map((error) => wireError(error, 'BAD_USER_INPUT', report))
    const { lists } = context
    if (lists?.unfinished && result.data) {
      const rest = (name: string) => lists.rest(name, endpoint.schema, context, variables)
      await answerStream(answer, piecesOf(result.data, rest, errors))
    } else {
      answerJson(answer, 200, errors ? { ...result, errors } : result)
    }
    return errors
  }
}

/** What an answer tells of failures; undefined where all went well. */
type WireErrors = readonly WireError[] | undefined

function refuseMethod(answer: Answer, report: ReportFault): WireErrors {
  const error = new TollgateError('METHOD_NOT_ALLOWED', 'Only POST is supported here')
  const errors = [wireError(error, error.code, report)]
  answer.response.setHeader('Allow', 'POST')
  answerJson(answer, 405, { errors })
  return errors
}

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
