import type { GraphQLSchema } from 'graphql'
import { ADMIN_MUTATIONS, ADMIN_QUERIES } from '../../operations/registry/registry.ts'
import { checkOperations, wrapOperations } from '../engine/operations.ts'
import { acceptQuotedEnums, builtOnce, newBuilder, nullableOperations } from '../types/builder.ts'
import type { AdminContext } from './context.ts'
import { defineAdminLifecycle } from './lifecycle.ts'
import { defineAdminMutations } from './mutations.ts'
import { defineAdminQueries } from './queries.ts'
import { defineAdminTypes } from './types.ts'

/** The Admin API, for an application's backend. */
export const adminSchema = builtOnce(buildAdminSchema)

export function buildAdminSchema(): GraphQLSchema {
  const builder = newBuilder<AdminContext>()
  const types = defineAdminTypes(builder)
  defineAdminQueries(builder, types)
  defineAdminMutations(builder, types)
  defineAdminLifecycle(builder, types)
  const schema = nullableOperations(acceptQuotedEnums(builder.toSchema()))
  checkOperations(schema.getQueryType(), ADMIN_QUERIES)
  wrapOperations(schema.getMutationType(), ADMIN_MUTATIONS, (name, args, context: AdminContext, resolve) =>
    resolve({ ...context, mutation: { name, args } }),
  )
  return schema
}
