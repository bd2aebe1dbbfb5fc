import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { badRequest, badUserInput, TollgateError } from '../domain/errors.ts'
import { wireError } from '../graphql/engine/errors.ts'
import type { InstallationCall } from '../operations/call/call.ts'
import { checkRole, notSignedIn } from '../operations/call/roles.ts'
import type { Service } from '../operations/call/service.ts'
import { type DashboardFile, MUTATIONS } from '../operations/registry/registry.ts'
import { answerJson } from './answer.ts'
import { refuseForeign, visitorOf } from './dashboard-endpoint.ts'
import { requestIdOf } from './request-id.ts'

export interface MemberFile {
  method: 'GET' | 'POST'
  /** mutation whose role is required; null: any member */
  mutation: DashboardFile | null
  handle(
    call: InstallationCall,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void>
}

/**
 * A file that a member uploads or downloads. Unlike the GraphQL endpoints, these report failures by HTTP status, which
 * browsers show for files.
 */
export function memberFile(
  service: Service,
  publicUrl: () => string,
  { method, mutation, handle }: MemberFile,
) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (request.method !== method)
        throw new TollgateError('METHOD_NOT_ALLOWED', `Only ${method} is supported here`)
      refuseForeign(request.headers, publicUrl())
      const { member } = await visitorOf(service, request.headers, publicUrl())
      if (mutation !== null) checkRole(MUTATIONS[mutation].role, member)
      if (!member) throw notSignedIn()
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams
      const call: InstallationCall = {
        service,
        appId: null,
        actor: { kind: 'member', member, mutation: mutation && { name: mutation, args: {} } },
        deadline: null,
      }
      await handle(call, query, request, response)
    } catch (error) {
      const requestId = requestIdOf(request.headers) ?? randomUUID()
      const wire = wireError(error, 'BAD_REQUEST', () => {
        service.log.error({ err: error, requestId }, 'request failed')
        return requestId
      })
      if (response.headersSent) response.destroy()
      else answerJson({ request, response, requestId }, wire.extensions.status, { errors: [wire] })
    }
  }
}

/** One of the values, or null if the URL does not name one. */
export function oneOf<const Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
): Value | null {
  const asked = query.get(name)
  if (asked === null) return null
  const value = values.find((value) => value === asked)
  if (value === undefined) throw badUserInput(`${name} must be one of ${values.join(', ')}`, name)
  return value
}

export function parameter(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (!value) throw badRequest(`The URL must contain ?${name}=…`)
  return value
}
