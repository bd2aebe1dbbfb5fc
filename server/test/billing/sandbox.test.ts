import { beforeEach, describe, expect, it } from 'vitest'
import { sandboxProvider } from '../../src/billing/sandbox/sandbox.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openTestPool } from '../harness/store.ts'
import { jobsDone } from './jobs-done.ts'
import {
  CANCEL,
  DECLINED_CARD,
  FAILING_CARD,
  GOOD_CARD,
  openSandboxShop,
  type SandboxShop,
  SUCCESS,
} from './sandbox-shop.ts'

// The whole way of a payment from outside, over HTTP: link, page, notice, subscription, access.

const server = shared(startTestServer)
let shop: SandboxShop
beforeEach(async () => {
  shop = await openSandboxShop(server, { testClock: true })
  await shop.advance('2090-01-31T12:00:00Z')
})

/** What the provider itself holds, as `status`, oldest first. */
const atProvider = async () =>
  (
    await rowsOf<{ status: string }>(
      { connectionString: server.databaseUrl },
      'select status from sandbox_subscription where app_id = $1 order by made_at, id',
      [shop.id],
    )
  ).map(({ status }) => status)

/** As if the notice of the last renewal were still on its way. */
const forgetRenewal = (paidUntil: string) =>
  rowsOf(
    { connectionString: server.databaseUrl },
    'update provider_subscription set paid_until = $2 where app_id = $1',
    [shop.id, paidUntil],
  )

describe('a payment', () => {
  it('spec §3: paid through a link, the subscription is there and gives access', async () => {
    expect(await shop.canUse()).toMatchObject({ access: false, reasonCode: 'NO_SUBSCRIPTION' })
    const url = await shop.link('plan')
    expect(url).toMatch(new RegExp(`^${server.url}/checkout/cs_sandbox_`))
    expect((await fetch(url)).status).toBe(200)
    expect(await shop.subscriptions()).toEqual([])

    const paid = await shop.submit(url, GOOD_CARD)
    expect([paid.status, paid.headers.get('location')]).toEqual([303, SUCCESS])
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    expect(await shop.canUse()).toMatchObject({ access: true, consumption: { budget: 10 } })
    const notices = await shop.notices('type state provider user { text subject { kind appId id } }')
    const user = { text: 'ann', subject: { kind: 'USER', appId: shop.id, id: 'ann' } }
    expect(notices).toEqual([
      { type: 'checkout.session.completed', state: 'DONE', provider: 'sandbox', user },
    ])
  })

  const REFUSED = [
    ['a declined card', DECLINED_CARD, 'The card was declined'],
    ['a number that is none', { ...GOOD_CARD, number: '4242 4242 4242 4241' }, 'number is not valid'],
    ['a card of somebody', { ...GOOD_CARD, number: '5555555555554444' }, 'only accepts the test cards'],
    ['an expired card', { ...GOOD_CARD, expiry: '12/89' }, 'This card has expired'],
    ['no month', { ...GOOD_CARD, expiry: '13/95' }, 'Enter the month and year'],
    ['no code', { ...GOOD_CARD, cvc: '' }, 'Enter the 3 or 4 digits'],
  ] as const
  it.each(REFUSED)('gap: billing: %s pays nothing and is told so', async (_, entry, words) => {
    const url = await shop.link('plan')
    const refused = await shop.submit(url, entry)
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain(words)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual([])
    expect((await shop.submit(url, GOOD_CARD)).status).toBe(303)
  })

  it('spec §4 mutation rule 6: a payer who cancels goes to cancelUrl, subscribes to nothing, and may still pay', async () => {
    const url = await shop.link('plan')
    const left = await shop.submit(url, { action: 'cancel' })
    expect([left.status, left.headers.get('location')]).toEqual([303, CANCEL])
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual([])
    expect(await (await fetch(url)).text()).toContain('you were not charged')
    expect((await shop.submit(url, GOOD_CARD)).status).toBe(303)
  })

  it('gap: billing: ten clicks on Pay are one payment', async () => {
    const url = await shop.link('both')
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.submit(url, GOOD_CARD)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
    expect(await atProvider()).toEqual(['active'])
    expect(await shop.notices('type')).toHaveLength(1)
  })

  it('gap: billing: a link that was paid cannot be closed any more', async () => {
    const url = await shop.link('plan')
    await shop.submit(url, GOOD_CARD)
    await jobsDone(server.databaseUrl)
    const pool = await openTestPool(server.databaseUrl)
    try {
      const provider = sandboxProvider(pool, shop.id, server.url, async () => true)
      const ref = new URL(url).pathname.split('/').at(-1) ?? ''
      const paid = await provider.fetchCheckout(ref)
      expect(paid).toMatchObject({ state: 'PAID', subscriptionRef: expect.stringMatching(/^sub/) })
      await provider.closeCheckout(ref)
      await provider.closeCheckout('cs_sandbox_unknown')
      expect(await provider.fetchCheckout(ref)).toEqual(paid)
      const unknown = await shop.submit(`${server.url}/checkout/cs_sandbox_unknown`, GOOD_CARD)
      expect(unknown.status).toBe(404)
    } finally {
      await pool.end()
    }
  })

  it('gap: billing: a link that nobody paid for a day is expired', async () => {
    const url = await shop.link('plan')
    await shop.advance('2090-02-01T12:00:00Z')
    const late = await shop.submit(url, GOOD_CARD)
    expect(late.status).toBe(410)
    expect((await fetch(url)).status).toBe(410)
    expect(await shop.notices('type state')).toEqual([{ type: 'checkout.session.expired', state: 'DONE' }])
    expect(await shop.subscriptions()).toEqual([])
  })
})

