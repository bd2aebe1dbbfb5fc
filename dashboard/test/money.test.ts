import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'

const dashboard = shared(openDashboard)
let visit: Visit
/** a paid subscription of the sample, and its user */
let paid: { id: string; userId: string; userName: string }
beforeAll(async () => {
  const { server } = dashboard
  await server.dashboard.data(`mutation {
    createApp(id: "acme", name: "Acme") { id }
    loadSample(appId: "acme") { users }
    createPrice(appId: "acme", packageId: "demo-business", input: {amount: 249000, currency: "usd", interval: "year"}) { id }
  }`)
  await jobsDone(server.databaseUrl)
  const { subscriptions } = await server.dashboard.data(`{
    subscriptions(appId: "acme", state: RENEWING, packageId: "demo-team", provider: "sandbox", first: 1) {
      rows { id userId userName } } }`)
  paid = subscriptions.rows[0]
  visit = await dashboard.signedIn()
})

describe('gap: money, from the dashboard', () => {
  it('refunds a part of a payment on the page of the subscription, after a reason and a confirmation', async () => {
    const { page, open, problems } = visit
    await open('/apps/acme/subscriptions')
    await page.getByRole('link', { name: `Subscription to Team of ${paid.userId}` }).click()
    await page.getByRole('heading', { level: 1, name: /^Team/ }).waitFor()
    const terms = page.getByRole('region', { name: 'Terms' })
    await terms.getByText('$49.00 per month').waitFor()
    const payments = page.getByRole('table', { name: 'Payments' })
    await payments.getByRole('button', { name: 'Refund $49.00' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Refund $49.00' })
    await dialog.getByText('$49.00 of $49.00 can be refunded. Quoted by Sandbox.').waitFor()
    await dialog.getByLabel('Amount in USD').fill('50')
    await dialog.getByRole('button', { name: 'Review refund' }).click()
    await dialog.getByText('At most $49.00 can be refunded.').waitFor()
    await dialog.getByLabel('Amount in USD').fill('15')
    await dialog.getByRole('button', { name: 'Review refund' }).click()
    await dialog.getByText('$34.00 of the payment of $49.00 remains.').waitFor()
    await dialog.getByRole('button', { name: 'Refund $15.00' }).click()
    await page.getByText('$15.00 of $49.00 refunded. Sandbox confirms it shortly.').waitFor()
    await jobsDone(dashboard.server.databaseUrl)
    await open(`/apps/acme/subscriptions/${paid.id}`)
    await payments.getByText('Refunded $15.00').waitFor()
    await page.getByText('Refunded $15.00 of $49.00').waitFor()
    // The same on the page of the user.
    await open(`/apps/acme/users/${paid.userId}?tab=payments`)
    await page.getByRole('table', { name: 'Payments' }).getByText('Refunded $15.00').waitFor()
    expect(problems).toEqual([])
  })

  it('previews a change of plan with its price, and forgets a refusal when the choice changes', async () => {
    const { page, open, problems } = visit
    await open(`/apps/acme/users/${paid.userId}`)
    await page.getByRole('button', { name: 'Change plan' }).click()
    const dialog = page.getByRole('dialog', { name: `Change the plan of ${paid.userName}` })
    await dialog.getByText('$49.00 per month').waitFor()
    await dialog.getByRole('combobox', { name: 'New plan' }).click()
    const plans = page.getByRole('option')
    // The current plan is not among them.
    expect((await plans.allInnerTexts()).sort()).toEqual(['Business', 'Free'])
    await page.getByRole('option', { name: 'Business' }).click()
    await dialog.getByText(/^Due today: \$\S+ \(\$\S+ − \$\S+ credit\)\. Quoted by Sandbox\.$/).waitFor()
    await dialog.getByRole('combobox', { name: 'Price' }).click()
    await page.getByRole('option', { name: '$2,490.00 per year' }).click()
    await dialog.getByText(/^Due today: \$2,\d\d\d\.\d\d \(\$2,490\.00 − /).waitFor()
    // Nothing is left of the plan that is not on offer any more.
    await dashboard.server.dashboard.data(
      'mutation { archivePackage(appId: "acme", id: "demo-business") { id } }',
    )
    await dialog.getByRole('button', { name: 'Change now' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'archived' }).waitFor()
    await dialog.getByRole('combobox', { name: 'New plan' }).click()
    await page.getByRole('option', { name: 'Free' }).click()
    await dialog.getByText(/^Due today: \$0\.00\. Next invoice on /).waitFor()
    expect(await dialog.getByRole('alert').filter({ hasText: 'archived' }).count()).toBe(0)
    // A choice that is not saved asks before the page is left.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  it('says that only a payment prevents the end of a subscription that is past due', async () => {
    const { page, open, problems } = visit
    const { subscriptions } = await dashboard.server.dashboard.data(
      '{ subscriptions(appId: "acme", state: PAST_DUE, packageId: "demo-team", first: 1) { rows { id userName } } }',
    )
    const [{ id, userName }] = subscriptions.rows
    await open(`/apps/acme/subscriptions/${id}`)
    await page
      .getByRole('region', { name: 'Terms' })
      .getByText(/^Ends .* unless paid$/)
      .waitFor()
    // Not the main action: it does not keep access.
    await page.getByRole('button', { name: 'Change plan' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Team' }).click()
    await page.getByRole('menuitem', { name: 'Keep subscription' }).click()
    const dialog = page.getByRole('dialog', { name: `Keep Team of ${userName}` })
    await dialog
      .getByText(/^A payment failed\. The subscription ends on .* unless the payment succeeds\./)
      .waitFor()
    await dialog.getByRole('button', { name: 'Keep subscription' }).click()
    await page
      .getByText(new RegExp(`^Team of ${userName} ends on .* unless the payment succeeds\\.$`))
      .waitFor()
    expect(problems).toEqual([])
  })

  it('shows revenue by day with the previous period, and exports it', async () => {
    const { page, open, problems } = visit
    await open('/apps/acme/revenue?range=90')
    const recurring = page.getByRole('region', { name: 'Monthly recurring revenue' })
    await recurring.getByText(/^Previous period: \$/).waitFor()
    await page.getByRole('region', { name: 'Churn' }).getByText(/%$/).first().waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const file = await download
    const [head, ...days] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
    expect(head).toBe('day,provider,currency,mrr,paid,refunded,new,cancelled')
    expect(days).toHaveLength(90)
    expect(days.at(-1)).toMatch(/^\d{4}-\d\d-\d\d,sandbox,usd,\d+\.\d\d,/)
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await page.getByLabel('To', { exact: true }).fill('2020-01-07')
    await page.getByText('No provider has charged a subscription in this period.').waitFor()
    await page.getByRole('region', { name: 'Churn' }).getByText('Not available', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })
})
