import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MUTATION_NAMES, MUTATIONS, SENTENCES } from '../../src/operations/registry/registry.ts'
import { type Data, dashboardClient, signedIn } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { STEPS } from './audit-steps.ts'

let server: TestServer
let stripe: StripeStandIn
beforeAll(async () => {
  stripe = await startStripe()
  server = await startTestServer({ env: { STRIPE_API_BASE: stripe.url } })
})
afterAll(async () => {
  await server?.stop()
  await stripe?.stop()
})

const LOG = `query ($appId: String, $first: Int, $after: String) { auditLog(appId: $appId, first: $first, after: $after) {
  next rows { memberEmail appId operation sentence subjectKind subjectId before after at } } }`
const latest = async (): Promise<Data> => (await server.dashboard.data(LOG, { first: 1 })).auditLog.rows[0]

/** What the steps name that is only known as they run. */
const known: Record<string, string> = {}

/** Whom and what the steps are about, beside what they make themselves. */
async function prepare(): Promise<void> {
  const password = 'a good password'
  const { inviteMember } = await server.dashboard.data(
    'mutation { inviteMember(email: "other@example.com", role: VIEWER) { url } }',
  )
  const token = new URLSearchParams(new URL(inviteMember.url).hash.slice(1)).get('token')
  const { acceptInvitation } = await dashboardClient(server.url).data(
    'mutation ($token: String!, $password: String!) { acceptInvitation(token: $token, password: $password) { id } }',
    { token, password },
  )
  known.MEMBER = acceptInvitation.id
  await signedIn(server.url, OWNER)
  const { sessions } = await server.dashboard.data('{ sessions { id current } }')
  known.SESSION = sessions.find((session: Data) => !session.current).id
  known.STRIPE_KEY = stripe.key
  await rowsOf(
    { connectionString: server.databaseUrl },
    `insert into app (id, name, archived_at) values ('gone', 'Gone', now())`,
  )
  known.STRIPE_PRICE = stripe.sell({ name: 'plan', amount: 1500, interval: 'month' }).id
}

/** A user who has bought the plan for good, in the sandbox. */
async function paidInSandbox(): Promise<void> {
  const ask = (sql: string) => rowsOf({ connectionString: server.databaseUrl }, sql)
  await ask(
    `with payer as (insert into users (app_id, id, metadata) values ('audited', 'payer', '{}') returning uid),
     customer as (insert into sandbox_customer (app_id, id) values ('audited', 'cus_paid')),
     checkout as (insert into sandbox_checkout
         (app_id, id, session_id, customer_id, items, success_url, cancel_url, state, made_at, paid_at, expires_at)
       values ('audited', 'cs_paid', 's', 'cus_paid', '[{"amount":900,"currency":"usd"}]', 'https://a.example',
         'https://a.example', 'paid', now(), now(), now()))
     insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
     select 'audited', 'sandbox', 'cs_paid', uid, 'paid', now(), false from payer`,
  )
  await ask(
    `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, provider, provider_ref)
     select 'audited', 'bought', uid, 'plan', false, now(), now(), 'sandbox', 'cs_paid' from users
     where app_id = 'audited' and id = 'payer'`,
  )
}

/** A notice that could not be handled. */
async function failedNotice(): Promise<string> {
  const [notice] = await rowsOf<{ seq: string }>(
    { connectionString: server.databaseUrl },
    `insert into notice (app_id, provider, event_id, type, payload, state)
     values ('audited', 'stripe', 'evt_1', 'invoice.paid', '{}', 'FAILED') returning seq`,
  )
  return String(notice?.seq)
}

