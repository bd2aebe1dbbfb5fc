import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { TollgateError } from '../domain/errors.ts'
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, MAX_HEADER_BYTES, UPLOAD_TIMEOUT_MS } from '../domain/limits.ts'
import type { Service } from '../operations/call/service.ts'
import { ReadyCheck } from '../operations/upkeep/ready.ts'
import { compileRestOperations, operationNamed } from '../rest/operations.ts'
import { EVENT_STREAM_PATH } from '../rest/routes.ts'
import { adminEndpoint } from './admin-endpoint.ts'
import { Admission, type AdmissionSettings, setRateLimitHeaders } from './admission.ts'
import { answerText } from './answer-text.ts'
import { auditEndpoint } from './audit-endpoint.ts'
import { hasUnreadBody } from './body.ts'
import { answerCheckout } from './checkout-endpoint.ts'
import { answerPreflight, clientEndpoint } from './client-endpoint.ts'
import { closeServer } from './close-server.ts'
import { connectionLimit, descriptorLimit } from './connection-limit.ts'
import { dashboardEndpoint } from './dashboard-endpoint.ts'
import { dashboardPages } from './dashboard-pages.ts'
import { docsPages } from './docs-pages.ts'
import { EventStreams } from './event-streams.ts'
import { NodeExchange } from './exchange.ts'
import { exportEndpoint } from './export-endpoint.ts'
import { graphqlHandler } from './graphql-handler.ts'
import { importEndpoint } from './import-endpoint.ts'
import { Turns } from './in-turn.ts'
import { answerJwks } from './jwks-endpoint.ts'
import { memberAdminEndpoint } from './member-admin-endpoint.ts'
import { answerMetrics } from './metrics-endpoint.ts'
import { guardConnections } from './open-connections.ts'
import { OPENAPI_PATH, openapiEndpoint } from './openapi-endpoint.ts'
import { type PlainRoutes, takePlainConnections } from './plain-connections.ts'
import { requestIdOf } from './request-id.ts'
import { RequestsUnderWay } from './requests-under-way.ts'
import { restHandler } from './rest-handler.ts'
import { traceRequest } from './trace-request.ts'
import { answerWebhook } from './webhook-endpoint.ts'

/** One year, as HSTS preload lists require. Other hosts of the domain are not included. */
const HSTS = 'max-age=31536000'

export interface HttpSettings {
  /** whether plain API requests bypass node:http */
  plain: boolean
  admission: AdmissionSettings
  stalledReaderMs: number
  /** null: as many as the system allows */
  maxConnections: number | null
  /** bearer token of /metrics; null: public */
  metricsToken: string | null
  /** how long requests are still accepted after SIGTERM */
  drainMs: number
  /** how long running requests may then take */
  graceMs: number
}

/** Folders of the browser builds. */
interface SiteFolders {
  dashboard: string
  docs: () => string
}

interface HttpServer {
  server: Server
  /** Reports not ready and closes connections after their next response, but still accepts requests. */
  drain(): void
  /** Finishes running requests, and accepts no new ones. */
  close(): Promise<void>
}

