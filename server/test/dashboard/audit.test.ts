import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  DASHBOARD_MUTATIONS,
  MUTATION_NAMES,
  MUTATIONS,
  SENTENCES,
} from '../../src/operations/registry/registry.ts'
import { serverWithStripe } from '../billing/server-with-stripe.ts'
import { MUTATION_EXAMPLES } from '../examples/examples.ts'
import { auditEntry, newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { type Data, signedIn, type Variables } from '../harness/client.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, OWNER } from '../harness/server.ts'

const { server, stripe } = serverWithStripe()
let world: World
beforeAll(async () => {
  const app = {
    id: 'audited',
    admin: await createApp(server, 'audited'),
    dashboard: server.dashboard.of('audited'),
  }
  world = await furnishWorld(server, app, { stripe })
})

const LOG = `query ($appId: String, $actorKind: ActorKind, $first: Int, $after: String) {
  auditLog(appId: $appId, actorKind: $actorKind, first: $first, after: $after) {
  next rows { memberEmail appId operation sentence subjectKind subjectId before after at } } }`
/** Members' newest entries: a provider's may come at any time. */
const newest = async (first: number): Promise<Data[]> =>
  (await server.dashboard.data(LOG, { actorKind: 'MEMBER', first })).auditLog.rows
const latest = async (): Promise<Data> => (await newest(1))[0] as Data

/** Runs a mutation, and expects one new entry. */
async function expectEntry(operation: string, query: string, variables: Variables, entry: Data) {
  // Its entry has nothing to do with the mutation, which may delete what others are about.
  await server.dashboard.data('mutation { renameApp(appId: "audited", name: "Audited") { id } }')
  const earlier = await latest()
  const answer = (await server.dashboard.data(query, variables))[operation]
  const [shown, before] = await newest(2)
  expect(shown).toMatchObject({ memberEmail: OWNER.email, operation, ...entry })
  // All that a sentence leaves open is filled in.
  expect(shown?.sentence).toMatch(/^\w[^{}]*\S$/)
  expect(before, 'one entry').toEqual(earlier)
  const secrets = [answer?.secret, answer?.token, stripe.key].filter((secret) => secret !== undefined)
  for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret)
}

/** Mutations whose entry depends on their arguments, in an order in which all succeed. */
const VARIANTS: [mutation: string, entry: Data][] = [
  ['createUser(APP, input: { id: "zoe" }) { id }', { sentence: 'created the user zoe', subjectId: 'zoe' }],
  [
    'updateUser(APP, id: "zoe", input: { id: "zoey", email: "zoey@example.com", billingId: "cus_zoey" }) { id }',
    {
      subjectId: 'zoey',
      before: { id: 'zoe', billingId: null },
      after: { id: 'zoey', email: 'zoey@example.com', billingId: 'cus_zoey' },
    },
  ],
  [
    'createPackage(APP, input: { id: "silver", name: "Silver", features: { id: "calls" } }) { id }',
    { after: { features: [{ featureId: 'calls' }] } },
  ],
  ['publishPackage(APP, id: "silver") { id }', { before: { status: 'DRAFT' }, after: { version: 1 } }],
  [
    'editPackage(APP, id: "silver", input: { features: [] }) { id }',
    { after: { version: 1, draft: { features: [] } } },
  ],
  [
    'publishPackage(APP, id: "silver", for: NEW_ONLY) { id }',
    { before: { version: 1 }, after: { version: 2, publishedFor: 'NEW_ONLY', features: [] } },
  ],
  [
    'subscribe(APP, userId: "zoey", packageIds: ["silver"]) { id }',
    { subjectId: 'zoey', after: { subscriptions: [{ packageId: 'silver' }] } },
  ],
  ['archiveBillingTemplate(APP, id: "plan") { id }', { sentence: 'archived the billing template Some' }],
  [
    'archiveBillingTemplate(APP, id: "plan", archived: false) { id }',
    { sentence: 'restored the billing template Some' },
  ],
  ['archiveApp(APP) { id }', { after: { archivedAt: expect.any(String) } }],
  [
    'archiveApp(APP, archived: false) { id }',
    { before: { archivedAt: expect.any(String) }, after: { archivedAt: null } },
  ],
  [
    'cancelSubscription(APP, id: "SUBSCRIPTION", atPeriodEnd: false) { id }',
    { before: { cancelledAt: null }, after: { cancelledAt: expect.any(String) } },
  ],
]