describe('gap: the audit log', () => {
  it('says of each mutation who made it, and what there was before and after', async () => {
    await prepare()
    for (const { mutation, entry } of STEPS) {
      const operation = /^\w+/.exec(mutation)?.[0] ?? ''
      if (operation === 'replayNotice') known.NOTICE = await failedNotice()
      if (operation === 'reverseSandboxPayment') await paidInSandbox()
      const text = mutation.replace(/"([A-Z_]+)"/, (whole, name) => JSON.stringify(known[name]) ?? whole)
      const earlier = await latest()
      const answer = (await server.dashboard.data(`mutation { ${text} }`))[operation]
      if (operation === 'createApiKey') known.KEY = answer.id
      if (operation === 'rotateTokenKey') known.TOKENKEY = answer.id
      if (operation === 'createPrice') known.PRICE = answer.id
      if (operation === 'migrateSubscriptions') known.MIGRATION = answer.id
      if (operation === 'subscribe') known.SUBSCRIPTION = answer[0].id
      if (operation === 'startTrial') known.TRIAL = answer.id
      if (operation === 'inviteMember') known.INVITATION = answer.id
      const [shown, before] = (await server.dashboard.data(LOG, { first: 2 })).auditLog.rows
      expect(shown, operation).toMatchObject({ memberEmail: OWNER.email, operation, ...entry })
      // All that a sentence leaves open is filled in.
      expect(shown.sentence, operation).toMatch(/^\w[^{}]*\S$/)
      expect(before, `${operation} once`).toEqual(earlier)
      const secrets = [answer?.secret, answer?.token, stripe.key].filter((secret) => secret !== undefined)
      for (const secret of secrets) expect(JSON.stringify(shown), operation).not.toContain(secret)
    }
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
    const plan = { text: 'Plan', subject: { kind: 'PACKAGE', appId: 'audited', id: 'plan' } }
    expect(named('changed the package Plan')).toEqual([plan])
    // The entry has the ids alone; the user and the package have been renamed or deleted since, or not.
    expect(named('tried a refund or dispute of a sandbox payment of payer for Plan')).toEqual([
      { text: 'payer', subject: { kind: 'USER', appId: 'audited', id: 'payer' } },
      plan,
    ])
    expect(named('brought back the billing template Offer')).toEqual([
      { text: 'Offer', subject: { kind: 'TEMPLATE', appId: 'audited', id: expect.any(String) } },
    ])
    // What is gone is named, and leads nowhere.
    for (const gone of ['deleted the feature Idle', 'archived the package Idle', 'created the user ann']) {
      expect(named(gone), gone).toEqual([])
    }
    const { auditLog } = await server.dashboard.data(
      `{ auditLog(first: 100, operation: "removeMember") { rows { sentence parts { text subject { id } } } } }`,
    )
    expect(auditLog.rows[0].parts).toEqual([{ text: 'removed the member other@example.com', subject: null }])
  })

  it('has a step above for each mutation of which there is something to note', () => {
    const steps = STEPS.map(({ mutation }) => /^\w+/.exec(mutation)?.[0])
    const noted = MUTATION_NAMES.filter((name) => MUTATIONS[name].subject)
    // Imports and this one, which ends the session of these tests, have tests of their own.
    const elsewhere = [
      'importUsers',
      'applyUserImport',
      'undoUserImport',
      'signOutEverywhere',
      'exportAuditLog',
    ]
    expect(noted.filter((name) => !steps.includes(name)).sort()).toEqual(elsewhere.sort())
  })

  it('has a sentence for each of them, and for what is done without a mutation of a member', () => {
    const noted = MUTATION_NAMES.filter((name) => MUTATIONS[name].subject)
    const others = [
      'acceptInvitation',
      'resetPassword',
      'setOwner',
      'signIn',
      'signInFailed',
      'syncSubscription',
    ]
    expect([...SENTENCES.keys()].sort()).toEqual([...noted, ...others].sort())
  })

  it('has no entry for a refused mutation', async () => {
    const before = await latest()
    await server.dashboard.error('mutation { createUser(appId: "audited", input: { id: "anna" }) { id } }')
    await server.dashboard.error('mutation { publishPackage(appId: "audited", id: "nothing") { id } }')
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
        const { userImport } = await server.dashboard.data(
          '{ userImport(appId: "audited", id: "one") { state } }',
        )
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
    for (const appId of ['a\u0000b', 'x'.repeat(300)])
      expect((await server.dashboard.error(LOG, { appId })).extensions.code).toBe('APP_NOT_FOUND')
  })
})
