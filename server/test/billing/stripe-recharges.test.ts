import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsPublished } from '../events/published.ts'
import { readEvents } from '../events/read-events.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import type { Behaviour } from '../stripe/world.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import { CANCEL, openSandboxShop, type SandboxShop, SUCCESS } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'
import { NOTICES } from './stripe-shop.ts'

// A charge is made once at Stripe, also if the answer is lost, and is one credit, however often it is reported.

const SECRET = 'whsec_of_these_tests'
const LINK = `mutation ($userId: String!, $priceId: String!, $saveCard: Boolean!) {
  generateCreditLink(userId: $userId, priceId: $priceId, saveCard: $saveCard, successUrl: "${SUCCESS}", cancelUrl: "${CANCEL}") { url }
}`
const SET = 'mutation ($input: AutoRechargeInput!) { setAutoRecharge(input: $input) { state spent } }'

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let customers: Customers
let unregister: () => void
let priceId: string

beforeAll(async () => {
  shop = await openSandboxShop(server)
  customers = new Customers(shop, server.databaseUrl)
  await shop.useStripe(stripe, SECRET)
  unregister = stripe.register({
    urls: [`${server.url}/webhooks/stripe/${shop.id}`],
    secret: SECRET,
    types: [...NOTICES, 'payment_intent.succeeded', 'payment_intent.payment_failed'],
  })
  priceId = stripe.sell({ name: 'Calls', amount: 500, interval: null }).id
  await shop.dashboard.data(
    `mutation ($appId: String!, $id: String!) {
      importPrice(appId: $appId, provider: "stripe", id: $id, credits: { featureId: "call", units: 100 }) { id }
    }`,
    { appId: shop.id, id: priceId },
  )
})
beforeEach(() => customers.next())
afterEach(() => stripe.fail(null))
afterAll(() => unregister())

async function heard(): Promise<void> {
  await stripe.deliver()
  await jobsDone(server.databaseUrl)
}

/** Buys a pack, and has the card saved. Returns the customer. */
async function saveCard(behaviour: Behaviour = 'pays', saved = true): Promise<string> {
  const { url } = (await shop.admin.data(LINK, { userId: customers.user, priceId, saveCard: saved }))
    .generateCreditLink
  const session = stripe.pay(/cs_\w+/.exec(url)?.[0] ?? '')
  const customer = String(session.customer)
  stripe.cardsBehave(customer, behaviour)
  await heard()
  return customer
}

const set = async (): Promise<Data> => {
  const input = { userId: customers.user, featureId: 'call', below: 150, upTo: 350, priceId }
  return (await shop.admin.data(SET, { input })).setAutoRecharge
}
const now = async (): Promise<Data> =>
  (await shop.admin.call('autoRecharges { state declines reason spent }', { userId: customers.user }))[0]
const amounts = async (): Promise<number[]> =>
  (await shop.admin.call('credits { amount }', { userId: customers.user })).map(({ amount }: Data) => amount)
const charged = async (): Promise<Data> => {
  await expect.poll(async () => (await now()).state, { timeout: 30_000 }).not.toBe('CHARGING')
  await jobsDone(server.databaseUrl)
  return now()
}
/** What the events of failed payments are about. */
const failures = async (): Promise<Data[]> => {
  await eventsPublished(server.databaseUrl)
  const { nodes } = await readEvents(shop.admin, { types: ['payment.failed'], userId: customers.user })
  return nodes.map(({ data: { object } }: Data) => {
    const { at, ...others } = object
    expect(Date.parse(at)).toBeGreaterThan(0)
    return others
  })
}
/** Charges that were paid at Stripe without the payer. */
const paidAt = (customer: string) =>
  [...stripe.world.paymentIntents.values()].filter(
    (one) => one.customer === customer && one.status === 'succeeded' && one.metadata.tollgate_recharge,
  )