const buy = (template: string, user: string | null = 'ann', card = GOOD_CARD) =>
  shop.buy(template, user, card)

describe('who pays', () => {
  it('spec §4 mutation rule 6: without userId the payer becomes a user with the provider’s id of them', async () => {
    await buy('plan', null)
    const { users } = await shop.admin.data('{ users { id billingId name email } }')
    expect(users).toHaveLength(2)
    const [, payer] = users
    expect(payer).toMatchObject({ name: 'Pat Payer', email: 'payer@example.com' })
    expect(payer.id).toMatch(/^cus_sandbox_/)
    expect(payer.billingId).toBe(payer.id)
    expect(await shop.subscriptions(payer.id)).toEqual(['plan ACTIVE'])
  })

  it('gap: billing: a user with a link is a customer before they have paid', async () => {
    await shop.admin.data('mutation { createUser(input: { id: "eve", email: "eve@example.com" }) { id } }')
    await shop.link('plan', 'eve')
    const customers = await rowsOf(
      { connectionString: server.databaseUrl },
      `select c.email from sandbox_customer c join sandbox_checkout k on k.app_id = c.app_id and k.customer_id = c.id
       where c.app_id = $1`,
      [shop.id],
    )
    expect(customers).toEqual([{ email: 'eve@example.com' }])
  })

  it('gap: billing: nobody is recognised by an email address', async () => {
    const url = await shop.link('plan', null)
    await shop.submit(url, { ...GOOD_CARD, email: 'ann@example.com' })
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions('ann')).toEqual([])
  })

  it('gap: billing: a link without userId asks for an email address', async () => {
    const refused = await shop.submit(await shop.link('plan', null), { ...GOOD_CARD, email: 'nowhere' })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain('Enter your email address')
  })

  it('gap: billing: a user pays as their customer at the provider, or becomes one', async () => {
    await shop.admin.data('mutation { createUser(input: { id: "bob", billingId: "cus_bob" }) { id } }')
    await buy('plan', 'bob')
    await buy('plan', 'ann')
    const { bob, ann } = await shop.admin.data(
      '{ bob: user(id: "bob") { billingId } ann: user(id: "ann") { billingId } }',
    )
    expect(bob.billingId).toBe('cus_bob')
    expect(ann.billingId).toMatch(/^cus_sandbox_/)
    await buy('pro', 'ann')
    const customers = await rowsOf(
      { connectionString: server.databaseUrl },
      'select id from sandbox_customer where app_id = $1',
      [shop.id],
    )
    expect(customers).toHaveLength(2)
  })
})

