import type { GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { checkMay } from '../../operations/call/member-operations.ts'
import { readApart } from '../../operations/call/read-apart.ts'
import type { Service } from '../../operations/call/service.ts'
import type { DashboardContext } from './context.ts'

/** What reads much of the database, and may do so on a replica: it must not write. */
export const LISTS_AND_FIGURES: ReadonlySet<string> = new Set([
  'appUse',
  'auditLog',
  'billingTemplateUse',
  'catalogueDiff',
  'exportUser',
  'featureOverrides',
  'featurePackages',
  'featureUse',
  'featureUsers',
  'ledger',
  'migrationPreview',
  'mrrList',
  'noticeCounts',
  'notices',
  'packageUse',
  'packageVersions',
  'payments',
  'providerUse',
  'publishPreview',
  'publishTouched',
  'revenue',
  'revenueList',
  'subscriptions',
  'userDeletion',
  'userImportRows',
  'userImports',
  'users',
])

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
    const apart = kind === 'query' && LISTS_AND_FIGURES.has(field.name)
    field.resolve = (root, args, context: DashboardContext, info) => {
      checkMay(kind, field.name, context.member)
      const operation = { name: field.name, args }
      const run = (service: Service) => resolve(root, args, { ...context, service, operation }, info)
      return apart ? readApart(context.service, run) : run(context.service)
    }
  }
}
