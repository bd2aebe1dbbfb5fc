import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  await dashboard.server.admin.data(
    'mutation { createUser(input: {id: "eve", name: "Eve", email: "eve@example.com"}) { id } }',
  )
  visit = await dashboard.signedIn()
})

describe('spec §4 mutation rule 6: a payment link, from the dashboard', () => {
  it('has a price typed in its own currency, and shown as customers see it before it is live', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/extra?tab=prices')
    await page.getByText('No prices yet').waitFor()
    await page.getByRole('button', { name: 'Add price' }).click()
    const dialog = page.getByRole('dialog')
    const currency = dialog.getByRole('combobox', { name: 'Currency' })
    const choose = async (search: string, name: string) => {
      await currency.fill(search)
      await page.getByRole('option', { name }).click()
    }
    await dialog.getByLabel('Amount').fill('29.999')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByText('USD has 2 decimals: 29.999 has 3.').waitFor()
    await choose('dinar', 'KWD · Kuwaiti Dinar')
    await dialog.getByText('Customers will see KWD\u00a029.999 per month.').waitFor()
    await choose('yen', 'JPY · Japanese Yen')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByText('JPY has no decimals: 29.999 has 3. For thousands, write 29999.').waitFor()
    await choose('usd', 'USD · US Dollar')
    await dialog.getByLabel('Amount').fill('$1,200.50')
    await dialog.getByText('Customers will see $1,200.50 per month.').waitFor()
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByText('It cannot be edited.').waitFor()
    await dialog.getByRole('button', { name: 'Back' }).click()
    expect(await dialog.getByLabel('Amount').inputValue()).toBe('$1,200.50')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    const { prices: before } = await dashboard.server.dashboard.data(
      '{ prices(appId: "default", packageId: "extra") { id } }',
    )
    expect(before).toEqual([])
    await dialog.getByRole('button', { name: 'Add price' }).click()
    await page.getByRole('table', { name: 'Prices' }).getByText('$1,200.50 per month').waitFor()
    const act = async (action: string) => {
      await page.getByRole('button', { name: 'Actions for $1,200.50 per month' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await act('Archive')
    await page.getByText(/^\$1,200\.50 per month archived\./).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('$1,200.50 per month restored.').waitFor()
    await act('Archive')
    await page.getByRole('table', { name: 'Prices' }).getByText('Archived').waitFor()
    await act('Restore')
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('table', { name: 'Prices' }).getByText('In use').waitFor()
    const { prices } = await dashboard.server.dashboard.data(
      '{ prices(appId: "default", packageId: "extra") { amount currency interval } }',
    )
    expect(prices).toEqual([{ amount: 120_050, currency: 'usd', interval: 'month' }])
  })

  it('goes from a price and a template to a paid subscription', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/packages/basic?tab=prices')
    await page.getByRole('button', { name: 'Add price' }).click()
    await page.getByRole('dialog').getByLabel('Amount').fill('12')
    await page.getByRole('dialog').getByRole('button', { name: 'Review price' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Add price' }).click()
    await page.getByRole('table', { name: 'Prices' }).getByText('$12.00 per month').waitFor()

    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'New template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Basic by card')
    await dialog.getByRole('combobox', { name: 'Packages' }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await page.keyboard.press('Tab')
    // Named by what customers pay, not by ids, and chosen for good.
    expect(await dialog.getByRole('combobox', { name: 'Price of Basic' }).inputValue()).toBe(
      '$12.00 per month',
    )
    await dialog.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('Ready, Sandbox').waitFor()
    const yearly =
      'createPrice(appId: "default", packageId: "basic", input: {amount: 12000, currency: "usd", interval: "year"}) { id }'
    await dashboard.server.dashboard.data(`mutation { ${yearly} }`)
    const { billingTemplates } = await dashboard.server.dashboard.data(
      '{ billingTemplates(appId: "default") { prices { amount } } }',
    )
    expect(billingTemplates).toEqual([{ prices: [{ amount: 1_200 }] }])
    await open('/apps/default/packages/basic?tab=prices')
    const prices = page.getByRole('table', { name: 'Prices' }).getByRole('row')
    const isDefault = (price: string) => prices.filter({ hasText: price }).getByText('Default')
    const act = async (price: string, action: string) => {
      await page.getByRole('button', { name: `Actions for ${price}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    // A price that is added changes no payment link.
    await isDefault('$12.00 per month').waitFor()
    expect(await isDefault('$120.00 per year').count()).toBe(0)
    await act('$120.00 per year', 'Make default')
    await page.getByText('$120.00 per year is now the default.').waitFor()
    await isDefault('$120.00 per year').waitFor()
    await act('$120.00 per year', 'Archive')
    await page
      .getByText(/archived\. Current subscribers keep it\. \$12\.00 per month is now the default\./)
      .waitFor()
    await isDefault('$12.00 per month').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await isDefault('$120.00 per year').waitFor()
    await act('$120.00 per year', 'Archive')
    await isDefault('$12.00 per month').waitFor()
    await open('/apps/default/billing')

    await page.getByRole('button', { name: 'More for the template Basic by card' }).click()
    await page.getByRole('menuitem', { name: 'Create link' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('eve')
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the payment page' }).click()
    const checkout = await opened
    await checkout.getByLabel('Card number').fill('4242 4242 4242 4242')
    await checkout.getByLabel('Expires (MM/YY)').fill('12/60')
    await checkout.getByLabel('Security code').fill('123')
    await checkout.getByRole('button', { name: /^Pay/ }).click()
    // The payer has no account here: a receipt, never the sign-in.
    await checkout.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await checkout.getByText('You paid $12.00 for Basic. Thank you.').waitFor()

    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/eve?tab=subscriptions')
    const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    expect(await rows.allInnerTexts()).toEqual([expect.stringMatching(/^Basic\s+Active\b[\s\S]*Sandbox\b/)])
    await open('/apps/default/billing?tab=notices')
    expect(
      await page.getByRole('table', { name: 'Webhook events' }).locator('tbody tr').count(),
    ).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })

  it('is in every figure of the Revenue page, each of which leads to its list and back', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/revenue')
    await page.getByRole('button', { name: 'Refresh' }).click()
    for (const [figure, list, first] of [
      ['Monthly recurring revenue', 'Recurring revenue by subscription', /Eve\s+eve\s+Basic\s+\$12\.00/],
      ['Payments, less refunds', 'Payments', /Eve\s+eve\s+\$12\.00/],
      ['New', 'New subscriptions', /Eve\s+eve\s+Basic/],
    ] as const) {
      await page.getByRole('link', { name: figure, exact: true }).click()
      const row = page.getByRole('table', { name: list, exact: true }).locator('tbody tr').first()
      await expect.poll(() => row.innerText()).toMatch(first)
      await row.getByRole('link', { name: 'Eve' }).click()
      await page.getByRole('heading', { level: 1, name: 'Eve' }).waitFor()
      await page.goBack()
      await page.getByRole('heading', { level: 2, name: list, exact: true }).waitFor()
    }
    for (const [figure, list] of [
      ['Refunds and disputes', 'Refunds and disputes'],
      ['Failed payments', 'Failed payments'],
      ['Changed', 'Changed plans'],
      ['Cancelled', 'Cancelled subscriptions'],
      ['Past due', 'Past due subscriptions'],
      ['Trialing', 'Trials'],
    ] as const) {
      await page.getByRole('link', { name: figure, exact: true }).click()
      await page.getByRole('heading', { level: 2, name: list, exact: true }).waitFor()
      await page.getByText('None in this range.').waitFor()
    }
    await page.goBack()
    await page.getByRole('heading', { level: 2, name: 'Past due subscriptions' }).waitFor()
    const plans = page.getByRole('table', { name: 'Live subscriptions by plan' })
    await plans.getByRole('link', { name: '3 of Basic' }).click()
    await page.getByRole('heading', { level: 1, name: 'Subscriptions' }).waitFor()
    const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(3)
    expect(problems).toEqual([])
  })

  it('is refunded in part and disputed, and the subscription shows it', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/users/eve?tab=subscriptions')
    await page.getByRole('button', { name: 'Actions for Basic of eve' }).click()
    await page.getByRole('menuitem', { name: 'Simulate refund or dispute' }).click()
    const dialog = page.getByRole('dialog', { name: 'Payments for Basic of eve' })
    await dialog.getByRole('button', { name: 'Refund half' }).click()
    await dialog.getByText(/Refunded \$6\.00 of \$12\.00/).waitFor()
    await dialog.getByRole('button', { name: 'Payer disputes it' }).click()
    await dialog.getByRole('button', { name: 'Win the dispute' }).waitFor()
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/eve?tab=subscriptions')
    const row = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    await row.getByText('Disputed').first().waitFor()
    await row.getByText(/Refunded \$6\.00 of \$12\.00/).waitFor()
    const { subscriptions } = await dashboard.server.admin.data(
      '{ subscriptions(userId: "eve") { id status reversals { refunded dispute { state } } } }',
    )
    expect(subscriptions).toMatchObject([
      { status: 'ACTIVE', reversals: [{ refunded: 600, dispute: { state: 'OPEN' } }] },
    ])

    // With as many buttons as a row has, all of them are in sight.
    const { cancelSubscription } = await dashboard.server.admin.data(
      'mutation ($id: String!) { cancelSubscription(id: $id, atPeriodEnd: true) { status } }',
      { id: subscriptions[0].id },
    )
    expect(cancelSubscription.status).toBe('ACTIVE')
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of ['users/eve?tab=subscriptions', 'subscriptions', 'packages/basic?tab=subscribers']) {
        await open(`/apps/default/${path}`)
        await page.getByRole('button', { name: 'Actions for Basic of eve' }).click()
        await page.getByRole('menuitem', { name: 'Keep subscription' }).waitFor()
        await page.keyboard.press('Escape')
        expect([width, path, await cutOff(page)]).toEqual([width, path, []])
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 })
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

    await page.getByRole('button', { name: 'More for the template Basic, to try' }).click()
    await page.getByRole('menuitem', { name: 'Create link' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('tom')
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the payment page' }).click()
    const checkout = await opened
    await checkout.getByRole('heading', { name: '14 days free' }).waitFor()
    expect(await checkout.getByLabel('Card number').count()).toBe(0)
    await checkout.getByRole('button', { name: 'Start trial' }).click()
    await checkout
      .getByText('Your trial of Basic has started. After 14 days, it costs $12.00 per month.')
      .waitFor()
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/tom?tab=subscriptions')
    const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Basic\s+Trial\s[\s\S]*Trial ends [\s\S]*Sandbox\b/),
    ])
    expect(problems).toEqual([])
  })

  it('says on the form why there is no link', async () => {
    const { page, open } = visit
    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'More for the template Basic by card' }).click()
    await page.getByRole('menuitem', { name: 'Create link' }).click()
    await page.getByRole('dialog').getByLabel('User', { exact: true }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('dialog').getByText('User not found').waitFor()
    expect(await page.getByRole('link', { name: 'Open the payment page' }).count()).toBe(0)
  })
})
