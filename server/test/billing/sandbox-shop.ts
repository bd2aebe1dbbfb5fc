import { newTestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import type { TestServer } from '../harness/server.ts'
import { jobsDone } from './jobs-done.ts'

export const SUCCESS = 'https://shop.example/paid'
export const CANCEL = 'https://shop.example/back'

export const GOOD_CARD = { number: '4242 4242 4242 4242', expiry: '12/99', cvc: '123' }
export const DECLINED_CARD = { ...GOOD_CARD, number: '4000 0000 0000 0002' }
export const FAILING_CARD = { ...GOOD_CARD, number: '4000000000000341' }

/**
 * An app that sells: `plan` (grants 10 calls) for 12.00 a month, `pro` (100 calls) for 30.00 a month, the add-on `extra`
 * (5 calls) for 2.00 a month and `life` for 99.00 once, each with a template of its name; `both` is plan and extra.
 */
export type SandboxShop = Awaited<ReturnType<typeof openSandboxShop>>

export async function openSandboxShop(server: TestServer, options: { testClock?: boolean } = {}) {
  const app = await newTestApp(server, options)
  const { id, admin, dashboard } = app
  await admin.data(CATALOGUE)
  await dashboard.data(ON_SALE, { appId: id })

  const shop = {
    ...app,

    /** A new price, which templates that name none use from now on. */
    async price(packageId: string, input: Data): Promise<Data> {
      const price = await dashboard.call('createPrice { id displayAmount }', { packageId, input })
      await shop.makeDefault(input.provider ?? 'sandbox', price.id)
      return price
    },

    async makeDefault(provider: string, priceId: string): Promise<void> {
      await dashboard.call('setDefaultPrice { id }', { provider, id: priceId })
    },

    /** Takes the first price of a package off sale; returns its id. */
    async archivePrice(packageId: string): Promise<string> {
      const prices = await dashboard.call('prices { id }', { packageId })
      await dashboard.call('archivePrice', {
        provider: 'sandbox',
        id: prices[0].id,
        archived: true,
      })
      return prices[0].id
    },

    /** Sells a package at a price of Stripe from now on. */
    async importPrice(packageId: string, priceId: string): Promise<void> {
      await dashboard.call('importPrice', { packageId, provider: 'stripe', id: priceId })
      await shop.makeDefault('stripe', priceId)
    },

    /** Takes payments at Stripe too. */
    async useStripe({ key }: { key: string }, webhookSecret: string): Promise<void> {
      const input = { secretKey: key, webhookSecret }
      await dashboard.call('setProviderAccount', { provider: 'stripe', input })
    },

    async template(
      templateId: string,
      packageIds: string[],
      priceIds?: string[],
      terms: Data = {},
    ): Promise<void> {
      await dashboard.call('createBillingTemplate', {
        input: { id: templateId, name: templateId, packageIds, ...(priceIds && { priceIds }), ...terms },
      })
    },

    /** The page of a new payment link. */
    async link(templateId: string, userId: string | null = 'ann'): Promise<string> {
      const { generateSubscriptionLink } = await admin.data(LINK, variables(templateId, userId))
      return generateSubscriptionLink.url
    },

    async linkError(templateId: string, userId: string | null = 'ann') {
      return admin.error(LINK, variables(templateId, userId))
    },

    /** What the page answers to what a payer has entered. */
    submit(url: string, entry: Record<string, string>): Promise<Response> {
      return fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ action: 'pay', ...entry }),
        redirect: 'manual',
      })
    },

    /** Pays for a template and waits until all that follows from it has happened. */
    async buy(templateId: string, userId: string | null = 'ann', card = GOOD_CARD): Promise<void> {
      const response = await shop.submit(await shop.link(templateId, userId), {
        ...card,
        email: 'payer@example.com',
        name: 'Pat Payer',
      })
      if (response.status !== 303) throw new Error(`not paid: ${response.status} ${await response.text()}`)
      await jobsDone(server.databaseUrl)
    },

    /** Subscriptions as `package status`, oldest first. */
    async subscriptions(userId = 'ann'): Promise<string[]> {
      const subscriptions = await admin.call('subscriptions { package { id } status }', { userId })
      return subscriptions.map((s: Data) => `${s.package.id} ${s.status}`)
    },

    /** With what the dashboard knows of their billing. */
    async billed(userId = 'ann'): Promise<Data[]> {
      return admin.call('subscriptions { id status startedAt cancelAt cancelledAt package { id } }', {
        userId,
      })
    },

    async canUse(userId = 'ann'): Promise<Data> {
      return admin.call('canUseFeature { access reasonCode consumption { budget } }', {
        userId,
        featureId: 'call',
      })
    },

    async advance(to: string): Promise<void> {
      await dashboard.call('advanceClock', { to })
      await jobsDone(server.databaseUrl)
    },

    async cancel(subscriptionId: string, atPeriodEnd: boolean): Promise<Data> {
      const cancelSubscription = await dashboard.call(
        'cancelSubscription { status cancelAt billing { provider ref status paidUntil } }',
        { id: subscriptionId, atPeriodEnd },
      )
      await jobsDone(server.databaseUrl)
      return cancelSubscription
    },

    async keep(subscriptionId: string): Promise<Data> {
      const keepSubscription = await dashboard.call('keepSubscription { status cancelAt }', {
        id: subscriptionId,
      })
      await jobsDone(server.databaseUrl)
      return keepSubscription
    },

    async notices(fields = 'id type state lastError attempts'): Promise<Data[]> {
      const { notices } = await dashboard.data(`query ($id: String!) { notices(appId: $id) { ${fields} } }`, {
        id,
      })
      return notices
    },
  }
  return shop
}

const SOLD = [
  { id: 'plan', calls: 10, price: 'amount: 1200, interval: "month"' },
  { id: 'pro', calls: 100, price: 'amount: 3000, interval: "month"' },
  { id: 'extra', calls: 5, price: 'amount: 200, interval: "month"' },
  { id: 'life', calls: 7, price: 'amount: 9900, interval: null' },
]

// One request for each API: most tests open a shop of their own.
const CATALOGUE = `mutation {
  createFeature(input: { id: "call", name: "call", type: CONSUMABLE }) { id }
  ${SOLD.map(
    ({ id, calls }) => `${id}: createPackage(input: {
      id: "${id}", name: "${id}", isAddon: ${id === 'extra'}, features: [{ id: "call", entitlement: { limit: ${calls} } }]
    }) { id }`,
  ).join('\n')}
  createUser(input: { id: "ann", email: "ann@example.com" }) { id }
}`

const template = (id: string, packages: string) =>
  `${id}_template: createBillingTemplate(appId: $appId, input: { id: "${id}", name: "${id}", packageIds: ${packages} }) { id }`

const ON_SALE = `mutation ($appId: String!) {
  ${SOLD.map(
    ({ id, price }) => `${id}: publishPackage(appId: $appId, id: "${id}") { id }
    ${id}_price: createPrice(appId: $appId, packageId: "${id}", input: { ${price}, currency: "usd" }) { id }
    ${template(id, `["${id}"]`)}`,
  ).join('\n')}
  ${template('both', '["plan", "extra"]')}
}`

const LINK = `mutation ($userId: String, $templateId: String!, $successUrl: String!, $cancelUrl: String!) {
  generateSubscriptionLink(userId: $userId, templateId: $templateId, successUrl: $successUrl, cancelUrl: $cancelUrl) {
    url
  }
}`

const variables = (templateId: string, userId: string | null) => ({
  templateId,
  userId,
  successUrl: SUCCESS,
  cancelUrl: CANCEL,
})
