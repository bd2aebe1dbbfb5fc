import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { OWNER, startTestServer, type TestServer } from '../harness/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

const LOG = `query ($appId: String, $first: Int, $after: String) { auditLog(appId: $appId, first: $first, after: $after) {
  next rows { memberEmail appId operation subjectKind subjectId before after at } } }`
const latest = async (): Promise<Data> => (await server.dashboard.data(LOG, { first: 1 })).auditLog.rows[0]

interface Step {
  mutation: string
  entry: Data
}

/** What a step learns for the next ones. */
const known: Record<string, string> = {}

const app = 'appId: "audited"'
const STEPS: Step[] = [
  {
    mutation: 'createApp(id: "audited", name: "First") { id }',
    entry: { appId: null, subjectKind: 'app', subjectId: 'audited', before: null, after: { name: 'First' } },
  },
  {
    mutation: `renameApp(${app}, name: "Second") { id }`,
    entry: { appId: 'audited', before: { name: 'First' }, after: { name: 'Second' } },
  },
  {
    mutation: `setOrigins(${app}, origins: ["https://a.example"]) { id }`,
    entry: { before: { origins: [] }, after: { origins: ['https://a.example'] } },
  },
  {
    mutation: `createApiKey(${app}, name: "Key") { id }`,
    entry: { subjectKind: 'apiKey', before: null, after: { name: 'Key', revokedAt: null } },
  },
  {
    mutation: `rotateApiKey(${app}, id: "KEY") { id }`,
    entry: { subjectKind: 'apiKey', before: { expiresAt: null }, after: { expiresAt: expect.any(String) } },
  },
  {
    mutation: `revokeApiKey(${app}, id: "KEY") { id }`,
    entry: { before: { revokedAt: null }, after: { revokedAt: expect.any(String) } },
  },
  {
    mutation: `createFeature(${app}, input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id }`,
    entry: {
      subjectKind: 'feature',
      subjectId: 'calls',
      before: null,
      after: { name: 'Calls', type: 'CONSUMABLE' },
    },
  },
  {
    mutation: `updateFeature(${app}, id: "calls", input: { name: "Requests" }) { id }`,
    entry: { before: { name: 'Calls' }, after: { name: 'Requests' } },
  },
  {
    mutation: `createPackage(${app}, input: { id: "plan", name: "Plan", features: { id: "calls", entitlement: { limit: 1 } } }) { id }`,
    entry: {
      subjectKind: 'package',
      before: null,
      after: { status: 'DRAFT', features: [{ featureId: 'calls', limit: 1 }] },
    },
  },
  {
    mutation: `publishPackage(${app}, id: "plan") { id }`,
    entry: { before: { status: 'DRAFT' }, after: { status: 'PUBLISHED' } },
  },
  {
    mutation: `editPackage(${app}, id: "plan", input: { name: "Better" }) { id }`,
    entry: { before: { draft: null }, after: { name: 'Plan', draft: { name: 'Better' } } },
  },
  {
    mutation: `discardPackageDraft(${app}, id: "plan") { id }`,
    entry: { before: { draft: { name: 'Better' } }, after: { draft: null } },
  },
  {
    mutation: `updatePackage(${app}, id: "plan", input: { metadata: { a: "\\u0000" } }) { id }`,
    entry: { before: { metadata: {} }, after: { metadata: { a: '\u0000' } } },
  },
  {
    mutation: `createUser(${app}, input: { id: "ann", email: "ann@example.com" }) { id }`,
    entry: { subjectKind: 'user', subjectId: 'ann', before: null, after: { email: 'ann@example.com' } },
  },
  {
    mutation: `updateUser(${app}, id: "ann", input: { id: "anna" }) { id }`,
    entry: { subjectId: 'anna', before: { id: 'ann' }, after: { id: 'anna' } },
  },
  {
    mutation: `subscribe(${app}, userId: "anna", packageIds: ["plan"]) { id }`,
    entry: {
      subjectId: 'anna',
      before: { subscriptions: [] },
      after: { subscriptions: [{ packageId: 'plan' }] },
    },
  },
  {
    mutation: `recordUsage(${app}, input: { userId: "anna", featureId: "calls", delta: 1 }) { recorded }`,
    entry: {
      subjectKind: 'usage',
      before: { usage: [] },
      after: { usage: [{ featureId: 'calls', used: 1 }] },
    },
  },
  {
    mutation: `generateUserToken(${app}, userId: "anna") { token }`,
    entry: { subjectKind: 'token', subjectId: 'anna', before: null, after: null },
  },
  {
    mutation: `cancelSubscription(${app}, id: "SUBSCRIPTION", atPeriodEnd: false) { id }`,
    entry: {
      subjectKind: 'subscription',
      before: { cancelledAt: null },
      after: { cancelledAt: expect.any(String) },
    },
  },
  {
    mutation: `loadSample(${app}) { users }`,
    entry: { subjectKind: 'sample' },
  },
  {
    mutation: `removeSample(${app}) { users }`,
    entry: { subjectKind: 'sample' },
  },
  {
    mutation: `copyCatalogue(${app}, fromAppId: "default") { features { id } }`,
    entry: { subjectKind: 'catalogue', subjectId: 'default' },
  },
  {
    mutation: 'inviteMember(email: "new@example.com", role: EDITOR) { id }',
    entry: { appId: null, subjectKind: 'invitation', after: { email: 'new@example.com', role: 'EDITOR' } },
  },
  {
    mutation: 'revokeInvitation(id: "INVITATION")',
    entry: { subjectKind: 'invitation', before: { email: 'new@example.com' }, after: null },
  },
  {
    mutation: `changePassword(current: "${OWNER.password}", password: "${OWNER.password}")`,
    entry: { subjectKind: 'member', after: { email: OWNER.email, role: 'OWNER' } },
  },
]