describe('gap: an automatic recharge at Stripe', () => {
  it('charges the saved card once, however often the payment is reported', async () => {
    const customer = await saveCard()
    expect(await set()).toEqual({ state: 'CHARGING', spent: 1500 })
    expect(await charged()).toMatchObject({ state: 'ON', spent: 1500 })
    await heard()
    await shop.dashboard.call('reconcileBilling')
    await heard()
    expect(await amounts()).toEqual([100, 300])
    expect(paidAt(customer)).toMatchObject([
      { amount: 1500, currency: 'usd', description: 'call: 300 units' },
    ])
  })

  it('charges once if the answer is lost, and so is the notice', async () => {
    const customer = await saveCard()
    stripe.fail({
      outage: { kind: 'answer lost' },
      method: 'POST',
      path: /payment_intents/,
      // The SDK tries again once.
      times: 2,
    })
    await set()
    expect(await charged()).toMatchObject({ state: 'ON' })
    expect(await amounts()).toEqual([100, 300])
    expect(paidAt(customer)).toHaveLength(1)
    const keys = stripe.asked.filter(({ path, method }) => method === 'POST' && /payment_intents/.test(path))
    expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey)).size).toBeLessThan(keys.length)
    await heard()
    expect(await amounts()).toEqual([100, 300])
  })

  it('finds the payment if only the notice arrives', async () => {
    const customer = await saveCard()
    stripe.fail({ outage: { kind: 'answer lost' }, method: 'POST', path: /payment_intents/ })
    await set()
    await expect.poll(() => paidAt(customer).length, { timeout: 20_000 }).toBe(1)
    await stripe.deliver()
    expect(await charged()).toMatchObject({ state: 'ON' })
    expect(await amounts()).toEqual([100, 300])
  })

  it.each<[Behaviour, boolean, string, string]>([
    ['declines', true, 'WAITING', 'Your card was declined.'],
    ['stolen', true, 'OFF', 'Your card was declined.'],
    ['needs action', true, 'OFF', 'Your card was declined.'],
    ['pays', false, 'OFF', 'The user has no saved card.'],
  ])('stops with a card that %s (saved: %s)', async (behaviour, saved, state, reason) => {
    const customer = await saveCard(behaviour, saved)
    await set()
    expect(await charged()).toMatchObject({ state, reason, declines: 1, spent: 0 })
    await heard()
    expect(await now()).toMatchObject({ state, declines: 1 })
    const id = expect.stringMatching(/^ses_rcr_/)
    expect(await failures()).toEqual([
      {
        provider: 'stripe',
        id,
        subscriptionRef: id,
        userId: customers.user,
        amount: 1500,
        currency: 'usd',
        state: 'FAILED',
      },
    ])
    expect(await amounts()).toEqual([100])
    expect(paidAt(customer)).toEqual([])
  })

  it('follows refunds of the payment', async () => {
    await customers.access('END')
    const customer = await saveCard()
    await set()
    await charged()
    stripe.refund(paidAt(customer)[0]?.id ?? '', 500)
    await heard()
    expect(await amounts()).toEqual([100, 200])
    await customers.access('KEEP')
  })

  it('gives the money back if the user was deleted during the charge', async () => {
    const customer = await saveCard()
    const { user } = customers
    stripe.fail({
      outage: {
        kind: 'overtaken',
        by: async () =>
          void (await shop.admin.data('mutation ($id: String!) { deleteUser(id: $id) { id } }', {
            id: user,
          })),
      },
      method: 'POST',
      path: /payment_intents/,
      times: 1,
    })
    await set()
    await expect
      .poll(() => [...stripe.world.refunds.values()].filter((one) => one.customer === customer).length, {
        timeout: 20_000,
      })
      .toBe(1)
    await jobsDone(server.databaseUrl)
    const left = await rowsOf(
      { connectionString: server.databaseUrl },
      `select from recharge_attempt a where app_id = $1 and not exists (select from users u where u.app_id = a.app_id and u.uid = a.user_uid)`,
      [shop.id],
    )
    expect(left).toEqual([])
  })

  it('gives the money back if the user was deleted before a lost answer was asked for again', async () => {
    const customer = await saveCard()
    const { user } = customers
    stripe.fail({ outage: { kind: 'answer lost' }, path: /payment_intents/ })
    await set()
    await expect.poll(() => paidAt(customer).length, { timeout: 20_000 }).toBe(1)
    await shop.admin.data('mutation ($id: String!) { deleteUser(id: $id) { id } }', { id: user })
    stripe.fail(null)
    const refunds = () => [...stripe.world.refunds.values()].filter((one) => one.customer === customer)
    await expect.poll(() => refunds().map(({ amount }) => amount), { timeout: 60_000 }).toEqual([1500])
    await jobsDone(server.databaseUrl)
    expect(refunds()).toHaveLength(1)
  })
})
