import type { GraphQLSchema } from 'graphql'
import { readApart } from '../../operations/call/read-apart.ts'
import { checkRole } from '../../operations/call/roles.ts'
import {
  DASHBOARD_MUTATIONS,
  DASHBOARD_QUERIES,
  type DashboardQuery,
  MUTATIONS,
  QUERIES,
} from '../../operations/registry/registry.ts'
import { wrapOperations } from '../engine/operations.ts'
import type { DashboardContext } from './context.ts'

/** Checks the member's role before every operation of the schema. */
export function guarded(schema: GraphQLSchema): GraphQLSchema {
  wrapOperations<DashboardQuery, DashboardContext>(
    schema.getQueryType(),
    DASHBOARD_QUERIES,
    (name, _args, context, resolve) => {
      const { role, replica } = QUERIES[name]
      checkRole(role, context.member)
      const run = (service: DashboardContext['service']) => resolve({ ...context, service, mutation: null })
      return replica ? readApart(context.service, run) : run(context.service)
    },
  )
  wrapOperations(
    schema.getMutationType(),
    DASHBOARD_MUTATIONS,
    (name, args, context: DashboardContext, resolve) => {
      checkRole(MUTATIONS[name].role, context.member)
      return resolve({ ...context, mutation: { name, args } })
    },
  )
  return schema
}
