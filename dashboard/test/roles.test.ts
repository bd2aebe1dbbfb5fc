import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { MUTATIONS } from '../../server/src/operations/registry/registry.ts'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { dashboardClient } from '../../server/test/harness/client.ts'
import { rowsOf } from '../../server/test/harness/database.ts'
import { sessionCookie, upload } from '../../server/test/harness/import.ts'
import { MASTER_KEY_SETTINGS } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'
import { INSIDE } from './harness/pages.ts'

/** Where a page offers a mutation: its address, what is pressed first, and the control. */
interface Place {
  path: string
  /** a button that is pressed first */
  first?: string | RegExp
  control: (page: Page) => Locator
  /** a box that is checked first */
  box?: RegExp
}

const button = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).first()
const inTable = (label: string, name: RegExp) => (page: Page) =>
  page.getByRole('table', { name: label, exact: true }).getByRole('button', { name }).first()
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name, exact: true })
const within = (name: string, control: string) => (page: Page) =>
  page.getByRole('dialog', { name }).getByRole('button', { name: control, exact: true })

const PLACES: Record<string, Place> = {
  inviteMember: { path: '/members', control: button('Invite') },
  revokeInvitation: { path: '/members', control: button(/^Revoke the invitation/) },
  changeRole: {
    path: '/members',
    control: (page) => page.getByRole('combobox', { name: 'Role of viewer@example.com' }),
  },
  removeMember: { path: '/members', first: /^Actions for viewer@/, control: item('Remove') },
  createPasswordReset: { path: '/members', first: /^Actions for /, control: item('Reset password') },
  createApp: { path: '/apps', control: button('New app') },
  renameApp: { path: '/apps', control: button('Rename') },
  archiveApp: { path: '/apps', control: button('Archive') },
  deleteApp: { path: '/apps?show=archived', control: button('Delete') },
  setOrigins: { path: '/apps', control: button('Allowed origins') },
  advanceClock: { path: '/apps', first: 'Move the clock', control: button('A month later') },
  copyCatalogue: {
    path: '/apps?copyTo=clocked&copyFrom=default',
    control: within('Copy a catalogue to Clocked', 'Copy to Clocked'),
  },
  createApiKey: { path: '/apps/default/keys', control: button('New key') },
  updateApiKey: { path: '/apps/default/keys', first: /^Actions for /, control: item('Edit') },
  rotateApiKey: { path: '/apps/default/keys', first: /^Actions for /, control: item('Rotate') },
  revokeApiKey: { path: '/apps/default/keys', first: /^Actions for /, control: item('Revoke') },
  rotateTokenKey: { path: '/apps/default/keys', control: button('Rotate the token key') },
  revokeTokenKey: { path: '/apps/default/keys', control: inTable('User token keys', /^Revoke /) },
  createWebhookEndpoint: { path: '/apps/default/webhooks', control: button('New endpoint') },
  updateEventSettings: { path: '/apps/default/webhooks', control: button('Save') },
  updateWebhookEndpoint: { path: '/apps/default/webhooks/we_crm', control: button('Disable') },
  rotateWebhookSecret: { path: '/apps/default/webhooks/we_crm', control: button('Rotate the secret') },
  deleteWebhookEndpoint: { path: '/apps/default/webhooks/we_crm', control: button('Delete') },
  sendTestEvent: { path: '/apps/default/webhooks/we_crm', control: button('Send a test event') },
  resendEvents: {
    path: '/apps/default/webhooks/we_crm',
    control: button('Resend webhook.test evt_1'),
  },
  resendFailedEvents: { path: '/apps/default/webhooks/we_crm', control: button('Resend failed events') },
  createFeature: { path: '/apps/default/features', control: button('New feature') },
  updateFeature: { path: '/apps/default/features?edit=calls', control: within('Edit feature', 'Save') },
  createPackage: { path: '/apps/default/packages', control: button('New package') },
  updatePackage: { path: '/apps/default/packages/basic?tab=metadata', control: button('Save metadata') },
  editPackage: { path: '/apps/default/packages/basic', control: button('Remove API calls from the package') },
  discardPackageDraft: { path: '/apps/default/packages/basic', control: button('Discard the draft') },
  publishPackage: { path: '/apps/default/packages/basic/publish', control: button(/^Publish/) },
  cancelScheduledPublication: { path: '/apps/default/packages/soon', control: button('Unschedule') },
  migrateSubscriptions: {
    path: '/apps/default/packages/extra?tab=versions',
    control: button('Move subscribers'),
  },
  undoMigration: {
    path: '/apps/default/packages/extra?tab=versions',
    control: button('Undo the move from version 1 to 2'),
  },
  loadSample: { path: '/apps/clocked', control: button('Load a sample catalogue') },
  removeSample: { path: '/apps/sampled', control: button('Remove the sample') },
  createUser: { path: '/apps/default/users', control: button('New user') },
  updateUser: { path: '/apps/default/users/ada?tab=details', control: button('Save') },
  deleteUser: { path: '/apps/default/users/ada?tab=details', control: button('Delete the user') },
  subscribe: { path: '/apps/default/users/nils', control: button('Subscribe') },
  setOverride: { path: '/apps/default/users/ada?tab=overrides', control: button('New override') },
  removeOverride: {
    path: '/apps/default/users/ada?tab=overrides',
    control: button('Remove the override of Single sign-on'),
  },
  addCredit: { path: '/apps/default/users/ada?tab=credits', control: button('Add credit') },
  generateCreditLink: { path: '/apps/default/users/ada?tab=credits', control: button('Sell credits') },
  voidCredit: { path: '/apps/default/users/ada?tab=credits', control: button('Void the credit crd_ada') },
  setCap: { path: '/apps/default/users/ada?tab=caps', control: button('Set cap') },
  removeCap: { path: '/apps/default/users/ada?tab=caps', control: button(/^Remove the cap API calls/) },
  setAutoRecharge: { path: '/apps/default/users/ada?tab=credits', control: button('Set up a recharge') },
  removeAutoRecharge: {
    path: '/apps/default/users/ada?tab=credits',
    control: button('Remove the automatic recharge of API calls'),
  },
  releaseReservation: {
    path: '/apps/default/users/ada?tab=credits',
    control: button('Release the reservation rsv_ada'),
  },
  recordUsage: { path: '/apps/default/users/ada', control: button('Record usage of API calls') },
  generateUserToken: {
    path: '/apps/default/users/ada',
    first: /^More actions for/,
    control: item('Create a token'),
  },
  cancelSubscription: {
    path: '/apps/default/subscriptions',
    first: 'Actions for Basic of ada',
    control: item('Cancel subscription'),
  },
  changeSubscription: { path: '/apps/default/users/ada', control: button('Change plan') },
  startTrial: {
    path: '/apps/default/users/ada',
    first: /^More actions for/,
    control: item('Start a trial'),
  },
  cancelScheduledChange: {
    path: '/apps/default/subscriptions',
    first: 'Actions for Basic of carl',
    control: item('Undo change'),
  },
  extendTrial: {
    path: '/apps/default/subscriptions',
    first: 'Actions for Basic of dora',
    control: item('Extend trial'),
  },
  keepSubscription: {
    path: '/apps/default/subscriptions',
    first: 'Actions for Basic of bob',
    control: item('Keep subscription'),
  },
  importUsers: { path: '/apps/default/import', control: button('Check the file') },
  startBulkChange: {
    path: '/apps/default/users',
    control: button('Change selected'),
    box: /^Select all on this page/,
  },
  applyBulkChange: { path: '/apps/default/bulk?id=checked', control: button(/^Apply to/) },
  stopBulkChange: { path: '/apps/default/bulk?id=applying', control: button('Stop') },
  undoBulkChange: { path: '/apps/default/bulk?id=applied', control: button(/^Undo/) },
  applyUserImport: { path: '/apps/default/import?id=checked', control: button(/^Apply/) },
  undoUserImport: { path: '/apps/default/import?id=applied', control: button(/^Undo/) },
  createPrice: { path: '/apps/default/packages/basic?tab=prices', control: button('Add price') },
  importPrice: { path: '/apps/default/packages/basic?tab=prices', control: button('Add price') },
  archivePrice: {
    path: '/apps/default/packages/basic?tab=prices',
    first: 'Actions for $12.00 once',
    control: item('Archive'),
  },
  setDefaultPrice: {
    path: '/apps/default/packages/basic?tab=prices',
    first: 'Actions for $144.00 per year',
    control: item('Make default'),
  },
  createBillingTemplate: { path: '/apps/default/billing', control: button('New template') },
  archiveBillingTemplate: {
    path: '/apps/default/billing',
    first: 'More for the template Basic by card',
    control: item('Archive'),
  },
  deleteBillingTemplate: {
    path: '/apps/default/billing',
    first: 'More for the template Basic by card',
    control: item('Delete'),
  },
  archiveFeature: {
    path: '/apps/default/features',
    first: 'More for the feature API calls',
    control: item('Archive'),
  },
  deleteFeature: {
    path: '/apps/default/features',
    first: 'More for the feature API calls',
    control: item('Delete'),
  },
  archivePackage: {
    path: '/apps/default/packages/basic?tab=prices',
    control: button('More for the package Basic'),
  },
  deletePackage: {
    path: '/apps/default/packages/basic?tab=prices',
    control: button('More for the package Basic'),
  },
  generateSubscriptionLink: {
    path: '/apps/default/billing',
    first: 'More for the template Basic by card',
    control: item('Create link'),
  },
  setProviderAccount: { path: '/apps/default/billing?tab=providers', control: button('Turn off') },
  testProviderAccount: { path: '/apps/default/billing?tab=providers', control: button('Test') },
  removeProviderAccount: { path: '/apps/default/billing?tab=providers', control: button('Remove') },
  setAccessAfterRefund: {
    path: '/apps/default/billing?tab=providers',
    control: button('Save what follows a refund'),
  },
  reverseSandboxPayment: {
    path: '/apps/default/users/erin?tab=subscriptions',
    first: 'Actions for Basic of erin',
    control: item('Simulate refund or dispute'),
  },
  refundCredit: { path: '/apps/default/users/fay?tab=payments', control: button('Refund $3.00') },
  reverseSandboxCredit: {
    path: '/apps/default/users/fay?tab=credits',
    control: button(/^Simulate refund or dispute of crd_/),
  },
  refundPayment: { path: '/apps/default/users/erin?tab=payments', control: button('Refund $12.00') },
  setGraceDays: { path: '/apps/default/billing?tab=providers', control: button('Save') },
  replayNotice: { path: '/apps/default/billing?tab=notices', control: button('Replay evt_failed') },
  replayFailedNotices: { path: '/apps/default/billing?tab=notices', control: button('Replay all failed') },
  reconcileBilling: { path: '/apps/default/billing?tab=notices', control: button('Sync with provider') },
}
const PATHS = [...new Set(Object.values(PLACES).map(({ path }) => path))]

