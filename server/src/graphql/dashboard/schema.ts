import { acceptQuotedEnums, builtOnce, newBuilder, nullableOperations } from '../types/builder.ts'
import { defineApiKeys } from './api-keys.ts'
import { defineApps } from './apps.ts'
import { defineArchiving } from './archiving.ts'
import { defineAudit } from './audit.ts'
import { defineBilling } from './billing.ts'
import { defineBulkChanges } from './bulk.ts'
import { defineCatalogue } from './catalogue.ts'
import type { DashboardContext } from './context.ts'
import { defineCopies } from './copies.ts'
import { defineCreditFigures } from './credit-figures.ts'
import { defineCredits } from './credits.ts'
import { defineEvents } from './events.ts'
import { defineFeatures } from './features.ts'
import { guarded } from './guard.ts'
import { defineHome } from './home.ts'
import { defineImports } from './imports.ts'
import { defineLifecycle } from './lifecycle.ts'
import { defineMembers } from './members.ts'
import { defineOverrides } from './overrides.ts'
import { defineProviders } from './providers.ts'
import { definePublishing } from './publish.ts'
import { defineRecharges } from './recharges.ts'
import { defineRefunds } from './refunds.ts'
import { defineRevenue } from './revenue.ts'
import { defineTokenKeys } from './token-keys.ts'
import { defineDashboardTypes } from './types.ts'
import { defineUsers } from './users.ts'
import { defineVersions } from './versions.ts'
import { defineWebhooks } from './webhooks.ts'

const AREAS = [
  defineMembers,
  defineApps,
  defineApiKeys,
  defineTokenKeys,
  defineCatalogue,
  defineFeatures,
  defineArchiving,
  definePublishing,
  defineVersions,
  defineCopies,
  defineUsers,
  defineCreditFigures,
  defineCredits,
  defineRecharges,
  defineOverrides,
  defineLifecycle,
  defineImports,
  defineBulkChanges,
  defineHome,
  defineAudit,
  defineBilling,
  defineProviders,
  defineRefunds,
  defineRevenue,
  defineEvents,
  defineWebhooks,
]

// Every app has these, and anyone can sign out.
const NEVER_FAIL = ['billingSettings', 'noticeCounts', 'hasOwner', 'signOut']

/** The dashboard's API, for members. One file per area. */
export const dashboardSchema = builtOnce(() => {
  const builder = newBuilder<DashboardContext>()
  builder.queryType({})
  builder.mutationType({})
  const types = defineDashboardTypes(builder)
  for (const define of AREAS) define(builder, types)
  return guarded(nullableOperations(acceptQuotedEnums(builder.toSchema()), NEVER_FAIL))
})
