/** Besides the tests that sit next to their source, those that need neither a database nor a server nor a browser. */
const UNIT_FILES = [
  'dashboard/test/amount.test.ts',
  'dashboard/test/csv-header.test.ts',
  'dashboard/test/csv.test.ts',
  'dashboard/test/differences.test.ts',
  'dashboard/test/help.test.ts',
  'sdk/test/answers.test.ts',
  'sdk/test/arguments.test.ts',
  'sdk/test/documents.test.ts',
  'sdk/test/pulse.test.ts',
  'sdk/test/queue-alone.test.ts',
  'sdk/test/stale-checks.test.ts',
  'sdk/test/with-reservation.test.ts',
  'server/test/house/bench.test.ts',
  'server/test/house/deploy.test.ts',
  'server/test/house/docs.test.ts',
  'server/test/graphql/document-cost.test.ts',
  'server/test/house/licences.test.ts',
  'server/test/rest/openapi.test.ts',
  'server/test/graphql/schema.test.ts',
  'server/test/house/rooms.test.ts',
  'server/test/house/tidy.test.ts',
  'site/test/pages.test.ts',
  'site/test/reference.test.ts',
]

/** Of them, those that take a second or load the whole schema: the project `unit` leaves them to `service`. */
export const THOROUGH = [
  'server/src/domain/spending.test.ts',
  'server/src/graphql/engine/compilable.test.ts',
  'server/src/rest/operation.test.ts',
  'server/src/rest/selection.test.ts',
  'server/test/graphql/document-cost.test.ts',
  'server/test/graphql/schema.test.ts',
  'server/test/rest/openapi.test.ts',
]

export const isUnit = (path: string): boolean =>
  UNIT_FILES.includes(path) || (path.startsWith('server/src/') && path.endsWith('.test.ts'))

/**
 * What takes long because it starts and kills processes, freezes, waits, packs, is large, is generated or races many callers,
 * and what looks at the same pages or requests again in another way. `npm run test:long` runs them.
 */
export const LONG = [
  'dashboard/test/accessibility-elsewhere.test.ts',
  'dashboard/test/accessibility.test.ts',
  'dashboard/test/administration.test.ts',
  'dashboard/test/day.test.ts',
  'dashboard/test/first-minute.test.ts',
  'dashboard/test/keyboard.test.ts',
  'dashboard/test/large-import.test.ts',
  'dashboard/test/lists.test.ts',
  'dashboard/test/look.test.ts',
  'dashboard/test/never-white.test.ts',
  'dashboard/test/path-ids.test.ts',
  'dashboard/test/roles.test.ts',
  'dashboard/test/sample.test.ts',
  'dashboard/test/sizes.test.ts',
  'dashboard/test/slow-changes.test.ts',
  'dashboard/test/snippets.test.ts',
  'dashboard/test/stored-script.test.ts',
  'dashboard/test/undoing.test.ts',
  'sdk/test/cut-replies.test.ts',
  'sdk/test/examples.test.ts',
  'sdk/test/package.test.ts',
  'server/test/billing/histories.test.ts',
  'server/test/billing/killed.test.ts',
  'server/test/billing/outage.test.ts',
  'server/test/billing/overtaken.test.ts',
  'server/test/billing/recharge-crossings.test.ts',
  'server/test/billing/recharge-killed.test.ts',
  'server/test/cli/package.test.ts',
  'server/test/tools/commands.test.ts',
  'server/test/http/connection-limit.test.ts',
  'server/test/start/crash.test.ts',
  'server/test/dashboard/bulk-killed.test.ts',
  'server/test/dashboard/grown-app.test.ts',
  'server/test/dashboard/scale.test.ts',
  'server/test/start/dev.test.ts',
  'server/test/start/drain.test.ts',
  'server/test/events/two-processes.test.ts',
  'server/test/embedded-postgres/access.test.ts',
  'server/test/embedded-postgres/owner.test.ts',
  'server/test/embedded-postgres/programs.test.ts',
  'server/test/embedded-postgres/embedded-postgres.test.ts',
  'server/test/http/hostile.test.ts',
  'server/test/graphql/long-lists-on-their-way.test.ts',
  'server/test/start/master-key.test.ts',
  'server/test/house/mutants.test.ts',
  'server/test/overrides/override-races.test.ts',
  'server/test/rest/long-fuzz.test.ts',
  'server/test/http/plain-http-off.test.ts',
  'server/test/subscriptions/plan-change-races.test.ts',
  'server/test/subscriptions/plan-changes-property.test.ts',
  'server/test/schema/plans.test.ts',
  'server/test/house/proof.test.ts',
  'server/test/tools/recovery-drill.test.ts',
  'server/test/start/refused-starts.test.ts',
  'server/test/connection/replica.test.ts',
  'server/test/start/several-processes.test.ts',
  'server/test/connection/several-servers.test.ts',
  'server/test/start/shutdown.test.ts',
  'server/test/connection/silent-network.test.ts',
  'server/test/http/stalled-readers.test.ts',
  'server/test/start/start.test.ts',
  'server/test/start/stopped-start.test.ts',
  'server/test/tools/stopped-tools.test.ts',
  'server/test/ledger/ledger-partitions.test.ts',
  'server/test/stripe/cli.test.ts',
  'server/test/catalogue/scheduled-publications-killed.test.ts',
  'server/test/catalogue/versions-on-two.test.ts',
  'server/test/start/workers.test.ts',
  'site/test/look.test.ts',
]

export const UNIT = {
  include: ['server/src/**/*.test.ts', ...UNIT_FILES],
  exclude: THOROUGH,
}

/** Tests that open pages in a browser. */
export const PAGES = [
  'dashboard/test/**/*.test.ts',
  'sdk/test/examples.test.ts',
  'sdk/test/page.test.ts',
  'sdk/test/react.test.ts',
  'server/test/billing/checkout-page.test.ts',
  'site/test/built.test.ts',
]

export const SERVICE = {
  include: [
    ...['server/test', 'sdk', 'dashboard', 'site'].map((folder) => `${folder}/**/*.test.ts`),
    ...THOROUGH,
  ],
  exclude: [...UNIT_FILES.filter((path) => !THOROUGH.includes(path)), ...PAGES, ...LONG],
}
