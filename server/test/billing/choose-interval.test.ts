import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../harness/axe.ts'
import { sharedBrowser } from '../harness/browser.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { jobsDone } from './jobs-done.ts'
import { GOOD_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'
import { NOTICES } from './stripe-shop.ts'

// Invariants: a link that asks its payer is paid at one of the prices it showed, chosen once; nothing is created at the
// provider before.

const SECRET = 'whsec_of_these_tests'
const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let unregister: () => void

beforeAll(async () => {
  shop = await openSandboxShop(server)
  await shop.price('plan', { id: 'yearly', amount: 12_000, currency: 'usd', interval: 'year' })
  await shop.price('plan', { id: 'euros', amount: 900, currency: 'eur', interval: 'week' })
  const [monthly] = await shop.dashboard.call('prices { id }', { packageId: 'plan' })
  await shop.makeDefault('sandbox', monthly.id)
  await shop.template('often', ['plan'], undefined, { choosesInterval: true })
  await shop.template('both-often', ['plan', 'extra'], undefined, { choosesInterval: true })
  await shop.useStripe(stripe, SECRET)
  unregister = stripe.register({
    urls: [`${server.url}/webhooks/stripe/${shop.id}`],
    secret: SECRET,
    types: NOTICES,
  })
})
afterAll(() => unregister())

const choose = (url: string, interval: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ interval }),
    redirect: 'manual',
  })
const leadsTo = (response: Response) => response.headers.get('refresh')?.replace('0; url=', '') ?? ''
const newUser = async (id: string) => {
  await shop.admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id })
  return id
}
const sandboxPages = () =>
  rowsOf({ connectionString: server.databaseUrl }, 'select id from sandbox_checkout where app_id = $1', [
    shop.id,
  ])

describe('gap: billing, a link whose payer chooses how often to pay', () => {
  it('shows the choices of its template', async () => {
    const choices = async (id: string) =>
      (await shop.dashboard.call(
        'billingTemplate { choosesInterval choices { interval prices { amount } } }',
        {
          id,
        },
      )) as Data
    expect(await choices('often')).toEqual({
      choosesInterval: true,
      choices: [
        { interval: 'month', prices: [{ amount: 1200 }] },
        { interval: 'year', prices: [{ amount: 12_000 }] },
      ],
    })
    // The add-on is sold by the month only, so there is nothing to choose.
    expect(await choices('both-often')).toEqual({ choosesInterval: true, choices: [] })
    expect((await choices('plan')).choosesInterval).toBe(false)
    expect(await (await fetch(await shop.link('both-often', await newUser('one')))).text()).toContain(
      '$14.00',
    )
  })

  it('asks on a page of its own, then sells at the chosen price in the sandbox', async () => {
    const user = await newUser('sandy')
    const before = await sandboxPages()
    const url = await shop.link('often', user)
    const page = await (await fetch(url)).text()
    for (const text of [
      '$12.00 per month',
      '$120.00 per year',
      '16% less than paying monthly',
      'Total today: $120.00',
    ])
      expect(page).toContain(text)
    expect(page).not.toContain('€')
    expect(await (await choose(url, 'week')).text()).toContain('Choose how often to pay')
    expect(await sandboxPages()).toEqual(before)

    const first = await choose(url, 'year')
    const payment = leadsTo(first)
    expect(payment).toMatch(/\/checkout\/cs_/)
    expect(await first.text()).toContain(payment)
    // Once: also if the page is opened again.
    expect(leadsTo(await choose(url, 'month'))).toBe(payment)
    expect(leadsTo(await fetch(url))).toBe(payment)
    await shop.submit(payment, { ...GOOD_CARD, email: 'a@example.com', name: '' })
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions(user)).toEqual(['plan ACTIVE'])
    const { rows } = await shop.dashboard.call('userPayments { rows { amount } }', { userId: user })
    expect(rows).toEqual([{ amount: 12_000 }])
  })

  it('asks before Stripe is asked for a payment page', async () => {
    const sold = (amount: number, interval: string) => stripe.sell({ name: 'Pro', amount, interval }).id
    const monthly = sold(3000, 'month')
    await shop.importPrice('pro', monthly)
    await shop.importPrice('pro', sold(30_000, 'year'))
    await shop.template('pro-often', ['pro'], [monthly], { choosesInterval: true })
    const user = await newUser('stripy')
    const url = await shop.link('pro-often', user)
    expect(await (await fetch(url)).text()).toContain('$300.00 per year')
    const session = stripe.pay(/cs_\w+/.exec(leadsTo(await choose(url, 'year')))?.[0] ?? '')
    expect(session.amount_total).toBe(30_000)
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions(user)).toEqual(['pro ACTIVE'])
  })

  it('is the same link under the same Idempotency-Key, ends after a day, and knows no other links', async () => {
    const user = await newUser('late')
    const url = await shop.link('often', user)
    const session = new URL(url).searchParams.get('session')
    for (const other of [url.replace(/session=.*/, 'session=ses_none'), url.replace(/app=[^&]*/, 'app=%00')])
      expect((await fetch(other)).status).toBe(404)
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update checkout_session set created_at = now() - interval '25 hours' where id = $1`,
      [session],
    )
    expect((await fetch(url)).status).toBe(410)
    expect((await choose(url, 'year')).status).toBe(410)
  })

  it('offers no price that was archived since', async () => {
    const url = await shop.link('often', await newUser('slow'))
    await shop.dashboard.call('archivePrice', { provider: 'sandbox', id: 'yearly', archived: true })
    expect(await (await fetch(url)).text()).not.toContain('per year')
    expect(await (await choose(url, 'year')).text()).toContain('Choose how often to pay')
    await shop.dashboard.call('archivePrice', { provider: 'sandbox', id: 'yearly', archived: false })
    expect(leadsTo(await choose(url, 'year'))).toMatch(/\/checkout\/cs_/)
  })

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('is chosen in a browser, %s', async (colorScheme, width) => {
    const browser = await sharedBrowser()
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    await page.goto(await shop.link('often', await newUser(`browser-${colorScheme}`)))
    expect(await violations(page)).toEqual([])
    if (process.env.LOOK) await page.screenshot({ path: `/tmp/choose-${colorScheme}.png` })
    await page.getByRole('button', { name: 'Pay yearly' }).click()
    await page.waitForURL(/\/checkout\/cs_/)
    await page.getByRole('button', { name: 'Pay $120.00' }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })
})