/** All routes of the service. */
export function httpServer(
  service: Service,
  publicUrl: () => string,
  folders: SiteFolders,
  settings: HttpSettings,
): HttpServer {
  const admission = new Admission(settings.admission, service.monotonic)
  const readyCheck = new ReadyCheck(service)
  const underWay = new RequestsUnderWay(service.monotonic)
  service.metrics.watchRequests(underWay)
  service.metrics.watchReadiness(async () => (await readyCheck.look()).ready)
  const adminApi = adminEndpoint(service, admission)
  const admin = graphqlHandler('admin', adminApi, service, underWay)
  const client = graphqlHandler('client', clientEndpoint(service, admission), service, underWay)
  const dashboard = graphqlHandler(
    'dashboard',
    dashboardEndpoint(service, publicUrl, admission),
    service,
    underWay,
  )
  const memberAdmin = graphqlHandler(
    'dashboard',
    memberAdminEndpoint(service, publicUrl, admission),
    service,
    underWay,
  )
  const operations = compileRestOperations()
  const rest = restHandler(adminApi, admission, service, underWay, operations)
  const streams = new EventStreams(adminApi, operationNamed(operations, 'events'), service, underWay)
  const imports = importEndpoint(service, publicUrl)
  const audit = auditEndpoint(service, publicUrl)
  const exports = exportEndpoint(service, publicUrl)
  const pages = dashboardPages(folders.dashboard, publicUrl)
  const docs = docsPages(folders.docs)
  const openapi = openapiEndpoint()

  const headers = new Headers({ 'X-Content-Type-Options': 'nosniff' })
  if (publicUrl().startsWith('https:')) headers.set('Strict-Transport-Security', HSTS)
  const turns = new Turns()
  let draining = false

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // For all routes. All but uploads have a shorter one where their bodies are read.
      requestTimeout: UPLOAD_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    turns.inTurn((request, response) => void handle(request, response)),
  )
  // A client that half-closes after a request still gets its response.
  Object.assign(server, { httpAllowHalfOpen: true })
  const plain = settings.plain ? takePlainConnections(server, plainRoutes()) : null
  const maxConnections = connectionLimit(settings.maxConnections, descriptorLimit())
  const rules = { maxConnections, stalledReaderMs: settings.stalledReaderMs }
  const connections = guardConnections(server, rules, service.log, service.metrics, service.monotonic)
  const drain = () => {
    draining = true
    streams.close()
  }
  return {
    server,
    drain,
    close() {
      drain()
      return closeServer({ server, connections, turns, plain }, settings.graceMs)
    },
  }

  function plainRoutes(): PlainRoutes {
    return {
      handlers: new Map([
        ['/graphql', admin],
        ['/client/graphql', client],
        ['/dashboard/graphql', dashboard],
        ...rest.plain,
      ]),
      closing: () => draining,
      broke: (error) => service.log.error({ err: error }, 'request handler failed'),
      headers: [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join(''),
      clock: () => service.clock(),
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeaders(headers)
    if (draining) response.setHeader('Connection', 'close')
    // A body in the same packet as its head is read before responding, so that the connection can be kept.
    if (hasUnreadBody(request)) await new Promise(setImmediate)
    try {
      await route(request, response)
    } catch (error) {
      const requestId = requestIdOf(request.headers) ?? randomUUID()
      service.log.error({ err: error, requestId, path: pathOf(request) }, 'request handler failed')
      if (response.headersSent) response.destroy()
      else
        answerText(
          request,
          response.setHeader('X-Request-Id', requestId),
          500,
          `Internal error (${requestId})`,
        )
    }
  }

  function route(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    if (isCountedHere(request) && !isAdmitted(admission, request, response)) return
    switch (pathOf(request)) {
      case '/graphql':
        return admin(new NodeExchange(request, response))
      case '/client/graphql':
        return request.method === 'OPTIONS'
          ? answerPreflight(service, request, response)
          : client(new NodeExchange(request, response))
      case '/dashboard/graphql':
        return dashboard(new NodeExchange(request, response))
      case '/dashboard/admin/graphql':
        return memberAdmin(new NodeExchange(request, response))
      case '/dashboard/import/users':
        return imports.upload(request, response)
      case '/dashboard/import/report':
        return imports.report(request, response)
      case '/dashboard/audit':
        return audit(request, response)
      case '/healthz':
        return answerText(request, response, 200, 'ok')
      case '/readyz':
        return draining
          ? answerText(request, response, 503, 'stopping')
          : ready(service, readyCheck, request, response)
      case '/.well-known/jwks.json':
        return answerJwks(service, request, response)
      case '/metrics':
        return answerMetrics(service, settings.metricsToken, request, response)
      default:
        return prefixed(request, response)
    }
  }

  function prefixed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    if (path === EVENT_STREAM_PATH) return streams.handle(request, response)
    const exported = exports.get(path)
    if (exported) return exported(request, response)
    if (isRest(request, path)) return rest.handle(new NodeExchange(request, response), request.url ?? '')
    if (path === OPENAPI_PATH) return openapi(request, response)
    const traced = (route: string, answer: () => Promise<void>) =>
      traceRequest(request.method, route, request.headers, answer)
    if (path.startsWith('/checkout/'))
      return traced('checkout', () => answerCheckout(service, publicUrl(), path, request, response))
    if (path.startsWith('/webhooks/'))
      return traced('webhooks', () => answerWebhook(service, path, request, response))
    if (path === '/docs' || path.startsWith('/docs/')) return docs(path, request, response)
    return other(request, response)
  }

  async function other(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await pages(pathOf(request), request, response)) return
    answerText(
      request,
      response,
      404,
      'Not found. The Admin API is at POST /graphql and, as REST, under /v1.',
    )
  }
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/'
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Endpoints that authenticate callers have their own limits, and health checks are always answered. */
const NOT_COUNTED = new Set([
  '/graphql',
  '/client/graphql',
  '/dashboard/graphql',
  '/dashboard/admin/graphql',
  '/healthz',
  '/readyz',
])

function isCountedHere(request: IncomingMessage): boolean {
  const path = pathOf(request)
  return !isRest(request, path) && (!NOT_COUNTED.has(path) || request.method === 'OPTIONS')
}

/** Its document is public, and counted like a page. */
const isRest = ({ method }: IncomingMessage, path: string): boolean =>
  (path.startsWith('/v1/') || path === '/v1') &&
  !(path === OPENAPI_PATH && (method === 'GET' || method === 'HEAD'))

function isAdmitted(admission: Admission, request: IncomingMessage, response: ServerResponse): boolean {
  const arrival = {
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress,
    setHeader: (name: string, value: string) => response.setHeader(name, value),
  }
  try {
    const visitorLimit = admission.visitor(arrival)
    if (visitorLimit) setRateLimitHeaders(arrival, visitorLimit)
    return true
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error
    response.setHeader('Retry-After', String(error.retryAfter))
    answerText(request, response, error.status, error.message)
    return false
  }
}

async function ready(
  service: Service,
  check: ReadyCheck,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const readiness = await check.look()
  if (readiness.ready) {
    answerText(request, response, 200, 'ready')
    return
  }
  service.outages.note(readiness.reason)
  answerText(request, response, 503, 'The database is unreachable or read-only')
}
