import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Data, Variables } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { Refusal } from '../stripe/refusals.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import {
  CANCEL,
  DECLINED_CARD,
  GOOD_CARD,
  openSandboxShop,
  type SandboxShop,
  SUCCESS,
} from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'
import { NOTICES } from './stripe-shop.ts'

// Invariants: a payment is one credit, however often and in whatever order it is reported; a refund never takes back what
// was used or is reserved.

const SECRET = 'whsec_of_these_tests'
const CREATE = `mutation ($appId: String!, $packageId: String, $input: CreatePriceInput!) {
  createPrice(appId: $appId, packageId: $packageId, input: $input) {
    id packageId amount interval credits { featureId units expiresDays }
  }
}`
const LINK = `mutation ($userId: String!, $priceId: String!, $quantity: Int, $successUrl: String!, $cancelUrl: String!) {
  generateCreditLink(userId: $userId, priceId: $priceId, quantity: $quantity, successUrl: $successUrl, cancelUrl: $cancelUrl) {
    url
  }
}`

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let customers: Customers
let unregister: () => void
let stripePrice: string

beforeAll(async () => {
  shop = await openSandboxShop(server)
  customers = new Customers(shop, server.databaseUrl)
  await shop.useStripe(stripe, SECRET)
  unregister = stripe.register({
    urls: [`${server.url}/webhooks/stripe/${shop.id}`],
    secret: SECRET,
    types: NOTICES,
  })
  await shop.admin.data(
    'mutation { updateFeature(id: "call", input: { unitLabel: "call", unitLabelPlural: "calls" }) { id } }',
  )
  await create({ id: 'pack', credits: { featureId: 'call', units: 1000, expiresDays: 30 } })
  stripePrice = stripe.sell({ name: 'Calls', amount: 2000, interval: null }).id
  await shop.dashboard.data(
    `mutation ($appId: String!, $id: String!) {
      importPrice(appId: $appId, provider: "stripe", id: $id, credits: { featureId: "call", units: 1000 }) { id }
    }`,
    { appId: shop.id, id: stripePrice },
  )
})
beforeEach(() => customers.next())
afterEach(() => stripe.fail(null))
afterAll(() => unregister())

async function create(input: Variables, packageId: string | null = null): Promise<Data> {
  const { createPrice } = await shop.dashboard.data(CREATE, {
    appId: shop.id,
    packageId,
    input: { amount: 2000, currency: 'usd', ...input },
  })
  return createPrice
}

const linkVariables = (more: Variables = {}) => ({
  userId: customers.user,
  priceId: 'pack',
  successUrl: SUCCESS,
  cancelUrl: CANCEL,
  ...more,
})
const link = async (more: Variables = {}): Promise<string> =>
  (await shop.admin.data(LINK, linkVariables(more))).generateCreditLink.url

const credits = (): Promise<Data[]> =>
  shop.admin.call('credits { id featureId amount used reserved bought kind state expiresAt effectiveAt }', {
    userId: customers.user,
  })
const amounts = async () => (await credits()).map(({ amount, used, state }) => ({ amount, used, state }))
const record = (delta: number): Promise<Data> =>
  shop.admin.call('recordUsage { recorded }', { input: { userId: customers.user, featureId: 'call', delta } })
const payments = async (): Promise<Data[]> =>
  (
    await shop.dashboard.call(
      'userPayments { rows { ref provider state amount refunded currency subscriptionId credit { id units featureName } } }',
      { userId: customers.user },
    )
  ).rows

async function heard(): Promise<void> {
  await stripe.deliver()
  await jobsDone(server.databaseUrl)
}

/** Pays at Stripe; returns the payment intent. */
async function payAtStripe(more: Variables = {}): Promise<string> {
  const session = stripe.pay(/cs_\w+/.exec(await link({ priceId: stripePrice, ...more }))?.[0] ?? '')
  return String(session.payment_intent)
}

