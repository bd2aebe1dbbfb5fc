import { expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)
const start = Date.UTC(2091, 2, 10)
const DAY = 86_400_000
const iso = (at: number) => new Date(at).toISOString()

it('members see the credits of a user with the usable ones first, page by page, and balances of them all', async () => {
  const app = await clockedApp(server)
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await app.advance(iso(start))
  await app.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
  const add = (id: string, amount: number, more: Variables = {}) =>
    app.admin.call('addCredit { id }', { input: { id, userId: 'ann', featureId: 'call', amount, ...more } })
  await add('gone', 5)
  await app.admin.data('mutation { voidCredit(id: "gone") { id } }')
  await add('brief', 5, { expiresAt: iso(start + DAY) })
  await add('soon', 6, { expiresAt: iso(start + 3 * DAY) })
  await add('long', 7)
  await add('future', 8, { effectiveAt: iso(start + 9 * DAY) })
  await add('spent', 3, { priority: 1, expiresAt: iso(start + 2.5 * DAY) })
  await app.admin.data(
    'mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: 3 }) { recorded } }',
  )
  await app.advance(iso(start + 2 * DAY))
  await app.admin.data(
    'mutation { reserveUsage(input: { userId: "ann", featureId: "call", amount: 2 }) { reserved } }',
  )
  const listed: Data[] = []
  for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
    const creditPage: Data = await app.dashboard.call(
      'creditPage { next rows { id state reserved } balances { featureId left nextExpiry nextExpiring } }',
      { userId: 'ann', first: 2, after },
    )
    expect(creditPage.balances).toEqual([
      { featureId: 'call', left: 11, nextExpiry: iso(start + 3 * DAY), nextExpiring: 4 },
    ])
    listed.push(...creditPage.rows)
    after = creditPage.next
  }
  expect(listed.map(({ id, state, reserved }) => [id, state, reserved])).toEqual([
    ['future', 'SCHEDULED', 0],
    ['long', 'LIVE', 0],
    ['soon', 'LIVE', 2],
    ['spent', 'SPENT', 0],
    ['brief', 'EXPIRED', 0],
    ['gone', 'VOIDED', 0],
  ])
  await expect(
    app.dashboard.call('creditPage { next }', { userId: 'ann', after: 'usable:' }),
  ).rejects.toThrow('after must be')
})
