import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { UNAUDITED_BY_KEY } from '../../operations/call/member-operations.ts'
import type { AdminContext } from './context.ts'

/** Every mutation says by its context what it is, for the audit log: none is left out by forgetting it. */
export function auditedByKey(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const resolve = field.resolve as GraphQLFieldResolver<unknown, AdminContext> | undefined
    if (!resolve) throw new Error(`the mutation ${field.name} has no resolver`)
    if (UNAUDITED_BY_KEY.has(field.name)) continue
    field.resolve = (root, args, context: AdminContext, info) =>
      resolve(root, args, { ...context, operation: { name: field.name, args } }, info)
  }
  return schema
}
