import type pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { insertAuditEntry, insertKeyEntry } from '../../src/store/audit/audit.ts'
import type { Tx } from '../../src/store/connection/database.ts'
import { addActivity } from '../../src/store/usage/activity.ts'
import { claimKey } from '../../src/store/usage/idempotency.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf, WAITING } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openTestPool } from '../harness/store.ts'
import { newArchivingApp } from './archiving-app.ts'

// Invariants: an archived app refuses what is new and goes on answering; one that is deleted leaves nothing behind.

const server = shared(startTestServer)

const newApp = () => newArchivingApp(server)

const UNCHANGED = 'is archived. Restore it in the dashboard first.'
const inDatabase = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: server.databaseUrl }, text, values)
const listed = async (id: string): Promise<Data | undefined> =>
  (await server.dashboard.data('{ apps { id archivedAt deletion { rows } } }')).apps.find(
    (app: Data) => app.id === id,
  )

describe('gap: archiving an app', () => {
  it('refuses what is new, to members and to the application, and goes on answering', async () => {
    const { id, admin, change, refusal } = await newApp()
    await change('createPrice(packageId: "old", input: {amount: 100, currency: "usd", interval: "month"})')
    await change('createBillingTemplate(input: {id: "sold", name: "Sold", packageIds: ["old"]})')
    await change('archiveApp(archived: true)')
    expect((await listed(id))?.archivedAt).toEqual(expect.any(String))
    const link = `generateSubscriptionLink(templateId: "sold", userId: "bob", successUrl: "https://a.example",
      cancelUrl: "https://b.example")`
    for (const [asked, selection] of [
      ['createUser(input: {id: "new"})'],
      ['subscribe(userId: "bob", packageIds: ["old"])'],
      ['startTrial(userId: "bob", packageId: "old", days: 3)'],
      ['changeSubscription(userId: "ann", packageId: "next", when: NOW)', '{ now }'],
      ['setOverride(input: {userId: "ann", featureId: "calls", mode: ADD, limit: 5})', '{ mode }'],
      [link, '{ url }'],
      ['createFeature(input: {id: "f", name: "F", type: BINARY})'],
      ['createPackage(input: {id: "p", name: "P", features: []})'],
    ]) {
      expect(await refusal(asked ?? '', selection), asked).toContain(UNCHANGED)
      const { message, extensions } = await admin.error(`mutation { ${asked} ${selection ?? '{ id }'} }`)
      expect([message, extensions.code], asked).toEqual([`The app "${id}" ${UNCHANGED}`, 'BAD_USER_INPUT'])
    }
    for (const [asked, selection] of [
      ['editPackage(id: "next", input: {name: "Other"})'],
      ['publishPackage(id: "next")'],
      ['createPrice(packageId: "old", input: {amount: 1, currency: "usd", interval: "month"})'],
      ['createBillingTemplate(input: {id: "t", name: "T", packageIds: ["old"]})'],
      ['copyCatalogue(fromAppId: "default")', '{ features { id } }'],
      ['loadSample()', '{ users }'],
    ]) {
      expect(await refusal(asked ?? '', selection), asked).toContain(UNCHANGED)
    }
    expect(await inDatabase('select id from users where app_id = $1 order by id', [id])).toEqual([
      { id: 'ann' },
      { id: 'bob' },
    ])

    await admin.call('recordUsage', { input: { userId: 'ann', featureId: 'calls', delta: 4 } })
    const canUseFeature = await admin.call('canUseFeature { access consumption { used } }', {
      userId: 'ann',
      featureId: 'calls',
    })
    expect(canUseFeature).toEqual({ access: true, consumption: { used: 4 } })
    await admin.data('mutation { updateUser(id: "bob", input: {name: "Bob"}) { id } }')
    const [held] = (await admin.data('{ subscriptions(userId: "ann") { id } }')).subscriptions
    await change(`cancelSubscription(id: "${held.id}")`)

    await change('archiveApp(archived: false)')
    expect((await listed(id))?.archivedAt).toBe(null)
    await admin.data('mutation { createUser(input: {id: "new"}) { id } }')
  })

  it('repeats the answer of a request that came before it', async () => {
    const { admin, change } = await newApp()
    const create = 'mutation { createUser(input: {id: "new"}) { id } }'
    const once = admin.with({ 'Idempotency-Key': 'before' })
    const first = await once.data(create)
    await change('archiveApp(archived: true)')
    expect(await once.data(create)).toEqual(first)
  })

  it('leaves one app in use, also if two are archived at once', async () => {
    const others = (await server.dashboard.data('{ apps { id archivedAt } }')).apps
      .filter(({ archivedAt }: Data) => archivedAt === null)
      .map(({ id }: Data) => id)
    const archive = (id: string, archived = true) =>
      server.dashboard.ask(`mutation { archiveApp(appId: "${id}", archived: ${archived}) { id } }`)
    const answers = await Promise.all(others.map((id: string) => archive(id)))
    const refused = answers.filter(({ errors }) => errors)
    expect(refused.map(({ errors }) => errors?.[0]?.message)).toEqual([
      expect.stringContaining('is the only active app. Create or restore another app first.'),
    ])
    await Promise.all(others.map((id: string) => archive(id, false)))
  })
})

