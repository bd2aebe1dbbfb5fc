import { checkRole } from '../../operations/call/roles.ts'
import { ADMIN_MUTATIONS, ADMIN_QUERIES, MUTATIONS, QUERIES } from '../../operations/registry/registry.ts'
import { wrapOperations } from '../engine/operations.ts'
import { builtOnce } from '../types/builder.ts'
import type { AdminContext } from './context.ts'
import { buildAdminSchema } from './schema.ts'

/**
 * The Admin API for members, in the dashboard: the same operations, with the member's role and an audit entry instead
 * of an API key.
 */
export const adminSchemaForMembers = builtOnce(() => {
  const schema = buildAdminSchema()
  wrapOperations(schema.getQueryType(), ADMIN_QUERIES, (name, _args, context: AdminContext, resolve) => {
    checkRole(QUERIES[name].role, memberOf(context))
    return resolve(context)
  })
  wrapOperations(schema.getMutationType(), ADMIN_MUTATIONS, (name, _args, context: AdminContext, resolve) => {
    checkRole(MUTATIONS[name].role, memberOf(context))
    return resolve(context)
  })
  return schema
})

function memberOf({ caller: { actor } }: AdminContext) {
  if (actor.kind !== 'member') throw new Error('the Admin API without a key is only available to members')
  return actor.member
}
