import { beforeAll, describe, expect, it } from 'vitest'
import { bulkChanges, planOf, reasonsOf, shop, TO_PRO, USERS } from '../harness/bulk.ts'
import type { Client, Data } from '../harness/client.ts'
import { OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))
const { start, find, settled, begin, rowsIn, sql } = bulkChanges(() => server)

describe('gap: bulk changes', () => {
  let admin: Client
  beforeAll(async () => {
    admin = await shop(server, 'bulk')
  })

  it('show in numbers what will change and why the rest cannot, change each user by an operation of their own, and undo it', async () => {
    const started = await start('bulk', { of: USERS, ...TO_PRO })
    const checked = await settled('bulk', started.id)
    expect(checked).toMatchObject({
      title: 'Change plan to pro',
      state: 'CHECKED',
      rows: 6,
      changing: 3,
      done: 0,
    })
    expect(reasonsOf(checked)).toEqual({
      'No plan': 1,
      'Already on this plan': 1,
      'Charged by a billing provider; change it on the page of the user, where the provider quotes the cost': 1,
    })
    expect((await planOf(admin, 'a'))?.package.id).toBe('free')

    // Meanwhile one of them is changed by somebody else.
    await admin.data('mutation { changeSubscription(userId: "c", packageId: "pro", when: NOW) { now } }')
    const applied = await begin('apply', 'bulk', started.id)
    expect(applied).toMatchObject({ state: 'APPLIED', done: 2, refused: 1 })
    expect((await rowsIn('bulk', started.id)).c).toEqual(['REFUSED', 'Changed since'])
    for (const user of ['a', 'b']) expect((await planOf(admin, user))?.package.id).toBe('pro')
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "bulk", operation: "changeSubscription") { rows { subjectId memberEmail } } }',
    )
    const whole = await server.dashboard.data(
      '{ auditLog(appId: "bulk", operation: "applyBulkChange") { rows { subjectId memberEmail } } }',
    )
    expect(whole.auditLog.rows).toEqual([{ subjectId: started.id, memberEmail: applied.memberEmail }])
    const byMember = auditLog.rows.filter(({ memberEmail }: Data) => memberEmail === applied.memberEmail)
    expect(byMember.map(({ subjectId }: Data) => subjectId).sort()).toEqual(['a', 'b'])

    await admin.data('mutation { changeSubscription(userId: "b", packageId: "free", when: NOW) { now } }')
    const undone = await begin('undo', 'bulk', started.id)
    expect(undone).toMatchObject({ state: 'UNDONE', undone: 1, kept: 1 })
    expect((await rowsIn('bulk', started.id)).b).toEqual(['KEPT', 'Changed since'])
    expect((await planOf(admin, 'a'))?.package.id).toBe('free')
  })

  it('take effect once, even if a step is interrupted before it could note it', async () => {
    const { id } = await start('bulk', {
      of: { ...USERS, ids: ['a'] },
      setOverride: { featureId: 'calls', mode: 'ADD', limit: 5 },
    })
    await settled('bulk', id)
    await begin('apply', 'bulk', id)
    await sql(`update bulk_change_row set outcome = 'CHANGE' where app_id = 'bulk' and bulk_id = $1`, [id])
    await sql(`update bulk_change set state = 'CHECKED', done = 0 where app_id = 'bulk' and id = $1`, [id])
    expect(await begin('apply', 'bulk', id)).toMatchObject({ state: 'APPLIED', done: 1, refused: 0 })
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(appId: "bulk", operation: "setOverride") { rows { subjectId } } }',
    )
    expect(auditLog.rows).toHaveLength(1)
    const { overrides } = await admin.data('{ overrides(userId: "a") { mode limit } }')
    expect(overrides).toEqual([{ mode: 'ADD', limit: 5 }])
    const again = await start('bulk', {
      of: { ...USERS, ids: ['a', 'b'] },
      setOverride: { featureId: 'calls', mode: 'UNLIMITED' },
    })
    expect(await settled('bulk', again.id)).toMatchObject({
      changing: 1,
      skipped: [{ message: 'Has an override of this feature', count: 1 }],
    })
    expect(await begin('undo', 'bulk', id)).toMatchObject({ undone: 1 })
    expect((await admin.data('{ overrides(userId: "a") { mode } }')).overrides).toEqual([])
  })

  it('start trials, and cancel subscriptions of the list with its filter; the rest of the list stays', async () => {
    const shop2 = await shop(server, 'bulk2')
    const trial = await start('bulk2', { of: USERS, startTrial: { packageId: 'pro', days: 7 } })
    expect(await settled('bulk2', trial.id)).toMatchObject({
      changing: 1,
      skipped: [{ message: 'Has a plan', count: 5 }],
    })
    await begin('apply', 'bulk2', trial.id)
    expect(await planOf(shop2, 'f')).toMatchObject({
      package: { id: 'pro' },
      trialEndsAt: expect.any(String),
    })
    await begin('undo', 'bulk2', trial.id)
    expect(await planOf(shop2, 'f')).toBeUndefined()
    const once = await start('bulk2', {
      of: { ...USERS, ids: ['f'] },
      startTrial: { packageId: 'pro', days: 7 },
    })
    expect((await settled('bulk2', once.id)).skipped).toEqual([
      { message: 'Had a trial of this plan', count: 1 },
    ])

    const cancel = await start('bulk2', {
      of: { list: 'SUBSCRIPTIONS', packageId: 'free', state: 'LIVE', provider: '' },
      cancel: { atPeriodEnd: true },
    })
    expect(await settled('bulk2', cancel.id)).toMatchObject({
      title: 'Cancel at the end of the period',
      changing: 3,
    })
    await begin('apply', 'bulk2', cancel.id)
    expect((await planOf(shop2, 'a'))?.cancelAt).not.toBeNull()
    expect((await planOf(shop2, 'd'))?.cancelAt).toBeNull()
    await begin('undo', 'bulk2', cancel.id)
    expect((await planOf(shop2, 'a'))?.cancelAt).toBeNull()
    // What names users is kept no longer than the check takes.
    const [row] = await sql(`select request::text from bulk_change where app_id = 'bulk2' and id = $1`, [
      once.id,
    ])
    expect(row?.request).not.toContain('"f"')
  })

  it('name a user once, and change only the listed plan of a list of subscriptions', async () => {
    const shop4 = await shop(server, 'bulk4')
    await shop4.data('mutation { createPackage(input: { id: "more", name: "More", isAddon: true }) { id } }')
    await server.dashboard.data('mutation { publishPackage(appId: "bulk4", id: "more") { id } }')
    await shop4.data('mutation { subscribe(userId: "a", packageIds: ["more"]) { id } }')
    await shop4.data('mutation { changeSubscription(userId: "b", packageId: "pro", when: NOW) { now } }')
    const all = { list: 'SUBSCRIPTIONS' }
    const plan = await start('bulk4', { of: all, ...TO_PRO })
    // Of a and c the plan; b and d have pro, e is charged.
    expect(await settled('bulk4', plan.id)).toMatchObject({ rows: 7, changing: 2 })
    expect(reasonsOf(await find('bulk4', plan.id))).toEqual({
      'An add-on, not a plan': 1,
      'Already cancelled': 1,
      'Already on this plan': 2,
      'Charged by a billing provider; change it on the page of the user, where the provider quotes the cost': 1,
    })
    const override = await start('bulk4', { of: all, setOverride: { featureId: 'calls', mode: 'UNLIMITED' } })
    // a and b are listed twice.
    expect(await settled('bulk4', override.id)).toMatchObject({ rows: 5, changing: 5, skipped: [] })
  })

  it.each([
    { list: 'USERS', ids: ['none', 'no\u0000ne'] },
    { list: 'SUBSCRIPTIONS', ids: ['none', 'no\u0000ne'] },
  ])('find nobody by %j', async (of) => {
    const { id } = await start('bulk', { of, ...TO_PRO })
    expect(await settled('bulk', id)).toMatchObject({ state: 'CHECKED', rows: 0, problem: null })
  })

  it('are refused as a whole for what no user could have', async () => {
    const refused: [object, RegExp][] = [
      [{ of: USERS }, /^Exactly one of changePlan, startTrial, cancel and setOverride is required/],
      [{ of: USERS, ...TO_PRO, cancel: {} }, /^Exactly one of/],
      [{ of: USERS, changePlan: { packageId: 'none' } }, /^Package not found/],
      [{ of: USERS, startTrial: { packageId: 'pro', days: 0 } }, /^days must be/],
      [{ of: USERS, setOverride: { featureId: 'calls', mode: 'ADD' } }, /limit/],
      [{ of: USERS, setOverride: { featureId: 'calls', mode: 'MORE' } }, /^mode must be one of REPLACE/],
      [{ of: { ...USERS, state: 'GONE' }, ...TO_PRO }, /^state must be one of LIVE/],
      [{ of: { ...USERS, ids: [] }, ...TO_PRO }, /^ids must contain from 1 to 500 ids/],
    ]
    for (const [input, says] of refused) {
      const { message } = await server.dashboard.error(
        'mutation ($input: BulkChangeInput!) { startBulkChange(appId: "bulk", input: $input) { id } }',
        { input },
      )
      expect(message).toMatch(says)
    }
    const { id } = await start('bulk', { of: { ...USERS, ids: ['a'] }, cancel: { atPeriodEnd: false } })
    await settled('bulk', id)
    const undo = 'mutation ($id: String!) { undoBulkChange(appId: "bulk", id: $id) { id } }'
    expect((await server.dashboard.error(undo, { id })).message).toMatch(/^This change is CHECKED\. Only/)
    await begin('apply', 'bulk', id)
    expect((await server.dashboard.error(undo, { id })).message).toMatch(/cannot be restored/)
    expect((await server.dashboard.error(undo, { id: 'none' })).extensions.code).toBe('BULK_CHANGE_NOT_FOUND')
  })
})
