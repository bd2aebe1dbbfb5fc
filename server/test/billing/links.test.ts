import { beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'

// generateSubscriptionLink: what it refuses says what to do, and one request makes one link.

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
beforeEach(async () => {
  stripe.fail(null)
  shop = await openSandboxShop(server)
})

const setStripe = (secretKey: string) =>
  shop.dashboard.data(
    `mutation ($appId: String!, $input: ProviderAccountInput!) {
      setProviderAccount(appId: $appId, provider: "stripe", input: $input) { enabled }
    }`,
    { appId: shop.id, input: { secretKey } },
  )

/** A template whose price Stripe charges. */
async function sellAtStripe(priceId = stripe.sell({ name: 'Plan', amount: 1200 }).id): Promise<void> {
  await shop.price('pro', {
    provider: 'stripe',
    id: priceId,
    amount: 1200,
    currency: 'usd',
    interval: 'month',
  })
  await shop.template('at-stripe', ['pro'])
}

interface Refusal {
  when: string
  template: string
  before?(): Promise<unknown>
  says: RegExp
}

const run = (mutation: string) => () =>
  shop.dashboard.data(`mutation { ${mutation.replaceAll('APP', shop.id)} }`)

const REFUSALS: Refusal[] = [
  {
    when: 'there is no such template',
    template: 'nothing',
    says: /template not found: "nothing".*Create one/,
  },
  { when: 'the template is a lone surrogate', template: '\ud800', says: /template not found/ },
  {
    when: 'the template is archived',
    template: 'plan',
    before: run('archiveBillingTemplate(appId: "APP", id: "plan") { id }'),
    says: /is archived\. Restore it/,
  },
  {
    when: 'its package has no price',
    template: 'free',
    before: async () => {
      await shop.admin.data('mutation { createPackage(input: { id: "free", name: "Free" }) { id } }')
      await run('publishPackage(appId: "APP", id: "free") { id }')()
      await shop.template('free', ['free'])
    },
    says: /package "free" has no price\. Create one/,
  },
  {
    when: 'its package is a draft',
    template: 'draft',
    before: async () => {
      await shop.admin.data('mutation { createPackage(input: { id: "draft", name: "Draft" }) { id } }')
      await shop.price('draft', { amount: 1, currency: 'usd' })
      await shop.template('draft', ['draft'])
    },
    says: /package "draft" is not published\. Publish it/,
  },
  {
    when: 'the prices of its packages differ in currency',
    template: 'both',
    before: () => shop.price('extra', { amount: 1, currency: 'eur', interval: 'month' }),
    says: /price of "extra" is in eur, but the price of "plan" in usd\. Choose matching prices/,
  },
  {
    when: 'they differ in interval',
    template: 'both',
    before: () => shop.price('extra', { amount: 1, currency: 'usd', interval: 'year' }),
    says: /price of "extra" is charged every year, but the price of "plan" every month/,
  },
  {
    when: 'the sandbox is turned off',
    template: 'plan',
    before: run(
      'setProviderAccount(appId: "APP", provider: "sandbox", input: { enabled: false }) { enabled }',
    ),
    says: /sandbox is not enabled for this app\. Set it up/,
  },
  {
    when: 'Stripe is not set up',
    template: 'at-stripe',
    before: () => sellAtStripe(),
    says: /Stripe is not enabled/,
  },
  {
    when: 'Stripe does not accept the key',
    template: 'at-stripe',
    before: async () => {
      await setStripe('sk_test_wrong_key')
      await sellAtStripe()
    },
    says: /stripe rejected the request: the secret key is not valid; set another one/,
  },
  {
    when: 'Stripe knows no such price',
    template: 'at-stripe',
    before: async () => {
      await setStripe(stripe.key)
      await sellAtStripe('price_unknown')
    },
    says: /stripe rejected the request: .*price_unknown/,
  },
  {
    when: 'Stripe cannot be reached',
    template: 'at-stripe',
    before: async () => {
      await setStripe(stripe.key)
      await sellAtStripe()
      stripe.fail({ outage: { kind: 'unreachable' } })
    },
    says: /stripe is unreachable; retry/,
  },
]

describe('spec §4 mutation rule 6: a SubscriptionLinkError says what to do', () => {
  it.each(REFUSALS)('when $when', async ({ template, before, says }) => {
    await before?.()
    const { message, extensions } = await shop.linkError(template)
    expect(extensions).toEqual({
      code: 'SUBSCRIPTION_LINK_ERROR',
      type: 'SubscriptionLinkError',
      status: 400,
    })
    expect(message).toMatch(says)
  })

  it('and the dashboard says it of a template before anybody asks for a link', async () => {
    await shop.price('extra', { amount: 1, currency: 'eur', interval: 'month' })
    const shown = await shop.dashboard.call('billingTemplate { problem provider }', { id: 'both' })
    expect(shown).toMatchObject({ problem: expect.stringMatching(/in eur/), provider: null })
  })
})

describe('gap: idempotency, of payment links', () => {
  const QUERY = `mutation { generateSubscriptionLink(
    userId: "ann", templateId: "plan", successUrl: "https://a.example", cancelUrl: "https://b.example") { url } }`
  const sessions = async () =>
    (
      await rowsOf(
        { connectionString: server.databaseUrl },
        'select from checkout_session where app_id = $1',
        [shop.id],
      )
    ).length

  it('the same request gets the same link, another one another', async () => {
    const keyed = shop.admin.with({ 'Idempotency-Key': 'once' })
    const links = await Promise.all(Array.from({ length: 5 }, () => keyed.data(QUERY)))
    expect(new Set(links.map((link) => link.generateSubscriptionLink.url)).size).toBe(1)
    expect(await sessions()).toBe(1)
    const { generateSubscriptionLink } = await shop.admin.data(QUERY)
    expect(generateSubscriptionLink.url).not.toBe(links[0]?.generateSubscriptionLink.url)
    expect(await sessions()).toBe(2)
  })

  it('a request that the provider could not answer is answered when it comes again', async () => {
    await setStripe(stripe.key)
    await sellAtStripe()
    const keyed = shop.admin.with({ 'Idempotency-Key': 'again' })
    const query = QUERY.replace('"plan"', '"at-stripe"')
    stripe.fail({ outage: { kind: 'unreachable' } })
    expect((await keyed.error(query)).extensions.code).toBe('SUBSCRIPTION_LINK_ERROR')
    stripe.fail(null)
    const first = await keyed.data(query)
    expect(await keyed.data(query)).toEqual(first)
    expect(await sessions()).toBe(1)
  })

  it('a link that the provider never answered for is closed after a day, by reconciliation', async () => {
    await setStripe(stripe.key)
    await sellAtStripe()
    const keyed = shop.admin.with({ 'Idempotency-Key': 'never' })
    const query = QUERY.replace('"plan"', '"at-stripe"')
    stripe.fail({ outage: { kind: 'unreachable' } })
    await keyed.error(query)
    await shop.linkError('at-stripe')
    stripe.fail(null)
    await shop.link('at-stripe')
    const states = async () => {
      await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
      const rows = await rowsOf<{ state: string }>(
        { connectionString: server.databaseUrl },
        'select state from checkout_session where app_id = $1 order by created_at',
        [shop.id],
      )
      return rows.map(({ state }) => state)
    }
    const age = (hours: number, first: number) =>
      rowsOf(
        { connectionString: server.databaseUrl },
        `update checkout_session set created_at = created_at - make_interval(hours => $2)
         where id in (select id from checkout_session where app_id = $1 order by created_at limit $3)`,
        [shop.id, hours, first],
      )
    await age(24, 3)
    expect(await states()).toEqual(['OPEN', 'OPEN', 'OPEN'])
    await age(2, 1)
    expect(await states()).toEqual(['EXPIRED', 'OPEN', 'OPEN'])
    await age(2, 3)
    expect(await states()).toEqual(['EXPIRED', 'EXPIRED', 'OPEN'])
    expect(await keyed.error(query)).toMatchObject({
      message: expect.stringMatching(/could not be created at .*\. Generate a new one/),
      extensions: { code: 'SUBSCRIPTION_LINK_ERROR' },
    })
  })
})