describe('a price of credits', () => {
  it('says what it sells, and is listed with the prices of its feature', async () => {
    expect(await create({ id: 'other', credits: { featureId: 'call', units: 7 } })).toEqual({
      id: 'other',
      packageId: null,
      amount: 2000,
      interval: null,
      credits: { featureId: 'call', units: 7, expiresDays: null },
    })
    const listed = await shop.dashboard.call('prices { id packageId }', { featureId: 'call' })
    expect(listed).toContainEqual({ id: 'other', packageId: null })
    const ofPackage = await shop.dashboard.call('prices { id }', { packageId: 'plan' })
    expect(ofPackage).toHaveLength(1)
  })

  it.each<[string, Variables, string | null, string]>([
    ['a package and credits', { credits: { featureId: 'call', units: 7 } }, 'plan', 'credits'],
    ['nothing', {}, null, 'credits'],
    ['0 units', { credits: { featureId: 'call', units: 0 } }, null, 'units'],
    ['an interval', { interval: 'month', credits: { featureId: 'call', units: 7 } }, null, 'interval'],
    ['no days', { credits: { featureId: 'call', units: 7, expiresDays: 0 } }, null, 'expiresDays'],
    ['a taken id', { id: 'pack', credits: { featureId: 'call', units: 7 } }, null, 'id'],
  ])('rejects %s, and names the field', async (_, input, packageId, field) => {
    const { errors } = await shop.dashboard.ask(CREATE, {
      appId: shop.id,
      packageId,
      input: { amount: 2000, currency: 'usd', ...input },
    })
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field } })
  })

  it('keeps its feature from being deleted', async () => {
    await shop.admin.data(
      'mutation { createFeature(input: { id: "sold", name: "Sold", type: CONSUMABLE }) { id } }',
    )
    await create({ credits: { featureId: 'sold', units: 1 } })
    const { errors } = await shop.dashboard.ask(
      `mutation { deleteFeature(appId: "${shop.id}", id: "sold") { id } }`,
    )
    expect(errors?.[0]?.message).toContain('has 1 price for credits')
  })

  it('is not the price of a package: a link of a template cannot sell it', async () => {
    const { errors } = await shop.dashboard.ask(
      `mutation { createBillingTemplate(appId: "${shop.id}", input: { id: "t", name: "t", packageIds: ["plan"], priceIds: ["pack"] }) { id } }`,
    )
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'priceIds' } })
  })
})

describe('a payment link for credits', () => {
  it.each<[string, Variables, string, string | null]>([
    ['an unknown user', { userId: 'nobody' }, 'USER_NOT_FOUND', null],
    ['an unknown price', { priceId: 'none' }, 'PRICE_NOT_FOUND', null],
    ['a price id that cannot exist', { priceId: '\u0000' }, 'PRICE_NOT_FOUND', null],
    ['no quantity', { quantity: 0 }, 'BAD_USER_INPUT', 'quantity'],
    ['too large a quantity', { quantity: 1_000_001 }, 'BAD_USER_INPUT', 'quantity'],
    ['too large an amount', { quantity: 1_000_000_000 }, 'BAD_USER_INPUT', 'quantity'],
    ['a wrong address', { successUrl: 'javascript:alert(1)' }, 'BAD_USER_INPUT', 'successUrl'],
  ])('rejects %s', async (_, more, code, field) => {
    const { extensions } = (await shop.admin.ask(LINK, linkVariables(more))).errors?.[0] ?? {}
    expect(extensions).toMatchObject({ code, ...(field && { field }) })
  })

  it('rejects an archived price and the price of a package', async () => {
    await create({ id: 'old', credits: { featureId: 'call', units: 7 } })
    await shop.dashboard.call('archivePrice', { provider: 'sandbox', id: 'old', archived: true })
    expect((await shop.admin.ask(LINK, linkVariables({ priceId: 'old' }))).errors?.[0]?.message).toContain(
      'is archived',
    )
    const [ofPlan] = await shop.dashboard.call('prices { id }', { packageId: 'plan' })
    const refused = await shop.admin.ask(LINK, linkVariables({ priceId: ofPlan.id }))
    expect(refused.errors?.[0]).toMatchObject({ extensions: { code: 'PRICE_NOT_FOUND' } })
  })

  it('is the same link under the same Idempotency-Key', async () => {
    const keyed = shop.admin.with({ 'Idempotency-Key': `link-${customers.user}` })
    const ask = () => keyed.data(LINK, linkVariables())
    expect(await ask()).toEqual(await ask())
  })
})