const dashboard = shared(() => openDashboard({ env: MASTER_KEY_SETTINGS }))
let owner: Visit
let viewer: Visit
beforeAll(async () => {
  await fill()
  owner = await dashboard.signedIn()
  viewer = await dashboard.signedIn(await newViewer())
  for (const { open } of [owner, viewer]) await open('/account')
})

/** One of everything that a mutation can be about. */
async function fill(): Promise<void> {
  const { server } = dashboard
  await furnish(server)
  await server.dashboard.data(`mutation {
    clocked: createApp(id: "clocked", name: "Clocked", testClock: true) { id }
    sampled: createApp(id: "sampled", name: "Sampled") { id }
    loadSample(appId: "sampled") { users }
    retired: createApp(id: "retired", name: "Retired") { id }
    archiveApp(appId: "retired") { id }
    editPackage(appId: "default", id: "basic", input: {name: "Basic", features: [{id: "calls", entitlement: {limit: 5}}]}) { id }
    extra: editPackage(appId: "default", id: "extra", input: {name: "Extra calls"}) { id }
    publishPackage(appId: "default", id: "extra", for: NEW_ONLY) { id }
    migrateSubscriptions(appId: "default", packageId: "extra", fromVersion: 1, toVersion: 2) { id }
    createPrice(appId: "default", packageId: "basic", input: {amount: 1200, currency: "usd"}) { id }
    yearly: createPrice(appId: "default", packageId: "basic", input: {amount: 14400, currency: "usd", interval: "year"}) { id }
    pack: createPrice(appId: "default", input: {
      id: "pack", amount: 300, currency: "usd", credits: {featureId: "calls", units: 100} }) { id }
    createBillingTemplate(appId: "default", input: {id: "card", name: "Basic by card", packageIds: ["basic"]}) { id }
    setProviderAccount(appId: "default", provider: "stripe", input: {secretKey: "sk_test_nothing", enabled: false}) { provider }
    generateUserToken(appId: "default", userId: "ada") { token }
    setOverride(appId: "default", input: {userId: "ada", featureId: "sso", mode: GRANT}) { mode }
    addCredit(appId: "default", input: {id: "crd_ada", userId: "ada", featureId: "calls", amount: 50}) { id }
    inviteMember(email: "invited@example.com", role: EDITOR) { id }
    soon: createPackage(appId: "default", input: {id: "soon", name: "Soon", features: []}) { id }
    scheduled: publishPackage(appId: "default", id: "soon", at: "2999-01-01T00:00:00Z") { id }
  }`)
  const { subscriptions } = await server.admin.data('{ subscriptions(userId: "bob") { id } }')
  await server.admin.data('mutation ($id: String!) { cancelSubscription(id: $id) { id } }', {
    id: subscriptions[0].id,
  })
  await server.admin.data(`mutation {
    setCap(input: { userId: "ada", featureId: "calls", limit: 1000, period: DAY }) { limit }
    setAutoRecharge(input: { userId: "ada", featureId: "calls", below: 1, upTo: 1, priceId: "pack" }) { state }
    reserveUsage(input: { id: "rsv_ada", userId: "ada", featureId: "calls", amount: 5 }) { id }
    carl: createUser(input: { id: "carl" }) { id }
    dora: createUser(input: { id: "dora" }) { id }
    nils: createUser(input: { id: "nils" }) { id }
    subscribe(userId: "carl", packageIds: ["basic"]) { id }
    changeSubscription(userId: "carl", packageId: "basic", quantity: 2, when: PERIOD_END) { now }
    startTrial(userId: "dora", packageId: "basic", days: 9) { id }
  }`)
  await payInSandbox('erin', 'link: generateSubscriptionLink(userId: $userId, templateId: "card"')
  await payInSandbox('fay', 'link: generateCreditLink(userId: $userId, priceId: "pack"')
  const cookie = await sessionCookie(server)
  for (const [id, dryRun, email] of [
    ['applied', '0', 'ada@one.example.com'],
    ['checked', '1', 'ada@two.example.com'],
  ] as const) {
    await upload(server, cookie, { app: 'default', import: id, dryRun }, `id,email\nada,${email}\n`)
  }
  await rowsOf(
    { connectionString: server.databaseUrl },
    `insert into bulk_change (app_id, id, state, request, member_id, member_email, rows, changing, done)
     select 'default', id, state, '{"action":{"kind":"CANCEL","atPeriodEnd":true},"of":{"list":"USERS","ids":[]}}', 0, '', 1, 1, done
     from (values ('checked', 'CHECKED', 0), ('applying', 'APPLYING', 0), ('applied', 'APPLIED', 1)) b (id, state, done)`,
  )
  await rowsOf(
    { connectionString: server.databaseUrl },
    `insert into notice (app_id, provider, event_id, type, payload, state)
     values ('default', 'stripe', 'evt_failed', 'invoice.paid', '{}', 'FAILED')`,
  )
}

