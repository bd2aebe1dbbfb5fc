import type { GraphQLResolveInfo } from 'graphql'
import type { AppActor, Call, MemberActor } from '../../operations/call/call.ts'
import type { Deadline } from '../../operations/call/deadline.ts'
import type { Service } from '../../operations/call/service.ts'
import type { LongLists } from '../engine/long-lists.ts'

/** One authenticated request to the Admin API. */
export interface AdminContext {
  service: Service
  /** by an API key or, in the dashboard's GraphiQL, a member */
  caller: Pick<Call<AppActor | MemberActor>, 'appId' | 'actor'>
  idempotency: { key: string; request: Buffer } | null
  deadline: Deadline
  lists: LongLists
  /** the mutation, for the audit log; set before its resolver runs */
  operation?: AppActor['operation']
}

/** The call of a mutation field: its response name distinguishes it from others in the request. */
export function mutationCall(
  { service, caller, idempotency, deadline, operation }: AdminContext,
  info: GraphQLResolveInfo,
): Call {
  return {
    service,
    appId: caller.appId,
    actor: operation ? { ...caller.actor, operation } : caller.actor,
    deadline,
    idempotency: idempotency && { ...idempotency, field: String(info.path.key) },
  }
}

export function queryCall({ service, caller, deadline }: AdminContext): Call {
  return { service, ...caller, deadline, idempotency: null }
}
