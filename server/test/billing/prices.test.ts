import { beforeEach, describe, expect, it } from 'vitest'
import type { Client } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

const server = shared(startTestServer)
let shop: SandboxShop
beforeEach(async () => {
  shop = await openSandboxShop(server)
})

const PRICES = 'prices { id provider amount displayAmount currency interval }'
const shownTo = async (client: Client, id: string) =>
  (await client.data(`query ($id: String!) { package(id: $id) { ${PRICES} } }`, { id })).package.prices

describe('spec §2: Package.prices', () => {
  it('has every field, in the Admin API and for the user, at once', async () => {
    await shop.price('plan', { id: 'yearly', amount: 12_000, currency: 'EUR', interval: 'year' })
    const [monthly, yearly] = await shownTo(shop.admin, 'plan')
    expect(monthly).toMatchObject({
      provider: 'sandbox',
      amount: 1200,
      displayAmount: '12.00',
      interval: 'month',
    })
    expect(yearly).toEqual({
      id: 'yearly',
      provider: 'sandbox',
      amount: 12_000,
      displayAmount: '120.00',
      currency: 'eur',
      interval: 'year',
    })
    const generateUserToken = await shop.admin.call('generateUserToken { token }', { userId: 'ann' })
    const { data } = (await (
      await fetch(`${server.url}/client/graphql`, {
        method: 'POST',
        headers: { Authorization: generateUserToken.token, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query: `{ package(id: "plan") { ${PRICES} } }` }),
      })
    ).json()) as { data: { package: { prices: unknown[] } } }
    expect(data.package.prices).toEqual([monthly, yearly])
  })

  it('leaves out what is archived, and takes it back', async () => {
    const [price] = await shownTo(shop.admin, 'plan')
    const archive = async (archived: boolean) =>
      await shop.dashboard.call('archivePrice { id archivedAt }', {
        provider: 'sandbox',
        id: price.id,
        archived,
      })
    expect((await archive(true)).archivedAt).not.toBeNull()
    expect(await shownTo(shop.admin, 'plan')).toEqual([])
    const list = async (args: string) =>
      (await shop.dashboard.data(`{ prices(appId: "${shop.id}", packageId: "plan"${args}) { id } }`)).prices
    expect(await list('')).toEqual([])
    expect(await list(', includeArchived: true')).toEqual([{ id: price.id }])
    expect((await archive(false)).archivedAt).toBeNull()
    expect(await shownTo(shop.admin, 'plan')).toEqual([price])
  })

  const AMOUNTS = [
    ['jpy', 1200, '1200.00'],
    ['usd', 1200, '12.00'],
    ['usd', 5, '0.05'],
    ['kwd', 12_345, '12.35'],
    ['usd', 0, '0.00'],
  ] as const
  it.each(AMOUNTS)('gap: prices: %s %i is %s', async (currency, amount, displayAmount) => {
    expect(await shop.price('plan', { amount, currency })).toMatchObject({ displayAmount })
  })

  const REFUSED: [object, string, RegExp][] = [
    [{ provider: 'paypal' }, 'BAD_USER_INPUT', /provider must be one of sandbox, stripe/],
    [{ provider: 'stripe' }, 'BAD_USER_INPUT', /id must be the ID of a price at Stripe/],
    [{ currency: 'dollars' }, 'BAD_USER_INPUT', /currency must be/],
    [{ currency: 'zzz' }, 'BAD_USER_INPUT', /current ISO 4217 code.*"zzz"/],
    [{ interval: 'decade' }, 'BAD_USER_INPUT', /interval must be one of/],
    [{ id: 'taken' }, 'BAD_USER_INPUT', /"taken" at the sandbox is already in use/],
  ]
  it.each(REFUSED)('gap: prices: %j is refused', async (change, code, says) => {
    await shop.price('pro', { id: 'taken', amount: 1, currency: 'usd' })
    const { message, extensions } = await shop.dashboard.error(
      `mutation ($appId: String!, $input: CreatePriceInput!) {
        createPrice(appId: $appId, packageId: "plan", input: $input) { id }
      }`,
      { appId: shop.id, input: { amount: 1, currency: 'usd', ...change } },
    )
    expect(extensions.code).toBe(code)
    expect(message).toMatch(says)
  })

  it('gap: prices: belong to a package that there is', async () => {
    const { extensions } = await shop.dashboard.error(
      `mutation { createPrice(appId: "${shop.id}", packageId: "none", input: { amount: 1, currency: "usd" }) { id } }`,
    )
    expect(extensions.code).toBe('PACKAGE_NOT_FOUND')
  })
})