describe('a new plan', () => {
  it('gap: billing: replaces the one paid for before, also at the provider', async () => {
    await buy('both')
    await shop.advance('2090-02-10T12:00:00Z')
    await buy('pro')
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra CANCELLED', 'pro ACTIVE'])
    expect(await atProvider()).toEqual(['canceled', 'active'])
    expect(await shop.canUse()).toMatchObject({ consumption: { budget: 100 } })
  })

  it('gap: billing: replaces one given by hand, and keeps add-ons taken separately', async () => {
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan", "extra"]) { id } }')
    await buy('pro')
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra ACTIVE', 'pro ACTIVE'])
  })

  it('gap: billing: what is already paid for cannot be paid for twice', async () => {
    await buy('plan')
    const { extensions, message } = await shop.linkError('both')
    expect(extensions.type).toBe('SubscriptionLinkError')
    expect(message).toContain('already has a paid subscription to the package "plan"')
  })

  it('gap: billing: a link for add-ons alone needs a base plan', async () => {
    expect((await shop.linkError('extra')).message).toContain('only has add-ons')
    expect((await shop.linkError('extra', null)).message).toContain('only has add-ons')
    await buy('plan')
    await buy('extra')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
  })

  it('gap: billing: an add-on that is paid for does not follow a trial as well', async () => {
    await publishPackage(shop, 'other', {}, true)
    await buy('plan')
    await shop.admin.data(
      'mutation { startTrial(userId: "ann", packageId: "other", days: 7, then: "extra") { id } }',
    )
    await buy('extra')
    await shop.advance('2090-02-10T12:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'other CANCELLED', 'extra ACTIVE'])
  })

  it('gap: billing: add-ons whose base plan ended before they were paid are kept as a failed notice', async () => {
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
    const url = await shop.link('extra')
    const [plan] = await shop.billed()
    await shop.cancel(plan?.id, false)
    await shop.submit(url, GOOD_CARD)
    await jobsDone(server.databaseUrl)
    const [notice] = await shop.notices()
    expect(notice).toMatchObject({ state: 'FAILED', attempts: 1 })
    expect(notice?.lastError).toContain('Subscribe the user to a base plan and replay this event, or refund')
    await shop.admin.data('mutation { subscribe(userId: "ann", packageIds: ["pro"]) { id } }')
    await shop.dashboard.call('replayNotice', { id: notice?.id })
    await jobsDone(server.databaseUrl)
    expect(await shop.notices('state lastError')).toEqual([{ state: 'DONE', lastError: null }])
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'pro ACTIVE', 'extra ACTIVE'])
  })
})

