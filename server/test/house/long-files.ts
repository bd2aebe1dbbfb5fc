const ROWS =
  'a table with a row for each operation, page, store function, limit or case: cut, it could not be seen to be complete'
const ONE_SETTING = 'many tests of one noun that share a server and what was set up in it'
const ONE_MODEL = 'a model of what should happen, and the steps that are compared with it'
const ONE_CLASS = 'a class that has a documented method for every operation'

/** Files above 300 lines, and why they are not cut. */
export const LONGER: Record<string, string> = {
  'dashboard/src/routes.tsx': ROWS,
  'dashboard/test/administration.test.ts': ONE_SETTING,
  'dashboard/test/roles.test.ts': ROWS,
  'dashboard/test/undoing.test.ts': ONE_SETTING,
  'dashboard/test/users.test.ts': ONE_SETTING,
  'sdk/src/tollgate.ts': ONE_CLASS,
  'sdk/test/operations.test.ts': ROWS,
  'server/src/domain/billing-changes.test.ts': ROWS,
  'server/test/rest/requests.test.ts': ROWS,
  'server/test/rest/routes.test.ts': ROWS,
  'server/src/domain/spending.test.ts': ONE_MODEL,
  'server/test/schema/plans.test.ts': ROWS,
  'server/test/subscriptions/addons.test.ts': ONE_SETTING,
  'server/test/start/telemetry.test.ts': ONE_SETTING,
  'server/test/tools/backup.test.ts': ONE_SETTING,
  'server/test/tools/commands.test.ts': ONE_SETTING,
  'server/test/billing/price-changes.test.ts': ONE_SETTING,
  'server/test/billing/refunds.test.ts': ONE_SETTING,
  'server/test/billing/sandbox.test.ts': ONE_SETTING,
  'server/test/billing/stripe.test.ts': ONE_SETTING,
  'server/test/bounds/connections.ts': ROWS,
  'server/test/bounds/dashboard.ts': ROWS,
  'server/test/dashboard/catalogue.test.ts': ONE_SETTING,
  'server/test/dashboard/home.test.ts': ONE_SETTING,
  'server/test/dashboard/import-runs.test.ts': ONE_SETTING,
  'server/test/dashboard/members.test.ts': ONE_SETTING,
  'server/test/dashboard/role-matrix.test.ts': ROWS,
  'server/test/dashboard/users.test.ts': ONE_SETTING,
  'server/test/events/events.test.ts': ONE_SETTING,
  'server/test/overrides/overrides.test.ts': ONE_SETTING,
  'server/test/webhooks/delivery.test.ts': ONE_SETTING,
  'server/test/privacy/erasure.test.ts': ONE_SETTING,
  'server/test/subscriptions/plan-changes-property.test.ts': ONE_MODEL,
  'server/test/subscriptions/plan-changes.test.ts': ONE_SETTING,
  'server/test/subscriptions/plan-races.ts': ONE_MODEL,
  'server/test/jobs/prune.test.ts': ONE_SETTING,
  'server/test/start/start.test.ts': ONE_SETTING,
  'server/test/ledger/ledger-partitions.test.ts': ONE_SETTING,
  'server/test/schema/tenancy.test.ts': ROWS,
  'server/test/catalogue/versions.test.ts': ONE_SETTING,
}
