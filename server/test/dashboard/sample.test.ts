import { describe, expect, it, vi } from 'vitest'
import { newTestApp, publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const DAY = 86_400_000

const newApp = () => newTestApp(server)

const rows = <Row extends object>(sql: string, values: unknown[] = []) =>
  rowsOf<Row & Record<string, unknown>>({ connectionString: server.databaseUrl }, sql, values)

describe('gap: the sample catalogue', () => {
  const LOAD =
    'mutation ($appId: String!) { loadSample(appId: $appId) { features packages prices templates users } }'
  const REMOVE =
    'mutation ($appId: String!, $dryRun: Boolean) { removeSample(appId: $appId, dryRun: $dryRun) { features packages prices templates users subscriptions payments kept } }'
  const TABLES = [
    'feature',
    'package',
    'package_feature',
    'package_history',
    'price',
    'billing_template',
    'billing_template_item',
    'users',
    'subscription',
    'payment',
    'provider_subscription',
    'sandbox_customer',
    'sandbox_subscription',
    'sandbox_invoice',
    'usage_counter',
    'usage_ledger',
    'ledger_base',
    'recent_usage',
    'sample_activity',
    'feature_activity',
    'denial',
    'sample_item',
  ]
  const counts = async (appId: string) => {
    const selects = TABLES.map(
      (table) => `(select count(*) from ${table} where app_id = $1)::int as ${table}`,
    )
    const [row] = await rows<Record<string, number>>(`select ${selects.join(', ')}`, [appId])
    return row
  }

  it('has the same usage in each report, and users who were denied', async () => {
    const { id: appId, dashboard } = await newApp()
    await dashboard.data(LOAD, { appId })
    const to = new Date(Math.floor(Date.now() / DAY) * DAY).toISOString()
    const from = new Date(Date.parse(to) - 20 * DAY).toISOString()
    const answer = await dashboard.data(
      `query ($appId: String!, $from: String!, $to: String!) {
        ${['api-calls', 'reports', 'storage'].map(
          (id) => `
            ${id.replace('-', '')}Activity: featureActivity(appId: $appId, id: "demo-${id}", from: $from, to: $to, interval: DAY) { at units }
            ${id.replace('-', '')}Series: usageSeries(appId: $appId, featureId: "demo-${id}", from: $from, to: $to, bucket: DAY) { points { at used } }
            ${id.replace('-', '')}Denials: featureDenials(appId: $appId, id: "demo-${id}") { rows { userId reason } }`,
        )} }`,
      { appId, from, to },
    )
    for (const id of ['apicalls', 'reports', 'storage']) {
      const counted = answer[`${id}Activity`].map(({ units }: Data) => units)
      expect(counted, id).toEqual(answer[`${id}Series`].points.map(({ used }: Data) => used))
      expect(Math.max(...counted), id).toBeGreaterThan(0)
    }
    expect(answer.apicallsDenials.rows.length).toBeGreaterThan(2)
    expect(answer.apicallsDenials.rows[0].reason).toMatch(
      /^Limit reached: (\d+) of \1 used; 1 more requested\.$/,
    )
  })

  it('is loaded once, is alive, and goes without a trace', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'own', { calls: { limit: 1 } })
    await admin.data('mutation { createUser(input: { id: "own" }) { id } }')
    const before = await counts(appId)
    expect((await dashboard.data(LOAD, { appId })).loadSample).toEqual({
      features: 6,
      packages: 4,
      prices: 3,
      templates: 4,
      users: 200,
    })
    expect((await dashboard.error(LOAD, { appId })).message).toBe('The sample catalogue is already loaded')

    const { packages } = await admin.data('{ packages { id status } }')
    expect(packages.map(({ id }: Data) => id)).toContain('demo-business')
    const broken = await rows(
      `select 1 from usage_counter c where app_id = $1 and used <> (select sum(delta) from usage_ledger l
        where l.app_id = c.app_id and l.user_uid = c.user_uid and l.feature_id = c.feature_id
          and l.reset_period = c.reset_period and l.period_start = c.period_start)`,
      [appId],
    )
    expect(broken).toEqual([])
    const subscriptions = await dashboard.call('subscriptions { rows { userId status } }', { first: 200 })
    const active = subscriptions.rows.filter(({ status }: Data) => status === 'ACTIVE')
    expect(active.length).toBeGreaterThan(100)
    const showUsage = await dashboard.call(
      'showUsage { current { consumption { used budget } } past { consumption { used } } }',
      { userId: subscriptions.rows.at(-1).userId, featureId: 'demo-api-calls' },
    )
    expect(showUsage.current ?? showUsage.past).toBeTruthy()

    const billingTemplates = await dashboard.call('billingTemplates { id problem prices { displayAmount } }')
    expect(billingTemplates).toHaveLength(4)
    expect(billingTemplates.filter(({ problem }: Data) => problem !== null)).toEqual([])
    expect(billingTemplates[0].prices).toEqual([{ displayAmount: '49.00' }])
    const generateSubscriptionLink = await admin.call('generateSubscriptionLink { url }', {
      templateId: 'demo-team-monthly',
      successUrl: 'https://a.example',
      cancelUrl: 'https://b.example',
    })
    expect((await fetch(generateSubscriptionLink.url)).status).toBe(200)
    await rows('delete from checkout_session where app_id = $1', [appId])

    const revenue = await dashboard.call('revenue { payments { provider currency paid failed } }', {
      days: 90,
    })
    expect(revenue.payments).toEqual([
      { provider: 'sandbox', currency: 'usd', paid: expect.any(Number), failed: expect.any(Number) },
    ])
    expect(revenue.payments[0].paid).toBeGreaterThan(100)
    expect(revenue.payments[0].failed).toBeGreaterThan(0)

    const loaded = await counts(appId)
    const whole = {
      features: 6,
      packages: 4,
      prices: 3,
      templates: 4,
      users: 200,
      subscriptions: loaded?.subscription,
      payments: loaded?.payment,
      kept: [],
    }
    expect((await dashboard.data(REMOVE, { appId, dryRun: true })).removeSample).toEqual(whole)
    expect(await counts(appId)).toEqual(loaded)
    expect((await dashboard.data(REMOVE, { appId })).removeSample).toEqual(whole)
    expect(await counts(appId)).toEqual(before)
    expect((await dashboard.data(LOAD, { appId })).loadSample.users).toBe(200)
  })

  it('has customers who pay: the sandbox says the same of them when it is asked', async () => {
    const { id: appId, dashboard } = await newApp()
    await dashboard.data(LOAD, { appId })
    const revenue = await dashboard.call(
      'revenue { mrr { provider currency amount pastDue } pastDue payments { paidAmount } }',
      { days: 90 },
    )
    expect(revenue).toMatchObject({ mrr: [{ provider: 'sandbox', currency: 'usd' }] })
    const [{ amount, pastDue }] = revenue.mrr
    expect(revenue.pastDue).toBeGreaterThan(0)
    expect(amount).toBeGreaterThan(pastDue)
    // Plans at $49.00 and $249.00 a month, and an add-on at $10.00.
    const [sum] = await rows<{ sum: number }>(
      `select sum(case package_id when 'demo-team' then 4900 when 'demo-business' then 24900 when 'demo-extra-calls' then 1000
         else 0 end)::int as sum from subscription where app_id = $1 and cancelled_at is null`,
      [appId],
    )
    expect(amount).toBe(sum?.sum)

    const state = () =>
      rows(
        `select (select json_agg(s order by id) from subscription s where app_id = $1) as subscriptions,
           (select json_agg(p order by ref) from payment p where app_id = $1) as payments,
           (select json_agg((ref, customer_ref, status, made_at, paid_at, paid_until, past_due_since, live, anchor,
              interval, price_ids, quantities, billing_state) order by ref)
            from provider_subscription where app_id = $1) as bills,
           (select json_agg(u order by uid) from users u where app_id = $1) as users`,
        [appId],
      )
    const loaded = await state()
    const reconcileBilling = await dashboard.call('reconcileBilling')
    expect(reconcileBilling).toBeGreaterThan(90)
    await vi.waitUntil(
      async () =>
        (await rows(`select 1 from graphile_worker._private_jobs where payload->>'appId' = $1`, [appId]))
          .length === 0,
      { timeout: PATIENCE_MS, interval: 100 },
    )
    expect(await state()).toEqual(loaded)
  })

  it('brings the home page to life, and leaves what the app itself did', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'own', { calls: { limit: 1 } })
    await admin.data(`mutation { createUser(input: { id: "own" }) { id }
      subscribe(userId: "own", packageIds: ["own"]) { id }
      recordUsage(input: { userId: "own", featureId: "calls", delta: 1 }) { recorded } }`)
    const now = Date.now()
    const home = () =>
      dashboard.data(
        `query ($appId: String!, $from: String!, $to: String!) {
          activity(appId: $appId, from: $from, to: $to, interval: DAY) { checks records }
          nearLimits(appId: $appId, first: 500) { userId used budget }
          latestEvents(appId: $appId, first: 50) { id kind userId }
          checklist(appId: $appId) { check } }`,
        { appId, from: new Date(now - 28 * DAY).toISOString(), to: new Date(now).toISOString() },
      )
    // What was counted in memory is written down by asking, and in the chart by the next question.
    await home()
    const before = await home()
    await dashboard.data(LOAD, { appId })

    const { activity, nearLimits, latestEvents, checklist } = await home()
    // Today may have begun a moment ago.
    const days = activity.slice(0, -1)
    expect(days.every(({ checks, records }: Data) => checks > records && records > 0)).toBe(true)
    const near = nearLimits.filter(({ used, budget }: Data) => used >= 0.8 * budget && used <= budget)
    expect(near.length).toBeGreaterThan(5)
    expect(new Set(near.map(({ used, budget }: Data) => used / budget)).size).toBeGreaterThan(2)
    const lively = latestEvents.filter(({ kind, userId }: Data) => kind === 'USAGE' && userId !== 'own')
    expect(lively.length).toBeGreaterThan(5)
    // The first real question is still to be asked.
    expect(checklist).toEqual({ check: false })

    await dashboard.data(REMOVE, { appId })
    const after = await home()
    const ofOwn = ({ latestEvents, ...panels }: Data) => ({
      ...panels,
      latestEvents: latestEvents.filter(({ id }: Data) => !id.startsWith('change:')),
    })
    expect(ofOwn(after)).toEqual(ofOwn(before))
  })

  it('is in the revenue as soon as it is loaded, and gone from it as soon as it is removed', async () => {
    const { id: appId, dashboard } = await newApp()
    const plans = async () => {
      const revenue = await dashboard.call('revenue { plans { packageId } }')
      return revenue.plans.map(({ packageId }: Data) => packageId).sort()
    }
    expect(await plans()).toEqual([])
    await dashboard.data(LOAD, { appId })
    expect(await plans()).toEqual(['demo-business', 'demo-extra-calls', 'demo-free', 'demo-team'])
    await dashboard.data(REMOVE, { appId })
    expect(await plans()).toEqual([])
  })

  it('leaves what something else has come to rely on', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await dashboard.data(LOAD, { appId })
    await admin.data('mutation { createUser(input: { id: "real" }) { id } }')
    await admin.data('mutation { subscribe(userId: "real", packageIds: ["demo-free"]) { id } }')
    const { removeSample } = await dashboard.data(REMOVE, { appId })
    expect(removeSample).toMatchObject({ packages: 3, users: 200, features: 3 })
    expect(removeSample.kept).toEqual(['demo-free', 'demo-api-calls', 'demo-reports', 'demo-seats'])
    const canUseFeature = await admin.call('canUseFeature { reasonCode }', {
      userId: 'real',
      featureId: 'demo-api-calls',
    })
    expect(canUseFeature.reasonCode).toBe('WITHIN_BUDGET')
  })

  it('a feature that somebody has an override of stays', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await dashboard.data(LOAD, { appId })
    await admin.data(`mutation { createUser(input: { id: "real" }) { id }
      setOverride(input: { userId: "real", featureId: "demo-seats", mode: REPLACE, limit: 2 }) { mode } }`)
    expect((await dashboard.data(REMOVE, { appId })).removeSample.kept).toEqual(['demo-seats'])
    const canUseFeature = await admin.call('canUseFeature { reasonCode }', {
      userId: 'real',
      featureId: 'demo-seats',
    })
    expect(canUseFeature.reasonCode).toBe('WITHIN_BUDGET')
  })

  it('names the users who stay by their ids', async () => {
    const app = await newApp()
    const { id: appId, admin, dashboard } = app
    await dashboard.data(LOAD, { appId })
    const { users } = await admin.data('{ users(first: 1) { id } }')
    await publishPackage(app, 'own', {})
    await dashboard.data(
      `mutation ($appId: String!) {
        createPrice(appId: $appId, packageId: "own", input: { amount: 100, currency: "eur" }) { id }
        createBillingTemplate(appId: $appId, input: { id: "own", name: "Own", packageIds: ["own"] }) { id }
      }`,
      { appId },
    )
    await admin.call('generateSubscriptionLink', {
      userId: users[0].id,
      templateId: 'own',
      successUrl: 'https://shop.example/paid',
      cancelUrl: 'https://shop.example/back',
    })
    const { removeSample } = await dashboard.data(REMOVE, { appId })
    expect(removeSample.users).toBe(199)
    expect(removeSample.kept[0]).toBe(users[0].id)
  })
})
