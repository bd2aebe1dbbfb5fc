import { beforeEach, describe, expect, it } from 'vitest'
import type { Answer, Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// Money is counted in whole minor units. One charge is at most 999,999,999,999 of them, and every answer with an amount
// has a number that JSON carries exactly.

const MOST = 999_999_999_999

const server = shared(startTestServer)
let shop: SandboxShop
beforeEach(async () => {
  shop = await openSandboxShop(server)
})

const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text, [shop.id])
const monthly = (amount: number) => ({ amount, currency: 'usd', interval: 'month' })

const CHANGE = `mutation ($packageId: String!, $quantity: Int, $when: ChangeTime) {
  changeSubscription(userId: "ann", packageId: $packageId, quantity: $quantity, when: $when, dryRun: true) {
    credit charge currency quotedBy formula
  }
}`
const preview = (packageId: string, more: Data = {}): Promise<Answer> =>
  shop.admin.ask(CHANGE, { packageId, ...more })

/** Replaces the price of a package. */
async function reprice(packageId: string, amount: number): Promise<void> {
  await shop.archivePrice(packageId)
  await shop.price(packageId, monthly(amount))
}

describe('gap: billing, amounts that are too large', () => {
  it('a template whose prices add up to more cannot be made, nor paid for once they do', async () => {
    await reprice('plan', MOST)
    await expect(shop.template('dear', ['plan', 'extra'])).rejects.toThrow(
      /The prices add up to more than 999999999999 minor units/,
    )
    const error = await shop.linkError('both')
    expect(error.extensions.code).toBe('SUBSCRIPTION_LINK_ERROR')
    expect(error.message).toMatch(/The prices add up to more than 999999999999 minor units/)
    const billingTemplate = await shop.dashboard.call('billingTemplate { problem }', { id: 'both' })
    expect(billingTemplate.problem).toMatch(/^The prices add up to more than/)
    expect(await shop.link('plan')).toContain('/checkout/')
  })

  it('a change of what nobody is paid for has a quote as long as it can be charged', async () => {
    await reprice('pro', 1_000_000)
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
    const quoteOf = async (quantity: number, when: string) =>
      (await preview('pro', { quantity, when })).data?.changeSubscription
    expect(await quoteOf(999_999, 'PERIOD_END')).toMatchObject({ credit: 0, charge: 999_999_000_000 })
    const none = { credit: null, charge: null, currency: null }
    const formula = 'a price times its quantity exceeds the maximum amount'
    expect(await quoteOf(1_000_000, 'PERIOD_END')).toMatchObject({ ...none, formula })
    expect(await quoteOf(1_000_000, 'NOW')).toMatchObject({ ...none, formula })
  })

  it('nor has a change away from what costs too much', async () => {
    await reprice('plan', MOST)
    await shop.admin.call('subscribe', { userId: 'ann', packageIds: ['plan'], quantities: [1000000] })
    const { data, errors } = await preview('pro', { quantity: 1, when: 'NOW' })
    expect(errors).toBeUndefined()
    expect(data?.changeSubscription).toMatchObject({ credit: null, charge: null })
  })

  it.each([
    'NOW',
    'PERIOD_END',
  ])('the sandbox refuses a change (%s) to a bill it could not charge', async (when) => {
    await reprice('plan', 1_000_000)
    await shop.buy('both')
    // 999,999 of them cost 999,999,000,000, and the add-on 200.
    expect((await preview('plan', { quantity: 999_999, when })).errors).toBeUndefined()
    const alone = await preview('plan', { quantity: 1_000_000, when })
    expect(alone.errors?.[0]?.message).toMatch(/1000000 times the price \w+ exceeds the maximum amount/)
    await reprice('pro', MOST)
    const together = await preview('pro', { quantity: 1, when })
    expect(together.errors?.[0]?.message).toMatch(/the total of the bill exceeds the maximum amount/)
  })

  it('the sandbox refuses an add-on that a bill has no room for', async () => {
    await reprice('plan', MOST - 200)
    await shop.buy('both')
    const addon = (await shop.billed()).find((s) => s.package.id === 'extra')?.id
    await shop.cancel(addon, true)
    await shop.keep(addon)
    await shop.cancel(addon, true)
    // The add-on is on no bill now; since it left, the plan has become dearer.
    await sql(`update price set amount = amount + 200 where app_id = $1 and package_id = 'plan'`)
    const error = await shop.admin.error(`mutation { keepSubscription(id: "${addon}") { id } }`)
    expect(error.message).toMatch(/the total of the bill exceeds the maximum amount/)
  })
})

describe('gap: billing, sums of money', () => {
  it('are never more than a number holds exactly', async () => {
    await shop.buy('plan')
    const [bought] = await sql('select provider, ref from provider_subscription where app_id = $1')
    expect(bought).toMatchObject({ provider: 'sandbox' })
    // More than a bigint holds, in all.
    await sql(`insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
      select app_id, provider, 'x' || n, user_uid, ref, case when n % 2 = 0 then 'PAID' else 'FAILED' end,
        9007199254740991, 'usd', now() from provider_subscription, generate_series(1, 2100) n where app_id = $1`)
    await sql(`update price set amount = 9007199254740991 where app_id = $1 and package_id = 'plan'`)
    await sql(`update provider_subscription set quantities = '{1000000}', reversals = (
      select json_agg(json_build_object('ref', 'r' || n, 'amount', 9007199254740991, 'currency', 'usd',
        'refunded', 9007199254740991, 'refundedAt', extract(epoch from now()) * 1000, 'dispute', null))
      from generate_series(1, 1100) n) where app_id = $1`)
    const revenue = await shop.dashboard.call(
      'revenue { mrr { amount } payments { paidAmount failedAmount refundedAmount } }',
      { days: 7, fresh: true },
    )
    expect(revenue).toEqual({
      mrr: [{ amount: 9_007_199_254_740_991 }],
      payments: [
        {
          paidAmount: 9_007_199_254_740_991,
          failedAmount: 9_007_199_254_740_991,
          refundedAmount: 9_007_199_254_740_991,
        },
      ],
    })
  })
})
