import { badRequest } from '../domain/errors.ts'
import { MAX_COST } from '../domain/limits.ts'
import type { AdminContext } from '../graphql/admin/context.ts'
import { adminSchemaForMembers } from '../graphql/admin/for-members.ts'
import { LongLists } from '../graphql/engine/long-lists.ts'
import { inApp } from '../operations/apps/apps.ts'
import type { Call, MemberActor } from '../operations/call/call.ts'
import { notSignedIn } from '../operations/call/roles.ts'
import type { Service } from '../operations/call/service.ts'
import type { Admission } from './admission.ts'
import { sessionCheck } from './dashboard-endpoint.ts'
import type { Endpoint } from './graphql-handler.ts'

/** The app. Pages of other sites cannot send this header, in addition to the check of the session. */
const APP_HEADER = 'tollgate-app'

/** `/dashboard/admin/graphql`: the Admin API for signed-in members, for the dashboard's GraphiQL. */
export function memberAdminEndpoint(
  service: Service,
  publicUrl: () => string,
  admission: Admission,
): Endpoint<Call<MemberActor>> {
  const visitor = sessionCheck(service, publicUrl, admission)
  return {
    schema: adminSchemaForMembers(),
    limits: { cost: MAX_COST },
    async authenticate(exchange) {
      const { member } = await visitor(exchange)
      if (!member) throw notSignedIn()
      const call: Call<MemberActor> = {
        service,
        appId: appOf(exchange.headers[APP_HEADER]),
        actor: { kind: 'member', member, mutation: null },
        deadline: null,
        idempotency: null,
      }
      await inApp(call)
      return call
    },
    context: ({ appId, actor }, _exchange, _body, deadline): AdminContext => ({
      service,
      caller: { appId, actor },
      idempotency: null,
      deadline,
      lists: new LongLists(),
    }),
  }
}

/** URL-encoded, since headers are ASCII. */
function appOf(header: string | string[] | undefined): string {
  if (typeof header !== 'string') throw badRequest('The Tollgate-App header must contain the ID of an app')
  try {
    return decodeURIComponent(header)
  } catch {
    throw badRequest('The Tollgate-App header must be percent-encoded')
  }
}
