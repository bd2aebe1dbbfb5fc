import { describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { clockedApp } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

describe('gap: the playground', () => {
  const EXPLAIN = `query ($appId: String!, $userId: String!, $featureId: String!, $delta: Int) {
    explain(appId: $appId, userId: $userId, featureId: $featureId, delta: $delta) {
      access reason reasonCode consumption { used budget } periodEnd resetPeriod
      steps { step passed text } subscriptions { packageId live grant { limit } } } }`

  it('explains every kind of answer by the steps that lead to it, and agrees with canUseFeature', async () => {
    const app = await clockedApp(server)
    const { id: appId, admin, dashboard } = app
    await admin.data('mutation { createFeature(input: { id: "sso", name: "SSO", type: BINARY }) { id } }')
    await admin.data('mutation { createFeature(input: { id: "other", name: "O", type: BINARY }) { id } }')
    await publishPackage(app, 'plan', {
      call: { limit: 10 },
      over: { limit: 1, overageEnabled: true },
      free: {},
      seats: { limit: 2, resetPeriod: 'NEVER' },
    })
    await publishPackage(app, 'extra', { call: { limit: 5 } }, true)
    await dashboard.data(
      `mutation ($appId: String!) { editPackage(appId: $appId, id: "plan", input: { features: [
        { id: "call", entitlement: { limit: 10 } }, { id: "over", entitlement: { limit: 1, overageEnabled: true } },
        { id: "free" }, { id: "seats", entitlement: { limit: 2, resetPeriod: NEVER } }, { id: "sso" }] }) { id } publishPackage(appId: $appId, id: "plan") { id } }`,
      { appId },
    )
    await admin.data('mutation { createUser(input: { id: "none" }) { id } }')
    await app.subscribe('plan', 'extra')
    await app.use(12)
    await app.use(1, 'over')

    const ROWS: [userId: string, featureId: string, delta: number, code: string, last: string][] = [
      ['nobody', 'call', 1, 'USER_NOT_FOUND', 'USER'],
      ['ann', 'nothing', 1, 'FEATURE_NOT_FOUND', 'FEATURE'],
      ['none', 'call', 1, 'NO_SUBSCRIPTION', 'SUBSCRIPTIONS'],
      ['ann', 'other', 1, 'NOT_IN_PACKAGE', 'GRANTS'],
      ['ann', 'sso', 1, 'GRANTED', 'GRANTS'],
      ['ann', 'call', 3, 'WITHIN_BUDGET', 'USED'],
      ['ann', 'call', 4, 'LIMIT_EXCEEDED', 'USED'],
      ['ann', 'over', 1, 'OVERAGE', 'USED'],
      ['ann', 'free', 1, 'UNLIMITED', 'USED'],
    ]
    for (const [userId, featureId, delta, code, last] of ROWS) {
      const { explain } = await dashboard.data(EXPLAIN, { appId, userId, featureId, delta })
      const canUseFeature = await admin.call(
        'canUseFeature { access reason reasonCode consumption { used budget } }',
        { userId, featureId, delta },
      )
      expect(explain, code).toMatchObject(canUseFeature)
      expect(explain.reasonCode).toBe(code)
      const names = explain.steps.map(({ step }: Data) => step)
      expect(names.slice(-2), code).toEqual([last, 'ANSWER'])
      expect(explain.steps.at(-1)).toEqual({ step: 'ANSWER', passed: explain.access, text: explain.reason })
      expect(explain.steps.slice(0, -2).every(({ passed }: Data) => passed)).toBe(true)
    }
    const { explain } = await dashboard.data(EXPLAIN, { appId, userId: 'ann', featureId: 'call', delta: 1 })
    expect(explain.subscriptions).toEqual([
      { packageId: 'plan', live: true, grant: { limit: '10' } },
      { packageId: 'extra', live: true, grant: { limit: '5' } },
    ])
    expect(explain.consumption).toEqual({ used: 12, budget: 15 })
    expect(explain.resetPeriod).toBe('MONTH')
    const said = async (featureId: string, name: string) => {
      const { explain } = await dashboard.data(EXPLAIN, { appId, userId: 'ann', featureId, delta: 1 })
      return explain.steps.find(({ step }: Data) => step === name)?.text
    }
    expect(await said('call', 'GRANTS')).toBe('Granted by plan (10 per month), extra (5 per month).')
    expect(await said('call', 'BUDGET')).toBe('15 per month, total of all packages.')
    expect(await said('over', 'BUDGET')).toBe('1 per month, total of all packages, with overage.')
    expect(await said('seats', 'BUDGET')).toBe('2 in total, total of all packages.')
    expect(await said('free', 'BUDGET')).toBe('Unlimited, total of all packages.')
    expect(
      (await dashboard.error(EXPLAIN, { appId, userId: 'ann', featureId: 'call', delta: -1 })).message,
    ).toMatch(/^delta must not be negative/)
  })

  it('tells an override, and what is to come of a subscription, in a sentence each', async () => {
    const app = await clockedApp(server)
    const { id: appId, admin, dashboard } = app
    await admin.data('mutation { createFeature(input: { id: "sso", name: "SSO", type: BINARY }) { id } }')
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await publishPackage(app, 'pro', { call: { limit: 100 } })
    await app.advance('2091-03-10T00:00:00Z')
    const told = async (featureId: string) => {
      const { explain } = await dashboard.data(EXPLAIN, { appId, userId: 'ann', featureId, delta: 1 })
      const canUseFeature = await admin.call('canUseFeature { access reason reasonCode }', {
        userId: 'ann',
        featureId,
      })
      expect(explain).toMatchObject(canUseFeature)
      return explain.steps.slice(2).map(({ step, passed, text }: Data) => `${step} ${passed}: ${text}`)
    }
    const set = (input: object) =>
      admin.data('mutation ($input: OverrideInput!) { setOverride(input: $input) { mode } }', {
        input: { userId: 'ann', ...input },
      })

    await set({ featureId: 'call', mode: 'ADD', limit: 5, overageEnabled: true })
    expect(await told('call')).toEqual([
      'OVERRIDE true: An override adds 5 to the limit, overage allowed.',
      'SUBSCRIPTIONS true: No live subscription.',
      'GRANTS true: No live package includes the feature.',
      'BUDGET true: 5 per month, including the override, with overage.',
      'USED true: 0 used in this period, 1 requested: 0 + 1 ≤ 5.',
      'ANSWER true: Within budget: 0 of 5 used (override).',
    ])
    await set({ featureId: 'sso', mode: 'GRANT', expiresAt: '2091-05-01T12:30:00Z', reason: 'a pilot' })
    expect((await told('sso'))[0]).toBe(
      'OVERRIDE true: An override grants the feature, until 2091-05-01 12:30 UTC. Note: "a pilot".',
    )
    const [plan] = await app.subscribe('plan')
    await set({ featureId: 'call', mode: 'DENY' })
    expect(await told('call')).toEqual([
      'OVERRIDE false: An override denies the feature.',
      'ANSWER false: An override denies this feature to the user.',
    ])
    for (const [input, text] of [
      [{ mode: 'REPLACE', limit: 3, overageEnabled: false }, 'sets the limit to 3, overage not allowed'],
      [{ mode: 'UNLIMITED' }, 'removes the limit'],
      [{ mode: 'GRANT' }, 'grants the feature without a limit'],
    ] as const) {
      await set({ featureId: 'call', ...input })
      expect((await told('call'))[0]).toBe(`OVERRIDE true: An override ${text}.`)
    }

    await app.cancel(plan, 'at period end')
    expect((await told('call'))[1]).toBe('SUBSCRIPTIONS true: Live: plan. plan ends at 2091-04-10 00:00 UTC.')
    // What starts a trial and schedules a change has tests of its own: here only how they are told.
    await rowsOf(
      { connectionString: server.databaseUrl },
      `with held as (
         update subscription set quantity = 5, trial_ends_at = cancel_at where app_id = $1 and id = $2 returning *)
       insert into subscription (app_id, user_uid, id, package_id, is_addon, started_at, anchor, follows, metadata)
       select app_id, user_uid, 'planned', 'pro', false, cancel_at, anchor, id, '{}' from held`,
      [appId, plan],
    )
    expect((await told('call'))[1]).toBe(
      'SUBSCRIPTIONS true: Live: plan × 5. plan is a trial until 2091-04-10 00:00 UTC. pro replaces plan at 2091-04-10 00:00 UTC.',
    )
  })
})

describe('gap: the playground with many credits and caps', () => {
  it('lists the first sources and caps and the number of others, and says what denied the check', async () => {
    const app = await clockedApp(server)
    const { id: appId, admin, dashboard } = app
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await app.subscribe('plan')
    await admin.data(
      'mutation { addCredit(input: {id: "first", userId: "ann", featureId: "call", amount: 2, priority: 0}) { id } }',
    )
    await rowsOf(
      { connectionString: server.databaseUrl },
      `insert into credit (app_id, id, user_uid, feature_id, amount, kind, priority, effective_at, created_at)
       select app_id, 'more-' || n, user_uid, feature_id, 1, kind, 1, effective_at, created_at
       from credit, generate_series(1, 999) n where app_id = $1 and id = 'first'`,
      [appId],
    )
    for (let n = 1; n <= 50; n++)
      await admin.data('mutation ($input: CapInput!) { setCap(input: $input) { limit } }', {
        input: { userId: 'ann', featureId: 'call', entity: `agent:${n}`, limit: 100 + n, period: 'DAY' },
      })
    const explain = async (delta: number, entities: string[]) =>
      (
        await dashboard.data(
          `query ($appId: String!, $delta: Int!, $entities: [String!]!) {
            explain(appId: $appId, userId: "ann", featureId: "call", delta: $delta, entities: $entities) {
              access deniedBy steps { step text } } }`,
          { appId, delta, entities },
        )
      ).explain
    const granted = await explain(1, ['agent:50'])
    const { text } = granted.steps.find(({ step }: Data) => step === 'SOURCES')
    expect(granted).toMatchObject({ access: true, deniedBy: null })
    expect(text).toContain('Paid in this order: the credit "first" (2 left), ')
    expect(text).toContain(', and 991 more. Caps: 150 of 150 left per day for "agent:50"')
    expect(text).toContain('101 of 101 left per day for "agent:1"')
    expect(text).toMatch(/, and 40 more\.$/)
    expect(text.length).toBeLessThan(2_000)
    expect(await explain(151, ['agent:50'])).toMatchObject({ access: false, deniedBy: 'CAP DAY agent:50' })
    expect(await explain(2_000, [])).toMatchObject({ access: false, deniedBy: 'PLAN' })
  })
})
