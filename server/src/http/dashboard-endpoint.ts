import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { badRequest, TollgateError } from '../domain/errors.ts'
import {
  KNOWN_DEVICE_SECONDS,
  MAX_MEMBER_COST,
  MAX_RATE_LIMIT_SOURCES,
  SESSION_SECONDS,
} from '../domain/limits.ts'
import { parseUrl } from '../domain/url.ts'
import type { DashboardContext } from '../graphql/dashboard/context.ts'
import { dashboardSchema } from '../graphql/dashboard/schema.ts'
import { admitVisitor } from '../graphql/dashboard/visitor-document.ts'
import type { Service } from '../operations/call/service.ts'
import { memberOfSession } from '../operations/members/sign-in.ts'
import { MUTATION_NAMES, MUTATIONS } from '../operations/registry/registry.ts'
import type { Member } from '../store/members/members.ts'
import { type Admission, setRateLimitHeaders } from './admission.ts'
import type { Exchange } from './exchange.ts'
import type { Endpoint } from './graphql-handler.ts'
import { isOurHost, notOurHost } from './our-host.ts'

interface Visitor {
  member: Member | null
  session: string | null
}

/** Over https, with a prefix that no other host of the domain can set. */
const sessionCookie = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-tollgate_session' : 'tollgate_session'
const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:')
/** One for each account that has signed in from this browser. */
const deviceCookie = (memberId: number): string => `tollgate_device_${memberId}`

export function dashboardEndpoint(
  service: Service,
  publicUrl: () => string,
  admission: Admission,
): Endpoint<Visitor> {
  return {
    schema: dashboardSchema(),
    limits: {
      cost: MAX_MEMBER_COST,
      once: new Set(MUTATION_NAMES.filter((name) => MUTATIONS[name].password)),
    },
    authenticate: sessionCheck(service, publicUrl, admission),
    admit: ({ member }) => (member ? null : admitVisitor),
    context({ member, session }, exchange, _body, deadline): DashboardContext {
      const url = publicUrl()
      return {
        service,
        member,
        session,
        deadline,
        userAgent: exchange.headers['user-agent'] ?? null,
        address: admission.sourceOf(exchange),
        deviceOf: (memberId) => cookieOf(exchange.headers, deviceCookie(memberId)),
        setDevice: (memberId, token) => setDeviceCookie(exchange, memberId, token, url),
        publicUrl: url,
        setSession: (value) => setCookie(exchange, value, url),
      }
    },
  }
}

/** Who a request of the dashboard's own pages comes from; requests of other pages are refused. */
export function sessionCheck(
  service: Service,
  publicUrl: () => string,
  admission: Admission,
): (exchange: Exchange) => Promise<Visitor> {
  /** Recently valid ones, which are not counted by their address. */
  const sessions = new LRUCache<string, true>({ maxSize: MAX_RATE_LIMIT_SOURCES, sizeCalculation: () => 1 })
  return async (exchange) => {
    const { headers } = exchange
    if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
      throw badRequest('Content-Type must be application/json')
    }
    refuseForeign(headers, publicUrl())
    const cookie = cookieOf(headers, sessionCookie(publicUrl())) ?? ''
    // Members who have signed in are not slowed down by others at the same address.
    const visitorLimit = sessions.get(cookie) ? null : admission.visitor(exchange)
    const visitor = await visitorOf(service, headers, publicUrl())
    if (visitor.member) {
      sessions.set(cookie, true)
    } else {
      sessions.delete(cookie)
      if (visitorLimit) setRateLimitHeaders(exchange, visitorLimit)
    }
    return visitor
  }
}

/** The member whose session the request's cookie names. */
export async function visitorOf(
  service: Service,
  headers: IncomingHttpHeaders,
  publicUrl: string,
): Promise<Visitor> {
  const session = cookieOf(headers, sessionCookie(publicUrl))
  const member = session === null ? null : await memberOfSession(service, session)
  return { member, session }
}

/** Browsers send cookies with requests from any page: only our own pages may make them. */
export function refuseForeign({ origin, host }: IncomingHttpHeaders, publicUrl: string): void {
  if (!isOurHost(host, publicUrl)) throw new TollgateError('FORBIDDEN', notOurHost(publicUrl))
  if (origin === undefined) return
  const ours = origin === new URL(publicUrl).origin || parseUrl(origin)?.host === host
  if (!ours)
    throw new TollgateError('FORBIDDEN', 'Cross-origin requests to the dashboard API are not allowed')
}

function cookieOf({ cookie = '' }: IncomingHttpHeaders, wanted: string): string | null {
  for (const part of cookie.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === wanted && value) return value
  }
  return null
}

function setCookie(exchange: Exchange, session: string | null, publicUrl: string): void {
  const life = session === null ? 0 : SESSION_SECONDS
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${life}${isSecure(publicUrl) ? '; Secure' : ''}`
  exchange.setHeader('Set-Cookie', `${sessionCookie(publicUrl)}=${session ?? ''}; ${flags}`)
}

/** Sent only to where passwords are sent. */
function setDeviceCookie(exchange: Exchange, memberId: number, token: string, publicUrl: string): void {
  const flags = `Path=/dashboard/graphql; HttpOnly; SameSite=Strict; Max-Age=${KNOWN_DEVICE_SECONDS}${isSecure(publicUrl) ? '; Secure' : ''}`
  exchange.setHeader('Set-Cookie', `${deviceCookie(memberId)}=${token}; ${flags}`)
}