describe('as time goes by', () => {
  it('gap: billing: it renews, and its periods follow the provider’s', async () => {
    await buy('plan')
    await shop.admin.call('recordUsage', { input: { userId: 'ann', featureId: 'call', delta: 4 } })
    await shop.advance('2090-02-28T12:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    const showUsage = await shop.admin.call(
      'showUsage { current { periodStart periodEnd consumption { used } } }',
      { userId: 'ann', featureId: 'call' },
    )
    expect(showUsage.current).toEqual({
      periodStart: '2090-02-28T12:00:00.000Z',
      periodEnd: '2090-03-31T12:00:00.000Z',
      consumption: { used: 0 },
    })
    expect(await shop.notices('type')).toEqual([
      { type: 'invoice.paid' },
      { type: 'checkout.session.completed' },
    ])
    await shop.advance('2091-06-15T00:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
  })

  it('gap: billing: a one-off purchase lasts', async () => {
    await buy('life')
    await shop.advance('2099-01-01T00:00:00Z')
    expect(await shop.billed()).toMatchObject([{ status: 'ACTIVE', cancelAt: null, package: { id: 'life' } }])
    expect(await atProvider()).toEqual([])
  })

  it('gap: billing: a payment that fails leaves access for the grace time, and no longer', async () => {
    await shop.dashboard.call('setGraceDays', { days: 3 })
    await buy('both', 'ann', FAILING_CARD)
    await shop.advance('2090-03-01T00:00:00Z')
    const graced = { status: 'ACTIVE', cancelAt: '2090-03-03T12:00:00.000Z' }
    expect(await shop.billed()).toMatchObject([graced, graced])
    await shop.advance('2090-03-03T11:59:59Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
    await shop.advance('2090-03-03T12:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra CANCELLED'])
    // The next failure does not begin the grace time anew.
    await shop.advance('2090-04-15T12:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra CANCELLED'])
  })

  it('gap: billing: another grace time counts for what is past due already', async () => {
    await buy('plan', 'ann', FAILING_CARD)
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await shop.billed()).toMatchObject([{ cancelAt: '2090-03-07T12:00:00.000Z' }])
    await shop.dashboard.call('setGraceDays', { days: 14 })
    await jobsDone(server.databaseUrl)
    expect(await shop.billed()).toMatchObject([{ cancelAt: '2090-03-14T12:00:00.000Z' }])
  })
})

describe('cancelling in the dashboard', () => {
  it('spec §3: at the period’s end, which is the provider’s', async () => {
    await buy('both')
    await shop.advance('2090-02-10T00:00:00Z')
    const [plan] = await shop.billed()
    const end = '2090-02-28T12:00:00.000Z'
    expect(await shop.cancel(plan?.id, true)).toMatchObject({
      status: 'ACTIVE',
      cancelAt: end,
      billing: { provider: 'sandbox', status: 'active', paidUntil: end },
    })
    expect(await shop.billed()).toMatchObject([{ cancelAt: end }, { cancelAt: end }])
    await shop.advance(end)
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra CANCELLED'])
    expect(await atProvider()).toEqual(['canceled'])
  })

  it('gap: billing: at the period’s end, though that it was renewed is not yet known', async () => {
    await buy('plan')
    await shop.advance('2090-03-10T00:00:00Z')
    await forgetRenewal('2090-02-28T12:00:00Z')
    const [plan] = await shop.billed()
    const end = '2090-03-31T12:00:00.000Z'
    expect(await shop.cancel(plan?.id, true)).toMatchObject({ status: 'ACTIVE', cancelAt: end })
    expect(await shop.billed()).toMatchObject([{ id: plan?.id, status: 'ACTIVE', cancelAt: end }])
  })

  it('spec §3: at once, with the add-ons, here and there', async () => {
    await buy('plan')
    await buy('extra')
    const [plan] = await shop.billed()
    expect(await shop.cancel(plan?.id, false)).toMatchObject({ status: 'CANCELLED' })
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'extra CANCELLED'])
    expect(await atProvider()).toEqual(['canceled', 'canceled'])
  })

  const ADDON = [
    { atPeriodEnd: false, now: 'extra CANCELLED' },
    { atPeriodEnd: true, now: 'extra ACTIVE' },
  ]
  it.each(ADDON)('gap: billing: an add-on on one bill with its base plan: $now', async ({
    atPeriodEnd,
    now,
  }) => {
    await buy('both')
    const [, extra] = await shop.billed()
    await shop.cancel(extra?.id, atPeriodEnd)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', now])
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra CANCELLED'])
    expect(await atProvider()).toEqual(['active'])
  })

  it('gap: keeping: what is paid for goes on at the provider, with all that is on its bill', async () => {
    await buy('both')
    const [plan] = await shop.billed()
    await shop.cancel(plan?.id, true)
    expect(await shop.keep(plan?.id)).toEqual({ status: 'ACTIVE', cancelAt: null })
    expect(await shop.billed()).toMatchObject([{ cancelAt: null }, { cancelAt: null }])
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
    expect(await atProvider()).toEqual(['active'])
  })

  it('gap: keeping: an add-on that was taken off the bill is put back on it', async () => {
    await buy('both')
    const [, extra] = await shop.billed()
    await shop.cancel(extra?.id, true)
    expect(await shop.keep(extra?.id)).toEqual({ status: 'ACTIVE', cancelAt: null })
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
  })

  it('gap: keeping: an add-on goes back on the bill at the price it had, or not at all', async () => {
    await buy('both')
    const [, extra] = await shop.billed()
    const appId = shop.id
    const priceId = await shop.archivePrice('extra')
    await shop.price('extra', { amount: 9_000, currency: 'usd', interval: 'year' })
    await shop.cancel(extra?.id, true)
    expect(await shop.keep(extra?.id)).toEqual({ status: 'ACTIVE', cancelAt: null })
    const billed = await rowsOf<{ price_ids: string[] }>(
      { connectionString: server.databaseUrl },
      'select price_ids from sandbox_subscription where app_id = $1',
      [appId],
    )
    expect(billed[0]?.price_ids).toContain(priceId)
    await shop.price('extra', { amount: 900, currency: 'usd', interval: 'month' })
    await shop.cancel(extra?.id, true)
    await expect(shop.keep(extra?.id)).rejects.toThrow('its former price is ambiguous')
  })

  it('gap: keeping: an add-on that was given up by itself is not charged again with its base plan', async () => {
    await buy('both')
    const [plan, extra] = await shop.billed()
    await shop.cancel(extra?.id, true)
    await shop.cancel(plan?.id, true)
    await shop.keep(plan?.id)
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra CANCELLED'])
  })

  it('gap: keeping: an add-on on a bill of its own is kept by itself', async () => {
    await buy('plan')
    await buy('extra')
    const [plan, extra] = await shop.billed()
    await shop.cancel(plan?.id, true)
    await shop.keep(plan?.id)
    expect(await shop.billed()).toMatchObject([{ cancelAt: null }, { cancelAt: expect.any(String) }])
    await shop.keep(extra?.id)
    expect(await shop.billed()).toMatchObject([{ cancelAt: null }, { cancelAt: null }])
    await shop.advance('2090-03-01T00:00:00Z')
    expect(await atProvider()).toEqual(['active', 'active'])
  })

  it('gap: billing: what has ended at the provider becomes a new subscription, not a revived one', async () => {
    await buy('plan')
    const [first] = await shop.billed()
    await shop.cancel(first?.id, false)
    await buy('plan')
    const subscriptions = await shop.billed()
    expect(subscriptions.map((s) => s.status)).toEqual(['CANCELLED', 'ACTIVE'])
    expect(subscriptions[0]?.id).toBe(first?.id)
  })
})