/** Creates a user, who buys something on the sandbox's own page. */
async function payInSandbox(userId: string, linked: string): Promise<void> {
  const { server } = dashboard
  const { link } = await server.admin.data(
    `mutation ($userId: String!) {
      createUser(input: { id: $userId }) { id }
      ${linked}, successUrl: "https://a.example", cancelUrl: "https://b.example") { url }
    }`,
    { userId },
  )
  const card = { number: '4242424242424242', expiry: '12/99', cvc: '123' }
  const response = await fetch(link.url, {
    method: 'POST',
    body: new URLSearchParams({ action: 'pay', ...card }),
    redirect: 'manual',
  })
  expect(response.status).toBe(303)
  await jobsDone(server.databaseUrl)
}

async function newViewer(): Promise<{ email: string; password: string }> {
  const [email, password] = ['viewer@example.com', 'a good password']
  const { inviteMember } = await dashboard.server.dashboard.data(
    'mutation ($email: String!) { inviteMember(email: $email, role: VIEWER) { url } }',
    { email },
  )
  await dashboardClient(dashboard.server.url).data(
    'mutation ($token: String!, $password: String!) { acceptInvitation(token: $token, password: $password) { id } }',
    { token: new URLSearchParams(new URL(inviteMember.url).hash.slice(1)).get('token'), password },
  )
  return { email, password }
}

