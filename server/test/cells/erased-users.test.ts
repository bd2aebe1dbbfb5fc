import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keepPayments } from '../../src/store/billing/payments.ts'
import type { UserTx } from '../../src/store/connection/places.ts'
import { deleteRecentUsage, deleteUserRows, lockUserToErase } from '../../src/store/privacy/erase-user.ts'
import { lockErasures } from '../../src/store/privacy/erased-refs.ts'
import { createUsers } from '../harness/catalogue.ts'
import { type CellServers, openCellServers, pretendRemote } from '../harness/cells.ts'
import { inItsPlace } from '../harness/store.ts'

// With several cells no foreign key leads to a user from outside the cell. Whatever is written about a user while the user
// is deleted is not left behind.

describe.each([
  'a cell',
  'a cell on another server',
])('gap: deleteUser, of a user in %s, beside others who write about the user', (where) => {
  let cells: CellServers
  let id: string
  let uid: number
  let made = 0
  beforeAll(async () => {
    cells = await openCellServers()
    await cells.spread(2)
    if (where === 'a cell on another server') await pretendRemote(cells.pool)
    await cells.app.dashboard.data(`mutation {
      createPrice(appId: "default", packageId: "plan", input: { amount: 100, currency: "eur" }) { id }
      createBillingTemplate(appId: "default", input: { id: "sale", name: "Sale", packageIds: ["plan"] }) { id } }`)
  })
  afterAll(() => cells?.close())
  beforeEach(async () => {
    do {
      id = `u${made++}`
      await createUsers(cells.app.admin, [id])
    } while ((await cells.cellsOfUser(id))[0] !== 'c1')
    const { rows } = await cells.pool.query('select uid from c1.users where id = $1', [id])
    uid = rows[0].uid
  })

  type Step = (tx: UserTx) => Promise<void>
  const deleteUser: Step = (tx) => deleteUserRows(tx, 'default', uid)

  /** Deletes the user in two steps, between which the others get as far as they can. */
  async function deleteBeside(others: () => Promise<unknown>, first: Step, last: Step) {
    const tx = await cells.pool.connect()
    await tx.query('begin; set local search_path = c1, public')
    await lockErasures(tx, 'default')
    await lockUserToErase(inItsPlace(tx), 'default', id)
    await first(inItsPlace(tx))
    let done = false
    const working = others().finally(() => {
      done = true
    })
    const waits = async () => {
      const { rowCount } = await cells.pool.query(
        `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`,
      )
      return rowCount !== 0
    }
    while (!done && !(await waits())) await delay(10)
    await last(inItsPlace(tx))
    await tx.query('commit')
    tx.release()
    await working
  }

  it('leaves no recent usage', async () => {
    await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
    expect(await cells.record(cells.app.admin, id)).toBe(1)
    const flush = () => cells.app.dashboard.ask('{ latestEvents(appId: "default") { id } }')
    await deleteBeside(flush, (tx) => deleteRecentUsage(tx, 'default', [id]), deleteUser)
    const { rows } = await cells.pool.query('select from recent_usage where user_id = $1', [id])
    expect(rows).toEqual([])
  })

  it('leaves no payment link', async () => {
    const link = () =>
      cells.app.admin.ask(`mutation { generateSubscriptionLink(userId: "${id}", templateId: "sale",
        successUrl: "https://shop.example/paid", cancelUrl: "https://shop.example/back") { url } }`)
    await deleteBeside(link, async () => {}, deleteUser)
    const { rows } = await cells.pool.query('select from checkout_session where user_uid = $1', [uid])
    expect(rows).toEqual([])
  })

  it('leaves no payment', async () => {
    const of = { appId: 'default', provider: 'sandbox', ref: `sub_${uid}` }
    await cells.pool.query(
      `insert into provider_subscription (app_id, provider, ref, user_uid, status, live, made_at)
       values ($1, $2, $3, $4, 'active', true, now())`,
      [of.appId, of.provider, of.ref, uid],
    )
    const payment = {
      ref: 'pay_1',
      state: 'PAID',
      amount: 100,
      currency: 'eur',
      at: Date.UTC(2026, 0, 1),
    } as const
    await deleteBeside(
      () => keepPayments(cells.pool, of, [payment], null),
      deleteUser,
      async () => {},
    )
    const { rows } = await cells.pool.query('select from payment where user_uid = $1', [uid])
    expect(rows).toEqual([])
  })
})
