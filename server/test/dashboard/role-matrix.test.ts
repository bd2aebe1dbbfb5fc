import { beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { type Answer, Client, dashboardClient, signedIn } from '../harness/client.ts'
import { type ExampleCall, exampleCalls } from '../harness/example-calls.ts'
import { API_KEY, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Who may do what, written out: nothing here is read from the table that the server goes by.

const EVERYBODY = ['NOBODY', 'VIEWER', 'EDITOR', 'OWNER']
const MEMBERS = ['VIEWER', 'EDITOR', 'OWNER']
const EDITORS = ['EDITOR', 'OWNER']
const OWNERS = ['OWNER']

const QUERIES: Record<string, string[]> = {
  activity: MEMBERS,
  apiKeys: MEMBERS,
  app: MEMBERS,
  appUse: MEMBERS,
  apps: MEMBERS,
  auditLog: MEMBERS,
  auditOperations: MEMBERS,
  autoRechargePreview: MEMBERS,
  autoRecharges: MEMBERS,
  billingSettings: MEMBERS,
  billingTemplate: MEMBERS,
  billingTemplateUse: MEMBERS,
  billingTemplates: MEMBERS,
  capPreview: MEMBERS,
  catalogueDiff: MEMBERS,
  changePreview: MEMBERS,
  checklist: MEMBERS,
  credits: MEMBERS,
  currencies: MEMBERS,
  eventSettings: MEMBERS,
  eventTypes: MEMBERS,
  explain: MEMBERS,
  exportUser: MEMBERS,
  feature: MEMBERS,
  featureActivity: MEMBERS,
  featureDenials: MEMBERS,
  featureOverrides: MEMBERS,
  featurePackages: MEMBERS,
  featureTotals: MEMBERS,
  bulkChange: MEMBERS,
  bulkChanges: MEMBERS,
  bulkChangeRows: MEMBERS,
  featureUse: MEMBERS,
  featureUsers: MEMBERS,
  features: MEMBERS,
  grantedFeatures: MEMBERS,
  hasOwner: EVERYBODY,
  sendsEmail: EVERYBODY,
  invitation: EVERYBODY,
  passwordReset: EVERYBODY,
  invitations: OWNERS,
  latestEvents: MEMBERS,
  ledger: MEMBERS,
  me: EVERYBODY,
  hasSavedCard: MEMBERS,
  members: MEMBERS,
  migration: MEMBERS,
  migrationPreview: MEMBERS,
  mrrList: MEMBERS,
  nearLimits: MEMBERS,
  creditFigures: MEMBERS,
  creditPage: MEMBERS,
  notice: MEMBERS,
  noticeCounts: MEMBERS,
  notices: MEMBERS,
  overrides: MEMBERS,
  package: MEMBERS,
  packageUse: MEMBERS,
  packageVersions: MEMBERS,
  packages: MEMBERS,
  payments: MEMBERS,
  permissions: MEMBERS,
  prices: MEMBERS,
  providerAccounts: MEMBERS,
  providerPrices: MEMBERS,
  providerUse: MEMBERS,
  refundPreview: MEMBERS,
  sandboxPayments: MEMBERS,
  subscriptionHistory: MEMBERS,
  subscriptionPayments: MEMBERS,
  userPayments: MEMBERS,
  publishPreview: MEMBERS,
  publishTouched: MEMBERS,
  reservations: MEMBERS,
  revenue: MEMBERS,
  revenueList: MEMBERS,
  revenueOverTime: MEMBERS,
  sessions: MEMBERS,
  showUsage: MEMBERS,
  subscription: MEMBERS,
  subscriptions: MEMBERS,
  tokenKeys: MEMBERS,
  usageSeries: MEMBERS,
  user: MEMBERS,
  userCaps: MEMBERS,
  userDeletion: MEMBERS,
  userEvents: MEMBERS,
  userImport: MEMBERS,
  userImportRows: MEMBERS,
  userImports: MEMBERS,
  users: MEMBERS,
  webhookDeliveries: MEMBERS,
  webhookEndpoints: MEMBERS,
}

const MUTATIONS: Record<string, string[]> = {
  acceptInvitation: EVERYBODY,
  advanceClock: EDITORS,
  applyBulkChange: EDITORS,
  applyUserImport: EDITORS,
  archiveBillingTemplate: EDITORS,
  archiveFeature: EDITORS,
  archivePackage: EDITORS,
  archivePrice: EDITORS,
  setDefaultPrice: EDITORS,
  cancelScheduledChange: EDITORS,
  cancelScheduledPublication: EDITORS,
  cancelSubscription: EDITORS,
  changePassword: MEMBERS,
  changeRole: OWNERS,
  changeSubscription: EDITORS,
  addCredit: EDITORS,
  copyCatalogue: EDITORS,
  createApiKey: OWNERS,
  createApp: OWNERS,
  createBillingTemplate: EDITORS,
  createFeature: EDITORS,
  createPackage: EDITORS,
  createPasswordReset: OWNERS,
  createPrice: EDITORS,
  createUser: EDITORS,
  createWebhookEndpoint: EDITORS,
  deleteBillingTemplate: EDITORS,
  deleteFeature: EDITORS,
  deletePackage: EDITORS,
  deleteUser: EDITORS,
  deleteWebhookEndpoint: EDITORS,
  discardPackageDraft: EDITORS,
  editPackage: EDITORS,
  extendTrial: EDITORS,
  generateCreditLink: EDITORS,
  generateSubscriptionLink: EDITORS,
  generateUserToken: EDITORS,
  importPrice: EDITORS,
  inviteMember: OWNERS,
  keepSubscription: EDITORS,
  loadSample: EDITORS,
  migrateSubscriptions: EDITORS,
  publishPackage: EDITORS,
  reconcileBilling: EDITORS,
  recordUsage: EDITORS,
  removeMember: OWNERS,
  requestPasswordReset: EVERYBODY,
  resetPassword: EVERYBODY,
  removeAutoRecharge: EDITORS,
  removeCap: EDITORS,
  removeOverride: EDITORS,
  removeProviderAccount: OWNERS,
  removeSample: EDITORS,
  resendEvents: EDITORS,
  resendFailedEvents: EDITORS,
  archiveApp: OWNERS,
  deleteApp: OWNERS,
  renameApp: OWNERS,
  replayFailedNotices: EDITORS,
  replayNotice: EDITORS,
  revokeApiKey: OWNERS,
  revokeInvitation: OWNERS,
  revokeTokenKey: OWNERS,
  rotateApiKey: OWNERS,
  rotateTokenKey: OWNERS,
  rotateWebhookSecret: EDITORS,
  sendTestEvent: EDITORS,
  setGraceDays: EDITORS,
  setAccessAfterRefund: EDITORS,
  refundCredit: EDITORS,
  refundPayment: EDITORS,
  reverseSandboxCredit: EDITORS,
  reverseSandboxPayment: EDITORS,
  setOrigins: OWNERS,
  setAutoRecharge: EDITORS,
  setCap: EDITORS,
  setOverride: EDITORS,
  setOwner: EVERYBODY,
  setProviderAccount: OWNERS,
  signIn: EVERYBODY,
  signOut: EVERYBODY,
  signOutEverywhere: MEMBERS,
  signOutSession: MEMBERS,
  startTrial: EDITORS,
  subscribe: EDITORS,
  testProviderAccount: OWNERS,
  releaseReservation: EDITORS,
  undoMigration: EDITORS,
  voidCredit: EDITORS,
  startBulkChange: EDITORS,
  stopBulkChange: EDITORS,
  undoBulkChange: EDITORS,
  undoUserImport: EDITORS,
  updateApiKey: OWNERS,
  updateEventSettings: EDITORS,
  updateFeature: EDITORS,
  updatePackage: EDITORS,
  updateUser: EDITORS,
  updateWebhookEndpoint: EDITORS,
}

/** Not an operation of the schema: a file is posted to a path of its own. */
const IMPORT_USERS = EDITORS

/** They end the session that the other calls need. */
const LAST = ['signOutEverywhere', 'signOut']

// Of an app that there is not: who may do it finds that out, and nothing is done.
const CALLS = exampleCalls(dashboardSchema(), {
  appId: 'nowhere',
  to: '2030-01-01T00:00:00Z',
  origins: ['https://www.example.com'],
  url: 'https://hooks.example.com',
  types: ['user.created'],
  from: '2029-01-01T00:00:00Z',
  email: 'somebody@example.com',
}).toSorted((a, b) => LAST.indexOf(a.name) - LAST.indexOf(b.name))

const ADMIN_CALLS = exampleCalls(adminSchema(), { email: 'somebody@example.com' })

/** The Admin API of an app, in the name of who is signed in. */
const adminAs = ({ headers }: Client, app: string) =>
  new Client(`${server.url}/dashboard/admin/graphql`, { ...headers, 'Tollgate-App': app })

const isMutation = ({ query }: ExampleCall) => query.startsWith('mutation')

const PASSWORD = 'a good password'
const emailOf = (role: string) => `the-${role.toLowerCase()}@example.com`

const server = shared(startTestServer)
beforeAll(async () => {
  for (const role of MEMBERS) {
    const inviteMember = await server.dashboard.call('inviteMember { url }', { email: emailOf(role), role })
    await dashboardClient(server.url).call('acceptInvitation', {
      token: new URL(inviteMember.url).hash.split('=')[1],
      password: PASSWORD,
    })
  }
})

/** In a session of their own. */
const as = async (role: string): Promise<Client> =>
  role === 'NOBODY'
    ? dashboardClient(server.url)
    : signedIn(server.url, { email: emailOf(role), password: PASSWORD })

/** Whatever else is wrong with a call is found out behind the door. */
function doorOf({ errors }: Answer): 'open' | 'closed' {
  const [error] = errors ?? []
  const told = `${error?.extensions.status} ${error?.message}`
  if (told === '401 Sign in to the dashboard first') return 'closed'
  return /^403 This operation requires the (owner|editor or owner) role; you have the (viewer|editor) role$/.test(
    told,
  )
    ? 'closed'
    : 'open'
}

async function operationsNotedSince(id: number): Promise<string[]> {
  const { auditLog } = await server.dashboard.data('{ auditLog(first: 200) { rows { id operation } } }')
  const rows: { id: string; operation: string }[] = auditLog.rows
  return rows.flatMap((row) => (Number(row.id) > id ? [row.operation] : []))
}

describe('gap: roles', () => {
  it('every operation of the dashboard has its row here', () => {
    const named = (mutations: boolean) =>
      CALLS.flatMap((call) => (isMutation(call) === mutations ? [call.name] : [])).sort()
    expect(Object.keys(QUERIES).sort()).toEqual(named(false))
    expect(Object.keys(MUTATIONS).sort()).toEqual(named(true))
  })

  it.for(EVERYBODY)('%s gets what the matrix says, and nothing else', async (role) => {
    const client = await as(role)
    const { auditLog } = await server.dashboard.data('{ auditLog(first: 1) { rows { id } } }')
    const doors: Record<string, string> = {}
    for (const { name, query, variables } of CALLS) doors[name] = doorOf(await client.ask(query, variables))
    const rows = Object.entries({ ...QUERIES, ...MUTATIONS })
    expect(doors).toEqual(
      Object.fromEntries(rows.map(([name, who]) => [name, who.includes(role) ? 'open' : 'closed'])),
    )
    const noted = await operationsNotedSince(Number(auditLog.rows[0].id))
    // The example's password is wrong.
    const done = noted.filter((name) => name !== 'signInFailed')
    expect(done.filter((name) => !MUTATIONS[name]?.includes(role))).toEqual([])
  })

  it.for(EVERYBODY)('%s imports users, or not', async (role) => {
    const response = await fetch(`${server.url}/dashboard/import/users?app=nowhere`, {
      method: 'POST',
      headers: { ...(await as(role)).headers, 'Content-Type': 'text/csv' },
      body: 'id,email\nx,x@example.com\n',
    })
    const answer = { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
    expect(doorOf(answer)).toBe(IMPORT_USERS.includes(role) ? 'open' : 'closed')
  })

  it.for(
    EVERYBODY,
  )('%s has the same role in GraphiQL, which is the Admin API without a key', async (role) => {
    const own = await as(role)
    // Of an app of their own, in which nothing that the calls name exists.
    const app = `graphiql-${role.toLowerCase()}`
    await server.dashboard.data(`mutation { createApp(id: "${app}", name: "x") { id } }`)
    const client = adminAs(own, app)
    const { auditLog } = await server.dashboard.data('{ auditLog(first: 1) { rows { id } } }')
    const doors: Record<string, string> = {}
    for (const { name, query, variables } of ADMIN_CALLS)
      doors[name] = doorOf(await client.ask(query, variables))
    const wanted = (call: ExampleCall) => (isMutation(call) ? EDITORS : MEMBERS).includes(role)
    expect(doors).toEqual(
      Object.fromEntries(ADMIN_CALLS.map((call) => [call.name, wanted(call) ? 'open' : 'closed'])),
    )
    const noted = await operationsNotedSince(Number(auditLog.rows[0].id))
    expect(noted.includes('createUser')).toBe(EDITORS.includes(role))
    if (!EDITORS.includes(role)) expect(noted).toEqual([])
  })

  it('what a member does in GraphiQL is in the audit log under their name, each record by itself', async () => {
    await server.dashboard.data('mutation { createApp(id: "noted", name: "Noted") { id } }')
    const editor = adminAs(await as('EDITOR'), 'noted')
    await editor.data(`mutation {
      createFeature(input: {id: "calls", name: "Calls", type: CONSUMABLE}) { id }
      createUser(input: {id: "ada", email: "ada@example.com"}) { id }
      setOverride(input: {userId: "ada", featureId: "calls", mode: UNLIMITED}) { mode }
    }`)
    const recordUsages = await editor.call('recordUsages { recorded }', {
      inputs: [
        { userId: 'ada', featureId: 'calls', delta: 1 },
        { userId: 'ada', featureId: 'calls', delta: 2 },
      ],
    })
    expect(recordUsages).toEqual([{ recorded: true }, { recorded: true }])
    const auditLog = await server.dashboard.call('auditLog { rows { memberEmail operation subjectId } }', {
      appId: 'noted',
      first: 5,
    })
    expect(auditLog.rows).toEqual(
      ['recordUsage ada', 'recordUsage ada', 'setOverride ada', 'createUser ada', 'createFeature calls'].map(
        (row) => {
          const [operation, subjectId] = row.split(' ')
          return { memberEmail: emailOf('EDITOR'), operation, subjectId }
        },
      ),
    )
  })

  it('GraphiQL is for the pages of the dashboard, and for an app that there is', async () => {
    const owner = adminAs(await as('OWNER'), 'default')
    const query = '{ features { id } }'
    const code = async (client: Client) => (await client.error(query)).extensions.code
    expect(await code(owner.with({ Origin: 'https://evil.example' }))).toBe('FORBIDDEN')
    expect(await code(owner.with({ 'Content-Type': 'text/plain' }))).toBe('BAD_REQUEST')
    expect(await code(owner.with({ 'Tollgate-App': 'nowhere' }))).toBe('APP_NOT_FOUND')
    expect(await code(owner.with({ 'Tollgate-App': '%' }))).toBe('BAD_REQUEST')
    expect(await code(owner.with({ Cookie: '' }))).toBe('UNAUTHENTICATED')
    // A key is no session here, and a session no key there.
    expect(await code(owner.with({ Cookie: '', Authorization: API_KEY }))).toBe('UNAUTHENTICATED')
    const admin = new Client(`${server.url}/graphql`, owner.headers)
    expect(await code(admin)).toBe('UNAUTHENTICATED')
  })

  it.for(MEMBERS)('the pages of a member who is %s are told the same', async (role) => {
    const { permissions } = await (await as(role)).data('{ permissions }')
    const files = {
      importUsers: IMPORT_USERS,
      exportAuditLog: MEMBERS,
      exportList: MEMBERS,
      exportUsers: MEMBERS,
      exportSubscriptions: MEMBERS,
    }
    const rows = Object.entries({ ...MUTATIONS, ...files })
    expect(permissions.toSorted()).toEqual(
      rows.flatMap(([name, who]) => (who.includes(role) ? [name] : [])).toSorted(),
    )
  })
})