describe('credits bought in the sandbox', () => {
  it('are shown on the payment page, and added once they are paid', async () => {
    const url = await link({ quantity: 3 })
    const page = await (await fetch(url)).text()
    expect(page).toContain('3,000 calls')
    expect(page).toContain('$60.00')
    const declined = await shop.submit(url, { ...DECLINED_CARD, email: 'a@example.com', name: '' })
    expect(declined.status).toBe(422)
    expect(await credits()).toEqual([])
    const paid = await Promise.all(
      [1, 2, 3].map(() => shop.submit(url, { ...GOOD_CARD, email: 'a@example.com', name: '' })),
    )
    expect(paid.map(({ status }) => status)).toEqual([303, 303, 303])
    await jobsDone(server.databaseUrl)
    const [credit, ...others] = await credits()
    expect(others).toEqual([])
    expect(credit).toMatchObject({
      featureId: 'call',
      amount: 3000,
      bought: 3000,
      kind: 'PAID',
      state: 'LIVE',
    })
    expect(Date.parse(credit?.expiresAt) - Date.parse(credit?.effectiveAt)).toBe(30 * 86_400_000)
    expect(await payments()).toMatchObject([
      {
        provider: 'sandbox',
        state: 'PAID',
        amount: 6000,
        refunded: 0,
        subscriptionId: null,
        credit: { id: credit?.id, units: 3000, featureName: 'call' },
      },
    ])
    expect(await record(2000)).toMatchObject({ recorded: true })
    expect(await shop.subscriptions(customers.user)).toEqual([])
  })

  it('count as payments, not as recurring revenue, and are events and in the export', async () => {
    const revenue = () =>
      shop.dashboard.call('revenue { mrr { amount } payments { provider paidAmount } }', {
        days: 30,
        fresh: true,
      })
    const before = await revenue()
    const url = await link()
    await shop.submit(url, { ...GOOD_CARD, email: 'a@example.com', name: '' })
    await jobsDone(server.databaseUrl)
    const after = await revenue()
    expect(after.mrr).toEqual(before.mrr)
    const paid = (of: Data) =>
      of.payments.find(({ provider }: Data) => provider === 'sandbox')?.paidAmount ?? 0
    expect(paid(after) - paid(before)).toBe(2000)
    const exported = await shop.dashboard.call('exportUser', { id: customers.user })
    expect(exported.credits).toMatchObject([{ amount: 1000, bought: 1000, provider: 'sandbox' }])
    expect(exported.payments).toMatchObject([{ amount: 2000 }])
    expect(exported.paymentLinks).toMatchObject([{ credits: { featureId: 'call', units: 1000 } }])
    const [{ id }] = (await credits()) as [Data]
    const { rows } = await shop.dashboard.call('auditLog { rows { sentence subjectId } }', { first: 5 })
    expect(rows).toContainEqual({
      sentence: `added a bought credit for the user ${customers.user}`,
      subjectId: id,
    })
  })
})

describe('a refund in the dashboard', () => {
  const REFUND = `mutation ($appId: String!, $creditId: String!, $paymentRef: String!, $amount: SafeInt, $key: String!) {
    refundCredit(appId: $appId, creditId: $creditId, paymentRef: $paymentRef, amount: $amount,
      reason: REQUESTED_BY_CUSTOMER, key: $key) { amount refunded remaining }
  }`

  it('is made once for a key, and takes back units with END', async () => {
    await customers.access('END')
    await shop.submit(await link(), { ...GOOD_CARD, email: 'a@example.com', name: '' })
    await jobsDone(server.databaseUrl)
    const [{ id: creditId }] = (await credits()) as [Data]
    const [{ ref: paymentRef }] = (await payments()) as [Data]
    const variables = { appId: shop.id, creditId, paymentRef, amount: 500, key: 'once' }
    for (const _ of [1, 2]) {
      const { refundCredit } = await shop.dashboard.data(REFUND, variables)
      expect(refundCredit).toEqual({ amount: 2000, refunded: 500, remaining: 1500 })
    }
    await jobsDone(server.databaseUrl)
    expect(await amounts()).toEqual([{ amount: 750, used: 0, state: 'LIVE' }])
    const preview = await shop.dashboard.call('refundPreview { remaining }', { creditId, paymentRef })
    expect(preview).toEqual({ remaining: 1500 })
    const wrong = await shop.dashboard.ask(REFUND, { ...variables, creditId: 'none' })
    expect(wrong.errors?.[0]).toMatchObject({ extensions: { code: 'CREDIT_NOT_FOUND' } })
  })
})

