import type { GraphQLSchema } from 'graphql'
import { acceptQuotedEnums, newBuilder } from './builder.ts'
import { defineApps } from './dashboard-apps.ts'
import { defineBilling } from './dashboard-billing.ts'
import { defineCatalogue } from './dashboard-catalogue.ts'
import type { DashboardContext } from './dashboard-context.ts'
import { defineCopies } from './dashboard-copies.ts'
import { guarded } from './dashboard-guard.ts'
import { defineHome } from './dashboard-home.ts'
import { defineImports } from './dashboard-imports.ts'
import { defineMembers } from './dashboard-members.ts'
import { defineProviders } from './dashboard-providers.ts'
import { definePublishing } from './dashboard-publish.ts'
import { defineTokenKeys } from './dashboard-token-keys.ts'
import { defineDashboardTypes } from './dashboard-types.ts'
import { defineUsers } from './dashboard-users.ts'

const AREAS = [
  defineMembers,
  defineApps,
  defineTokenKeys,
  defineCatalogue,
  definePublishing,
  defineCopies,
  defineUsers,
  defineImports,
  defineHome,
  defineBilling,
  defineProviders,
]

/** The dashboard's API: what the people who run an app may do. One file for each of its areas. */
export function dashboardSchema(): GraphQLSchema {
  const builder = newBuilder<DashboardContext>()
  builder.queryType({})
  builder.mutationType({})
  const types = defineDashboardTypes(builder)
  for (const define of AREAS) define(builder, types)
  return guarded(acceptQuotedEnums(builder.toSchema()))
}
