import { beforeAll, describe, expect, it } from 'vitest'
import { furnish } from '../../server/test/harness/furnished.ts'
import {
  API_KEY,
  MASTER_KEY_SETTINGS,
  startTestServer,
  type TestServer,
} from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { DOCUMENTS } from '../src/documents.ts'
import { type Result, Tollgate } from '../src/node.ts'

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
let tollgate: Tollgate
beforeAll(async () => {
  await furnish(server)
  await server.dashboard.data(`mutation {
    createPrice(appId: "default", input: {
      id: "price_calls", amount: 500, currency: "usd", credits: { featureId: "calls", units: 100 } }) { id }
  }`)
  tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
})

async function makeVersions({ admin, dashboard }: TestServer): Promise<void> {
  await admin.data('mutation { createPackage(input: { id: "versioned", name: "Versioned" }) { id } }')
  await dashboard.data(`mutation {
    first: publishPackage(appId: "default", id: "versioned") { id }
    editPackage(appId: "default", id: "versioned", input: { features: [{ id: "calls" }] }) { id }
    second: publishPackage(appId: "default", id: "versioned", for: NEW_ONLY) { id }
  }`)
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const TEXT = expect.any(String)

const PRICE = {
  id: 'price_plan',
  provider: 'sandbox',
  amount: 1200,
  currency: 'usd',
  interval: 'month',
  displayAmount: '12.00',
}
const PLAN = {
  id: 'plan',
  name: 'Plan',
  status: 'PUBLISHED',
  metadata: { colour: 'red' },
  isAddon: false,
  archived: false,
  updatedAt: TIME,
  prices: [PRICE],
}
const EXTRA = { ...PLAN, id: 'extra', name: 'Extra', metadata: {}, isAddon: true, prices: [] }
const DRAFT = { ...PLAN, id: 'draft', name: 'Draft', metadata: {}, status: 'DRAFT', prices: [] }

const CALLS = {
  id: 'calls',
  name: 'Calls',
  type: 'CONSUMABLE',
  unitLabel: 'call',
  unitLabelPlural: 'calls',
  metadata: { tier: 1, tags: ['a'] },
}
const BARE = { unitLabel: null, unitLabelPlural: null, metadata: {} }
const SEATS = { ...BARE, id: 'seats', name: 'Seats', type: 'CONSUMABLE' }
const STORAGE = { ...BARE, id: 'storage', name: 'Storage', type: 'CONSUMABLE' }
const EXPORT = { ...BARE, id: 'export', name: 'Export', type: 'BINARY' }
const PLAN_FEATURES = [
  { ...CALLS, limit: '10' },
  { ...SEATS, limit: '2' },
  { ...STORAGE, limit: null },
  { ...EXPORT, limit: null },
]

const ANN = {
  id: 'ann',
  name: 'Ann',
  email: 'ann@example.com',
  billingId: 'cus_1',
  metadata: { vip: true, nested: { deep: [1, null] } },
}
const BOB = { id: 'bob', name: null, email: null, billingId: null, metadata: {} }

const OVERRIDE = {
  userId: 'eva',
  featureId: 'calls',
  mode: 'REPLACE',
  limit: 50,
  overageEnabled: true,
  resetPeriod: 'MONTH',
  startedAt: TIME,
  expiresAt: '2100-01-01T00:00:00.000Z',
  reason: 'a big customer',
}
// No name under .invalid exists, so nothing is sent.
const ENDPOINT = {
  id: TEXT,
  url: 'https://sdk.invalid/hooks',
  types: ['feature.deleted'],
  description: null,
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  previousSecretUntil: null,
  createdAt: TIME,
}
const CREDIT = {
  ...{
    id: 'crd',
    userId: 'eva',
    featureId: 'calls',
    amount: 20,
    bought: null,
    provider: null,
    used: 0,
    reserved: 0,
  },
  ...{ kind: 'PROMOTIONAL', priority: 60, effectiveAt: TIME, expiresAt: null, state: 'LIVE', reason: null },
}
const HELD = {
  ...{ id: 'rsv', userId: 'eva', featureId: 'calls', reserved: 5, settled: 0, state: 'HELD' },
  ...{ createdAt: TIME, expiresAt: TIME, late: false, reason: null },
}
const CAP = {
  ...{ userId: 'eva', featureId: 'calls', entity: 'team:7', limit: 90, period: 'DAY' },
  ...{ used: 0, reserved: 0, resetsAt: TIME },
}
const AUTO_RECHARGE = {
  ...{ userId: 'eva', featureId: 'calls', below: 1, upTo: 10, priceId: 'price_calls' },
  ...{ maxSpendPerPeriod: 5000, spent: 0, state: 'ON', declines: 0, waitsUntil: null, reason: null },
}
const IN_A_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()

const subscribed = (userId: string, to: unknown) => ({
  id: TEXT,
  userId,
  status: 'ACTIVE',
  package: to,
  metadata: {},
  startedAt: TIME,
  cancelAt: null,
  cancelledAt: null,
  trialEndsAt: null,
  quantity: 1,
  packageVersion: 1,
  scheduled: null,
})

/** As a query answers it. */
const read = (userId: string, to: unknown) => ({ ...subscribed(userId, to), reversals: [] })

const counted = (used: number) => ({ budget: 15, used, overageEnabled: false })
const check = (featureId: string, reasonCode: string, consumption: unknown, access = true) => ({
  featureId,
  access,
  reason: TEXT,
  reasonCode,
  consumption,
  source: 'service',
})

type Row = [operation: string, call: (client: Tollgate) => PromiseLike<Result<unknown>>, data: unknown]

const QUERIES: Row[] = [
  [
    'feature',
    (t) => t.feature({ id: 'calls' }),
    { ...CALLS, thresholds: [80, 100], costs: [], archived: false, packages: [PLAN, EXTRA] },
  ],
  [
    'features',
    (t) => t.features({ first: 1, after: 'storage' }),
    [{ ...EXPORT, thresholds: [80, 100], costs: [], archived: false, packages: [PLAN] }],
  ],
  [
    'canUseFeature',
    (t) => t.canUseFeature({ userId: 'ann', featureId: 'calls' }),
    check('calls', 'WITHIN_BUDGET', counted(3)),
  ],
  [
    'canUseFeature',
    (t) => t.canUseFeature({ userId: 'ann', featureId: 'calls', delta: 13 }),
    check('calls', 'LIMIT_EXCEEDED', counted(3), false),
  ],
  [
    'canUseFeatures',
    (t) => t.canUseFeatures({ userId: 'ann', featureIds: ['export', 'calls', 'none'] }),
    [
      check('export', 'GRANTED', null),
      check('calls', 'WITHIN_BUDGET', counted(3)),
      check('none', 'FEATURE_NOT_FOUND', null, false),
    ],
  ],
  ['canUseFeatures', (t) => t.canUseFeatures({ userId: 'ann', featureIds: [] }), []],
  [
    'showUsage',
    (t) => t.showUsage({ userId: 'ann', featureId: 'calls' }),
    { periodStart: TIME, periodEnd: TIME, consumption: counted(3) },
  ],
  ['showUsage', (t) => t.showUsage({ userId: 'ann', featureId: 'export' }), null],
  [
    'usageSeries',
    (t) =>
      t.usageSeries({
        featureId: 'calls',
        from: '2027-01-01T00:00:00Z',
        to: '2027-01-01T00:00:01Z',
        bucket: 'MONTH',
      }),
    { total: 0, completeFrom: null, points: [{ at: '2027-01-01T00:00:00.000Z', used: 0 }] },
  ],
  ['package', (t) => t.package({ id: 'plan' }), PLAN],
  ['package', (t) => t.package({ id: 'plan', includeFeatures: true }), { ...PLAN, features: PLAN_FEATURES }],
  ['packages', (t) => t.packages(), [PLAN, EXTRA]],
  ['packages', (t) => t.packages({ status: 'DRAFT' }), [DRAFT]],
  [
    'packages',
    (t) => t.packages({ includeFeatures: true, first: 1 }),
    [{ ...PLAN, features: PLAN_FEATURES }],
  ],
  ['user', (t) => t.user({ id: 'ann' }), ANN],
  ['users', (t) => t.users(), [ANN, BOB]],
  [
    'exportUser',
    (t) => t.exportUser({ id: 'bob' }),
    expect.objectContaining({ user: expect.objectContaining({ id: 'bob' }), subscriptions: [], next: null }),
  ],
  ['events', (t) => t.events({ userId: 'nobody' }), { nodes: [], next: expect.stringMatching(/^e/) }],
  ['subscriptions', (t) => t.subscriptions(), [read('ann', PLAN), read('ann', EXTRA)]],
  ['subscriptions', (t) => t.subscriptions({ userId: 'bob' }), []],
  [
    'subscription',
    async (t) => t.subscription({ id: (await t.subscriptions({ first: 1 })).data?.[0]?.id ?? '' }),
    read('ann', PLAN),
  ],
]

/** A migration of `versioned`, whose two versions nobody has. */
const migrated = (status: string) => ({
  id: status === 'DRY_RUN' ? null : TEXT,
  packageId: 'versioned',
  fromVersion: 1,
  toVersion: 2,
  when: 'NOW',
  at: TIME,
  status,
  subscriptions: 0,
  moved: 0,
  gains: 0,
  loses: 0,
  moreOverage: 0,
  lessOverage: 0,
  features: [{ featureId: 'calls', gains: 0, loses: 0, moreOverage: 0, lessOverage: 0 }],
  undoneAt: status === 'UNDONE' ? TIME : null,
})
const MIGRATE = { packageId: 'versioned', fromVersion: 1, toVersion: 2 }
const migrate = async (t: Tollgate) => (await t.migrateSubscriptions(MIGRATE)).data?.id ?? ''

const lastOf = async (t: Tollgate, userId: string): Promise<string> =>
  (await t.subscriptions({ userId })).data?.at(-1)?.id ?? ''

/** In their order: each finds what the ones before it left. */
const MUTATIONS: Row[] = [
  [
    'createFeature',
    (t) => t.createFeature({ id: 'made', name: 'Made', type: 'CONSUMABLE', unitLabel: 'one' }),
    {
      ...BARE,
      id: 'made',
      name: 'Made',
      type: 'CONSUMABLE',
      unitLabel: 'one',
      thresholds: [80, 100],
      costs: [],
      archived: false,
      packages: [],
    },
  ],
  [
    'updateFeature',
    (t) => t.updateFeature({ id: 'made', input: { name: 'Done', unitLabel: null } }),
    {
      ...BARE,
      id: 'made',
      name: 'Done',
      type: 'CONSUMABLE',
      thresholds: [80, 100],
      costs: [],
      archived: false,
      packages: [],
    },
  ],
  [
    'createPackage',
    (t) =>
      t.createPackage({
        id: 'new',
        name: 'New',
        isAddon: true,
        features: [{ id: 'made', entitlement: { limit: 4, resetPeriod: 'DAY', overageEnabled: true } }],
      }),
    {
      ...DRAFT,
      id: 'new',
      name: 'New',
      isAddon: true,
      features: [{ ...BARE, id: 'made', name: 'Done', type: 'CONSUMABLE', limit: '4' }],
    },
  ],
  [
    'updatePackage',
    (t) => t.updatePackage({ id: 'new', input: { metadata: { a: 1 } } }),
    { ...DRAFT, id: 'new', name: 'New', isAddon: true, metadata: { a: 1 } },
  ],
  [
    'createUser',
    (t) => t.createUser({ id: 'eve', name: 'Eve', email: 'eve@example.com', metadata: { a: [1] } }),
    { ...BOB, id: 'eve', name: 'Eve', email: 'eve@example.com', metadata: { a: [1] } },
  ],
  [
    'updateUser',
    (t) => t.updateUser({ id: 'eve', input: { id: 'eva', name: 'Eva', metadata: {} } }),
    { ...BOB, id: 'eva', name: 'Eva', email: 'eve@example.com' },
  ],
  [
    'subscribe',
    (t) => t.subscribe({ userId: 'eva', packageIds: ['extra', 'plan'] }),
    [subscribed('eva', EXTRA), subscribed('eva', PLAN)],
  ],
  [
    'recordUsage',
    (t) => t.recordUsage({ userId: 'eva', featureId: 'calls', delta: 4 }),
    { recorded: true, reason: null, consumption: counted(4), queued: false },
  ],
  [
    'recordUsage',
    (t) => t.recordUsage({ userId: 'eva', featureId: 'calls', delta: 12, idempotencyKey: 'mine' }),
    { recorded: false, reason: TEXT, consumption: counted(4), queued: false },
  ],
  [
    'recordUsage',
    async (t) => {
      await t.recordUsage({ userId: 'eva', featureId: 'calls', delta: 2, idempotencyKey: 'wrong' })
      return t.revertUsage({ userId: 'eva', featureId: 'calls', revertOf: 'wrong' })
    },
    { recorded: true, reason: null, consumption: counted(4), queued: false },
  ],
  [
    'recordUsages',
    (t) =>
      t.recordUsages([
        { userId: 'eva', featureId: 'calls', delta: -3 },
        { userId: 'eva', featureId: 'calls', delta: 9, action: 'SET' },
      ]),
    [
      { recorded: true, reason: null, consumption: counted(1), queued: false },
      { recorded: true, reason: null, consumption: counted(9), queued: false },
    ],
  ],
  [
    'setOverride',
    (t) =>
      t.setOverride({
        userId: 'eva',
        featureId: 'calls',
        mode: 'REPLACE',
        limit: 50,
        overageEnabled: true,
        expiresAt: '2100-01-01T00:00:00Z',
        reason: 'a big customer',
      }),
    OVERRIDE,
  ],
  [
    'addCredit',
    (t) => t.addCredit({ id: 'crd', userId: 'eva', featureId: 'calls', amount: 20, priority: 60 }),
    CREDIT,
  ],
  ['credits', (t) => t.credits({ userId: 'eva', state: 'LIVE' }), [CREDIT]],
  [
    'setAutoRecharge',
    (t) =>
      t.setAutoRecharge({
        ...{ userId: 'eva', featureId: 'calls', below: 1, upTo: 10, priceId: 'price_calls' },
        maxSpendPerPeriod: 5000,
      }),
    AUTO_RECHARGE,
  ],
  ['autoRecharges', (t) => t.autoRecharges({ userId: 'eva' }), [AUTO_RECHARGE]],
  ['removeAutoRecharge', (t) => t.removeAutoRecharge({ userId: 'eva', featureId: 'calls' }), AUTO_RECHARGE],
  [
    'reserveUsage',
    (t) => t.reserveUsage({ id: 'rsv', userId: 'eva', featureId: 'calls', amount: 5, ttlSeconds: 60 }),
    HELD,
  ],
  ['extendReservation', (t) => t.extendReservation({ id: 'rsv', add: 1 }), { ...HELD, reserved: 6 }],
  ['reservations', (t) => t.reservations({ userId: 'eva' }), [{ ...HELD, reserved: 6 }]],
  [
    'settleReservation',
    (t) => t.settleReservation({ id: 'rsv', amount: 0, final: false, ifOver: 'CAP' }),
    { ...HELD, reserved: 6 },
  ],
  [
    'releaseReservation',
    (t) => t.releaseReservation({ id: 'rsv' }),
    { ...HELD, reserved: 0, state: 'RELEASED' },
  ],
  [
    'voidCredit',
    (t) => t.voidCredit({ id: 'crd', reason: 'mistake' }),
    { ...CREDIT, state: 'VOIDED', reason: 'mistake' },
  ],
  [
    'generateCreditLink',
    (t) =>
      t.generateCreditLink({
        userId: 'eva',
        priceId: 'price_calls',
        quantity: 2,
        successUrl: 'https://a.example',
        cancelUrl: 'https://b.example',
      }),
    { url: expect.stringContaining('/checkout/') },
  ],
  [
    'setCap',
    (t) => t.setCap({ userId: 'eva', featureId: 'calls', entity: 'team:7', limit: 90, period: 'DAY' }),
    CAP,
  ],
  ['caps', (t) => t.caps({ userId: 'eva' }), [CAP]],
  [
    'removeCap',
    (t) => t.removeCap({ userId: 'eva', featureId: 'calls', entity: 'team:7', period: 'DAY' }),
    CAP,
  ],
  ['overrides', (t) => t.overrides({ userId: 'eva' }), [OVERRIDE]],
  ['removeOverride', (t) => t.removeOverride({ userId: 'eva', featureId: 'calls' }), OVERRIDE],
  ['removeOverride', (t) => t.removeOverride({ userId: 'eva', featureId: 'calls' }), null],
  [
    'cancelSubscription',
    async (t) => t.cancelSubscription({ id: await lastOf(t, 'eva') }),
    { ...subscribed('eva', PLAN), cancelAt: TIME },
  ],
  [
    'keepSubscription',
    async (t) => t.keepSubscription({ id: await lastOf(t, 'eva') }),
    subscribed('eva', PLAN),
  ],
  [
    'cancelSubscription',
    async (t) => t.cancelSubscription({ id: await lastOf(t, 'eva'), atPeriodEnd: false }),
    { ...subscribed('eva', PLAN), status: 'CANCELLED', cancelledAt: TIME },
  ],
  [
    'migrateSubscriptions',
    async (t) => {
      await makeVersions(server)
      return t.migrateSubscriptions({ ...MIGRATE, when: 'BEST', dryRun: true })
    },
    migrated('DRY_RUN'),
  ],
  ['migrateSubscriptions', (t) => t.migrateSubscriptions(MIGRATE), migrated('DONE')],
  ['migration', async (t) => t.migration({ id: await migrate(t) }), migrated('DONE')],
  ['undoMigration', async (t) => t.undoMigration({ id: await migrate(t) }), migrated('UNDONE')],
  [
    'startTrial',
    (t) => t.startTrial({ userId: 'eva', packageId: 'plan', days: 7 }),
    { ...subscribed('eva', PLAN), cancelAt: TIME, trialEndsAt: TIME },
  ],
  [
    'extendTrial',
    async (t) => t.extendTrial({ id: await lastOf(t, 'eva'), until: IN_A_YEAR }),
    { ...subscribed('eva', PLAN), cancelAt: IN_A_YEAR, trialEndsAt: IN_A_YEAR },
  ],
  [
    'changeSubscription',
    (t) => t.changeSubscription({ userId: 'eva', packageId: 'plan', quantity: 2, when: 'PERIOD_END' }),
    {
      at: IN_A_YEAR,
      now: false,
      from: PLAN,
      to: PLAN,
      gains: [],
      loses: [],
      moreOverage: [],
      lessOverage: [],
      credit: expect.toBeOneOf([null, expect.any(Number)]),
      charge: expect.toBeOneOf([null, expect.any(Number)]),
      currency: expect.toBeOneOf([null, TEXT]),
      quotedBy: 'tollgate',
      formula: TEXT,
      subscription: {
        ...subscribed('eva', PLAN),
        cancelAt: IN_A_YEAR,
        trialEndsAt: IN_A_YEAR,
        scheduled: { packageId: 'plan', at: IN_A_YEAR },
      },
    },
  ],
  [
    'cancelScheduledChange',
    (t) => t.cancelScheduledChange({ userId: 'eva' }),
    { ...subscribed('eva', PLAN), cancelAt: IN_A_YEAR, trialEndsAt: IN_A_YEAR },
  ],
  [
    'generateUserToken',
    (t) => t.generateUserToken({ userId: 'eva' }),
    { token: expect.stringMatching(/^ey[\w-]+\.[\w-]+\.[\w-]+$/) },
  ],
  ['deleteUser', (t) => t.deleteUser({ id: 'eva' }), { id: 'eva' }],
  [
    'createWebhookEndpoint',
    async (t) => {
      const made = await t.createWebhookEndpoint({ url: ENDPOINT.url, types: ['feature.deleted'] })
      endpointId = made.data?.id ?? ''
      return made
    },
    { id: TEXT, secret: expect.stringMatching(/^whsec_/), endpoint: ENDPOINT },
  ],
  [
    'updateWebhookEndpoint',
    (t) => t.updateWebhookEndpoint({ id: endpointId, input: { description: 'CRM' } }),
    { ...ENDPOINT, description: 'CRM' },
  ],
  [
    'rotateWebhookSecret',
    (t) => t.rotateWebhookSecret({ id: endpointId }),
    {
      id: TEXT,
      secret: expect.stringMatching(/^whsec_/),
      endpoint: { ...ENDPOINT, description: 'CRM', previousSecretUntil: TIME },
    },
  ],
  [
    'sendTestEvent',
    async (t) => {
      const event = await t.sendTestEvent({ endpointId })
      eventId = event.data?.id ?? ''
      return event
    },
    { id: expect.stringMatching(/^evt_/), type: 'webhook.test', at: TIME },
  ],
  ['resendEvents', (t) => t.resendEvents({ endpointId, eventIds: [eventId] }), { resent: 1, more: false }],
  ['resendFailedEvents', (t) => t.resendFailedEvents({ endpointId }), { resent: 0, more: false }],
  [
    'webhookDeliveries',
    (t) => t.webhookDeliveries({ endpointId, first: 1 }),
    {
      nodes: [
        expect.objectContaining({
          eventId: expect.stringMatching(/^evt_/),
          type: 'webhook.test',
          state: 'PENDING',
        }),
      ],
      next: null,
    },
  ],
  ['webhookEndpoints', (t) => t.webhookEndpoints(), [expect.objectContaining({ url: ENDPOINT.url })]],
  ['deleteWebhookEndpoint', (t) => t.deleteWebhookEndpoint({ id: endpointId }), { id: TEXT }],
]

// Made by the rows above, one after the other.
let endpointId = ''
let eventId = ''

describe('spec §4: every operation', () => {
  it('every operation has its row here', () => {
    const rows = new Set([...QUERIES, ...MUTATIONS].map(([operation]) => operation))
    expect([...rows].toSorted()).toEqual(Object.keys(DOCUMENTS).toSorted())
  })

  it.each(QUERIES)('%s', async (_, call, data) => {
    expect(await call(tollgate)).toEqual({ data, error: null })
  })

  it('the mutations', async () => {
    for (const [operation, call, data] of MUTATIONS) {
      expect({ operation, ...(await call(tollgate)) }).toEqual({ operation, data, error: null })
    }
  })

  it('spec §4 query rule 3: showUsage returns only the current usage', async () => {
    const { data } = await tollgate.showUsage({ userId: 'ann', featureId: 'calls' })
    expect(Object.keys(data ?? {}).toSorted()).toEqual(['consumption', 'periodEnd', 'periodStart'])
  })

  it('graphql() takes any other document, with its variables', async () => {
    const query = 'query ($id: String!) { user(id: $id) { name } nobody: user(id: "nobody") { id } }'
    const { data, error } = await tollgate.graphql<{ user: { name: string } }>(query, { id: 'ann' })
    expect(data).toEqual({ user: { name: 'Ann' }, nobody: null })
    expect(error).toMatchObject({ name: 'UserNotFoundError' })
  })
})