describe('gap: the audit log', () => {
  it.each(
    DASHBOARD_MUTATIONS.filter((name) => MUTATION_EXAMPLES[name].audit),
  )('says of %s who made it, and what there was before and after', async (name) => {
    const turn = newTurn(world, name)
    const { document, variables } = await readyCall('dashboard', name, turn)
    await expectEntry(name, document, variables, auditEntry(name, turn))
  })

  it.each(VARIANTS)('says what depends on the arguments: %s', async (mutation, entry) => {
    const [operation = ''] = /^\w+/.exec(mutation) ?? []
    const text = mutation.replace('APP', 'appId: "audited"').replace('SUBSCRIPTION', world.subscription)
    await expectEntry(operation, `mutation { ${text} }`, {}, entry)
  })

  it('names what it is about, and leads to what still exists', async () => {
    const PARTS = `query ($after: String) { auditLog(appId: "audited", first: 100, after: $after) {
      next rows { operation sentence parts { text subject { kind appId id } } } } }`
    const rows: Data[] = []
    for (let after: string | null = null, first = true; first || after; first = false) {
      const { auditLog }: Data = await server.dashboard.data(PARTS, { after })
      rows.push(...auditLog.rows)
      after = auditLog.next
    }
    for (const { sentence, parts } of rows) {
      expect(parts.map(({ text }: Data) => text).join('')).toBe(sentence)
    }
    const named = (sentence: string) => {
      const row = rows.find((one) => one.sentence === sentence)
      return row?.parts.filter(({ subject }: Data) => subject !== null)
    }
    const packageNamed = (text: string, id: string) => ({
      text,
      subject: { kind: 'PACKAGE', appId: 'audited', id },
    })
    expect(named('changed the package Silver')).toEqual([packageNamed('Silver', 'silver')])
    // The entry has the ids alone; the user and the package have been renamed or deleted since, or not.
    const payer = 'payer-reverseSandboxPayment'
    expect(named(`simulated a refund or dispute of a sandbox payment of ${payer} for Some`)).toEqual([
      { text: payer, subject: { kind: 'USER', appId: 'audited', id: payer } },
      packageNamed('Some', 'plan'),
    ])
    expect(named('restored the billing template Some')).toEqual([
      { text: 'Some', subject: { kind: 'TEMPLATE', appId: 'audited', id: 'plan' } },
    ])
    // What is gone is named, and leads nowhere.
    for (const gone of ['deleted the feature Seat', 'deleted the package Gold', 'created the user zoe']) {
      expect(named(gone), gone).toEqual([])
    }
    const auditLog = await server.dashboard.call(
      'auditLog { rows { sentence parts { text subject { id } } } }',
      { first: 100, operation: 'removeMember' },
    )
    expect(auditLog.rows[0].parts).toEqual([
      { text: 'removed the member removemember@example.com', subject: null },
    ])
  })

  it('has an example for each mutation of which there is something to note', () => {
    const noted = MUTATION_NAMES.filter((name) => MUTATIONS[name].dashboard && MUTATIONS[name].subject)
    const examples = DASHBOARD_MUTATIONS.filter((name) => MUTATION_EXAMPLES[name].audit)
    // Imports and this one, which ends the session of these tests, have tests of their own.
    const elsewhere = [
      'importUsers',
      'applyUserImport',
      'undoUserImport',
      'signOutEverywhere',
      'exportAuditLog',
      'exportList',
      'exportUsers',
      'exportSubscriptions',
      'applyBulkChange',
      'stopBulkChange',
      'undoBulkChange',
    ]
    expect([...examples, ...elsewhere].sort()).toEqual(noted.sort())
  })

  it('has a sentence for each of them, and for what is done without a mutation of a member', () => {
    const noted = MUTATION_NAMES.filter((name) => MUTATIONS[name].subject)
    const others = [
      'acceptInvitation',
      'disableWebhookEndpoint',
      'requestPasswordReset',
      'resetPassword',
      'scheduledPublication',
      'setOwner',
      'signIn',
      'signInFailed',
      'syncAutoRecharge',
      'syncCredit',
      'syncSubscription',
    ]
    expect([...SENTENCES.keys()].sort()).toEqual([...noted, ...others].sort())
  })

  it('has no entry for a refused mutation', async () => {
    const before = await latest()
    await server.dashboard.error('mutation { createUser(appId: "audited", input: { id: "ann" }) { id } }')
    await server.dashboard.error('mutation { publishPackage(appId: "audited", id: "nothing") { id } }')
    expect(await latest()).toEqual(before)
  })

  it('has no entry for a mutation that was answered but changed nothing', async () => {
    const removeAccount = () =>
      server.dashboard.data(
        'mutation { removeProviderAccount(appId: "audited", provider: "stripe") { provider } }',
      )
    await removeAccount()
    const before = await latest()
    const answered = await server.dashboard.data(`mutation {
      unknown: recordUsage(appId: "audited", input: { userId: "bob", featureId: "nothing", delta: 1 }) { recorded }
      tooMuch: recordUsage(appId: "audited", input: { userId: "bob", featureId: "calls", delta: -999999 }) { recorded }
      removeOverride(appId: "audited", userId: "bob", featureId: "calls") { featureId }
      revokeInvitation(id: "nothing")
      signOutSession(id: "999999999")
    }`)
    expect(answered).toEqual({
      unknown: { recorded: false },
      tooMuch: { recorded: false },
      removeOverride: null,
      revokeInvitation: false,
      signOutSession: false,
    })
    await removeAccount()
    expect(await latest()).toEqual(before)
  })

  it('has imports as well', async () => {
    const query = { app: 'audited', import: 'one', dryRun: '1' }
    await upload(server, await sessionCookie(server), query, 'id,email\nanna,new@example.com\n')
    const about = { subjectKind: 'import', subjectId: 'one', appId: 'audited', memberEmail: OWNER.email }
    expect(await latest()).toMatchObject({ operation: 'importUsers', ...about })
    for (const [operation, done] of [
      ['applyUserImport', 'APPLIED'],
      ['undoUserImport', 'UNDONE'],
    ]) {
      await server.dashboard.data(`mutation { ${operation}(appId: "audited", id: "one") { state } }`)
      expect(await latest()).toMatchObject({ operation, ...about })
      await vi.waitFor(async () => {
        const userImport = await server.dashboard.call('userImport { state }', {
          appId: 'audited',
          id: 'one',
        })
        expect(userImport.state).toBe(done)
      }, PATIENCE_MS)
    }
  })

  it('has signing out everywhere as well', async () => {
    const leaving = await signedIn(server.url, OWNER)
    await leaving.data('mutation { signOutEverywhere }')
    server.dashboard = await signedIn(server.url, OWNER)
    const [signIn, before] = (await server.dashboard.data(LOG, { first: 2 })).auditLog.rows
    expect(signIn).toMatchObject({ operation: 'signIn', memberEmail: OWNER.email })
    expect(before).toMatchObject({
      operation: 'signOutEverywhere',
      subjectKind: 'session',
      appId: null,
    })
  })

  it('is paged, newest first, of one app or of all', async () => {
    const all = async (query: Variables) => {
      const rows: Data[] = []
      for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
        const { auditLog }: Data = await server.dashboard.data(LOG, { ...query, after })
        rows.push(...auditLog.rows)
        after = auditLog.next
      }
      return rows
    }
    const pages = await all({ appId: 'audited', first: 5 })
    expect(new Set(pages.map(({ appId }) => appId))).toEqual(new Set(['audited']))
    const times = pages.map(({ at }) => at)
    expect(times).toEqual([...times].sort().reverse())
    expect((await all({ first: 100 })).length).toBeGreaterThan(pages.length)
    const { extensions } = await server.dashboard.error(LOG, { appId: 'nowhere' })
    expect(extensions.code).toBe('APP_NOT_FOUND')
    for (const appId of ['a\u0000b', 'x'.repeat(300)])
      expect((await server.dashboard.error(LOG, { appId })).extensions.code).toBe('APP_NOT_FOUND')
  })
})