describe('a billing id', () => {
  it('gap: users: stays while something is charged to it, and changes once that has ended', async () => {
    await shop.buy('plan')
    const billingId = async () => (await shop.admin.data('{ user(id: "ann") { billingId } }')).user.billingId
    const paying = await billingId()
    const update = (input: string) =>
      `mutation { updateUser(appId: "${shop.id}", id: "ann", input: { ${input} }) { billingId } }`
    for (const to of ['null', '"cus_other"']) {
      const refused = await shop.dashboard.error(update(`billingId: ${to}`))
      expect(refused.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'billingId' })
      expect(refused.message).toContain(`sandbox charges "${paying}"`)
    }
    // What does not touch it goes through.
    await shop.dashboard.data(update(`billingId: "${paying}", name: "A"`))
    const [plan] = await shop.billed()
    await shop.cancel(plan?.id, false)
    await shop.dashboard.data(update('billingId: null'))
    expect(await billingId()).toBe(null)
  })

  it('gap: users: changes while something is charged to another', async () => {
    await shop.buy('plan')
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update provider_subscription set customer_ref = 'cus_former' where app_id = $1`,
      [shop.id],
    )
    await shop.dashboard.call('updateUser', { id: 'ann', input: { billingId: 'cus_other' } })
    expect((await shop.admin.data('{ user(id: "ann") { billingId } }')).user.billingId).toBe('cus_other')
  })
})