describe('gap: the audit log', () => {
  it('says of each mutation who made it, and what there was before and after', async () => {
    for (const { mutation, entry } of STEPS) {
      const operation = /^\w+/.exec(mutation)?.[0] ?? ''
      const text = mutation.replace(/KEY|SUBSCRIPTION|INVITATION/, (name) => known[name] ?? name)
      const answer = (await server.dashboard.data(`mutation { ${text} }`))[operation]
      if (operation === 'createApiKey') known.KEY = answer.id
      if (operation === 'subscribe') known.SUBSCRIPTION = answer[0].id
      if (operation === 'inviteMember') known.INVITATION = answer.id
      const shown = await latest()
      expect(shown, operation).toMatchObject({ memberEmail: OWNER.email, operation, ...entry })
      expect(JSON.stringify(shown), operation).not.toContain(answer.secret ?? answer.token ?? 'no secret')
    }
  })

  it('has nothing of a mutation that was refused', async () => {
    const before = await latest()
    await server.dashboard.error('mutation { createUser(appId: "audited", input: { id: "anna" }) { id } }')
    await server.dashboard.error('mutation { publishPackage(appId: "audited", id: "nothing") { id } }')
    expect(await latest()).toEqual(before)
  })

  it('has imports as well', async () => {
    const query = { app: 'audited', import: 'one' }
    await upload(server, await sessionCookie(server), query, 'id,email\nanna,new@example.com\n')
    expect(await latest()).toMatchObject({
      operation: 'importUsers',
      subjectKind: 'import',
      subjectId: 'one',
      appId: 'audited',
      memberEmail: OWNER.email,
    })
  })

  it('is paged, newest first, of one app or of all', async () => {
    const pages: Data[] = []
    for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
      const { auditLog }: Data = await server.dashboard.data(LOG, { appId: 'audited', first: 5, after })
      pages.push(...auditLog.rows)
      after = auditLog.next
    }
    expect(new Set(pages.map(({ appId }) => appId))).toEqual(new Set(['audited']))
    const times = pages.map(({ at }) => at)
    expect(times).toEqual([...times].sort().reverse())
    const { auditLog: whole } = await server.dashboard.data(LOG, { first: 100 })
    expect(whole.rows.length).toBeGreaterThan(pages.length)
    const { extensions } = await server.dashboard.error(LOG, { appId: 'nowhere' })
    expect(extensions.code).toBe('APP_NOT_FOUND')
  })
})