describe('gap: prices: the default of a package', () => {
  const DEFAULTS = 'query ($appId: String!) { prices(appId: $appId, packageId: "plan") { id isDefault } }'
  const defaults = async (): Promise<string[]> => {
    const { prices } = await shop.dashboard.data(DEFAULTS, { appId: shop.id })
    return prices.flatMap(({ id, isDefault }: { id: string; isDefault: boolean }) => (isDefault ? [id] : []))
  }
  /** What a link of a template that names no price would charge. */
  const charged = async (): Promise<string> =>
    (await shop.dashboard.call('billingTemplate { prices { id } }', { id: 'unnamed' })).prices[0]?.id
  const make = (id: string) =>
    shop.dashboard.call('setDefaultPrice { id isDefault }', { provider: 'sandbox', id })
  const archive = (id: string, archived: boolean) =>
    shop.dashboard.call('archivePrice { isDefault }', { provider: 'sandbox', id, archived })
  const add = (id: string, interval: string) =>
    shop.dashboard.call('createPrice { id }', {
      packageId: 'plan',
      input: { id, amount: 900, currency: 'usd', interval },
    })
  let monthly: string
  beforeEach(async () => {
    await shop.template('unnamed', ['plan'])
    monthly = (await shopPrices())[0] ?? ''
  })
  const shopPrices = async (): Promise<string[]> =>
    (await shop.dashboard.data(DEFAULTS, { appId: shop.id })).prices.map(({ id }: { id: string }) => id)

  it('is the first one, until another one is made it', async () => {
    await add('yearly', 'year')
    expect([await defaults(), await charged()]).toEqual([[monthly], monthly])
    expect(await make('yearly')).toEqual({ id: 'yearly', isDefault: true })
    expect([await defaults(), await charged()]).toEqual([['yearly'], 'yearly'])
    await add('weekly', 'week')
    expect([await defaults(), await charged()]).toEqual([['yearly'], 'yearly'])
  })

  it('is the newest other one once it is archived, and stays so when it is restored', async () => {
    await add('yearly', 'year')
    await add('weekly', 'week')
    expect(await archive(monthly, true)).toEqual({ isDefault: false })
    expect([await defaults(), await charged()]).toEqual([['weekly'], 'weekly'])
    await archive(monthly, false)
    expect(await defaults()).toEqual(['weekly'])
    for (const id of ['yearly', 'weekly', monthly]) await archive(id, true)
    expect(await defaults()).toEqual([])
    await archive('yearly', false)
    expect([await defaults(), await charged()]).toEqual([['yearly'], 'yearly'])
  })

  it('is neither archived, nor of credits, nor unknown', async () => {
    await add('old', 'year')
    await archive('old', true)
    await shop.dashboard.data(
      `mutation { createPrice(appId: "${shop.id}", input: { id: "pack", amount: 900, currency: "usd",
        credits: { featureId: "call", units: 5 } }) { id } }`,
    )
    const refused = (id: string) =>
      shop.dashboard.error(
        `mutation { setDefaultPrice(appId: "${shop.id}", provider: "sandbox", id: "${id}") { id } }`,
      )
    expect(await refused('old')).toMatchObject({
      message: 'The price "old" is archived. Restore it before making it the default.',
      extensions: { code: 'BAD_USER_INPUT', field: 'id' },
    })
    expect(await refused('pack')).toMatchObject({
      message: expect.stringContaining('sells credits'),
      extensions: { code: 'BAD_USER_INPUT', field: 'id' },
    })
    for (const id of ['none', ' '])
      expect(await refused(id)).toMatchObject({ extensions: { code: 'PRICE_NOT_FOUND' } })
  })
})

