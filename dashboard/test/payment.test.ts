import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  await furnish(dashboard.server)
  await dashboard.server.admin.data(
    'mutation { createUser(input: {id: "eve", name: "Eve", email: "eve@example.com"}) { id } }',
  )
  visit = await dashboard.signedIn()
})
afterAll(() => dashboard?.close())

describe('spec §4 mutation rule 6: a payment link, from the dashboard', () => {
  it('goes from a price and a template to a paid subscription', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/packages/basic?tab=prices')
    await page.getByRole('button', { name: 'Add price' }).click()
    await page.getByRole('dialog').getByLabel('Amount').fill('1200')
    await page.getByRole('dialog').getByRole('button', { name: 'Add price' }).click()
    await page.getByRole('table', { name: 'Prices' }).getByText('12.00').waitFor()

    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'New template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Basic by card')
    await dialog.getByRole('combobox', { name: 'Packages' }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('ready, sandbox').waitFor()

    await page.getByRole('button', { name: 'Test link of Basic by card' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('eve')
    await page.getByRole('dialog').getByRole('button', { name: 'Make a link' }).click()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the payment page' }).click()
    const checkout = await opened
    await checkout.getByLabel('Card number').fill('4242 4242 4242 4242')
    await checkout.getByLabel('Expires (MM/YY)').fill('12/60')
    await checkout.getByLabel('Security code').fill('123')
    await checkout.getByRole('button', { name: /^Pay/ }).click()
    await checkout.waitForURL(`${dashboard.server.url}/apps/default/subscriptions`)
    await checkout.getByRole('heading', { name: 'Subscriptions' }).waitFor()

    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/eve?tab=subscriptions')
    const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Basic\s+Active\b[\s\S]*sandbox: active/),
    ])
    await open('/apps/default/billing?tab=notices')
    expect(await page.getByRole('table', { name: 'Notices' }).locator('tbody tr').count()).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })

  it('sells a trial without a card', async () => {
    const { page, open, problems } = visit
    await dashboard.server.admin.data('mutation { createUser(input: {id: "tom"}) { id } }')
    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'New template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Basic, to try')
    await dialog.getByRole('combobox', { name: 'Packages' }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await page.keyboard.press('Tab')
    await dialog.getByLabel('Free trial, in days').fill('14')
    await dialog.getByLabel('Ask for a card when the trial starts').uncheck()
    await dialog.getByLabel('Allow promotion codes').check()
    await dialog.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('14-day trial without a card, promotion codes').waitFor()

    await page.getByRole('button', { name: 'Test link of Basic, to try' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('tom')
    await page.getByRole('dialog').getByRole('button', { name: 'Make a link' }).click()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the payment page' }).click()
    const checkout = await opened
    await checkout.getByRole('heading', { name: '14 days free' }).waitFor()
    expect(await checkout.getByLabel('Card number').count()).toBe(0)
    await checkout.getByRole('button', { name: 'Start the trial' }).click()
    await checkout.waitForURL(`${dashboard.server.url}/apps/default/subscriptions`)
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/tom?tab=subscriptions')
    const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Basic\s+Trial until\b[\s\S]*sandbox: trialing, until/),
    ])
    expect(problems).toEqual([])
  })

  it('says on the form why there is no link', async () => {
    const { page, open } = visit
    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'Test link of Basic by card' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Make a link' }).click()
    await page.getByRole('dialog').getByText('User not found').waitFor()
    expect(await page.getByRole('link', { name: 'Open the payment page' }).count()).toBe(0)
  })
})
