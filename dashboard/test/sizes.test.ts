import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../server/test/harness/database.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'

/** A single row and the largest number with `npm run day`. */
const ALL = process.env.TOLLGATE_DAY === 'all'
const SIZES = ALL ? [0, 1, 50, 100_000] : [0, 50]
/** A page shows so many rows, and a way to the next. */
const PAGE = 50
/** The longest that a page may take to open, whatever it lists. */
const OPENS_MS = 5_000
/** The longest that the figures of the Revenue page may take to be made. */
const FIGURES_MS = 10_000

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  visit = await dashboard.signedIn()
  await visit.open('/account')
})

/** Pages whose lists grow with use, and the table on each. */
const LISTS: [path: string, table: string][] = [
  ['users', 'Users'],
  ['users?state=ACTIVE', 'Users'],
  ['subscriptions', 'Subscriptions'],
  ['packages/plan?tab=subscribers', 'Subscriptions'],
  ['users?order=name', 'Users'],
  ['users?order=-email', 'Users'],
  ['users?order=since', 'Users'],
  ['subscriptions?order=since', 'Subscriptions'],
  ['subscriptions?order=-amount', 'Subscriptions'],
  ['users/one?tab=ledger', 'Ledger'],
  ['features/calls?tab=denials', 'Denials'],
  ['import?id=file', 'Rows of the file'],
  ['billing?tab=notices', 'Webhook events'],
  ['audit', 'Audit log'],
  ['features', 'Features'],
  ['packages', 'Packages'],
  ['keys', 'API keys'],
  ['features/calls?tab=users', 'Users with the feature'],
  ['features/calls?tab=overrides', 'Overrides'],
  ['users?search=ser', 'Users'],
  ['subscriptions?state=ACTIVE', 'Subscriptions'],
  ['audit?what=createUser', 'Audit log'],
  ['billing', 'Billing templates'],
  ['packages/plan?tab=prices', 'Prices'],
]

/** The lists behind the figures of the Revenue page. */
const REVENUE: [list: string, table: string][] = [
  ['mrr', 'Recurring revenue by subscription'],
  ['new', 'New subscriptions'],
  ['changed', 'Changed plans'],
  ['cancelled', 'Cancelled subscriptions'],
  ['past-due', 'Past due subscriptions'],
  ['trialing', 'Trials'],
  ['paid', 'Payments'],
  ['failed', 'Failed payments'],
  ['refunded', 'Refunds and disputes'],
]

/** Of these there can be no more. */
const MOST = {
  denials: 500,
  features: 5_000,
  packages: 5_000,
  keys: 1_000,
  members: 5_000,
  prices: 5_000,
  templates: 5_000,
}

