import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { DESK, PHONE, turn } from './harness/every-page.ts'
import { furnish } from './harness/furnish.ts'

const GOOD = '4242 4242 4242 4242'
const STOLEN = '4000 0000 0000 9979'
const WITHOUT_FUNDS = '4000 0000 0000 0341'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  const { admin, dashboard: api } = dashboard.server
  await api.data(`mutation {
    createPrice(appId: "default", input: {
      id: "pack", amount: 2000, currency: "usd", credits: { featureId: "calls", units: 10000 } }) { id }
  }`)
  await admin.data(
    'mutation { eve: createUser(input: { id: "eve" }) { id } sam: createUser(input: { id: "sam" }) { id } }',
  )
  visit = await dashboard.signedIn(undefined, { viewport: DESK })
})

const rules = async (userId: string) =>
  (
    await dashboard.server.admin.data(
      `query ($userId: String!) { autoRecharges(userId: $userId) { below upTo maxSpendPerPeriod spent state } }`,
      { userId },
    )
  ).autoRecharges
const balance = async (userId: string): Promise<number> => {
  const { credits } = await dashboard.server.admin.data(
    'query ($userId: String!) { credits(userId: $userId) { amount used } }',
    { userId },
  )
  return credits.reduce(
    (sum: number, one: { amount: number; used: number }) => sum + one.amount - one.used,
    0,
  )
}

/** Pays on the sandbox's page. */
async function pay(url: string, number: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ action: 'pay', number, expiry: '12/99', cvc: '123', email: '', name: '' }),
    redirect: 'manual',
  })
  expect(response.status).toBe(303)
  await jobsDone(dashboard.server.databaseUrl)
}

/** A pack that the user buys, with a card that is saved. */
async function saveCard(userId: string, number: string): Promise<void> {
  const { generateCreditLink } = await dashboard.server.admin.data(
    `mutation ($userId: String!) { generateCreditLink(userId: $userId, priceId: "pack", saveCard: true,
      successUrl: "https://a.example", cancelUrl: "https://b.example") { url } }`,
    { userId },
  )
  await pay(generateCreditLink.url, number)
}

const row = () => visit.page.getByRole('table', { name: 'Automatic recharges' }).locator('tbody tr')
const dialog = () => visit.page.getByRole('dialog')

