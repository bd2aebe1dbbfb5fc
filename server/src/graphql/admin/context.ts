import type { GraphQLResolveInfo } from 'graphql'
import type { AppActor, Call, MemberActor, RunningMutation } from '../../operations/call/call.ts'
import type { Deadline } from '../../operations/call/deadline.ts'
import type { Service } from '../../operations/call/service.ts'
import type { LongLists } from '../engine/long-lists.ts'

/** An authenticated request to the Admin API. */
export interface AdminContext {
  service: Service
  /** by an API key or, in the dashboard's GraphiQL, a member */
  caller: Pick<Call<AppActor | MemberActor>, 'appId' | 'actor'>
  idempotency: { key: string; request: Buffer } | null
  deadline: Deadline
  lists: LongLists
  /** set before the resolver of a mutation runs */
  mutation?: RunningMutation
}

/** The call of a mutation field: its response name distinguishes it from others in the request. */
export function mutationCall(
  { service, caller, idempotency, deadline, mutation }: AdminContext,
  info: GraphQLResolveInfo,
): Call {
  if (!mutation) throw new Error('a mutation must be named before it runs')
  return {
    service,
    appId: caller.appId,
    actor: { ...caller.actor, mutation },
    deadline,
    idempotency: idempotency && { ...idempotency, field: String(info.path.key) },
  }
}

export function queryCall({ service, caller, deadline }: AdminContext): Call {
  return { service, ...caller, deadline, idempotency: null }
}
