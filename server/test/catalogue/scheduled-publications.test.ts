import { describe, expect, it, vi } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { type Client, type Data, dashboardClient, signedIn } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { OWNER, OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))

const SHOWN =
  'id status version publishedVersion grants { limit } draft { name } scheduled { at for note author problem }'
const at = (day: number) => `2030-02-${String(day).padStart(2, '0')}T00:00:00.000Z`

/** A package with the limit 10, and a draft with the limit 20. */
async function withDraft(): Promise<ClockedApp> {
  const app = await clockedApp(server)
  await app.advance(at(1))
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await edit(app, 20)
  return app
}

const edit = (app: ClockedApp, limit: number) =>
  app.dashboard.call('editPackage { id }', {
    id: 'plan',
    input: { features: [{ id: 'call', entitlement: { limit } }] },
  })

const shown = (app: ClockedApp): Promise<Data> => app.dashboard.call(`package { ${SHOWN} }`, { id: 'plan' })

const schedule = (app: ClockedApp, day: number, more: Data = {}, by: Client = app.dashboard) =>
  by.call(`publishPackage { ${SHOWN} }`, { id: 'plan', at: at(day), ...more })

/** Once the jobs that the clock has queued are done. */
async function settled(app: ClockedApp, expected: Data): Promise<Data> {
  return vi.waitFor(
    async () => {
      const now = await shown(app)
      expect(now).toMatchObject(expected)
      return now
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
}

const entries = async (app: ClockedApp): Promise<string[]> => {
  const { auditLog } = await server.dashboard.data(
    'query ($app: String!) { auditLog(appId: $app, subjectId: "plan") { rows { memberEmail sentence } } }',
    { app: app.id },
  )
  return auditLog.rows.map(({ memberEmail, sentence }: Data) => `${memberEmail} ${sentence}`).reverse()
}

describe('gap: a publication at a chosen time', () => {
  it('takes place then, once, with who scheduled it in the versions and the audit log', async () => {
    const app = await withDraft()
    await app.subscribe('plan')
    const scheduled = await schedule(app, 10, { for: 'ALL', note: 'Winter prices' })
    const waiting = {
      scheduled: { at: at(10), for: 'ALL', note: 'Winter prices', author: OWNER.email, problem: null },
    }
    expect(scheduled).toMatchObject({ ...waiting, publishedVersion: 1, grants: [{ limit: '10' }] })
    await app.advance('2030-02-09T23:59:59.999Z')
    await app.advance(at(10))
    expect(await settled(app, { scheduled: null })).toMatchObject({
      publishedVersion: 2,
      grants: [{ limit: '20' }],
      draft: null,
    })
    const { versions } = await app.dashboard.call(
      'packageVersions { versions { version publishedAt author note held } }',
      { packageId: 'plan' },
    )
    expect(versions[0]).toEqual({
      version: 2,
      publishedAt: at(10),
      author: OWNER.email,
      note: 'Winter prices',
      held: 1,
    })
    expect((await entries(app)).slice(1)).toEqual([
      `${OWNER.email} published the package plan`,
      `${OWNER.email} changed the package plan`,
      `${OWNER.email} scheduled the publication of the package plan on 2030-02-10 00:00 UTC`,
      `${OWNER.email} published the package plan as scheduled`,
    ])
  })

  it('of a package that was never published lets users subscribe from then on', async () => {
    const app = await clockedApp(server)
    await app.advance(at(1))
    await app.dashboard.call('createPackage { id }', { input: { id: 'plan', name: 'Plan', features: [] } })
    await schedule(app, 2)
    await expect(app.subscribe('plan')).rejects.toThrow('Package is not published')
    await app.advance(at(2))
    expect(await settled(app, { scheduled: null })).toMatchObject({
      status: 'PUBLISHED',
      publishedVersion: 1,
    })
    expect(await app.subscribe('plan')).toHaveLength(1)
  })

  it('can be moved and cancelled, and publishing now replaces it', async () => {
    const app = await withDraft()
    await schedule(app, 5, { note: 'first' })
    expect((await schedule(app, 8, { for: 'NEW_ONLY' })).scheduled).toMatchObject({
      at: at(8),
      for: 'NEW_ONLY',
      note: null,
    })
    await app.advance(at(6))
    expect(await app.dashboard.call(`cancelScheduledPublication { ${SHOWN} }`, { id: 'plan' })).toMatchObject(
      {
        scheduled: null,
        draft: { name: 'plan' },
      },
    )
    await schedule(app, 9)
    const published = await app.dashboard.call(`publishPackage { ${SHOWN} }`, { id: 'plan' })
    expect(published).toMatchObject({ scheduled: null, publishedVersion: 2, draft: null })
    await edit(app, 30)
    await app.advance(at(20))
    expect(await shown(app)).toMatchObject({ publishedVersion: 2, draft: { name: 'plan' } })
    expect((await entries(app)).slice(3)).toEqual([
      `${OWNER.email} scheduled the publication of the package plan on 2030-02-05 00:00 UTC`,
      `${OWNER.email} scheduled the publication of the package plan on 2030-02-08 00:00 UTC`,
      `${OWNER.email} cancelled the scheduled publication of the package plan`,
      `${OWNER.email} scheduled the publication of the package plan on 2030-02-09 00:00 UTC`,
      `${OWNER.email} published the package plan`,
      `${OWNER.email} changed the package plan`,
    ])
  })

  it('publishes what was reviewed: edits are refused until it is cancelled', async () => {
    const app = await withDraft()
    const { version } = await shown(app)
    await schedule(app, 5)
    const refusal = `is scheduled to be published at ${at(5)}. Cancel that before editing it.`
    await expect(edit(app, 30)).rejects.toThrow(refusal)
    await expect(app.dashboard.call('discardPackageDraft { id }', { id: 'plan' })).rejects.toThrow(refusal)
    const other = await clockedApp(server)
    await publishPackage(other, 'plan', { call: { limit: 99 } })
    await expect(
      app.dashboard.call('copyCatalogue { packages { id } }', { fromAppId: other.id }),
    ).rejects.toThrow(refusal)
    // What another member saw before it was scheduled is outdated.
    await expect(
      app.dashboard.call('publishPackage { id }', { id: 'plan', expectedVersion: version }),
    ).rejects.toThrow('This package was changed in the meantime')
    await app.advance(at(5))
    expect(await settled(app, { scheduled: null })).toMatchObject({ grants: [{ limit: '20' }] })
    await edit(app, 30)
  })

  it.each([
    ['at must be an ISO 8601 time', 'soon'],
    ['The publication must be in the future', at(1)],
    ['at cannot be later than 9000-01-01', '9999-01-01T00:00:00Z'],
  ])('is refused with “%s” for %s', async (message, time) => {
    const app = await withDraft()
    const refused = await app.dashboard.ask(
      'mutation ($appId: String!, $at: String!) { publishPackage(appId: $appId, id: "plan", at: $at) { id } }',
      { appId: app.id, at: time },
    )
    expect(refused.errors?.[0]).toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 'BAD_USER_INPUT', field: 'at' },
    })
    expect((await shown(app)).scheduled).toBeNull()
  })

  it('is refused without edits to publish', async () => {
    const app = await withDraft()
    await app.dashboard.call('publishPackage { id }', { id: 'plan' })
    await expect(schedule(app, 5)).rejects.toThrow('no unpublished edits to schedule')
  })

  it('needs the role of the member who scheduled it at that time', async () => {
    const app = await withDraft()
    const email = 'editor@example.com'
    const invited = await server.dashboard.call('inviteMember { url }', { email, role: 'EDITOR' })
    const editor = { email, password: OWNER.password }
    await dashboardClient(server.url).call('acceptInvitation { id }', {
      token: new URLSearchParams(new URL(invited.url).hash.slice(1)).get('token'),
      password: editor.password,
    })
    await schedule(app, 5, {}, (await signedIn(server.url, editor)).of(app.id))
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update member set role = 'VIEWER' where email = '${email}'`,
    )
    await app.advance(at(5))
    const problem = `${email} is a viewer now. Another member can publish it.`
    expect(await settled(app, { scheduled: { problem } })).toMatchObject({ publishedVersion: 1 })
    await schedule(app, 6)
    await app.advance(at(6))
    await settled(app, { scheduled: null, publishedVersion: 2 })
  })

  it('waits while the app is archived', async () => {
    const app = await withDraft()
    await schedule(app, 5)
    await app.dashboard.call('archiveApp { id }', { archived: true })
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update app set test_clock = '${at(6)}' where id = '${app.id}'`,
    )
    await app.dashboard.call('archiveApp { id }', { archived: false })
    await app.advance(at(7))
    await settled(app, { scheduled: null, publishedVersion: 2 })
  })
})
