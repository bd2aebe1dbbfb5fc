import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidToken, TollgateError } from '../domain/errors.ts'
import { MAX_CLIENT_COST } from '../domain/limits.ts'
import { parseUrl } from '../domain/url.ts'
import { type ClientContext, clientSchema } from '../graphql/client/schema.ts'
import { LongLists } from '../graphql/engine/long-lists.ts'
import { isOriginOfAnyApp } from '../operations/apps/callers.ts'
import { type Call, momentOf, type UserActor } from '../operations/call/call.ts'
import type { Service } from '../operations/call/service.ts'
import { readUserToken } from '../operations/users/generate-user-token.ts'
import { userActor } from '../operations/users/me.ts'
import type { Admission } from './admission.ts'
import { endResponse } from './body.ts'
import { credentialOf } from './credential.ts'
import type { Exchange } from './exchange.ts'
import type { Endpoint } from './graphql-handler.ts'

export function clientEndpoint(service: Service, admission: Admission): Endpoint<Call<UserActor>> {
  const refuse = async (exchange: Exchange): Promise<never> => {
    admission.visitor(exchange)
    admission.failed(exchange)
    // The page must be able to read that its token has expired, for any app.
    const { origin } = exchange.headers
    if (origin !== undefined && (await isOriginOfAnyApp(service, origin))) allow(exchange, origin)
    throw invalidToken()
  }
  return {
    schema: clientSchema(),
    limits: { cost: MAX_CLIENT_COST },
    async authenticate(exchange) {
      const token = credentialOf(exchange.headers)
      const claims = token === null ? null : await readUserToken(service, token)
      if (!claims) return refuse(exchange)
      const { appId, uid } = claims
      try {
        admission.user(exchange, appId, uid)
      } catch (error) {
        // The page must be able to read this too. The database is no longer queried.
        const { origin } = exchange.headers
        if (origin !== undefined && service.apps.known(appId)?.origins.includes(origin))
          allow(exchange, origin)
        throw error
      }
      const actor = await userActor(service, claims)
      if (!actor) return refuse(exchange)
      const call = { service, appId, actor, deadline: null, idempotency: null }
      await checkOrigin(call, exchange)
      return call
    },
    context(call, _exchange, _body, deadline): ClientContext {
      return { call: { ...call, deadline }, lists: new LongLists() }
    },
  }
}

/** CORS preflight. */
export async function answerPreflight(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin } = request.headers
  try {
    const allowed = origin !== undefined && (await isOriginOfAnyApp(service, origin))
    if (allowed) {
      allow(response, origin)
      response.setHeader('Access-Control-Allow-Methods', 'POST')
      response.setHeader(
        'Access-Control-Allow-Headers',
        'Authorization, Content-Type, Traceparent, Tracestate',
      )
      response.setHeader('Access-Control-Max-Age', '600')
    }
    endResponse(request, response.writeHead(allowed ? 204 : 403))
  } catch (error) {
    service.log.error({ err: error }, 'CORS preflight failed')
    endResponse(request, response.writeHead(503))
  }
}

async function checkOrigin(call: Call, exchange: Exchange): Promise<void> {
  const { origin, host } = exchange.headers
  if (origin === undefined || parseUrl(origin)?.host === host) return
  const { app } = await momentOf(call)
  if (!app.origins.includes(origin)) {
    throw new TollgateError(
      'FORBIDDEN',
      `${origin} is not an allowed origin of the app. Add it in the dashboard.`,
    )
  }
  allow(exchange, origin)
}

/** Response headers that scripts of other origins may read. */
const READABLE_HEADERS = 'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id'

function allow(response: { setHeader(name: string, value: string): void }, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Expose-Headers', READABLE_HEADERS)
  response.setHeader('Vary', 'Origin')
}