describe('gap: the automatic recharges of a user in the dashboard', () => {
  it('say what is charged at once, ask for a saved card, and show what was charged', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/users/bob?tab=credits')
    await page.getByRole('button', { name: 'Set up a recharge' }).click()
    await dialog().getByLabel('Buy when fewer units are left than').fill('5000')
    await dialog().getByLabel('Buy up to').fill('4000')
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
    await dialog().getByText('This must be at least the number above.').waitFor()
    await dialog().getByLabel('Buy up to').fill('20000')
    await dialog().getByText('Charges $40.00 now: 2 packs of 10,000 calls. 0 calls left.').waitFor()
    await dialog().getByText('A saved card is needed').waitFor()
    expect(await violations(page)).toEqual([])

    expect(await dialog().getByLabel('Save the card for automatic recharges').isChecked()).toBe(true)
    await dialog().getByRole('button', { name: 'Create link' }).click()
    const url = await dialog().getByRole('link', { name: 'Open the payment page' }).getAttribute('href')
    await pay(url ?? '', GOOD)
    expect(await rules('bob')).toEqual([])

    await open('/apps/default/users/bob?tab=credits')
    await page.getByRole('button', { name: 'Set up a recharge' }).click()
    await dialog().getByLabel('Buy when fewer units are left than').fill('5000')
    await dialog().getByLabel('Buy up to').fill('20000')
    await dialog().getByText('Charges nothing now. 10,000 calls left.').waitFor()
    await dialog().getByText("Charged to the user's saved card (Sandbox).").waitFor()
    await dialog().getByLabel('Buy when fewer units are left than').fill('15000')
    await dialog().getByLabel('Buy up to').fill('30000')
    await dialog().getByText('Charges $40.00 now: 2 packs of 10,000 calls. 10,000 calls left.').waitFor()
    await dialog().getByLabel('At most per month in USD').fill('30')
    await dialog().getByText('Charges $20.00 now: 1 pack of 10,000 calls.').waitFor()
    await dialog().getByLabel('At most per month in USD').fill('100')
    await dialog().getByRole('button', { name: 'Save and charge $40.00' }).click()
    await row().getByText('On', { exact: true }).waitFor()
    await row().getByText('below 15,000, up to 30,000').waitFor()
    await row().getByText('packs of 10,000 calls for $20.00').waitFor()
    await row().getByText('$40.00 of at most $100.00').waitFor()
    await row().getByText('$40.00 paid').waitFor()
    await page.getByText('API calls: 30,000 calls left').waitFor()
    expect(await balance('bob')).toBe(30_000)
    expect(await rules('bob')).toEqual([
      { below: 15_000, upTo: 30_000, maxSpendPerPeriod: 10_000, spent: 4_000, state: 'ON' },
    ])

    await page.getByRole('button', { name: /^Change: the automatic recharge of API calls/ }).click()
    expect(await dialog().getByLabel('At most per month in USD').inputValue()).toBe('100.00')
    await dialog().getByLabel('At most per month in USD').fill('')
    await dialog().getByText('Charges nothing now. 30,000 calls left.').waitFor()
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
    await row().getByText('$40.00, no limit').waitFor()
    await page.getByRole('button', { name: 'Remove the automatic recharge of API calls' }).click()
    await dialog().getByText('No more credits are bought automatically.').waitFor()
    await dialog().getByRole('button', { name: 'Remove the recharge' }).click()
    await row().waitFor({ state: 'detached' })
    expect(await rules('bob')).toEqual([])
    expect(problems).toEqual([])
  })

  it('show why one turned itself off, and turn it on again after saying what that charges', async () => {
    const { page, open, problems } = visit
    await saveCard('eve', STOLEN)
    await dashboard.server.admin.data(`mutation { setAutoRecharge(input: {
      userId: "eve", featureId: "calls", below: 20000, upTo: 20000, priceId: "pack" }) { state } }`)
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/eve?tab=credits')
    await row().getByText('Off', { exact: true }).waitFor()
    await row().getByText('The card was declined: it was reported stolen.').waitFor()
    await row().getByText('$20.00 declined').waitFor()
    await row().getByText('$0.00, no limit').waitFor()
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport)
      for (const scheme of ['dark', 'light'] as const) {
        await turn(page, scheme)
        expect(await violations(page)).toEqual([])
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    }
    await saveCard('eve', GOOD)
    await dashboard.server.admin.data(
      'mutation { recordUsage(input: { userId: "eve", featureId: "calls", delta: 5000 }) { recorded } }',
    )
    await page.getByRole('button', { name: /^Turn on again: the automatic recharge of API calls/ }).click()
    await dialog().getByText('Charges $20.00 now: 1 pack of 10,000 calls. 15,000 calls left.').waitFor()
    expect(await violations(page)).toEqual([])
    await page.setViewportSize(DESK)
    await dialog().getByRole('button', { name: 'Turn on and charge $20.00' }).click()
    await row().getByText('On', { exact: true }).waitFor()
    await row().getByText('$20.00 paid').waitFor()
    expect(await balance('eve')).toBe(25_000)
    expect(problems).toEqual([])
  })

  it('show when a declined one is tried next', async () => {
    const { page, open } = visit
    await saveCard('sam', WITHOUT_FUNDS)
    await dashboard.server.admin.data(`mutation { setAutoRecharge(input: {
      userId: "sam", featureId: "calls", below: 20000, upTo: 20000, priceId: "pack" }) { state } }`)
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/sam?tab=credits')
    await row().getByText('Waiting', { exact: true }).waitFor()
    await row().getByText('The card was declined: insufficient funds.').waitFor()
    await row()
      .getByText(/^Next attempt /)
      .waitFor()
    await page.getByRole('button', { name: /^Change: the automatic recharge/ }).click()
    await dialog()
      .getByText(/^Charges nothing now. The card was declined: insufficient funds. 10,000/)
      .waitFor()
  })
})