describe('gap: deleting an app', () => {
  const remove = (id: string, confirm = id) =>
    `mutation { deleteApp(appId: "${id}", confirm: "${confirm}") { id } }`
  const gone = (id: string) => vi.waitFor(async () => expect(await listed(id)).toBe(undefined), PATIENCE_MS)

  it('needs an archived app of which nobody is charged, and its id once more', async () => {
    const { id, change } = await newApp()
    const refused = async (asked: string) => (await server.dashboard.error(asked)).message
    expect(await refused(remove(id))).toBe(`The app "${id}" is not archived. Archive it first.`)
    await change('archiveApp(archived: true)')
    expect(await refused(remove(id, 'default'))).toBe(`confirm must be the ID of the app: "${id}"`)
    await inDatabase(
      `insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
       select $1, p.name, 'sub', uid, 'active', now(), true from users, (values ('stripe'), ('sandbox')) p (name)
       where app_id = $1 and id = 'ann'`,
      [id],
    )
    const paying = `The app "${id}" has 1 paid subscription. Cancel the subscriptions, and wait for the payment links to expire.`
    expect(await refused(remove(id))).toBe(paying)
    const appUse = await server.dashboard.call(
      'appUse { users subscriptions ledgerEntries features packages keys paid openLinks refusal }',
      { appId: id },
    )
    expect(appUse).toEqual({
      ...{ users: 2, subscriptions: 1, ledgerEntries: 0, features: 2, packages: 2 },
      ...{ keys: 1, paid: 1, openLinks: 0, refusal: paying },
    })
    expect(await refused(remove('default'))).toBe(
      'The app "default" is created at every start and cannot be deleted. Archive it instead.',
    )
    expect((await server.dashboard.error(remove('nowhere'))).extensions.code).toBe('APP_NOT_FOUND')
  })

  it('refuses its keys at once and leaves nothing but the entry of who did it', async () => {
    const { id, admin, change } = await newApp()
    await admin.call('recordUsage', { input: { userId: 'ann', featureId: 'calls', delta: 4 } })
    await change('archiveApp(archived: true)')
    await server.dashboard.data(remove(id))
    const error = await admin.error('{ canUseFeature(userId: "ann", featureId: "calls") { access } }')
    expect(error.extensions.code).toBe('UNAUTHENTICATED')
    const closed = await server.dashboard.error(`{ app(appId: "${id}") { id } }`)
    expect(closed.extensions.code).toBe('APP_NOT_FOUND')
    await gone(id)
    for (const table of ['users', 'subscription', 'usage_ledger', 'package', 'audit_entry', 'api_key']) {
      expect(await inDatabase(`select from ${table} where app_id = $1`, [id]), table).toEqual([])
    }
    const auditLog = await server.dashboard.call('auditLog { rows { appId operation subjectId } }', {
      first: 1,
    })
    expect(auditLog.rows).toEqual([{ appId: null, operation: 'deleteApp', subjectId: id }])
    // The id is free again, and what comes under it starts with nothing.
    await createApp(server, id)
    expect((await server.dashboard.data(`{ users(appId: "${id}") { rows { id } } }`)).users.rows).toEqual([])
  })

  const ENTRY = { operation: 'createUser', subjectKind: 'user', subjectId: 'ann', before: null } as const
  it.each<[table: string, write: (tx: Tx, appId: string, keyHash: string) => Promise<unknown>]>([
    ['audit_entry', (tx, appId, keyHash) => insertKeyEntry(tx, keyHash, { ...ENTRY, appId })],
    [
      'audit_entry',
      (tx, appId) =>
        insertAuditEntry(tx, { ...ENTRY, appId, actorKind: 'PROVIDER', memberEmail: 'stripe', after: null }),
    ],
    ['idempotency', (tx, appId) => claimKey(tx, { appId, scope: 'request', key: 'k' }, Buffer.from('asked'))],
    ['activity', (tx, appId) => addActivity(tx, new Map([[appId, { checks: 1, records: 1 }]]))],
  ])('leaves nothing in %s of a transaction that was under way', async (table, write) => {
    const { id, change } = await newApp()
    await change('archiveApp(archived: true)')
    const [key] = await inDatabase<{ hash: string }>(
      `select encode(hash, 'hex') as hash from api_key where app_id = $1`,
      [id],
    )
    const pool = await openTestPool(server.databaseUrl, { statementMs: Number.POSITIVE_INFINITY })
    const holder = (await pool.connect()) as Tx
    try {
      await holder.query('begin')
      await write(holder, id, key?.hash ?? '')
      await server.dashboard.data(remove(id))
      await expect
        .poll(async () => (await inDatabase(WAITING)).length > 0 || (await listed(id)) === undefined)
        .toBe(true)
      await holder.query('commit')
    } finally {
      holder.release(true)
      await pool.end()
    }
    await gone(id)
    expect(await inDatabase(`select from ${table} where app_id = $1`, [id])).toEqual([])
  })

  it('goes on when its job was lost', async () => {
    const { id } = await newApp()
    await inDatabase(`update app set archived_at = now(), deleting_since = now() where id = $1`, [id])
    expect((await listed(id))?.deletion).toEqual({ rows: 0 })
    await inDatabase(`select graphile_worker.add_job('turn-sandboxes', '{}'::json)`)
    await gone(id)
  })
})
