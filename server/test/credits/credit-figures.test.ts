import { describe, expect, it } from 'vitest'
import { rollUpUsage } from '../../src/operations/upkeep/roll-up-usage.ts'
import { expiringCredits, soldCredits } from '../../src/store/credits/credit-figures.ts'
import { burntCredits, subtractEntries } from '../../src/store/usage/usage-hours.ts'
import { jobsDone } from '../billing/jobs-done.ts'
import { CANCEL, GOOD_CARD, openSandboxShop, SUCCESS } from '../billing/sandbox-shop.ts'
import { createUsers, newTestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openStore, openTestPool } from '../harness/store.ts'

// Invariants: what is sold, burnt and expiring is the same before and after entries are summed up by hour; usage that the
// plan pays for is not burnt; a figure that reads only part of the credits says so.

const server = shared(startTestServer)
const store = shared(openStore)

const DAY = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString()
const FIGURES = `creditFigures {
  features { featureId featureName sold soldWithoutAmount burnt expiring money { provider currency decimals amount } }
  otherFeatures soldComplete expiringComplete burntFrom
}`

describe('gap: the figures of credits on Home', () => {
  it('are absent without credits', async () => {
    const app = await newTestApp(server)
    expect(await app.dashboard.call(FIGURES)).toBeNull()
  })

  it('are what was bought, what was taken from credits, and what nobody has used when it expires', async () => {
    const shop = await openSandboxShop(server)
    const { admin, dashboard } = shop
    await createUsers(admin, ['cay'])
    await admin.data('mutation { subscribe(userId: "cay", packageIds: ["plan"]) { id } }')
    await dashboard.data(
      `mutation { createPrice(appId: "${shop.id}", input: { id: "pack", amount: 2000, currency: "usd",
        credits: { featureId: "call", units: 1000, expiresDays: 30 } }) { id } }`,
    )
    const { generateCreditLink } = await admin.data(
      `mutation { generateCreditLink(userId: "cay", priceId: "pack", quantity: 3, successUrl: "${SUCCESS}",
        cancelUrl: "${CANCEL}") { url } }`,
    )
    await shop.submit(generateCreditLink.url, { ...GOOD_CARD, email: 'a@example.com', name: '' })
    await jobsDone(server.databaseUrl)
    const add = (id: string, amount: number, expiresAt: string | null) =>
      admin.call('addCredit { id }', {
        input: { id, userId: 'cay', featureId: 'call', amount, kind: 'PROMOTIONAL', expiresAt, priority: 1 },
      })
    await add('soon', 500, inDays(10))
    await add('later', 400, inDays(40))
    await add('gone', 300, inDays(5))
    await add('kept', 200, null)
    await admin.call('voidCredit { id }', { id: 'gone' })
    const record = (delta: number) =>
      admin.call('recordUsage { recorded }', { input: { userId: 'cay', featureId: 'call', delta } })
    // The credits come first; those that expire soonest before the others.
    await record(150)
    await record(-30)
    const figures = {
      features: [
        {
          featureId: 'call',
          featureName: expect.any(String),
          sold: 3000,
          soldWithoutAmount: 0,
          burnt: 120,
          // What was bought, and what is left of the first credit.
          expiring: 3000 + 500 - 120,
          money: [{ provider: 'sandbox', currency: 'usd', decimals: 2, amount: 6000 }],
        },
      ],
      otherFeatures: 0,
      soldComplete: true,
      expiringComplete: true,
      burntFrom: null,
    }
    expect(await dashboard.call(FIGURES)).toEqual(figures)
    const pool = await openTestPool(server.databaseUrl, { max: 1 })
    await rollUpUsage(pool, new AbortController().signal)
    await pool.end()
    expect(await dashboard.call(FIGURES)).toEqual(figures)

    await createUsers(admin, ['dee'])
    await admin.data('mutation { subscribe(userId: "dee", packageIds: ["plan"]) { id } }')
    await admin.call('recordUsage { recorded }', { input: { userId: 'dee', featureId: 'call', delta: 5 } })
    expect(((await dashboard.call(FIGURES)) as Data).features[0].burnt).toBe(120)
  })

  it('are of the credits that are read, and burnt units are unknown while many entries are not summed up', async () => {
    const { pool } = store
    await pool.query(`insert into app (id, name) values ('shop', 'Shop')`)
    await pool.query(
      `insert into feature (app_id, id, name, type, metadata) values ('shop', 'call', 'Calls', 'CONSUMABLE', '{}')`,
    )
    const now = Date.UTC(2027, 5, 15, 12)
    await pool.query(
      `insert into credit (app_id, id, user_uid, feature_id, amount, used, kind, priority, effective_at, created_at,
         expires_at, provider, provider_ref, bought, paid, currency)
       select 'shop', 'c' || i, i, 'call', 10, i, 'PAID', 50, $1, $1::timestamptz - i * interval '1 day',
         $1::timestamptz + i * interval '1 day', 'stripe', 'pi_' || i, 10, case when i < 3 then 700 end,
         case when i < 3 then 'usd' end
       from generate_series(1, 4) i`,
      [new Date(now).toISOString()],
    )
    const sold = (limit: number) => soldCredits(pool, 'shop', { from: now - 30 * DAY, now, limit })
    const of = { featureId: 'call', provider: 'stripe' }
    expect(await sold(9)).toEqual([
      { ...of, currency: 'usd', paid: 1400, units: 20, credits: 2 },
      { ...of, currency: null, paid: 0, units: 20, credits: 2 },
    ])
    expect(await sold(1)).toEqual([{ ...of, currency: 'usd', paid: 700, units: 10, credits: 1 }])
    const expiring = (limit: number) => expiringCredits(pool, 'shop', { now, until: now + 3 * DAY, limit })
    expect(await expiring(9)).toEqual([{ featureId: 'call', units: 9 + 8 + 7, credits: 3 }])
    expect(await expiring(2)).toEqual([{ featureId: 'call', units: 9 + 8, credits: 2 }])

    const burn = (uid: number, delta: number) =>
      pool.query(
        `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
         values ('shop', $1, 'call', 'CREDIT:c1', 'epoch', 'ADD', $2::bigint, $2::bigint, $3)`,
        [uid, delta, new Date(now - DAY).toISOString()],
      )
    const burnt = async () =>
      (
        await burntCredits(pool, { appId: 'shop', featureIds: ['call'], from: now - 30 * DAY, now })
      )?.units.get('call') ?? null
    await burn(1, 4)
    await burn(2, 3)
    expect(await burnt()).toBe(7)
    await rollUpUsage(pool, new AbortController().signal)
    await burn(1, 2)
    expect(await burnt()).toBe(9)
    await rollUpUsage(pool, new AbortController().signal)
    await subtractEntries(pool, 'shop', ['1'])
    expect(await burnt()).toBe(3)
    await pool.query('update usage_rollup set seq = seq - 300000')
    expect(await burnt()).toBeNull()
  })
})
