import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

let server: TestServer
let shop: SandboxShop
let customers: Customers

describe('gap: billing, refunds and disputes tried in the sandbox', () => {
  beforeAll(async () => {
    server = await startTestServer()
    shop = await openSandboxShop(server, { testClock: true })
    customers = new Customers(shop, server.databaseUrl)
    await customers.access('END')
  })
  afterAll(() => server.stop())
  beforeEach(() => customers.next())

  const newest = async (): Promise<string> => (await shop.billed(customers.user)).at(-1)?.id

  async function payments(subscriptionId: string) {
    return shop.dashboard.call(
      'sandboxPayments { paymentRef amount refunded currency periodStart periodEnd dispute { state openedAt } }',
      { subscriptionId },
    )
  }

  const REVERSE = `mutation ($appId: String!, $subscriptionId: String!, $paymentRef: String!, $action: SandboxReversal!, $amount: SafeInt) {
    reverseSandboxPayment(appId: $appId, subscriptionId: $subscriptionId, paymentRef: $paymentRef, action: $action, amount: $amount) {
      refunded dispute { state openedAt }
    }
  }`

  /** Of the newest payment for the newest subscription, unless told. */
  async function reverse(
    action: string,
    given: { amount?: number; payment?: number; subscriptionId?: string } = {},
  ) {
    const subscriptionId = given.subscriptionId ?? (await newest())
    const { paymentRef } = (await payments(subscriptionId))[given.payment ?? 0]
    const { data, errors } = await shop.dashboard.ask(REVERSE, {
      appId: shop.id,
      subscriptionId,
      paymentRef,
      action,
      amount: given.amount ?? null,
    })
    await jobsDone(server.databaseUrl)
    return errors?.[0]?.message ?? data?.reverseSandboxPayment
  }

  it('refunds: in part, in full, and one that fails', async () => {
    await shop.buy('plan', customers.user)
    expect(await payments(await newest())).toMatchObject([
      { amount: 1200, refunded: 0, currency: 'usd', dispute: null },
    ])
    expect(await reverse('REFUND', { amount: 1300 })).toBe(
      'sandbox rejected the request: the amount must be from 1 to 1200, the remaining amount of the payment',
    )
    expect(await reverse('REFUND', { amount: 200 })).toMatchObject({ refunded: 200 })
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    expect(await reverse('REFUND')).toMatchObject({ refunded: 1200 })
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    expect(await reverse('REFUND')).toBe('sandbox rejected the request: the payment was already refunded')
    expect(await reverse('FAIL_REFUND')).toMatchObject({ refunded: 200 })
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect(await customers.reversals()).toMatchObject([[{ refunded: 200 }], [{ refunded: 200 }]])
  })

  it('disputes: an inquiry, a dispute, won and lost', async () => {
    await shop.buy('life', customers.user)
    expect(await reverse('WIN_DISPUTE')).toBe('sandbox rejected the request: the payment has no open dispute')
    await reverse('INQUIRE')
    expect(await shop.subscriptions(customers.user)).toEqual(['life ACTIVE'])
    await reverse('DISPUTE')
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED'])
    expect(await reverse('REFUND')).toBe('sandbox rejected the request: the payment is disputed')
    const [disputed] = await payments(await newest())
    const [app] = await rowsOf<{ test_clock: number }>(
      { connectionString: server.databaseUrl },
      'select test_clock from app where id = $1',
      [shop.id],
    )
    expect(Date.parse(disputed.dispute.openedAt)).toBe(app?.test_clock)
    expect(await reverse('WIN_DISPUTE')).toMatchObject({ dispute: { ...disputed.dispute, state: 'WON' } })
    expect(await shop.subscriptions(customers.user)).toEqual(['life CANCELLED', 'life ACTIVE'])
    expect(await reverse('DISPUTE')).toBe('sandbox rejected the request: the payment was already disputed')
  })

  it('counts the running period alone, and what renews is paid anew', async () => {
    await shop.buy('plan', customers.user)
    await shop.advance('2030-02-15T00:00:00Z')
    await reverse('REFUND', { payment: 1 })
    expect(await shop.subscriptions(customers.user)).toEqual(['plan ACTIVE'])
    await reverse('DISPUTE')
    await reverse('LOSE_DISPUTE')
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED'])
    await shop.advance('2030-03-20T00:00:00Z')
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'plan ACTIVE'])
    expect((await customers.reversals()).map((of) => of.length)).toEqual([2, 0])
  })

  it('ends both invoices of a period together: the first, and that of an upgrade', async () => {
    await shop.buy('plan', customers.user)
    await shop.admin.call('changeSubscription', { userId: customers.user, packageId: 'pro', when: 'NOW' })
    await jobsDone(server.databaseUrl)
    await reverse('REFUND')
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'pro ACTIVE'])
    await reverse('REFUND', { subscriptionId: (await shop.billed(customers.user))[0]?.id })
    expect(await shop.subscriptions(customers.user)).toEqual(['plan CANCELLED', 'pro CANCELLED'])
  })

  it('belong to the subscription that was charged: not to its predecessor, successor or add-on', async () => {
    const change = async (packageId: string, quantity: number) => {
      await shop.admin.call('changeSubscription', {
        userId: customers.user,
        packageId,
        quantity,
        when: 'NOW',
      })
      await jobsDone(server.databaseUrl)
    }
    const shown = async () => {
      const subscriptions = await shop.admin.call(
        'subscriptions { package { id } quantity reversals { refunded amount } }',
        { userId: customers.user },
      )
      return Object.fromEntries(
        subscriptions.map(({ package: { id }, quantity, reversals }: Data) => [
          `${quantity} ${id}`,
          reversals.map(({ refunded, amount }: Data) => `${refunded} of ${amount}`),
        ]),
      )
    }
    await shop.buy('both', customers.user)
    await change('pro', 1)
    await change('pro', 3)
    expect(await shown()).toEqual({ '1 plan': [], '1 extra': [], '1 pro': [], '3 pro': [] })
    const bases = (await shop.billed(customers.user)).filter((s) => s.package.id !== 'extra')
    const [planId, oneId, threeId] = bases.map(({ id }) => id)
    await reverse('REFUND', { amount: 100, subscriptionId: threeId })
    expect(await shown()).toEqual({ '1 plan': [], '1 extra': [], '1 pro': [], '3 pro': ['100 of 6000'] })
    await reverse('REFUND', { amount: 200, subscriptionId: oneId })
    expect(await shown()).toMatchObject({ '1 plan': [], '1 extra': [], '1 pro': ['200 of 1800'] })
    await reverse('REFUND', { amount: 300, subscriptionId: planId })
    expect(await shown()).toEqual({
      '1 plan': ['300 of 1400'],
      '1 extra': ['300 of 1400'],
      '1 pro': ['200 of 1800'],
      '3 pro': ['100 of 6000'],
    })
  })

  it('refuses what is not paid there, and everything while it is off', async () => {
    await shop.buy('plan', customers.user)
    const subscriptionId = await newest()
    const [{ paymentRef }] = await payments(subscriptionId)
    const asked = { appId: shop.id, subscriptionId, paymentRef, action: 'REFUND' }
    const other = await shop.dashboard.error(REVERSE, { ...asked, paymentRef: 'in_other' })
    expect(other).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'paymentRef' } })
    const unknown = await shop.dashboard.error(REVERSE, { ...asked, subscriptionId: 'sub_no' })
    expect(unknown.extensions.code).toBe('SUBSCRIPTION_NOT_FOUND')
    await shop.dashboard.call('setProviderAccount', { provider: 'sandbox', input: { enabled: false } })
    expect((await shop.dashboard.error(REVERSE, asked)).message).toBe(
      'sandbox rejected the request: the sandbox is disabled',
    )
    const { subscribe } = await shop.admin.data(
      'mutation { createUser(input: { id: "bob" }) { id } subscribe(userId: "bob", packageIds: ["plan"]) { id } }',
    )
    expect(await payments(subscribe[0].id)).toEqual([])
  })
})