/** So many rows of everything. */
async function fill(app: string, rows: number): Promise<void> {
  const { server } = dashboard
  await server.dashboard.data(
    `mutation ($app: String!) {
      createApp(id: $app, name: $app) { id }
      createFeature(appId: $app, input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id }
      createPackage(appId: $app, input: { id: "plan", name: "Plan", features: [{ id: "calls" }] }) { id }
      publishPackage(appId: $app, id: "plan") { id }
    }`,
    { app },
  )
  const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text, [app, rows])
  await sql(`insert into users (app_id, id, name, email, metadata)
    select $1, 'user-' || i, 'User ' || i, 'user-' || i || '@example.com', '{}' from generate_series(1, $2::int) i`)
  await sql(`insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
    select app_id, 'sub-' || uid, uid, 'plan', false, now(), now() from users where app_id = $1 and $2::int >= 0`)
  await sql(`update users set overrides = '[{"featureId":"calls","mode":"UNLIMITED","limit":null,"overageEnabled":null,"resetPeriod":"MONTH","startedAt":0,"expiresAt":null,"reason":null}]'
    where app_id = $1 and $2::int >= 0`)
  const some = (most: number, text: string) =>
    rowsOf({ connectionString: server.databaseUrl }, text, [app, Math.max(most, 0)])
  await some(
    Math.min(rows, MOST.features) - 1,
    `insert into feature (app_id, id, name, type, metadata)
     select $1, 'feature-' || i, 'Feature ' || i, 'BINARY', '{}' from generate_series(1, $2::int) i`,
  )
  await some(
    Math.min(rows, MOST.packages) - 1,
    `insert into package (app_id, id, name, is_addon, metadata, updated_at)
     select $1, 'package-' || i, 'Package ' || i, true, '{}', now() from generate_series(1, $2::int) i`,
  )
  await some(
    Math.min(rows, MOST.keys),
    `insert into api_key (app_id, id, name, prefix, hash)
     select $1, 'key-' || i, 'Key ' || i, 'tg_', sha256(($1 || i)::bytea) from generate_series(1, $2::int) i`,
  )
  await some(
    Math.min(rows, MOST.prices),
    `insert into price (app_id, provider, id, package_id, amount, currency, interval)
     select $1, 'sandbox', 'price-' || i, 'plan', i, 'usd', 'month' from generate_series(1, $2::int) i`,
  )
  await some(
    Math.min(rows, MOST.templates),
    `with template as (insert into billing_template (app_id, id, name)
       select $1, 'template-' || i, 'Template ' || i from generate_series(1, $2::int) i returning app_id, id)
     insert into billing_template_item (app_id, template_id, position, package_id) select app_id, id, 0, 'plan' from template`,
  )
  // Of the installation, which has one already; those of the smaller sizes are a few more.
  await some(
    Math.min(rows, MOST.members) - 1,
    `insert into member (email, password_hash, role)
     select i || '@' || $1, '', 'VIEWER' from generate_series(1, $2::int) i`,
  )
  await some(
    Math.min(rows, MOST.denials),
    `insert into denial (app_id, feature_id, user_uid, kind, reason, times, first_at, denied_at)
     select app_id, 'calls', uid, 'CHECK', 'Limit reached', 1, now(), now() from users where app_id = $1 limit $2::int`,
  )
  await sql(`insert into notice (app_id, provider, event_id, type, payload, state)
    select $1, 'sandbox', 'evt-' || i, 'invoice.paid', '{}', 'DONE' from generate_series(1, $2::int) i`)
  await sql('delete from audit_entry where app_id = $1 and $2::int >= 0')
  await sql(`insert into audit_entry (app_id, actor_kind, member_email, operation, subject_kind, subject_id)
    select $1, 'API_KEY', 'key_1', 'createUser', 'user', 'user-' || i from generate_series(1, $2::int) i`)
  await sql(`insert into user_import (app_id, id, state, member_email, rows, changed)
    values ($1, 'file', 'CHECKED', 'a@example.com', $2, $2)`)
  await sql(`insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, new_email)
    select $1, 'file', i + 1, 'user-' || i, i, 'CHANGE', 'x@example.com' from generate_series(1, $2::int) i`)
}

/** As many customers, each of whom is in every list of the Revenue page once. */
async function sell(app: string, rows: number): Promise<void> {
  const { server } = dashboard
  await server.dashboard.data(
    `mutation ($app: String!) {
      createApp(id: $app, name: $app) { id }
      plan: createPackage(appId: $app, input: { id: "plan", name: "Plan" }) { id }
      extra: createPackage(appId: $app, input: { id: "extra", name: "Extra", isAddon: true }) { id }
      one: publishPackage(appId: $app, id: "plan") { id }
      two: publishPackage(appId: $app, id: "extra") { id }
      createPrice(appId: $app, packageId: "extra", input: { id: "price", amount: 900, currency: "usd", interval: "month" }) { id }
    }`,
    { app },
  )
  const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text, [app, rows])
  await sql(`insert into users (app_id, id, name, metadata)
    select $1, 'user-' || i, 'User ' || i, '{}' from generate_series(1, $2::int) i`)
  await sql(`insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, past_due_since, live, price_ids,
      quantities, billing_state, reversals)
    select app_id, 'sandbox', 'sub-' || uid, uid, 'past_due', now(), now() - interval '1 day', true, '{price}', '{1}', 'past due',
      json_build_array(json_build_object('ref', 'in-' || uid, 'currency', 'usd', 'amount', 900, 'refunded', 300,
        'refundedAt', extract(epoch from now() - interval '1 day')::bigint * 1000, 'dispute', null))
    from users where app_id = $1 and $2::int >= 0`)
  await sql(`insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at, trial_ends_at,
      provider, provider_ref)
    select u.app_id, u.app_id || kind || uid, uid, package, addon, day - began, day - began, day - ended, day + trial,
      case when kind = 'billed' then 'sandbox' end, case when kind = 'billed' then 'sub-' || uid end
    from users u, date_trunc('day', now()) day, (values
      ('before', 'plan', false, interval '400 days', interval '9 days', null::interval),
      ('after', 'plan', false, interval '9 days', null, interval '20 days'),
      ('ended', 'extra', true, interval '400 days', interval '8 days', null),
      ('billed', 'extra', true, interval '7 days', null, null)) s (kind, package, addon, began, ended, trial)
    where u.app_id = $1 and $2::int >= 0`)
  await sql(`insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
    select app_id, 'sandbox', state || uid, uid, 'sub-' || uid, state, 900, 'usd', now() - interval '1 day'
    from users, (values ('PAID'), ('FAILED')) s (state) where app_id = $1 and $2::int >= 0`)
}

