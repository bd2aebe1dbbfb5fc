import type { GraphQLSchema } from 'graphql'
import { type RequiredScope, scopeIncludes } from '../../domain/api-key-scope.ts'
import { confirmScope } from '../../operations/apps/callers.ts'
import { ADMIN_MUTATIONS, ADMIN_QUERIES, FOR_KEYS } from '../../operations/registry/registry.ts'
import { wrapOperations } from '../engine/operations.ts'
import { acceptQuotedEnums, builtOnce, newBuilder, nullableOperations } from '../types/builder.ts'
import type { AdminContext } from './context.ts'
import { defineCreditMutations } from './credit-mutations.ts'
import { defineAdminLifecycle } from './lifecycle.ts'
import { defineAdminMutations } from './mutations.ts'
import { defineAdminQueries } from './queries.ts'
import { defineAdminTypes } from './types.ts'
import { defineAdminWebhooks } from './webhooks.ts'

/** The Admin API, for an application's backend. */
export const adminSchema = builtOnce(buildAdminSchema)

export function buildAdminSchema(): GraphQLSchema {
  const builder = newBuilder<AdminContext>()
  const types = defineAdminTypes(builder)
  defineAdminQueries(builder, types)
  defineAdminMutations(builder, types)
  defineCreditMutations(builder, types)
  defineAdminLifecycle(builder, types)
  defineAdminWebhooks(builder)
  const schema = nullableOperations(acceptQuotedEnums(builder.toSchema()))
  wrapOperations(schema.getQueryType(), ADMIN_QUERIES, (name, _args, context: AdminContext, resolve) =>
    scoped(FOR_KEYS[name].scope, context, resolve),
  )
  wrapOperations(schema.getMutationType(), ADMIN_MUTATIONS, (name, args, context: AdminContext, resolve) =>
    scoped(FOR_KEYS[name].scope, { ...context, mutation: { name, args } }, resolve),
  )
  return schema
}

/**
 * The scope of an API key is checked here, before the operation, and again wherever the operation checks that the key is
 * still valid: the scope known here may be outdated. Members have a role instead; for-members.ts checks it.
 */
function scoped(
  required: RequiredScope,
  context: AdminContext,
  resolve: (context: AdminContext) => unknown,
): unknown {
  const { service, caller } = context
  const { appId, actor } = caller
  if (actor.kind === 'member') return resolve(context)
  const holder = { appId, actor: { ...actor, required } }
  const next = { ...context, caller: holder }
  if (scopeIncludes(actor.scope, required)) return resolve(next)
  return confirmScope(service, holder).then(() => resolve(next))
}
