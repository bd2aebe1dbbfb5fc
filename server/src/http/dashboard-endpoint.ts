import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, TollgateError } from '../domain/errors.ts'
import { SESSION_SECONDS } from '../domain/limits.ts'
import { dashboardSchema } from '../graphql/dashboard.ts'
import type { DashboardContext } from '../graphql/dashboard-context.ts'
import type { Service } from '../operations/call.ts'
import { memberOfSession } from '../operations/dashboard/sign-in.ts'
import type { Member } from '../store/members.ts'
import type { Exchange } from './exchange.ts'
import type { Endpoint } from './graphql-handler.ts'

interface Visitor {
  member: Member | null
  session: string | null
}

const COOKIE = 'tollgate_session'

export function dashboardEndpoint(service: Service, publicUrl: () => string): Endpoint<Visitor> {
  return {
    schema: dashboardSchema(),
    async authenticate({ headers }) {
      if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
        throw badRequest('Content-Type must be application/json')
      }
      refuseForeign(headers, publicUrl())
      return visitorOf(service, headers)
    },
    context({ member, session }, exchange, _body, deadline): DashboardContext {
      const secure = publicUrl().startsWith('https:')
      return {
        service,
        member,
        session,
        deadline,
        userAgent: exchange.headers['user-agent'] ?? null,
        publicUrl: publicUrl(),
        setSession: (value) => setCookie(exchange, value, secure),
      }
    },
  }
}

/** Whose session the request's cookie holds. */
export async function visitorOf(service: Service, headers: IncomingHttpHeaders): Promise<Visitor> {
  const session = cookieOf(headers)
  const member = session === null ? null : await memberOfSession(service, session)
  return { member, session }
}

/** A cookie comes along whoever made the browser send it: only our own pages may. */
export function refuseForeign({ origin, host }: IncomingHttpHeaders, publicUrl: string): void {
  if (origin === undefined) return
  const ours = origin === new URL(publicUrl).origin || (URL.canParse(origin) && new URL(origin).host === host)
  if (!ours) throw new TollgateError('FORBIDDEN', 'The dashboard answers its own pages only')
}

function cookieOf({ cookie = '' }: IncomingHttpHeaders): string | null {
  for (const part of cookie.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === COOKIE && value) return value
  }
  return null
}

function setCookie(exchange: Exchange, session: string | null, secure: boolean): void {
  const life = session === null ? 0 : SESSION_SECONDS
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${life}${secure ? '; Secure' : ''}`
  exchange.setHeader('Set-Cookie', `${COOKIE}=${session ?? ''}; ${flags}`)
}
