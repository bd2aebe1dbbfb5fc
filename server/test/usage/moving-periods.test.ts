import { beforeEach, describe, expect, it } from 'vitest'
import { jobsDone } from '../billing/jobs-done.ts'
import { GOOD_CARD, openSandboxShop } from '../billing/sandbox-shop.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// The current period may start before one that has already been counted in: an anchor moves when a plan is paid for,
// and a clock may be set back. Every call is about the period that contains now, and finds what was counted in it.

const server = shared(startTestServer)
let app: ClockedApp
beforeEach(async () => {
  app = await clockedApp(server)
})

const sql = (text: string, ...values: unknown[]) =>
  rowsOf({ connectionString: server.databaseUrl }, text, values)
/** As billing does it for what is paid for. */
const moveAnchor = (to: string) => sql('update subscription set anchor = $2 where app_id = $1', app.id, to)
/** The API lets test clocks only go forward; a database's clock may be set back. */
const setClock = (to: string) => sql('update app set test_clock = $2 where id = $1', app.id, to)

describe('an anchor that moves', () => {
  const ANCHORS = [
    { where: 'back', to: '2091-03-05', start: '2091-03-05', end: '2091-04-05' },
    { where: 'far back', to: '2090-11-07', start: '2091-03-07', end: '2091-04-07' },
    // a trial of 14 days
    { where: 'ahead', to: '2091-03-24', start: '2091-02-24', end: '2091-03-24' },
  ]
  it.each(ANCHORS)('gap: periods: $where: usage is counted in the period that contains now', async (row) => {
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    await app.advance(midnight('2091-03-10'))
    await app.subscribe('plan')
    await app.use(4)
    await moveAnchor(midnight(row.to))
    expect((await app.showUsage()).current).toEqual([midnight(row.start), midnight(row.end), 0])
    await app.use(3)
    expect((await app.showUsage()).current).toEqual([midnight(row.start), midnight(row.end), 3])
    await app.use(7)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    await expect(app.use(1)).rejects.toThrow('Limit reached')
    // And where it was counted before, it still stands.
    await moveAnchor(midnight('2091-03-10'))
    expect((await app.showUsage()).current).toEqual([midnight('2091-03-10'), midnight('2091-04-10'), 4])
    await app.use(6)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
  })

  it('gap: billing: a link created before a plan was given by hand, and paid after', async () => {
    const shop = await openSandboxShop(server)
    const link = await shop.link('life')
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
    const record = async () => {
      const recordUsage = await shop.admin.call('recordUsage { consumption { used budget } }', {
        input: { userId: 'ann', featureId: 'call', delta: 2 },
      })
      return recordUsage.consumption
    }
    expect(await record()).toEqual({ used: 2, budget: 10 })
    expect((await shop.submit(link, GOOD_CARD)).status).toBe(303)
    await jobsDone(server.databaseUrl)
    const first = await record()
    expect(first.budget).toBe(7)
    expect((await record()).used).toBe(first.used + 2)
    expect((await record()).used).toBe(first.used + 4)
  })
})

describe('a clock that is set back', () => {
  it('gap: periods: over the boundary of an hour: that hour is counted on', async () => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod: 'HOUR' } })
    await app.advance('2091-03-10T10:00:00Z')
    await app.subscribe('plan')
    await app.use(3)
    await app.advance('2091-03-10T11:00:00Z')
    await app.use(5)
    await setClock('2091-03-10T10:59:59.999Z')
    expect((await app.showUsage()).current?.[2]).toBe(3)
    await app.use(2)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    await setClock('2091-03-10T11:00:00Z')
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    // Before the plan was taken, too, there is a period, and it is counted like any other.
    await setClock('2091-03-10T09:30:00Z')
    await app.use(4)
    await app.use(1)
    expect((await app.showUsage()).current).toEqual([
      '2091-03-10T09:00:00.000Z',
      '2091-03-10T10:00:00.000Z',
      5,
    ])
  })

  it('gap: periods: a user with many packages, between two periods that overlap', async () => {
    await publishPackage(app, 'plan', { call: { limit: 10 } })
    for (const id of ['a', 'b', 'c']) await publishPackage(app, id, { call: { limit: 5 } }, true)
    await app.advance(midnight('2091-03-10'))
    await app.subscribe('plan', 'a', 'b', 'c')
    await app.use(20)
    await moveAnchor(midnight('2091-03-05'))
    await app.use(25)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
    await moveAnchor(midnight('2091-03-10'))
    await app.use(5)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
  })
})

describe('the very millisecond in which a period starts', () => {
  it('gap: periods: usage in it survives a cancellation in it', async () => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod: 'DAY' } })
    await app.advance(midnight('2091-03-10'))
    const [first] = await app.subscribe('plan')
    await app.advance(midnight('2091-03-11'))
    await app.use(5)
    await app.cancel(first, 'now')
    await app.advance('2091-03-11T12:00:00Z')
    await app.subscribe('plan')
    expect((await app.showUsage()).current).toEqual([midnight('2091-03-11'), midnight('2091-03-12'), 5])
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
  })

  it('gap: periods: a plan that ends in it by the clock has no part in that period', async () => {
    await publishPackage(app, 'plan', { call: { limit: 5, resetPeriod: 'DAY' } })
    await app.advance(midnight('2091-03-10'))
    const [first] = await app.subscribe('plan')
    await app.cancel(first, 'at period end')
    await app.advance('2091-03-11T12:00:00Z')
    await app.subscribe('plan')
    expect((await app.showUsage()).current?.[0]).toBe('2091-03-11T12:00:00.000Z')
  })
})
