import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isUnit } from '../server/test/projects.ts'

/** They import everything and say nothing about what it does. */
const ABOUT_NOTHING = [
  'server/test/schema.test.ts',
  'server/test/tidy.test.ts',
  'server/test/document-cost.test.ts',
  'server/src/graphql/engine/compilable.test.ts',
  'server/test/licences.test.ts',
]

/** Whoever imports a file through more files than that says little about it. */
const FAR = 2

const STORE = ['server/test/store/tenancy.test.ts', 'server/test/store/late-writers.test.ts']
const STRIPE = ['server/test/billing/stripe-provider.test.ts', 'server/test/billing/stripe-live.test.ts']
const SHOP = ['server/test/billing/sandbox.test.ts', 'server/test/billing/payments.test.ts']

const REFUNDS = 'server/test/billing/refunds.test.ts'
const SANDBOX_REFUNDS = 'server/test/billing/sandbox-refunds.test.ts'
const PRICE_CHANGES = 'server/test/billing/price-changes.test.ts'
const SALE_TERMS = 'server/test/billing/sale-terms.test.ts'

/**
 * What each part of the service is tested by with a database: the first row that a path begins with, most likely test
 * first. By their imports, all of these tests reach all of the service.
 */
const SERVICE: [path: string, tests: string[]][] = [
  ['server/src/billing/stripe/reversals', [...STRIPE, REFUNDS]],
  ['server/src/billing/stripe/subscription', [...STRIPE, 'server/test/billing/followed-changes.test.ts']],
  ['server/src/billing/stripe/change-price', [...STRIPE, PRICE_CHANGES]],
  ['server/src/billing/stripe/schedule', [...STRIPE, PRICE_CHANGES]],
  ['server/src/billing/stripe/checkout', [...STRIPE, SALE_TERMS, 'server/test/billing/links.test.ts']],
  ['server/src/billing/stripe/', [...STRIPE, PRICE_CHANGES, 'server/test/billing/stripe.test.ts']],
  ['server/src/billing/sandbox/reversals', [SANDBOX_REFUNDS]],
  ['server/src/billing/sandbox/payment-books', [SANDBOX_REFUNDS, ...SHOP]],
  ['server/src/billing/sandbox/change-price', [PRICE_CHANGES]],
  ['server/src/billing/sandbox/bill', [PRICE_CHANGES]],
  ['server/src/billing/sandbox/erase-books', ['server/test/billing/deleted-users.test.ts']],
  [
    'server/src/billing/sandbox/',
    [...SHOP, SALE_TERMS, PRICE_CHANGES, 'server/test/billing/sandbox-off.test.ts'],
  ],
  ['server/src/billing/', ['server/test/billing/webhooks.test.ts']],
  ['server/src/store/write-usage', [...STORE, 'server/test/write-usage.test.ts']],
  [
    'server/src/store/read-holdings',
    ['server/test/moving-periods.test.ts', 'server/test/cancellation.test.ts'],
  ],
  [
    'server/src/store/idempotency',
    [...STORE, 'server/test/idempotency.test.ts', 'server/test/usage-keys.test.ts'],
  ],
  ['server/src/store/notices', [...STORE, 'server/test/billing/webhooks.test.ts']],
  ['server/src/store/checkout-sessions', [...STORE, 'server/test/billing/links.test.ts']],
  ['server/src/store/provider-subscriptions', [...STORE]],
  ['server/src/store/provider-accounts', [...STORE, 'server/test/billing/sandbox-off.test.ts']],
  ['server/src/store/prices', [...STORE, 'server/test/billing/prices.test.ts']],
  ['server/src/store/billing-templates', [...STORE, 'server/test/billing/prices.test.ts']],
  ['server/src/store/subscriptions', [...STORE, 'server/test/cancellation.test.ts']],
  ['server/src/store/api-keys', [...STORE, 'server/test/dashboard/api-keys.test.ts']],
  ['server/src/store/token-keys', [...STORE, 'server/test/token-keys.test.ts']],
  [
    'server/src/store/members',
    ['server/test/dashboard/members.test.ts', 'server/test/dashboard/visitors.test.ts'],
  ],
  ['server/src/store/sessions', ['server/test/dashboard/members.test.ts', 'server/test/dashboard.test.ts']],
  ['server/src/store/sign-in-pace', ['server/test/dashboard/visitors.test.ts']],
  ['server/src/store/users', [...STORE, 'server/test/dashboard/users.test.ts']],
  ['server/src/store/overrides', [...STORE, 'server/test/overrides.test.ts']],
  ['server/src/store/', STORE],
  [
    'server/src/operations/billing/',
    [...SHOP, 'server/test/billing/links.test.ts', 'server/test/billing/prices.test.ts'],
  ],
  [
    'server/src/operations/call/',
    ['server/test/dashboard/role-matrix.test.ts', 'server/test/idempotency.test.ts'],
  ],
  [
    'server/src/operations/apps/',
    ['server/test/dashboard/api-keys.test.ts', 'server/test/token-keys.test.ts'],
  ],
  [
    'server/src/operations/members/',
    ['server/test/dashboard/members.test.ts', 'server/test/dashboard/visitors.test.ts'],
  ],
  ['server/src/operations/overrides/', ['server/test/overrides.test.ts']],
  ['server/src/operations/subscriptions/', ['server/test/cancellation.test.ts', ...SHOP]],
  ['server/src/operations/usage/', ['server/test/usage-keys.test.ts', 'server/test/moving-periods.test.ts']],
  [
    'server/src/operations/catalogue/',
    ['server/test/dashboard/catalogue.test.ts', 'server/test/dashboard-packages.test.ts'],
  ],
  ['server/src/operations/users/', ['server/test/dashboard/users.test.ts']],
  [
    'server/src/operations/imports/',
    ['server/test/dashboard/import.test.ts', 'server/test/dashboard/import-runs.test.ts'],
  ],
  [
    'server/src/operations/home/',
    ['server/test/dashboard/home.test.ts', 'server/test/dashboard/sample.test.ts'],
  ],
]

