import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import { TollgateError } from '../domain/errors.ts'
import { Documents } from '../graphql/documents.ts'
import { type WireError, wireError } from '../graphql/errors.ts'
import { discardBody, readBody } from './body.ts'
import { parseGraphqlRequest } from './graphql-request.ts'

/** One GraphQL endpoint: a schema and the callers it is for. */
export interface Endpoint<Caller> {
  schema: GraphQLSchema
  /** Who calls. Throws before anything of the body is looked at. */
  authenticate(request: IncomingMessage): Promise<Caller>
  /** What the resolvers get. */
  context(caller: Caller, request: IncomingMessage, response: ServerResponse, body: Buffer): object
}

/**
 * Answers every POST with 200 and JSON, whatever comes: authenticate, bound, parse, validate, execute. The true
 * status stands in each error's extensions.
 */
export function graphqlHandler<Caller>(endpoint: Endpoint<Caller>, log: Logger) {
  const documents = new Documents(endpoint.schema)

  // Unique among processes, and cheap: one is made for every request.
  const prefix = randomUUID().slice(0, 8)
  let requests = 0

  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = `${prefix}-${(++requests).toString(36)}`
    const report = (error: unknown) => {
      log.error({ err: error, requestId }, 'request failed')
      return requestId
    }
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST')
      const error = new TollgateError('METHOD_NOT_ALLOWED', 'Only POST is supported here')
      answer(request, response, 405, requestId, { errors: [wireError(error, error.code, report)] })
      return
    }
    let result: object
    try {
      result = await run(request, response, report)
    } catch (error) {
      result = { errors: [wireError(error, 'BAD_REQUEST', report)] }
    }
    answer(request, response, 200, requestId, result)
    log.debug({ requestId, url: request.url }, 'request answered')
  }

  async function run(request: IncomingMessage, response: ServerResponse, report: (error: unknown) => string) {
    const caller = await endpoint.authenticate(request)
    const body = await readBody(request)
    const { query, variables, operationName } = parseGraphqlRequest(body)
    const checked = documents.check(query)
    if ('errors' in checked) return { errors: wireErrors(checked.errors, checked.code, report) }

    const context = endpoint.context(caller, request, response, body)
    const { data, errors } = await checked.run(context, variables, operationName)
    // Without data, the operation never began: it was not to be found, or its variables did not fit.
    const wired = errors && wireErrors(errors, 'BAD_USER_INPUT', report)
    return { ...(data !== undefined && { data }), ...(wired && { errors: wired }) }
  }
}

function wireErrors(
  errors: readonly unknown[],
  code: Parameters<typeof wireError>[1],
  report: (error: unknown) => string,
): WireError[] {
  return errors.map((error) => wireError(error, code, report))
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  requestId: string,
  result: object,
): void {
  if (response.destroyed) return
  // A string goes out in one write together with the headers; a buffer would take two.
  const body = JSON.stringify(result)
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    'X-Request-Id',
    requestId,
  ]
  // A body we have not read stands in the way of the next request on this connection.
  if (!request.complete) {
    headers.push('Connection', 'close')
    discardBody(request)
  }
  response.writeHead(status, headers)
  response.end(body)
}