/** What a member can do on a page, of all that it offers to owners. */
async function offered({ page, go, idle, problems }: Visit, path: string): Promise<string[]> {
  await go(path)
  const offers: string[] = []
  for (const [mutation, place] of Object.entries(PLACES)) {
    if (place.path !== path) continue
    if (place.box) await page.getByRole('checkbox', { name: place.box }).check()
    if (place.first) {
      await page.getByRole('button', { name: place.first }).first().click()
      await idle()
    }
    const control = place.control(page)
    if ((await control.count()) > 0 && (await isEnabled(control))) offers.push(mutation)
    if (place.first) await page.keyboard.press('Escape')
  }
  expect(await page.getByText('This could not be loaded').count()).toBe(0)
  expect(problems).toEqual([])
  return offers
}

/** An item of a menu says it by an attribute. */
const isEnabled = async (control: Locator): Promise<boolean> =>
  (await control.isEnabled()) && (await control.getAttribute('data-disabled')) === null

describe('gap: roles on the pages', () => {
  it('every mutation that a viewer may not run has its place here', () => {
    const forbidden = Object.entries(MUTATIONS).flatMap(([name, { dashboard, role }]) =>
      dashboard && (role === 'EDITOR' || role === 'OWNER') ? [name] : [],
    )
    expect(Object.keys(PLACES).sort()).toEqual(forbidden.sort())
  })

  it.for(PATHS)('%s offers to an owner what it does not offer to a viewer', async (path) => {
    const all = Object.keys(PLACES).filter((mutation) => PLACES[mutation]?.path === path)
    expect(await offered(owner, path)).toEqual(all)
    expect(await offered(viewer, path)).toEqual([])
  })

  it.for(INSIDE.filter((path) => !PATHS.includes(path)))('%s is for a viewer to read', async (path) => {
    const { page, go, problems } = viewer
    await go(path)
    expect(await page.getByText('This could not be loaded').count()).toBe(0)
    expect(problems).toEqual([])
  })
})