export class TestPicker {
  readonly #root: string
  readonly #imports = new Map<string, string[]>()
  readonly #unitTests: string[]

  constructor(root: string) {
    this.#root = root
    this.#unitTests = filesIn(root, 'server').filter((path) => isUnit(path) && !ABOUT_NOTHING.includes(path))
  }

  /**
   * The tests that look at a source file, in the rounds in which they are run: the one beside it, the others that need
   * no database and reach it by their imports, and then each of those with a database.
   */
  roundsFor(path: string): string[][] {
    const near = this.#unitTests.flatMap((test) => {
      const steps = this.#stepsBetween(test, path)
      return steps === null || steps > FAR ? [] : [{ test, steps }]
    })
    const unit = near.sort((a, b) => a.steps - b.steps).map(({ test }) => test)
    const beside = unit.filter((test) => test === path.replace(/\.ts$/, '.test.ts'))
    const others = unit.filter((test) => !beside.includes(test))
    const [, service = []] = SERVICE.find(([prefix]) => path.startsWith(prefix)) ?? []
    const missing = service.filter((test) => !existsSync(join(this.#root, test)))
    if (missing.length > 0) throw new Error(`there is no test ${missing.join(', ')}`)
    return [beside, others, ...[...new Set(service)].map((test) => [test])].filter(({ length }) => length > 0)
  }

  /** How many imports lead from one file to the other; null: none do. */
  #stepsBetween(from: string, to: string): number | null {
    let [steps, reached] = [0, new Set([from])]
    const seen = new Set<string>()
    while (reached.size > 0) {
      if (reached.has(to)) return steps
      for (const path of reached) seen.add(path)
      const next = [...reached].flatMap((path) => this.#importsOf(path))
      reached = new Set(next.filter((path) => !seen.has(path)))
      steps += 1
    }
    return null
  }

  #importsOf(path: string): string[] {
    const known = this.#imports.get(path)
    if (known) return known
    const text = readFileSync(join(this.#root, path), 'utf8')
    const statements = text.matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?['"](\.[^'"\n]+\.ts)['"]/gm)
    const found = [...statements].map(([, from = '']) => join(dirname(path), from))
    this.#imports.set(path, found)
    return found
  }
}

/** The TypeScript files below a folder, from the root. */
export function filesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}
