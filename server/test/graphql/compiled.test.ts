import { buildSchema, type GraphQLResolveInfo, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { Executable } from '../../src/graphql/engine/executable.ts'
import { Client, type Variables } from '../harness/client.ts'
import { expectAlike, isCompiled } from '../harness/differential.ts'
import { furnish } from '../harness/furnished.ts'
import { OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { operationNames, type Root, wholeOperation } from '../harness/whole-operation.ts'

// Compiled or not, a document is answered alike: same data, same order of fields, same errors. graphql-js executes the
// first two uses of a document, compiled code the later ones: the second and the fourth answer are compared.

const admin = adminSchema()
const client = clientSchema()
const dashboard = dashboardSchema()

let server: TestServer
let user: Client
beforeAll(async () => {
  server = await startTestServer()
  await furnish(server)
  for (let turn = 1; turn <= 4; turn++) {
    await server.admin.data(`mutation { createUser(input: { id: "user turn${turn}", name: "Old" }) { id } }`)
    await server.admin.data(
      `mutation { createFeature(input: { id: "old turn${turn}", name: "Old", type: BINARY }) { id } }`,
    )
    await server.admin.data(
      `mutation { createPackage(input: { id: "old turn${turn}", name: "Old" }) { id } }`,
    )
  }
})
beforeAll(async () => {
  const { generateUserToken } = await server.admin.data(
    'mutation { generateUserToken(userId: "ann") { token } }',
  )
  user = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
})
afterAll(() => server.stop())

describe('an executable document', () => {
  const schema = buildSchema('type Query { how(text: String): String }')
  const how = schema.getQueryType()?.getFields().how
  if (!how) throw new Error('no field')
  // Only graphql-js includes the type of each step in a path.
  how.resolve = (_root, _args, _context, { path }: GraphQLResolveInfo) =>
    path.typename === undefined ? 'compiled' : 'interpreted'
  const usesOf = async (query: string, names: (string | null)[]) => {
    const executable = new Executable(schema, parse(query))
    const uses: unknown[] = []
    for (const name of names) uses.push((await executable.run({}, {}, name)).data?.how)
    return uses
  }

  const SOLE = ['interpreted', 'interpreted', 'compiled', 'compiled']
  const NEVER = ['interpreted', 'interpreted', 'interpreted', 'interpreted']
  const DOCUMENTS = [
    { query: '{ how }', name: null, uses: SOLE },
    { query: 'query ($text: String) { how(text: $text) }', name: null, uses: SOLE },
    { query: 'query A { how }', name: 'A', uses: SOLE },
    { query: 'query A { how } query B { how }', name: 'A', uses: NEVER },
    { query: '{ how(text: "written out") }', name: null, uses: NEVER },
  ]
  it.each(DOCUMENTS)('is compiled at its third use, if ever: $query', async ({ query, name, uses }) => {
    expect(await usesOf(query, [name, name, name, name])).toEqual(uses)
  })
})

interface Row {
  variables(turn: number): Variables
  /** where it rightly fails */
  code?: string
}
type Rows = Record<string, Row>

const given = (variables: Variables, code?: string): Row => ({
  variables: () => variables,
  ...(code && { code }),
})

const ADMIN_QUERIES: Rows = {
  feature: given({ id: 'calls' }),
  features: given({ first: 3, after: 'calls' }),
  canUseFeature: given({ userId: 'ann', featureId: 'calls', delta: 3 }),
  canUseFeatures: given({ userId: 'ann', featureIds: ['calls', 'seats', 'storage', 'export', 'none'] }),
  showUsage: given({ userId: 'ann', featureId: 'calls' }),
  package: given({ id: 'plan', includeFeatures: true }),
  packages: given({ status: 'PUBLISHED' }),
  migration: given({ id: 'none' }, 'MIGRATION_NOT_FOUND'),
  user: given({ id: 'ann' }),
  users: given({ first: 2 }),
  exportUser: given({ id: 'ann' }),
  subscription: given({ id: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  subscriptions: given({ userId: 'ann' }),
  overrides: given({ userId: 'ann' }),
}

const ADMIN_MUTATIONS: Rows = {
  createFeature: {
    variables: (turn) => ({
      input: { id: `new turn${turn}`, name: 'New', type: 'BINARY', metadata: { a: [1] } },
    }),
  },
  updateFeature: { variables: (turn) => ({ id: `old turn${turn}`, input: { unitLabel: 'x' } }) },
  createPackage: {
    variables: (turn) => ({
      input: { id: `new turn${turn}`, name: 'New', features: { id: 'calls', entitlement: { limit: 7 } } },
    }),
  },
  updatePackage: { variables: (turn) => ({ id: `old turn${turn}`, input: { metadata: { b: null } } }) },
  createUser: { variables: (turn) => ({ input: { id: `new turn${turn}`, metadata: { c: 'd' } } }) },
  updateUser: { variables: (turn) => ({ id: `user turn${turn}`, input: { metadata: {} } }) },
  subscribe: { variables: (turn) => ({ userId: `user turn${turn}`, packageIds: ['extra', 'plan'] }) },
  cancelSubscription: given({ id: 'none', atPeriodEnd: true }, 'SUBSCRIPTION_NOT_FOUND'),
  keepSubscription: given({ id: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  setOverride: {
    variables: (turn) => ({
      input: { userId: `user turn${turn}`, featureId: 'calls', mode: 'REPLACE', limit: 5, reason: 'r' },
    }),
  },
  removeOverride: {
    variables: (turn) => ({ userId: `user turn${turn}`, featureId: 'calls' }),
  },
  migrateSubscriptions: given(
    { packageId: 'plan', fromVersion: 1, toVersion: 9, when: 'BEST', dryRun: true },
    'BAD_USER_INPUT',
  ),
  undoMigration: given({ id: 'none' }, 'MIGRATION_NOT_FOUND'),
  changeSubscription: given(
    { userId: 'none', packageId: 'plan', when: 'NOW', quantity: 1, dryRun: true },
    'USER_NOT_FOUND',
  ),
  cancelScheduledChange: given({ userId: 'none' }, 'USER_NOT_FOUND'),
  startTrial: given({ userId: 'none', packageId: 'plan', days: 1, again: true }, 'USER_NOT_FOUND'),
  extendTrial: given({ id: 'none', until: '2099-01-01T00:00:00Z' }, 'SUBSCRIPTION_NOT_FOUND'),
  recordUsage: given({ input: { userId: 'ann', featureId: 'calls', delta: 3, action: 'SET' } }),
  recordUsages: given({
    inputs: [
      { userId: 'ann', featureId: 'calls', delta: 3, action: 'SET' },
      { userId: 'ann', featureId: 'none', delta: 1 },
    ],
  }),
  generateSubscriptionLink: given(
    { userId: 'ann', templateId: 't', successUrl: 'https://a.example', cancelUrl: 'https://b.example' },
    'SUBSCRIPTION_LINK_ERROR',
  ),
  generateUserToken: given({ userId: 'ann' }),
  deleteUser: { variables: (turn) => ({ id: `user turn${turn}` }) },
}

const DASHBOARD_QUERIES: Rows = {
  me: given({}),
  apps: given({}),
  apiKeys: given({ appId: 'default' }),
  tokenKeys: given({ appId: 'default' }),
  package: given({ appId: 'default', id: 'plan' }),
  packages: given({ appId: 'default' }),
  app: given({ appId: 'default' }),
  permissions: given({}),
  members: given({}),
  invitations: given({}),
  hasOwner: given({}),
  invitation: given({ token: 'none' }, 'UNAUTHENTICATED'),
  passwordReset: given({ token: 'none' }, 'UNAUTHENTICATED'),
  sessions: given({}),
  feature: given({ appId: 'default', id: 'calls' }),
  features: given({ appId: 'default', search: 's' }),
  appUse: given({ appId: 'default' }),
  providerUse: given({ appId: 'default', provider: 'sandbox' }),
  packageUse: given({ appId: 'default', id: 'plan' }),
  featureUse: given({ appId: 'default', id: 'calls' }),
  billingTemplateUse: given({ appId: 'default', id: 'plan' }),
  changePreview: given({ appId: 'default', userId: 'none', packageId: 'plan' }, 'USER_NOT_FOUND'),
  publishPreview: given({ appId: 'default', packageId: 'plan', for: 'AT_PERIOD_END', first: 5 }),
  publishTouched: given({ appId: 'default', packageId: 'plan', for: 'ALL', first: 5, after: 'LOSES 0' }),
  packageVersions: given({ appId: 'default', packageId: 'plan' }),
  migration: given({ appId: 'default', id: 'none' }, 'MIGRATION_NOT_FOUND'),
  migrationPreview: given(
    { appId: 'default', packageId: 'plan', fromVersion: 1, toVersion: 9, when: 'NOW' },
    'BAD_USER_INPUT',
  ),
  catalogueDiff: given({ appId: 'default', fromAppId: 'default' }),
  user: given({ appId: 'default', id: 'ann' }),
  users: given({ appId: 'default', search: 'a', first: 2 }),
  exportUser: given({ appId: 'default', id: 'ann' }),
  userDeletion: given({ appId: 'default', id: 'ann' }),
  grantedFeatures: given({ appId: 'default', userId: 'ann' }),
  showUsage: given({ appId: 'default', userId: 'ann', featureId: 'calls' }),
  ledger: given({ appId: 'default', userId: 'ann', first: 2 }),
  sandboxPayments: given({ appId: 'default', subscriptionId: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  subscription: given({ appId: 'default', id: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  subscriptions: given({ appId: 'default', userId: 'ann' }),
  overrides: given({ appId: 'default', userId: 'ann' }),
  userImports: given({ appId: 'default' }),
  userImport: given({ appId: 'default', id: 'none' }, 'IMPORT_NOT_FOUND'),
  userImportRows: given({ appId: 'default', id: 'none', outcome: 'BAD' }, 'IMPORT_NOT_FOUND'),
  checklist: given({ appId: 'default' }),
  activity: given({
    appId: 'default',
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-02T00:00:00Z',
    interval: 'HOUR',
  }),
  featurePackages: given({ appId: 'default', id: 'calls' }),
  featureUsers: given({ appId: 'default', id: 'calls', packageId: 'plan', first: 5 }),
  featureOverrides: given({ appId: 'default', id: 'calls', first: 5 }),
  featureActivity: given({
    appId: 'default',
    id: 'calls',
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-02T00:00:00Z',
    interval: 'HOUR',
  }),
  nearLimits: given({ appId: 'default', first: 5 }),
  latestEvents: given({ appId: 'default', first: 5 }),
  explain: given({ appId: 'default', userId: 'ann', featureId: 'calls', delta: 2 }),
  auditLog: given({ appId: 'default', first: 5 }),
  auditOperations: given({}),
  prices: given({ appId: 'default', packageId: 'plan', includeArchived: true }),
  revenue: given({ appId: 'default', days: 30 }),
  revenueList: given({ appId: 'default', list: 'CHANGED', days: 365, first: 5 }),
  mrrList: given({ appId: 'default', first: 5 }),
  payments: given({ appId: 'default', state: 'PAID', days: 7, first: 5 }),
  currencies: given({ provider: 'stripe' }),
  providerPrices: given({ appId: 'default', provider: 'stripe' }, 'BILLING_PROVIDER_ERROR'),
  billingTemplate: given({ appId: 'default', id: 'plan' }),
  billingTemplates: given({ appId: 'default', includeArchived: false }),
  providerAccounts: given({ appId: 'default' }),
  billingSettings: given({ appId: 'default' }),
  notices: given({ appId: 'default', state: 'DONE', first: 3 }),
  notice: given({ appId: 'default', id: '1' }, 'NOTICE_NOT_FOUND'),
  noticeCounts: given({ appId: 'default' }),
}

const CLIENT_QUERIES: Rows = {
  me: given({}),
  canUseFeature: given({ featureId: 'calls', delta: 3 }),
  canUseFeatures: given({ featureIds: ['calls', 'none'] }),
  showUsage: given({ featureId: 'calls' }),
  package: given({ id: 'plan' }),
  packages: given({}),
  subscriptions: given({}),
}

const DASHBOARD_MUTATIONS: Rows = {
  setOwner: given({ token: 'none', ...OWNER }, 'UNAUTHENTICATED'),
  createApp: { variables: (turn) => ({ id: `app turn${turn}`, name: 'App', testClock: true }) },
  advanceClock: { variables: (turn) => ({ appId: `app turn${turn}`, to: '2099-01-01T00:00:00Z' }) },
  createApiKey: given({ appId: 'default', name: 'another' }),
  revokeApiKey: given({ appId: 'default', id: 'none' }, 'API_KEY_NOT_FOUND'),
  rotateTokenKey: given({ appId: 'default' }),
  revokeTokenKey: given({ appId: 'default', id: 'none' }, 'BAD_USER_INPUT'),
  editPackage: {
    variables: (turn) => ({
      appId: 'default',
      id: `old turn${turn}`,
      input: { features: [{ id: 'calls', entitlement: { resetPeriod: 'DAY' } }] },
    }),
  },
  publishPackage: { variables: (turn) => ({ appId: 'default', id: `old turn${turn}`, for: 'NEW_ONLY' }) },
  migrateSubscriptions: given(
    { appId: 'default', packageId: 'plan', fromVersion: 1, toVersion: 9, when: 'NOW' },
    'BAD_USER_INPUT',
  ),
  undoMigration: given({ appId: 'default', id: 'none' }, 'MIGRATION_NOT_FOUND'),
  discardPackageDraft: given({ appId: 'default', id: 'extra' }),
  archiveFeature: given({ appId: 'default', id: 'calls', archived: false }),
  deleteFeature: given({ appId: 'default', id: 'calls' }, 'BAD_USER_INPUT'),
  archivePackage: given({ appId: 'default', id: 'extra', archived: false }),
  deletePackage: given({ appId: 'default', id: 'plan' }, 'BAD_USER_INPUT'),
  deleteBillingTemplate: given({ appId: 'default', id: 'none' }, 'TEMPLATE_NOT_FOUND'),
  cancelSubscription: given({ appId: 'default', id: 'none', atPeriodEnd: false }, 'SUBSCRIPTION_NOT_FOUND'),
  keepSubscription: given({ appId: 'default', id: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  setOverride: given({
    appId: 'default',
    input: {
      userId: 'ann',
      featureId: 'calls',
      mode: 'REPLACE',
      limit: 5,
      expiresAt: '2090-01-01T00:00:00Z',
    },
  }),
  removeOverride: given({ appId: 'default', userId: 'ann', featureId: 'calls' }),
  deleteUser: given({ appId: 'default', id: 'none' }, 'USER_NOT_FOUND'),
  changeSubscription: given(
    { appId: 'default', userId: 'none', packageId: 'plan', when: 'BEST', quantity: 2 },
    'USER_NOT_FOUND',
  ),
  cancelScheduledChange: given({ appId: 'default', userId: 'none' }, 'USER_NOT_FOUND'),
  startTrial: given(
    { appId: 'default', userId: 'none', packageId: 'plan', until: '2099-01-01T00:00:00Z' },
    'USER_NOT_FOUND',
  ),
  extendTrial: given(
    { appId: 'default', id: 'none', until: '2099-01-01T00:00:00Z' },
    'SUBSCRIPTION_NOT_FOUND',
  ),
  setOrigins: given({ appId: 'default', origins: ['https://app.example'] }),
  createPrice: {
    variables: (turn) => ({
      appId: 'default',
      packageId: 'draft',
      input: { id: `price turn${turn}`, amount: 5, currency: 'usd', interval: null },
    }),
  },
  importPrice: given(
    { appId: 'default', packageId: 'plan', provider: 'sandbox', id: 'none' },
    'PRICE_NOT_FOUND',
  ),
  archivePrice: given({ appId: 'default', provider: 'sandbox', id: 'price_plan', archived: false }),
  createBillingTemplate: {
    variables: (turn) => ({
      appId: 'default',
      input: { id: `template turn${turn}`, name: 'T', packageIds: ['plan'], priceIds: ['price_plan'] },
    }),
  },
  archiveBillingTemplate: given({ appId: 'default', id: 'none', archived: true }, 'TEMPLATE_NOT_FOUND'),
  setProviderAccount: given(
    { appId: 'default', provider: 'stripe', input: { secretKey: 'wrong', enabled: true } },
    'BAD_USER_INPUT',
  ),
  removeProviderAccount: given({ appId: 'default', provider: 'stripe' }),
  testProviderAccount: given({ appId: 'default', provider: 'stripe' }),
  setGraceDays: given({ appId: 'default', days: 7 }),
  setAccessAfterRefund: given({ appId: 'default', access: 'KEEP' }),
  reverseSandboxPayment: given(
    { appId: 'default', subscriptionId: 'none', paymentRef: 'none', action: 'REFUND', amount: 1 },
    'SUBSCRIPTION_NOT_FOUND',
  ),
  replayNotice: given({ appId: 'default', id: 'none' }, 'NOTICE_NOT_FOUND'),
  replayFailedNotices: given({ appId: 'default' }),
  reconcileBilling: given({ appId: 'default' }),
  generateSubscriptionLink: given({
    appId: 'default',
    userId: 'bob',
    templateId: 'plan',
    successUrl: 'https://a.example',
    cancelUrl: 'https://b.example',
  }),
  archiveApp: { variables: (turn) => ({ appId: `app turn${turn}`, archived: false }) },
  deleteApp: given({ appId: 'default', confirm: 'default' }, 'BAD_USER_INPUT'),
  renameApp: { variables: (turn) => ({ appId: `app turn${turn}`, name: 'Renamed' }) },
  rotateApiKey: given({ appId: 'default', id: 'none', overlapHours: 1 }, 'API_KEY_NOT_FOUND'),
  createFeature: {
    variables: (turn) => ({
      appId: 'default',
      input: { id: `made turn${turn}`, name: 'New', type: 'BINARY' },
    }),
  },
  updateFeature: {
    variables: (turn) => ({ appId: 'default', id: `made turn${turn}`, input: { metadata: { a: 1 } } }),
  },
  createPackage: {
    variables: (turn) => ({
      appId: 'default',
      input: { id: `made turn${turn}`, name: 'New', features: { id: 'calls', entitlement: { limit: 7 } } },
    }),
  },
  updatePackage: {
    variables: (turn) => ({ appId: 'default', id: `made turn${turn}`, input: { metadata: { b: null } } }),
  },
  createUser: { variables: (turn) => ({ appId: 'default', input: { id: `made turn${turn}` } }) },
  updateUser: {
    variables: (turn) => ({ appId: 'default', id: `made turn${turn}`, input: { name: 'Made' } }),
  },
  subscribe: {
    variables: (turn) => ({ appId: 'default', userId: `made turn${turn}`, packageIds: ['extra', 'plan'] }),
  },
  recordUsage: given({
    appId: 'default',
    input: { userId: 'ann', featureId: 'calls', delta: 3, action: 'SET' },
  }),
  generateUserToken: given({ appId: 'default', userId: 'ann' }),
  applyUserImport: given({ appId: 'default', id: 'none' }, 'IMPORT_NOT_FOUND'),
  undoUserImport: given({ appId: 'default', id: 'none' }, 'IMPORT_NOT_FOUND'),
  loadSample: { variables: (turn) => ({ appId: `app turn${turn}` }) },
  copyCatalogue: { variables: (turn) => ({ appId: `app turn${turn}`, fromAppId: 'default' }) },
  removeSample: { variables: (turn) => ({ appId: `app turn${turn}` }) },
  inviteMember: { variables: (turn) => ({ email: `turn${turn}@example.com`, role: 'EDITOR' }) },
  revokeInvitation: given({ id: 'none' }),
  acceptInvitation: given({ token: 'none', password: OWNER.password }, 'UNAUTHENTICATED'),
  createPasswordReset: given({ memberId: '0' }, 'MEMBER_NOT_FOUND'),
  resetPassword: given({ token: 'none', password: OWNER.password }, 'UNAUTHENTICATED'),
  changeRole: given({ memberId: '0', role: 'VIEWER' }, 'MEMBER_NOT_FOUND'),
  removeMember: given({ memberId: '0' }, 'MEMBER_NOT_FOUND'),
  changePassword: given({ current: 'wrong', password: OWNER.password }, 'BAD_USER_INPUT'),
  signOutSession: given({ id: '0' }),
  // Last: they end the session.
  signIn: given(OWNER),
  signOut: given({}),
  signOutEverywhere: given({}, 'UNAUTHENTICATED'),
}

describe.each([
  { api: 'Admin' as const, schema: admin, root: 'query' as Root, rows: ADMIN_QUERIES },
  { api: 'Admin' as const, schema: admin, root: 'mutation' as Root, rows: ADMIN_MUTATIONS },
  { api: 'Client' as const, schema: client, root: 'query' as Root, rows: CLIENT_QUERIES },
  { api: 'Dashboard' as const, schema: dashboard, root: 'query' as Root, rows: DASHBOARD_QUERIES },
  { api: 'Dashboard' as const, schema: dashboard, root: 'mutation' as Root, rows: DASHBOARD_MUTATIONS },
])('every $root of the $api API, with every field', ({ api, schema, root, rows }) => {
  it('spec §4: has a row here', () => {
    expect(Object.keys(rows).sort()).toEqual(operationNames(schema, root).sort())
  })

  it.each(Object.keys(rows))('spec §4: %s is compiled and answered as before', async (name) => {
    const { variables, code } = rows[name] as Row
    const query = wholeOperation(schema, root, name)
    expect(isCompiled(schema, query)).toBe(true)
    const clients = { Admin: server.admin, Client: user, Dashboard: server.dashboard }
    const { errors } = await expectAlike(clients[api], query, variables)
    expect(errors?.map((error) => error.extensions.code)).toEqual(code && [code])
  })
})
