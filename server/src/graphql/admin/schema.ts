import type { GraphQLSchema } from 'graphql'
import { acceptQuotedEnums, builtOnce, newBuilder } from '../types/builder.ts'
import { auditedByKey } from './audited.ts'
import type { AdminContext } from './context.ts'
import { defineAdminLifecycle } from './lifecycle.ts'
import { defineAdminMutations } from './mutations.ts'
import { defineAdminQueries } from './queries.ts'
import { defineAdminTypes } from './types.ts'

/** The Admin API, for an application's backend. */
export const adminSchema = builtOnce(() => auditedByKey(buildAdminSchema()))

export function buildAdminSchema(): GraphQLSchema {
  const builder = newBuilder<AdminContext>()
  const types = defineAdminTypes(builder)
  defineAdminQueries(builder, types)
  defineAdminMutations(builder, types)
  defineAdminLifecycle(builder, types)
  return acceptQuotedEnums(builder.toSchema())
}
