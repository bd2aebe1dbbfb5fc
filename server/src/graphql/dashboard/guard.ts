import type { GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { checkMay } from '../../operations/call/member-operations.ts'
import type { DashboardContext } from './context.ts'

/** Every operation of the schema checks the member's role first: no resolver runs without the role table. */
export function guarded(schema: GraphQLSchema): GraphQLSchema {
  guard('query', schema.getQueryType())
  guard('mutation', schema.getMutationType())
  return schema
}

function guard(kind: 'query' | 'mutation', type: GraphQLObjectType | null | undefined): void {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const resolve = field.resolve as GraphQLFieldResolver<unknown, DashboardContext> | undefined
    if (!resolve) throw new Error(`the ${kind} ${field.name} has no resolver`)
    field.resolve = (root, args, context: DashboardContext, info) => {
      checkMay(kind, field.name, context.member)
      return resolve(root, args, { ...context, operation: { name: field.name, args } }, info)
    }
  }
}
