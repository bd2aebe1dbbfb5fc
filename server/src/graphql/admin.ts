import type { GraphQLSchema } from 'graphql'
import { defineAdminMutations } from './admin-mutations.ts'
import { defineAdminQueries } from './admin-queries.ts'
import { defineAdminTypes } from './admin-types.ts'
import { acceptQuotedEnums, newBuilder } from './builder.ts'
import type { AdminContext } from './context.ts'

/** The Admin API: what an application's backend may ask and do. */
export function adminSchema(): GraphQLSchema {
  const builder = newBuilder<AdminContext>()
  const types = defineAdminTypes(builder)
  defineAdminQueries(builder, types)
  defineAdminMutations(builder, types)
  return acceptQuotedEnums(builder.toSchema())
}
