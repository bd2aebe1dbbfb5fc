/** A page, or a section of one, in the menu. A page that does not exist is left out. */
export interface Entry {
  text: string
  page: string
}

export interface Group {
  text: string
  entries: Entry[]
}

/** The menu. Every page of the site is in it, except the decision records, which their index lists. */
export const SIDEBAR: Group[] = [
  {
    text: 'Start',
    entries: [
      { text: 'Run Tollgate', page: 'start/run.md' },
      { text: 'First check: curl', page: 'start/curl.md' },
      { text: 'First check: Node', page: 'start/node.md' },
      { text: 'First check: Python', page: 'start/python.md' },
      { text: 'First check: Go', page: 'start/go.md' },
      { text: 'Examples', page: 'examples.md' },
    ],
  },
  {
    text: 'Guides',
    entries: [
      { text: 'Meter an API', page: 'guides/metered-api.md' },
      { text: 'Sell seats', page: 'guides/seats.md' },
      { text: 'Offer a trial', page: 'guides/trials.md' },
      { text: 'Sell an add-on', page: 'guides/add-ons.md' },
      { text: 'Let users change plans', page: 'guides/change-plans.md' },
      { text: 'Migrate a plan', page: 'guides/migrate-a-plan.md' },
      { text: 'Make an exception', page: 'guides/exceptions.md' },
      { text: 'Take payments with Stripe', page: 'guides/stripe.md' },
      { text: 'Events and webhooks', page: 'guides/events.md' },
      { text: 'Credits, reservations and caps', page: 'guides/credits.md' },
      { text: 'Go to production', page: 'guides/production.md' },
    ],
  },
  {
    text: 'Concepts',
    entries: [
      { text: 'Features, packages, subscriptions', page: 'concepts/catalogue.md' },
      { text: 'Checks and usage', page: 'concepts/checks-and-usage.md' },
      { text: 'Periods', page: 'concepts/periods.md' },
      { text: 'Usage over time', page: 'concepts/usage-over-time.md' },
      { text: 'Overrides', page: 'concepts/overrides.md' },
      { text: 'Consistency and idempotency', page: 'concepts/consistency.md' },
      { text: 'User tokens', page: 'concepts/user-tokens.md' },
      { text: 'Test clocks', page: 'concepts/test-clocks.md' },
    ],
  },
  {
    text: 'Reference',
    entries: [
      { text: 'REST', page: 'rest.md' },
      { text: 'REST API', page: 'reference/rest-api.md' },
      { text: 'Admin API', page: 'reference/admin-api.md' },
      { text: 'Client API', page: 'reference/client-api.md' },
      { text: 'Dashboard API', page: 'reference/dashboard-api.md' },
      { text: 'SDK', page: 'sdk.md' },
      { text: 'Events', page: 'events.md' },
      { text: 'Webhooks', page: 'webhooks.md' },
      { text: 'Command line', page: 'cli.md' },
      { text: 'Errors', page: 'reference/errors.md' },
      { text: 'Limits', page: 'reference/limits.md' },
      { text: 'Behaviour in detail', page: 'spec-gaps.md' },
    ],
  },
  {
    text: 'Operations',
    entries: [
      { text: 'Settings', page: 'operations.md' },
      { text: 'Deployment files', page: 'deploy.md' },
      { text: 'Billing', page: 'billing.md' },
      { text: 'The dashboard', page: 'dashboard.md' },
      { text: 'PostgreSQL', page: 'operations/postgresql.md' },
      { text: 'Backup, restore, move', page: 'operations/backup.md' },
      { text: 'The ledger and cells', page: 'operations/ledger-and-cells.md' },
      { text: 'Scale', page: 'scale.md' },
      { text: 'Security', page: 'security.md' },
    ],
  },
  {
    text: 'How it is built',
    entries: [
      { text: 'Architecture', page: 'architecture.md' },
      { text: 'Decisions', page: 'decisions/index.md' },
      { text: 'Benchmarks', page: 'benchmarks.md' },
      { text: 'Proof', page: 'proof.md' },
      { text: 'Mutants', page: 'mutants.md' },
      { text: 'Changelog', page: 'changelog.md' },
    ],
  },
]

/** VitePress's form of the menu, with the pages that exist. */
export function sidebarOf(pages: ReadonlySet<string>) {
  return SIDEBAR.map(({ text, entries }) => ({
    text,
    items: entries
      .filter(({ page }) => pages.has(page.replace(/#.*/, '')))
      .map(({ text, page }) => ({ text, link: linkOf(page) })),
  })).filter(({ items }) => items.length > 0)
}

/** `guides/trials.md#x` is at `/guides/trials#x`, `decisions/index.md` at `/decisions/`. */
export const linkOf = (page: string): string =>
  `/${page.replace(/\.md(?=#|$)/, '').replace(/(^|\/)index(?=#|$)/, '$1')}`
