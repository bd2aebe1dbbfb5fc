import type { GraphQLFieldResolver, GraphQLObjectType } from 'graphql'
import { checkMay } from '../../operations/call/member-operations.ts'
import { builtOnce } from '../types/builder.ts'
import type { AdminContext } from './context.ts'
import { buildAdminSchema } from './schema.ts'

/** Where the role table has another name for an operation: many records are as many of one. */
const KNOWN_AS: Record<string, string> = { recordUsages: 'recordUsage' }

/**
 * The Admin API as a member uses it in the dashboard: the same operations, in the member's name, with the member's role
 * and an entry in the audit log instead of an API key.
 */
export const adminSchemaForMembers = builtOnce(() => {
  const schema = buildAdminSchema()
  guard('query', schema.getQueryType())
  guard('mutation', schema.getMutationType())
  return schema
})

function guard(kind: 'query' | 'mutation', type: GraphQLObjectType | null | undefined): void {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const resolve = field.resolve as GraphQLFieldResolver<unknown, AdminContext> | undefined
    if (!resolve) throw new Error(`the ${kind} ${field.name} has no resolver`)
    const name = KNOWN_AS[field.name] ?? field.name
    field.resolve = (root, args, context: AdminContext, info) => {
      const { appId, actor } = context.caller
      if (actor.kind !== 'member') throw new Error('the Admin API without a key is only available to members')
      checkMay(kind, name, actor.member)
      const caller = { appId, actor: { ...actor, operation: { name, args } } }
      return resolve(root, args, { ...context, caller }, info)
    }
  }
}
