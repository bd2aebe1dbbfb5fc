import { beforeAll, describe, expect, it } from 'vitest'
import { unitsLeft } from '../../src/domain/credit-sale.ts'
import type { Data, Variables } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { unbalanced } from '../harness/spending.ts'
import { seeded } from '../stripe/random.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import { CANCEL, GOOD_CARD, openSandboxShop, type SandboxShop, SUCCESS } from './sandbox-shop.ts'

// Invariants, while usage, reservations, refunds and disputes of bought credits race: a payment is one credit; used and
// reserved units never exceed its amount; every source is the sum of its ledger rows; once all is quiet, the amount is the
// paid share, or what is spent if that is more.

const UNITS = 1000
const PAID = 2000
const LINK = `mutation ($userId: String!) {
  generateCreditLink(userId: $userId, priceId: "pack", successUrl: "${SUCCESS}", cancelUrl: "${CANCEL}") { url }
}`
const REVERSE = `mutation ($appId: String!, $creditId: String!, $action: SandboxReversal!, $amount: SafeInt) {
  reverseSandboxCredit(appId: $appId, creditId: $creditId, action: $action, amount: $amount) { refunded }
}`

const server = shared(startTestServer)
let shop: SandboxShop
let customers: Customers

beforeAll(async () => {
  shop = await openSandboxShop(server)
  customers = new Customers(shop, server.databaseUrl)
  await customers.access('END')
  await shop.dashboard.call('createPrice', {
    input: { id: 'pack', amount: PAID, currency: 'usd', credits: { featureId: 'call', units: UNITS } },
  })
})

const credits = (userId: string): Promise<Data[]> =>
  shop.admin.call('credits { id amount used reserved }', { userId })

/** Calls that may rightly be refused: the payment is disputed, or the reservation has ended. */
const mayFail = (text: string, variables: Variables) => shop.dashboard.ask(text, variables)

describe('bought credits', () => {
  it.each([11, 12, 13, 14])('add up while everything happens at once (%i)', async (seed) => {
    await customers.next()
    const userId = customers.user
    const random = seeded(seed)
    const upTo = (most: number) => 1 + Math.floor(random() * most)
    const { url } = (await shop.admin.data(LINK, { userId })).generateCreditLink
    await Promise.all(
      [1, 2, 3].map(() => shop.submit(url, { ...GOOD_CARD, email: 'a@example.com', name: '' })),
    )
    await jobsDone(server.databaseUrl)
    const [{ id: creditId }] = (await credits(userId)) as [Data]
    const of = { userId, featureId: 'call' }

    const record = () => shop.admin.call('recordUsage { recorded }', { input: { ...of, delta: upTo(60) } })
    const reserve = async (n: number) => {
      const id = `rsv-${seed}-${n}`
      const held = await shop.admin.call('reserveUsage { reserved }', {
        input: { ...of, id, amount: upTo(200), atLeast: 1 },
      })
      if (held.reserved === 0 || n % 3 === 0) return
      if (n % 3 === 1) await shop.admin.call('releaseReservation { id }', { id })
      else await shop.admin.call('settleReservation { id }', { id, amount: Math.ceil(held.reserved / 2) })
    }
    const reverse = (action: string, amount: number | null = null) =>
      mayFail(REVERSE, { appId: shop.id, creditId, action, amount })
    const money = async () => {
      await reverse('REFUND', upTo(400))
      await reverse('REFUND', upTo(400))
      await reverse('FAIL_REFUND')
      await reverse('DISPUTE')
      await reverse(seed % 2 === 0 ? 'WIN_DISPUTE' : 'LOSE_DISPUTE')
    }
    await Promise.all([
      money(),
      ...Array.from({ length: 12 }, record),
      ...Array.from({ length: 6 }, (_, n) => reserve(n)),
      shop.dashboard.call('reconcileBilling'),
    ])
    await jobsDone(server.databaseUrl)
    // What was reserved when the last report arrived may have been returned since.
    await shop.dashboard.call('reconcileBilling')
    await jobsDone(server.databaseUrl)

    const [credit, ...others] = await credits(userId)
    expect(others).toEqual([])
    const [payment] = await shop.dashboard.call('sandboxPayments { amount refunded dispute { state } }', {
      creditId,
    })
    const spent = credit?.used + credit?.reserved
    expect(spent).toBeLessThanOrEqual(credit?.amount)
    expect(credit?.amount).toBe(unitsLeft(UNITS, spent, [payment]))
    expect(await unbalanced(server.databaseUrl)).toEqual([])
    expect((await shop.notices()).filter(({ state }) => state !== 'DONE')).toEqual([])
  })
})
