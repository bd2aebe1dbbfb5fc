import { badRequest, methodNotAllowed, notFound, TollgateError } from '../domain/errors.ts'
import type { AdminContext } from '../graphql/admin/context.ts'
import type { RestOperation } from '../rest/operation.ts'
import { type Match, Router } from '../rest/router.ts'
import type { AdminEndpoint } from './admin-endpoint.ts'
import type { Admission } from './admission.ts'
import type { Exchange } from './exchange.ts'
import { isObject, parseJson, utf8Of } from './json-body.ts'
import { OPENAPI_PATH } from './openapi-endpoint.ts'
import { ProblemAnswers } from './problem-answer.ts'
import {
  type Request,
  type RequestOutcome,
  type RequestService,
  requestHandler,
  tooLate,
} from './request-handler.ts'
import type { RequestsUnderWay } from './requests-under-way.ts'

/** A request as its first line describes it. */
interface Target {
  match: Match<RestOperation> | null
  query: URLSearchParams | null
  /** additional content that an Idempotency-Key identifies, besides the body */
  line: string
}

type RestRequest = Request<Target>

interface RestHandler {
  /** Any request whose path is /v1 or begins with /v1/. `url` is its target, with the query string. */
  handle(exchange: Exchange, url: string): Promise<void>
  /** Handlers of the paths that always mean the same POST, for the short path. */
  plain: [path: string, handle: (exchange: Exchange) => Promise<void>][]
}

const NO_BODY = Buffer.alloc(0)

/**
 * Responds to REST requests with the operations of the Admin API: the same authentication, limits, schema and compiled
 * documents as GraphQL, with true status codes and problem documents.
 */
export function restHandler(
  endpoint: AdminEndpoint,
  admission: Admission,
  service: RequestService,
  underWay: RequestsUnderWay,
  operations: readonly RestOperation[],
): RestHandler {
  const problems = new ProblemAnswers(service)
  const router = new Router(operations)
  const routeOf = ({ match }: Target) => match?.found?.route.path
  const handle = requestHandler<Target>(
    { name: 'rest', routeOf, run, fail: (request, error) => problems.fail(request, error) },
    service,
    underWay,
  )
  return {
    handle: (exchange, url) => handle(exchange, targetOf(exchange.method ?? '', url)),
    plain: operations
      .filter(({ route, inPath }) => route.method === 'POST' && inPath.length === 0)
      .map((found) => {
        const { method, path } = found.route
        const target = { match: { found, path: {} }, query: null, line: `${method} ${path}\n` }
        return [path, (exchange) => handle(exchange, target)]
      }),
  }

  async function run(request: RestRequest): Promise<RequestOutcome> {
    const { exchange, deadline } = request
    const { match, query, line } = request.target
    const operation = match?.found
    if (!operation) {
      admission.visitor(exchange)
      throw refusal(exchange, match)
    }
    // Available values are not awaited, as in GraphQL.
    const authenticated = endpoint.authenticate(exchange)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
    if (request.expired) throw tooLate()
    if (!match.path) throw badRequest('The path must be percent-encoded UTF-8')
    const received = operation.hasBody ? exchange.body() : NO_BODY
    const body = received instanceof Promise ? await request.arriving(received) : received
    const values = operation.values({
      path: match.path,
      query,
      body: operation.hasBody ? objectIn(exchange, body) : null,
    })
    const context = endpoint.context(caller, exchange, body, deadline, line)
    return answer(request, operation, values, context)
  }

  function targetOf(method: string, url: string): Target {
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    return {
      match: path === OPENAPI_PATH ? { found: null, allow: ['GET', 'HEAD'] } : router.match(method, path),
      query: end === -1 ? null : new URLSearchParams(url.slice(end)),
      line: `${method} ${url}\n`,
    }
  }

  async function answer(
    request: RestRequest,
    operation: RestOperation,
    values: Record<string, unknown>,
    context: AdminContext,
  ): Promise<RequestOutcome> {
    const { exchange, id } = request
    const ran = operation.run(context, values)
    const { data, errors } = ran instanceof Promise ? await ran : ran
    const [error] = errors ?? []
    if (error) return problems.failed(request, operation, values, error, data === undefined)
    if (!data) throw new Error(`${operation.name} has neither data nor errors`)
    if (context.lists.unfinished) await operation.complete(context, data, values)
    if (!exchange.answered) exchange.answer(operation.status(values), id, operation.answer(data, values))
    return 'ok'
  }
}

function refusal(exchange: Exchange, match: Match<RestOperation> | null): TollgateError {
  if (!match || match.found) return notFound('Unknown route. GET /v1/openapi.json lists all routes.')
  const allow = match.allow.join(', ')
  exchange.setHeader('Allow', allow)
  return methodNotAllowed(`${exchange.method} is not supported here. Supported: ${allow}.`)
}

const JSON_ONLY = /^application\/json\s*(;|$)/i

function objectIn({ headers }: Exchange, body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) return {}
  const type = headers['content-type']
  if (type === undefined || !JSON_ONLY.test(type))
    throw new TollgateError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')
  const parsed = parseJson(utf8Of(body), 'The request body')
  if (!isObject(parsed) || Array.isArray(parsed)) throw badRequest('The request body must be a JSON object')
  return parsed
}
