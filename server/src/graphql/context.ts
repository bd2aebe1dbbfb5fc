import type { GraphQLResolveInfo } from 'graphql'
import type { Call, Service } from '../operations/call.ts'
import type { Caller } from '../store/app-cache.ts'
import type { LongLists } from './long-lists.ts'

/** One authenticated request to the Admin API. */
export interface AdminContext {
  service: Service
  caller: Caller
  idempotency: { key: string; request: Buffer } | null
  lists: LongLists
}

/** The call that a mutation field makes: its response name tells it from others of the same request. */
export function mutationCall({ service, caller, idempotency }: AdminContext, info: GraphQLResolveInfo): Call {
  return {
    service,
    ...caller,
    idempotency: idempotency && { ...idempotency, field: String(info.path.key) },
  }
}

export function queryCall({ service, caller }: AdminContext): Call {
  return { service, ...caller, idempotency: null }
}