describe('a refund or dispute simulated in the sandbox', () => {
  const REVERSE = `mutation ($appId: String!, $creditId: String!, $action: SandboxReversal!, $amount: SafeInt) {
    reverseSandboxCredit(appId: $appId, creditId: $creditId, action: $action, amount: $amount) {
      amount refunded dispute { state }
    }
  }`
  async function reverse(creditId: string, action: string, amount: number | null = null): Promise<string> {
    const { errors } = await shop.dashboard.ask(REVERSE, { appId: shop.id, creditId, action, amount })
    await jobsDone(server.databaseUrl)
    return errors?.[0]?.message ?? 'done'
  }

  it('takes units back and restores them; events tell of the payment', async () => {
    await customers.access('END')
    await shop.submit(await link(), { ...GOOD_CARD, email: 'a@example.com', name: '' })
    await jobsDone(server.databaseUrl)
    const [{ id }] = (await credits()) as [Data]
    await record(100)
    for (const [action, amount, left] of [
      ['REFUND', 500, 750],
      ['FAIL_REFUND', null, 1000],
      ['INQUIRE', null, 1000],
      ['DISPUTE', null, 100],
      ['WIN_DISPUTE', null, 1000],
    ] as const) {
      expect(await reverse(id, action, amount)).toBe('done')
      expect((await amounts())[0]?.amount).toBe(left)
    }
    expect(await reverse(id, 'DISPUTE')).toContain('already disputed')
    const payment = await shop.dashboard.call('sandboxPayments { amount refunded dispute { state } }', {
      creditId: id,
    })
    expect(payment).toEqual([{ amount: 2000, refunded: 0, dispute: { state: 'WON' } }])
    await expect
      .poll(
        async () =>
          (await shop.admin.call('events { nodes { type } }', { userId: customers.user, first: 100 })).nodes
            .map(({ type }: Data) => type)
            .filter((type: string) => type.startsWith('payment.')),
        { timeout: 20_000 },
      )
      .toEqual([
        'payment.succeeded',
        'payment.refunded',
        'payment.disputed',
        'payment.disputed',
        'payment.disputed',
      ])
  })

  it('is rejected for a credit that was not bought in the sandbox', async () => {
    await shop.admin.call('addCredit { id }', {
      input: { id: `given-${customers.user}`, userId: customers.user, featureId: 'call', amount: 1 },
    })
    expect(await reverse(`given-${customers.user}`, 'REFUND')).toBe(
      'The credit was not bought in the sandbox',
    )
    expect(await reverse('none', 'REFUND')).toContain('not found')
  })
})