/** Somebody who has used something so often; they are one row more among the users. */
async function use(app: string, rows: number): Promise<void> {
  await rowsOf(
    { connectionString: dashboard.server.databaseUrl },
    `with one as (insert into users (app_id, id, name, metadata) values ($1, 'one', 'One', '{}') returning uid)
     insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
     select $1, uid, 'calls', 'MONTH', date_trunc('month', now()), 'ADD', 1, i, now() from one, generate_series(1, $2::int) i`,
    [app, rows],
  )
}

describe.each(SIZES)('gap: pages with %i rows', (rows) => {
  const app = `rows-${rows}`
  const took: Record<string, number> = {}
  beforeAll(() => fill(app, rows))
  afterAll(() => {
    if (ALL) console.log(rows, took)
  })

  it.each(LISTS)('%s', async (path, table) => {
    const { page, open, problems } = visit
    if (path.startsWith('users/one')) await use(app, rows)
    const began = performance.now()
    await open(`/apps/${app}/${path}`)
    const shown = page.getByRole('table', { name: table }).locator('tbody tr')
    // Every app has a feature and a package here.
    const expected = Math.min(/^(features|packages)$/.test(path) ? Math.max(rows, 1) : rows, PAGE)
    if (expected > 0) await shown.first().waitFor()
    took[path] = Math.round(performance.now() - began)
    expect(await shown.count()).toBe(expected)
    const next = page.getByRole('button', { name: 'Next' })
    if (rows > PAGE) {
      expect(await next.isEnabled()).toBe(true)
      const first = await shown.first().innerText()
      await next.click()
      await page.waitForURL(/after=/)
      await visit.idle()
      expect(await shown.count()).toBe(PAGE)
      expect(await shown.first().innerText()).not.toBe(first)
    } else expect(await next.count()).toBe(0)
    expect(problems).toEqual([])
    if (ALL) expect(took[path], 'ms').toBeLessThan(OPENS_MS)
  })

  describe('of the Revenue page', () => {
    const shop = `sold-${rows}`
    beforeAll(() => sell(shop, rows))

    it.each(REVENUE)('%s', async (list, label) => {
      const { page, open, problems } = visit
      const path = `revenue?range=30&list=${list}`
      const began = performance.now()
      const since = () => Math.round(performance.now() - began)
      const opening = open(`/apps/${shop}/${path}`)
      const shown = page.getByRole('table', { name: label, exact: true }).locator('tbody tr')
      // The figures above it are made once for everybody, and may take longer.
      const listed = rows > 0 ? shown.first().waitFor().then(since) : opening.then(since)
      await opening
      took[`${path}, whole`] = since()
      took[path] = await listed
      expect(await shown.count()).toBe(Math.min(rows, PAGE))
      expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(rows > PAGE ? 1 : 0)
      expect(problems).toEqual([])
      if (ALL) expect(took[path], 'ms').toBeLessThan(OPENS_MS)
      if (ALL) expect(took[`${path}, whole`], 'ms').toBeLessThan(FIGURES_MS)
    })
  })

  it('the members of everything', async () => {
    const { page, open, problems } = visit
    const began = performance.now()
    await open('/members')
    took['/members'] = Math.round(performance.now() - began)
    const shown = page.getByRole('table', { name: 'Members' }).locator('tbody tr')
    expect(await shown.count()).toBe(Math.min(Math.max(rows, 1), PAGE))
    expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(rows > PAGE ? 1 : 0)
    if (ALL) expect(took['/members'], 'ms').toBeLessThan(OPENS_MS)
    expect(problems).toEqual([])
  })

  it('the home page, and what lists nothing', async () => {
    const { page, open, problems } = visit
    for (const path of [`/apps/${app}`, '/apps', `/apps/${app}/playground?user=user-1&feature=calls`]) {
      const began = performance.now()
      await open(path)
      took[path] = Math.round(performance.now() - began)
      if (ALL) expect(took[path], 'ms').toBeLessThan(OPENS_MS)
    }
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(problems).toEqual([])
  })
})
