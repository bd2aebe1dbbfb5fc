import { beforeAll, describe, expect, it } from 'vitest'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

const server = shared(startTestServer)
let shop: SandboxShop

const FIELDS = `revenueOverTime {
  asOf days started ended totals { started ended churn } previous { started ended churn }
  money { provider currency decimals mrr paid refunded totals { mrr paid refunded } previous { mrr paid refunded } } }`

const during = (from: string, to: string) => shop.dashboard.call(FIELDS, { from, to })
const at = (day: string) => shop.advance(`${day}T12:00:00Z`)

describe('gap: revenue by day', () => {
  beforeAll(async () => {
    shop = await openSandboxShop(server, { testClock: true })
    await shop.admin.data(
      'mutation { createUser(input: { id: "bob" }) { id } createUser2: createUser(input: { id: "cat" }) { id } }',
    )
    await at('2090-03-01')
    await shop.buy('plan')
    await at('2090-03-03')
    await shop.buy('pro', 'bob')
    await shop.admin.data('mutation { subscribe(userId: "cat", packageIds: ["plan"]) { id } }')
    await at('2090-03-05')
    await shop.cancel((await shop.billed('bob'))[0]?.id, false)
    await shop.admin.call('changeSubscription', { userId: 'ann', packageId: 'pro', when: 'NOW' })
    await jobsDone(server.databaseUrl)
  })

  it('follows recurring revenue, payments, starts and ends', async () => {
    const series = await during('2090-03-01', '2090-03-06')
    expect(series.days).toHaveLength(6)
    expect(series.started).toEqual([1, 0, 2, 0, 0, 0])
    // A change of plan is neither a start nor an end.
    expect(series.ended).toEqual([0, 0, 0, 0, 1, 0])
    expect(series.totals).toEqual({ started: 3, ended: 1, churn: null })
    const [money, ...others] = series.money
    expect(others).toEqual([])
    expect(money).toMatchObject({ provider: 'sandbox', currency: 'usd', decimals: 2 })
    expect(money.mrr).toEqual([1_200, 1_200, 4_200, 4_200, 3_000, 3_000])
    expect(money.paid.slice(0, 4)).toEqual([1_200, 0, 3_000, 0])
    const now = await shop.dashboard.call('revenue { mrr { amount } }', { days: 7, fresh: true })
    expect(now.mrr).toEqual([{ amount: money.totals.mrr }])
  })

  it('compares with the period before, and has a churn once there was something to lose', async () => {
    const series = await during('2090-03-04', '2090-03-06')
    expect(series.totals).toMatchObject({ started: 0, ended: 1, churn: expect.closeTo(1 / 3) })
    expect(series.previous).toEqual({ started: 3, ended: 0, churn: null })
    expect(series.money[0]).toMatchObject({
      totals: { mrr: 3_000 },
      previous: { mrr: 4_200, paid: 4_200, refunded: 0 },
    })
  })

  it('has nothing in days to come', async () => {
    expect(await during('2090-03-07', '2090-03-08')).toMatchObject({ started: [0, 0], ended: [0, 0] })
  })
})
