import { beforeAll, describe, expect, it } from 'vitest'
import type { OperationName } from '../../src/rest/operation.ts'
import { restOperations } from '../../src/rest/operations.ts'
import { newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { RestClient } from '../harness/rest.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// The routes, written out: what a caller sends and gets. Rows run in order, and later ones build on earlier ones.

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
let app: TestApp
let rest: RestClient
/** ids that the service has made, by the name that rows give them */
const made: Record<string, string> = {}

beforeAll(async () => {
  app = await newTestApp(server)
  rest = new RestClient(server.url, { ...app.admin.headers })
  await publishPackage(app, 'pro', { calls: { limit: 100 } })
  await publishPackage(app, 'team', { calls: { limit: 500 } })
  await publishPackage(app, 'extra', { calls: { limit: 10 } }, true)
  await app.dashboard.call('createPrice', {
    packageId: 'pro',
    input: { id: 'price_pro', provider: 'sandbox', amount: 1000, currency: 'usd', interval: 'month' },
  })
  await app.dashboard.call('createPrice', {
    input: { id: 'price_pack', amount: 500, currency: 'usd', credits: { featureId: 'calls', units: 100 } },
  })
  await app.dashboard.call('createBillingTemplate', {
    input: { id: 'buy', name: 'Buy', packageIds: ['pro'] },
  })
  // A second version, for migrations.
  await app.dashboard.call('editPackage', { id: 'team', input: { name: 'Team' } })
  await app.dashboard.call('publishPackage', { id: 'team', for: 'NEW_ONLY' })
})

interface Row {
  operation: OperationName
  /** {name} in the path or the body is an id that an earlier row has made */
  request: [method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: Data]
  status: number
  body: unknown
  /** the value of this path in the answer gets a name */
  makes?: [name: string, from: (body: Data) => string]
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => made[name] ?? '')
const SECRET = expect.stringMatching(/^whsec_/)
const ENDPOINT = {
  id: expect.any(String),
  url: 'https://rest.invalid/hooks',
  types: ['feature.deleted'],
  description: null,
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  previousSecretUntil: null,
  createdAt: TIME,
}

const ROWS: Row[] = [
  {
    operation: 'createFeature',
    request: ['post', '/v1/features', { id: 'export', name: 'Export', type: 'BINARY' }],
    status: 201,
    body: {
      id: 'export',
      name: 'Export',
      type: 'BINARY',
      unitLabel: null,
      unitLabelPlural: null,
      metadata: {},
      thresholds: [80, 100],
      costs: [],
      packages: [],
      archived: false,
    },
  },
  {
    operation: 'features',
    request: ['get', '/v1/features'],
    status: 200,
    body: {
      data: [expect.objectContaining({ id: 'calls' }), expect.objectContaining({ id: 'export' })],
      next: null,
    },
  },
  {
    operation: 'feature',
    request: ['get', '/v1/features/calls'],
    status: 200,
    body: expect.objectContaining({
      id: 'calls',
      packages: ['pro', 'team', 'extra'].map((id) => expect.objectContaining({ id, status: 'PUBLISHED' })),
    }),
  },
  {
    operation: 'updateFeature',
    request: ['patch', '/v1/features/calls', { unitLabel: 'call' }],
    status: 200,
    body: expect.objectContaining({ id: 'calls', name: 'calls', unitLabel: 'call' }),
  },
  {
    operation: 'createPackage',
    request: ['post', '/v1/packages', { id: 'draft', name: 'Draft', features: [{ id: 'calls' }] }],
    status: 201,
    body: expect.objectContaining({
      id: 'draft',
      status: 'DRAFT',
      isAddon: false,
      prices: [],
      features: [expect.objectContaining({ id: 'calls', limit: null })],
    }),
  },
  {
    operation: 'packages',
    request: ['get', '/v1/packages?first=2'],
    status: 200,
    body: {
      data: [expect.objectContaining({ id: 'pro' }), expect.objectContaining({ id: 'team' })],
      next: 'team',
    },
  },
  {
    operation: 'packages',
    request: ['get', '/v1/packages?status=DRAFT'],
    status: 200,
    body: { data: [expect.objectContaining({ id: 'draft' })], next: null },
  },
  {
    operation: 'package',
    request: ['get', '/v1/packages/pro'],
    status: 200,
    body: expect.objectContaining({
      id: 'pro',
      prices: [expect.objectContaining({ id: 'price_pro', amount: 1000, displayAmount: '10.00' })],
      features: [expect.objectContaining({ id: 'calls', limit: '100' })],
      updatedAt: TIME,
    }),
  },
  {
    operation: 'updatePackage',
    request: ['patch', '/v1/packages/pro', { metadata: { tier: 1 } }],
    status: 200,
    body: expect.objectContaining({ id: 'pro', metadata: { tier: 1 } }),
  },
  {
    operation: 'createUser',
    request: ['post', '/v1/users', { id: 'ann', name: 'Ann', email: 'ann@example.com' }],
    status: 201,
    body: { id: 'ann', name: 'Ann', email: 'ann@example.com', billingId: null, metadata: {} },
  },
  {
    operation: 'createUser',
    request: ['post', '/v1/users', { id: 'bob' }],
    status: 201,
    body: expect.objectContaining({ id: 'bob' }),
  },
  {
    operation: 'users',
    request: ['get', '/v1/users?first=1'],
    status: 200,
    body: { data: [expect.objectContaining({ id: 'ann' })], next: 'ann' },
  },
  {
    operation: 'users',
    request: ['get', '/v1/users?first=1&after=ann'],
    status: 200,
    body: { data: [expect.objectContaining({ id: 'bob' })], next: null },
  },
  {
    operation: 'user',
    request: ['get', '/v1/users/ann'],
    status: 200,
    body: expect.objectContaining({ id: 'ann', name: 'Ann' }),
  },
  {
    operation: 'updateUser',
    request: ['patch', '/v1/users/bob', { id: 'b/ö b', name: 'Bob' }],
    status: 200,
    body: expect.objectContaining({ id: 'b/ö b', name: 'Bob' }),
  },
  {
    operation: 'user',
    request: ['get', '/v1/users/b%2F%C3%B6%20b'],
    status: 200,
    body: expect.objectContaining({ id: 'b/ö b' }),
  },
  {
    operation: 'subscribe',
    request: [
      'post',
      '/v1/subscriptions',
      { userId: 'ann', packageIds: ['pro', 'extra'], quantities: [1, 2] },
    ],
    status: 201,
    body: {
      data: [
        expect.objectContaining({
          userId: 'ann',
          status: 'ACTIVE',
          quantity: 1,
          package: expect.objectContaining({ id: 'pro' }),
        }),
        expect.objectContaining({ userId: 'ann', status: 'ACTIVE', quantity: 2 }),
      ],
    },
    makes: ['addon', ({ data }) => data[1].id],
  },
  {
    operation: 'subscriptions',
    request: ['get', '/v1/subscriptions?userId=ann&first=1'],
    status: 200,
    body: { data: [expect.objectContaining({ quantity: 1, startedAt: TIME })], next: expect.any(String) },
  },
  {
    operation: 'subscription',
    request: ['get', '/v1/subscriptions/{addon}'],
    status: 200,
    body: expect.objectContaining({ quantity: 2, cancelAt: null, reversals: [] }),
  },
  {
    operation: 'canUseFeature',
    request: ['post', '/v1/check', { userId: 'ann', featureId: 'calls' }],
    status: 200,
    body: expect.objectContaining({
      featureId: 'calls',
      access: true,
      reasonCode: 'WITHIN_BUDGET',
      consumption: expect.objectContaining({ budget: 120, used: 0, overageEnabled: false }),
    }),
  },
  {
    operation: 'canUseFeature',
    request: ['post', '/v1/check', { userId: 'ann', featureId: 'calls', delta: 121 }],
    status: 200,
    body: expect.objectContaining({ access: false, reasonCode: 'LIMIT_EXCEEDED' }),
  },
  {
    operation: 'canUseFeature',
    request: ['post', '/v1/check', { userId: 'nobody', featureId: 'calls' }],
    status: 200,
    body: expect.objectContaining({ access: false, reasonCode: 'USER_NOT_FOUND', consumption: null }),
  },
  {
    operation: 'canUseFeatures',
    request: ['post', '/v1/checks', { userId: 'ann', featureIds: ['calls', 'export'] }],
    status: 200,
    body: {
      data: [
        expect.objectContaining({ featureId: 'calls', access: true }),
        expect.objectContaining({ featureId: 'export', access: false, reasonCode: 'NOT_IN_PACKAGE' }),
      ],
    },
  },
  {
    operation: 'recordUsage',
    request: ['post', '/v1/usage', { userId: 'ann', featureId: 'calls', delta: 5, idempotencyKey: 'e1' }],
    status: 200,
    body: { recorded: true, reason: null, consumption: expect.objectContaining({ budget: 120, used: 5 }) },
  },
  {
    operation: 'recordUsage',
    request: ['post', '/v1/usage', { userId: 'ann', featureId: 'calls', delta: 500 }],
    status: 200,
    body: expect.objectContaining({ recorded: false, reason: expect.any(String) }),
  },
  {
    operation: 'recordUsages',
    request: [
      'post',
      '/v1/usage/batch',
      {
        events: [
          { userId: 'ann', featureId: 'calls', delta: 2 },
          { userId: 'ann', featureId: 'calls', delta: 9, action: 'SET' },
        ],
      },
    ],
    status: 200,
    body: {
      data: [
        expect.objectContaining({ recorded: true, consumption: expect.objectContaining({ used: 7 }) }),
        expect.objectContaining({ recorded: true, consumption: expect.objectContaining({ used: 9 }) }),
      ],
    },
  },
  {
    operation: 'showUsage',
    request: ['get', '/v1/usage?userId=ann&featureId=calls'],
    status: 200,
    body: {
      current: { periodStart: TIME, periodEnd: TIME, consumption: expect.objectContaining({ used: 9 }) },
      past: [],
    },
  },
  {
    operation: 'usageSeries',
    request: [
      'get',
      '/v1/usage/series?featureId=calls&userId=ann&from=2027-01-01T00:00:00Z&to=2027-03-01T00:00:00Z&bucket=MONTH',
    ],
    status: 200,
    body: {
      total: 0,
      completeFrom: null,
      points: [
        { at: '2027-01-01T00:00:00.000Z', used: 0 },
        { at: '2027-02-01T00:00:00.000Z', used: 0 },
      ],
    },
  },
  {
    operation: 'events',
    request: ['get', '/v1/events?userId=nobody&types=user.created&first=2'],
    status: 200,
    body: { data: [], next: expect.stringMatching(/^e/) },
  },
  {
    operation: 'setOverride',
    request: ['put', '/v1/users/ann/overrides/calls', { mode: 'ADD', limit: 30, reason: 'Gift' }],
    status: 200,
    body: expect.objectContaining({
      userId: 'ann',
      featureId: 'calls',
      mode: 'ADD',
      limit: 30,
      reason: 'Gift',
    }),
  },
  {
    operation: 'setOverride',
    request: ['put', '/v1/users/ann/overrides/export', { mode: 'GRANT' }],
    status: 200,
    body: expect.objectContaining({ featureId: 'export', mode: 'GRANT', limit: null }),
  },
  {
    operation: 'overrides',
    request: ['get', '/v1/users/ann/overrides?first=1'],
    status: 200,
    body: { data: [expect.objectContaining({ featureId: 'calls', mode: 'ADD' })], next: 'calls' },
  },
  {
    operation: 'overrides',
    request: ['get', '/v1/users/ann/overrides?after=calls'],
    status: 200,
    body: { data: [expect.objectContaining({ featureId: 'export' })], next: null },
  },
  {
    operation: 'removeOverride',
    request: ['delete', '/v1/users/ann/overrides/calls'],
    status: 200,
    body: expect.objectContaining({ featureId: 'calls', mode: 'ADD' }),
  },
  {
    operation: 'removeOverride',
    request: ['delete', '/v1/users/ann/overrides/calls'],
    status: 200,
    body: null,
  },
  {
    operation: 'addCredit',
    request: [
      'post',
      '/v1/credits',
      { id: 'crd', userId: 'ann', featureId: 'calls', amount: 50, priority: 60 },
    ],
    status: 201,
    body: expect.objectContaining({ id: 'crd', userId: 'ann', amount: 50, state: 'LIVE' }),
  },
  {
    operation: 'credits',
    request: ['get', '/v1/credits?userId=ann&first=1'],
    status: 200,
    body: { data: [expect.objectContaining({ id: 'crd', used: 0 })], next: null },
  },
  {
    operation: 'setAutoRecharge',
    request: [
      'put',
      '/v1/auto-recharges',
      {
        userId: 'ann',
        featureId: 'calls',
        below: 1,
        upTo: 100,
        priceId: 'price_pack',
        maxSpendPerPeriod: 4000,
      },
    ],
    status: 200,
    body: expect.objectContaining({ below: 1, upTo: 100, state: 'ON', spent: 0 }),
  },
  {
    operation: 'autoRecharges',
    request: ['get', '/v1/auto-recharges?userId=ann'],
    status: 200,
    body: { data: [expect.objectContaining({ featureId: 'calls', maxSpendPerPeriod: 4000 })] },
  },
  {
    operation: 'removeAutoRecharge',
    request: ['delete', '/v1/auto-recharges?userId=ann&featureId=calls'],
    status: 200,
    body: expect.objectContaining({ priceId: 'price_pack' }),
  },
  {
    operation: 'setCap',
    request: ['put', '/v1/caps', { userId: 'ann', featureId: 'calls', limit: 500, period: 'YEAR' }],
    status: 200,
    body: expect.objectContaining({ entity: null, limit: 500, used: 0, resetsAt: TIME }),
  },
  {
    operation: 'caps',
    request: ['get', '/v1/caps?userId=ann'],
    status: 200,
    body: { data: [expect.objectContaining({ featureId: 'calls', limit: 500, period: 'YEAR' })] },
  },
  {
    operation: 'removeCap',
    request: ['delete', '/v1/caps?userId=ann&featureId=calls&period=YEAR'],
    status: 200,
    body: expect.objectContaining({ limit: 500 }),
  },
  {
    operation: 'removeCap',
    request: ['delete', '/v1/caps?userId=ann&featureId=calls&entity=team%3A7&period=YEAR'],
    status: 200,
    body: null,
  },
  {
    operation: 'reserveUsage',
    request: ['post', '/v1/reservations', { id: 'rsv', userId: 'ann', featureId: 'calls', amount: 2 }],
    status: 201,
    body: expect.objectContaining({ id: 'rsv', reserved: 2, state: 'HELD', expiresAt: TIME }),
  },
  {
    operation: 'extendReservation',
    request: ['post', '/v1/reservations/rsv/extend', { add: 1 }],
    status: 200,
    body: expect.objectContaining({ reserved: 3 }),
  },
  {
    operation: 'settleReservation',
    request: ['post', '/v1/reservations/rsv/settle', { amount: 0, final: false }],
    status: 200,
    body: expect.objectContaining({ reserved: 3, settled: 0, state: 'HELD' }),
  },
  {
    operation: 'reservations',
    request: ['get', '/v1/reservations?userId=ann'],
    status: 200,
    body: { data: [expect.objectContaining({ id: 'rsv', reserved: 3 })], next: null },
  },
  {
    operation: 'releaseReservation',
    request: ['post', '/v1/reservations/rsv/release'],
    status: 200,
    body: expect.objectContaining({ reserved: 0, state: 'RELEASED' }),
  },
  {
    operation: 'voidCredit',
    request: ['post', '/v1/credits/crd/void', { reason: 'mistake' }],
    status: 200,
    body: expect.objectContaining({ state: 'VOIDED', reason: 'mistake' }),
  },
  {
    operation: 'cancelSubscription',
    request: ['post', '/v1/subscriptions/{addon}/cancel', {}],
    status: 200,
    body: expect.objectContaining({ status: 'ACTIVE', cancelAt: TIME }),
  },
  {
    operation: 'keepSubscription',
    request: ['post', '/v1/subscriptions/{addon}/keep'],
    status: 200,
    body: expect.objectContaining({ status: 'ACTIVE', cancelAt: null }),
  },
  {
    operation: 'cancelSubscription',
    request: ['post', '/v1/subscriptions/{addon}/cancel', { atPeriodEnd: false }],
    status: 200,
    body: expect.objectContaining({ status: 'CANCELLED', cancelledAt: TIME }),
  },
  {
    operation: 'changeSubscription',
    request: ['post', '/v1/users/ann/change-plan', { packageId: 'team', dryRun: true }],
    status: 200,
    body: expect.objectContaining({ to: expect.objectContaining({ id: 'team' }), subscription: null }),
  },
  {
    operation: 'changeSubscription',
    request: ['post', '/v1/users/ann/change-plan', { packageId: 'team', when: 'PERIOD_END' }],
    status: 200,
    body: expect.objectContaining({
      now: false,
      from: expect.objectContaining({ id: 'pro' }),
      subscription: expect.objectContaining({ scheduled: expect.objectContaining({ packageId: 'team' }) }),
    }),
  },
  {
    operation: 'cancelScheduledChange',
    request: ['post', '/v1/users/ann/cancel-scheduled-change'],
    status: 200,
    body: expect.objectContaining({ scheduled: null }),
  },
  {
    operation: 'startTrial',
    // biome-ignore lint/suspicious/noThenProperty: the name in the API; a string is no thenable
    request: ['post', '/v1/users/b%2F%C3%B6%20b/start-trial', { packageId: 'pro', days: 14, then: 'team' }],
    status: 200,
    body: expect.objectContaining({ userId: 'b/ö b', trialEndsAt: TIME }),
    makes: ['trial', ({ id }) => id],
  },
  {
    operation: 'extendTrial',
    request: ['post', '/v1/subscriptions/{trial}/extend-trial', { until: inDays(30) }],
    status: 200,
    body: expect.objectContaining({ trialEndsAt: TIME }),
  },
  {
    operation: 'migrateSubscriptions',
    request: ['post', '/v1/packages/team/migrations', { fromVersion: 1, toVersion: 2, dryRun: true }],
    status: 200,
    body: expect.objectContaining({ id: null, status: 'DRY_RUN' }),
  },
  {
    operation: 'migrateSubscriptions',
    request: ['post', '/v1/packages/team/migrations', { fromVersion: 1, toVersion: 2 }],
    status: 201,
    body: expect.objectContaining({ packageId: 'team', fromVersion: 1, toVersion: 2, status: 'DONE' }),
    makes: ['migration', ({ id }) => id],
  },
  {
    operation: 'migration',
    request: ['get', '/v1/migrations/{migration}'],
    status: 200,
    body: expect.objectContaining({ packageId: 'team', status: 'DONE', undoneAt: null }),
  },
  {
    operation: 'undoMigration',
    request: ['post', '/v1/migrations/{migration}/undo'],
    status: 200,
    body: expect.objectContaining({ status: 'UNDONE', undoneAt: TIME }),
  },
  {
    operation: 'generateCreditLink',
    request: [
      'post',
      '/v1/credit-links',
      {
        userId: 'ann',
        priceId: 'price_pack',
        successUrl: 'https://shop.example/thanks',
        cancelUrl: 'https://shop.example/cart',
      },
    ],
    status: 201,
    body: { url: expect.stringContaining('/checkout/') },
  },
  {
    operation: 'generateSubscriptionLink',
    request: [
      'post',
      '/v1/payment-links',
      {
        templateId: 'buy',
        successUrl: 'https://shop.example/thanks',
        cancelUrl: 'https://shop.example/cart',
      },
    ],
    status: 201,
    body: { url: expect.stringContaining('/checkout/') },
  },
  {
    operation: 'generateUserToken',
    request: ['post', '/v1/user-tokens', { userId: 'ann' }],
    status: 201,
    body: { token: expect.stringMatching(/^eyJ/) },
  },
  {
    operation: 'exportUser',
    request: ['get', '/v1/users/ann/export'],
    status: 200,
    body: expect.objectContaining({ next: null }),
  },
  {
    operation: 'deleteUser',
    request: ['delete', '/v1/users/ann'],
    status: 200,
    body: { id: 'ann' },
  },
  {
    operation: 'user',
    request: ['get', '/v1/users/ann'],
    status: 404,
    body: {
      type: 'urn:tollgate:error:USER_NOT_FOUND',
      title: 'User not found',
      status: 404,
      detail: 'User not found: "ann"',
      code: 'USER_NOT_FOUND',
      requestId: expect.any(String),
    },
  },
  {
    operation: 'createWebhookEndpoint',
    request: [
      'post',
      '/v1/webhook-endpoints',
      { url: 'https://rest.invalid/hooks', types: ['feature.deleted'] },
    ],
    status: 201,
    body: { id: expect.any(String), secret: SECRET, endpoint: ENDPOINT },
    makes: ['endpoint', ({ id }) => id],
  },
  {
    operation: 'webhookEndpoints',
    request: ['get', '/v1/webhook-endpoints'],
    status: 200,
    body: { data: [ENDPOINT] },
  },
  {
    operation: 'updateWebhookEndpoint',
    request: ['patch', '/v1/webhook-endpoints/{endpoint}', { description: 'CRM' }],
    status: 200,
    body: { ...ENDPOINT, description: 'CRM' },
  },
  {
    operation: 'rotateWebhookSecret',
    request: ['post', '/v1/webhook-endpoints/{endpoint}/rotate-secret'],
    status: 200,
    body: {
      id: expect.any(String),
      secret: SECRET,
      endpoint: { ...ENDPOINT, description: 'CRM', previousSecretUntil: TIME },
    },
  },
  {
    operation: 'sendTestEvent',
    request: ['post', '/v1/webhook-endpoints/{endpoint}/test'],
    status: 200,
    body: { id: expect.stringMatching(/^evt_/), type: 'webhook.test', at: TIME },
    makes: ['event', ({ id }) => id],
  },
  {
    operation: 'webhookDeliveries',
    request: ['get', '/v1/webhook-endpoints/{endpoint}/deliveries?first=50'],
    status: 200,
    body: {
      data: [expect.objectContaining({ eventId: expect.stringMatching(/^evt_/), type: 'webhook.test' })],
      next: null,
    },
  },
  {
    operation: 'resendEvents',
    request: ['post', '/v1/webhook-endpoints/{endpoint}/resend', { eventIds: ['{event}'] }],
    status: 200,
    body: { resent: 1, more: false },
  },
  {
    operation: 'resendFailedEvents',
    request: ['post', '/v1/webhook-endpoints/{endpoint}/resend-failed', {}],
    status: 200,
    body: { resent: 0, more: false },
  },
  {
    operation: 'deleteWebhookEndpoint',
    request: ['delete', '/v1/webhook-endpoints/{endpoint}'],
    status: 200,
    body: { id: expect.any(String) },
  },
  {
    operation: 'webhookEndpoints',
    request: ['get', '/v1/webhook-endpoints'],
    status: 200,
    body: { data: [] },
  },
]

describe('gap: REST: the routes', () => {
  it.each(ROWS)('$operation is $request, with $status', async ({ request, status, body, makes }) => {
    const [method, path, sent] = request
    const answer = await rest.send({
      method: method.toUpperCase(),
      path: fill(path),
      body: sent && JSON.parse(fill(JSON.stringify(sent))),
    })
    expect(answer).toMatchObject({ status })
    expect(answer.body).toEqual(body)
    const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json'
    expect(answer.headers.get('content-type')).toBe(type)
    if (makes) made[makes[0]] = makes[1](answer.body ?? {})
  })

  it('every operation has a row', () => {
    expect([...new Set(ROWS.map(({ operation }) => operation))].sort()).toEqual(
      restOperations()
        .map(({ name }) => name)
        .sort(),
    )
  })
})