describe('credits bought at Stripe', () => {
  it('are one credit, however often and in whatever order the payment is reported', async () => {
    await payAtStripe({ quantity: 2 })
    await stripe.deliver({ copies: [2, 4], shuffle: true, atOnce: 3 })
    await jobsDone(server.databaseUrl)
    await shop.dashboard.call('reconcileBilling')
    await jobsDone(server.databaseUrl)
    expect(await amounts()).toEqual([{ amount: 2000, used: 0, state: 'LIVE' }])
    expect(await payments()).toMatchObject([{ provider: 'stripe', amount: 4000 }])
  })

  it('are added by reconciliation if no event arrives', async () => {
    await payAtStripe()
    await stripe.deliver({ drop: 1 })
    await shop.dashboard.call('reconcileBilling')
    await jobsDone(server.databaseUrl)
    expect(await amounts()).toEqual([{ amount: 1000, used: 0, state: 'LIVE' }])
  })

  it('are kept after a refund unless the app says otherwise, and follow a change of the setting', async () => {
    await customers.access('KEEP')
    const payment = await payAtStripe()
    stripe.refund(payment, 500)
    await heard()
    expect(await amounts()).toEqual([{ amount: 1000, used: 0, state: 'LIVE' }])
    expect(await payments()).toMatchObject([{ refunded: 500 }])
    await customers.access('END')
    await jobsDone(server.databaseUrl)
    expect(await amounts()).toEqual([{ amount: 750, used: 0, state: 'LIVE' }])
    await customers.access('KEEP')
    await jobsDone(server.databaseUrl)
    expect(await amounts()).toEqual([{ amount: 1000, used: 0, state: 'LIVE' }])
  })

  it('are reduced by refunds with END, never below what is used and reserved', async () => {
    await customers.access('END')
    const payment = await payAtStripe()
    await heard()
    await record(300)
    await shop.admin.call('reserveUsage { reserved }', {
      input: { id: `r-${customers.user}`, userId: customers.user, featureId: 'call', amount: 200 },
    })
    stripe.refund(payment, 500)
    await heard()
    expect(await amounts()).toEqual([{ amount: 750, used: 300, state: 'LIVE' }])
    const refund = stripe.refund(payment)
    await heard()
    expect(await amounts()).toEqual([{ amount: 500, used: 300, state: 'LIVE' }])
    expect(await record(1)).toMatchObject({ recorded: false })
    await shop.admin.call('settleReservation { settled }', { id: `r-${customers.user}`, amount: 200 })
    expect(await amounts()).toEqual([{ amount: 500, used: 500, state: 'SPENT' }])
    stripe.takeRefundBack(refund, 'failed')
    await heard()
    expect(await amounts()).toEqual([{ amount: 750, used: 500, state: 'LIVE' }])
    expect(await record(250)).toMatchObject({ recorded: true })
    expect(await record(1)).toMatchObject({ recorded: false })
  })

  it('keep what another feature has used and reserved of a pool', async () => {
    await customers.access('END')
    await shop.admin.data(`mutation {
      createFeature(input: { id: "image", name: "Image", type: CONSUMABLE }) { id }
      updateFeature(id: "call", input: { costs: [{ featureId: "image", cost: 12 }] }) { id }
    }`)
    const payment = await payAtStripe()
    await heard()
    const ofImages = { userId: customers.user, featureId: 'image' }
    await shop.admin.call('recordUsage { recorded }', { input: { ...ofImages, delta: 10 } })
    await shop.admin.call('reserveUsage { reserved }', { input: { ...ofImages, amount: 5 } })
    stripe.refund(payment)
    await heard()
    expect(await credits()).toMatchObject([{ amount: 180, used: 120, reserved: 60 }])
    await shop.admin.data('mutation { updateFeature(id: "call", input: { costs: [] }) { id } }')
  })

  it('are restored when a dispute is won, and stay taken back when it is lost', async () => {
    await customers.access('END')
    const payment = await payAtStripe()
    await heard()
    const dispute = stripe.dispute(payment)
    await heard()
    expect(await amounts()).toEqual([{ amount: 0, used: 0, state: 'VOIDED' }])
    expect(await record(1)).toMatchObject({ recorded: false })
    stripe.decide(dispute, 'won')
    await heard()
    expect(await amounts()).toEqual([{ amount: 1000, used: 0, state: 'LIVE' }])
    expect(await record(1)).toMatchObject({ recorded: true })
  })

  it('that were refunded before they were added have no units', async () => {
    await customers.access('END')
    const payment = await payAtStripe()
    stripe.refund(payment)
    await heard()
    expect(await amounts()).toEqual([{ amount: 0, used: 0, state: 'VOIDED' }])
    const explained = await shop.admin.call('canUseFeature { access }', {
      userId: customers.user,
      featureId: 'call',
    })
    expect(explained.access).toBe(false)
  })

  it('pay first for usage that nothing has paid for', async () => {
    const { user: userId } = customers
    await shop.admin.call('addCredit { id }', { input: { userId, featureId: 'call', amount: 1 } })
    await shop.admin.call('recordUsage { recorded }', {
      input: { userId, featureId: 'call', action: 'SET', delta: 5 },
    })
    await payAtStripe()
    await heard()
    expect(await amounts()).toEqual([
      { amount: 1, used: 1, state: 'SPENT' },
      { amount: 1000, used: 4, state: 'LIVE' },
    ])
  })

  it('of a deleted user are gone with the user', async () => {
    const payment = await payAtStripe()
    await heard()
    await shop.admin.call('deleteUser { id }', { id: customers.user })
    stripe.refund(payment)
    await heard()
    const rows = await rowsOf(
      { connectionString: server.databaseUrl },
      'select provider_ref from credit where app_id = $1 and provider_ref = $2',
      [shop.id, payment],
    )
    expect(rows).toEqual([])
    expect((await shop.notices()).filter(({ state }) => state === 'FAILED')).toEqual([])
  })

  it('are reported to the caller if the link cannot be created', async () => {
    const forbidden = new Refusal(403, 'invalid_request_error', 'The key lacks a permission.')
    stripe.fail({ outage: { kind: 'refused', refusal: forbidden }, path: /checkout/ })
    const { errors } = await shop.admin.ask(LINK, linkVariables({ priceId: stripePrice }))
    expect(errors?.[0]?.message).toContain('stripe')
  })
})
