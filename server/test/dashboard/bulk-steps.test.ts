import { describe, expect, it, vi } from 'vitest'
import { bulkChanges, planOf, shop, TO_PRO, USERS } from '../harness/bulk.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { clockedApp } from '../harness/clocked-app.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))
const { start, find, settled, sent, begin, stable, sql } = bulkChanges(() => server)

describe('gap: bulk changes in steps', () => {
  it('cover lists of several pages, in steps that follow each other', async () => {
    await createApp(server, 'long')
    await sql(
      `insert into users (app_id, id, metadata) select 'long', 'user-' || i, '{}' from generate_series(1, 1030) i`,
    )
    await server.dashboard.data(
      'mutation { createFeature(appId: "long", input: { id: "sso", name: "SSO", type: BINARY }) { id } }',
    )
    const { id } = await start('long', { of: USERS, setOverride: { featureId: 'sso', mode: 'GRANT' } })
    expect(await settled('long', id)).toMatchObject({ rows: 1_030, changing: 1_030 })
    await sql(
      `update bulk_change_row set outcome = 'SKIP' where app_id = 'long' and bulk_id = $1 and number > 120`,
      [id],
    )
    expect(await begin('apply', 'long', id)).toMatchObject({ state: 'APPLIED', done: 120 })

    // Stopped, continued by another step, and undone.
    const stopped = await start('long', {
      of: USERS,
      setOverride: { featureId: 'sso', mode: 'GRANT' },
    })
    await settled('long', stopped.id)
    await sent('apply', 'long', stopped.id)
    await vi.waitFor(async () => expect((await find('long', stopped.id)).done).toBeGreaterThan(0), {
      timeout: PATIENCE_MS,
      interval: 20,
    })
    expect((await sent('stop', 'long', stopped.id)).state).toBe('STOPPED')
    const { done } = await stable('long', stopped.id)
    expect(done).toBeLessThan(910)
    await sql(
      `update bulk_change_row set outcome = 'SKIP' where app_id = 'long' and bulk_id = $1 and outcome = 'CHANGE'
         and number > (select max(number) + 5 from bulk_change_row where bulk_id = $1 and outcome = 'DONE')`,
      [stopped.id],
    )
    expect(await begin('apply', 'long', stopped.id)).toMatchObject({ state: 'APPLIED', done: done + 5 })
    expect(await begin('undo', 'long', stopped.id)).toMatchObject({ state: 'UNDONE', undone: done + 5 })
  })

  it('stop without the member who applied it, without their role, and in an archived app; and continue later', async () => {
    const shop3 = await shop(server, 'bulk3')
    const { id } = await start('bulk3', { of: USERS, ...TO_PRO })
    await settled('bulk3', id)
    const state = async (text: string) => {
      await sql(text, [id])
      await sql(`select graphile_worker.add_job('bulk-change', $1::json)`, [
        JSON.stringify({ appId: 'bulk3', id }),
      ])
      return settled('bulk3', id)
    }
    const APPLYING = `update bulk_change set state = 'APPLYING', member_email = 'gone@example.com',`
    expect(await state(`${APPLYING} member_id = -1 where id = $1`)).toMatchObject({
      state: 'STOPPED',
      done: 0,
      problem: 'gone@example.com was removed. Another member can continue.',
    })
    await sql(`insert into member (email, password_hash, role) values ('gone@example.com', '', 'VIEWER')`)
    expect(await state(`${APPLYING} member_id = (select max(id) from member) where id = $1`)).toMatchObject({
      state: 'STOPPED',
      done: 0,
      problem: 'gone@example.com is a viewer now. Another member can continue.',
    })
    await server.dashboard.data('mutation { archiveApp(appId: "bulk3", archived: true) { id } }')
    expect(
      await state(`${APPLYING} member_id = (select min(id) from member where role = 'OWNER') where id = $1`),
    ).toMatchObject({ state: 'STOPPED', done: 0, problem: 'The app was archived. Restore it to continue.' })
    const apply = 'mutation ($id: String!) { applyBulkChange(appId: "bulk3", id: $id) { id } }'
    expect((await server.dashboard.error(apply, { id })).message).toMatch(/is archived/)
    await server.dashboard.data('mutation { archiveApp(appId: "bulk3", archived: false) { id } }')
    expect(await begin('apply', 'bulk3', id)).toMatchObject({ state: 'APPLIED', done: 3, problem: null })
    expect((await planOf(shop3, 'a'))?.package.id).toBe('pro')
  })

  it('schedule changes by the clock of the app, and cancel them again', async () => {
    const app = await clockedApp(server)
    await publishPackage(app, 'free', { call: { limit: 1 } })
    await publishPackage(app, 'pro', { call: { limit: 2 } })
    await app.subscribe('pro')
    const { id } = await start(app.id, {
      of: USERS,
      changePlan: { packageId: 'free', when: 'PERIOD_END' },
    })
    expect(await settled(app.id, id)).toMatchObject({ changing: 1 })
    expect(await begin('apply', app.id, id)).toMatchObject({ done: 1 })
    expect((await planOf(app.admin, 'ann'))?.scheduled).toMatchObject({ packageId: 'free' })
    expect(await begin('undo', app.id, id)).toMatchObject({ undone: 1 })
    expect((await planOf(app.admin, 'ann'))?.scheduled).toBeNull()

    const again = await start(app.id, { of: USERS, changePlan: { packageId: 'free', when: 'PERIOD_END' } })
    await settled(app.id, again.id)
    await begin('apply', app.id, again.id)
    await app.advance(new Date(Date.parse((await planOf(app.admin, 'ann'))?.scheduled.at) + 1).toISOString())
    expect((await planOf(app.admin, 'ann'))?.package.id).toBe('free')
    expect(await begin('undo', app.id, again.id)).toMatchObject({ undone: 1 })
    expect((await planOf(app.admin, 'ann'))?.package.id).toBe('pro')
  })
})