describe('spec §4 mutation rule 6: billing templates', () => {
  const create = (input: object) =>
    shop.dashboard.ask(
      `mutation ($appId: String!, $input: CreateBillingTemplateInput!) {
        createBillingTemplate(appId: $appId, input: $input) {
          id name problem provider archivedAt packages { id } prices { id displayAmount }
        }
      }`,
      { appId: shop.id, input: { id: 'new', name: 'New', ...input } },
    )

  it('link packages to their default prices, or to chosen ones', async () => {
    await shop.price('plan', { id: 'later', amount: 1500, currency: 'usd', interval: 'month' })
    await shop.price('plan', { id: 'yearly', amount: 9900, currency: 'usd', interval: 'year' })
    const { data } = await create({ packageIds: ['plan', 'extra'], priceIds: ['later'] })
    expect(data?.createBillingTemplate).toMatchObject({
      problem: null,
      provider: 'sandbox',
      packages: [{ id: 'plan' }, { id: 'extra' }],
      prices: [{ id: 'later', displayAmount: '15.00' }, { displayAmount: '2.00' }],
    })
    const unnamed = await create({ id: 'unnamed', packageIds: ['plan'] })
    expect(unnamed.data?.createBillingTemplate.prices).toEqual([{ id: 'yearly', displayAmount: '99.00' }])
  })

  const REFUSED: [object, string, RegExp][] = [
    [{ packageIds: [] }, 'BAD_USER_INPUT', /at least one package/],
    [{ packageIds: ['plan', 'pro'] }, 'BAD_USER_INPUT', /Cannot subscribe to multiple tiers/],
    [{ packageIds: ['plan', 'none'] }, 'PACKAGE_NOT_FOUND', /"none"/],
    [{ packageIds: ['plan', 'extra', 'extra'] }, 'BAD_USER_INPUT', /a package twice/],
    [{ packageIds: ['plan'], priceIds: ['nothing'] }, 'BAD_USER_INPUT', /"nothing" is not a live price/],
    [{ packageIds: ['plan'], id: 'pro' }, 'BAD_USER_INPUT', /already exists/],
    [{ packageIds: ['plan'], id: '' }, 'BAD_USER_INPUT', /id must be/],
  ]
  it.each(REFUSED)('gap: templates: %j is refused', async (input, code, says) => {
    const { errors } = await create(input)
    expect(errors).toHaveLength(1)
    expect(errors?.[0]?.extensions.code).toBe(code)
    expect(errors?.[0]?.message).toMatch(says)
  })

  it('gap: templates: are listed oldest first, archived ones when asked for', async () => {
    const list = async (args = '') =>
      (
        await shop.dashboard.data(`{ billingTemplates(appId: "${shop.id}"${args}) { id } }`)
      ).billingTemplates.map(({ id }: { id: string }) => id)
    await shop.dashboard.data(`mutation { archiveBillingTemplate(appId: "${shop.id}", id: "pro") { id } }`)
    expect(await list()).toEqual(['plan', 'extra', 'life', 'both'])
    expect(await list(', includeArchived: true')).toEqual(['plan', 'pro', 'extra', 'life', 'both'])
  })

  it('gap: templates: of another app are not found', async () => {
    const other = await openSandboxShop(server)
    await other.template('theirs', ['plan'])
    expect((await shop.linkError('theirs')).extensions.code).toBe('SUBSCRIPTION_LINK_ERROR')
    const { extensions } = await shop.dashboard.error(
      `{ billingTemplate(appId: "${shop.id}", id: "theirs") { id } }`,
    )
    expect(extensions.code).toBe('TEMPLATE_NOT_FOUND')
  })
})
