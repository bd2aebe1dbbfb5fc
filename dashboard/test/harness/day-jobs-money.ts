import { expect } from 'vitest'
import { jobsDone } from '../../../server/test/billing/jobs-done.ts'
import { type Job, more, openCustomer } from './day-jobs.ts'

/** Selling: a new plan, a link for it, and money that goes back. */
export const MONEY_JOBS: Job[] = [
  {
    job: 'make a plan with two features and two prices, and publish it',
    clicks: [18, 21],
    async do(at) {
      const { page, menu, button, choose, type, admin } = at
      await menu('Packages')
      await button('New package').first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('Business')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: /^Business/ }).waitFor()
      await at.idle()
      for (const feature of ['API calls', 'Single sign-on'])
        await choose(page.getByRole('combobox', { name: 'Add a feature' }), feature)
      await type(page.getByRole('group', { name: 'API calls' }).getByLabel('Limit'), '5000')
      await page.keyboard.press('Enter')
      await page.getByText('Everything is saved').waitFor()
      await page.getByRole('tab', { name: 'Prices' }).click()
      for (const [amount, interval] of [
        ['99', 'month'],
        ['990', 'year'],
      ] as const) {
        await button('Add price').click()
        await dialog.getByLabel('Amount').fill(amount)
        if (interval === 'year') await choose(dialog.getByRole('combobox', { name: 'Paid' }), 'every year')
        await dialog.getByLabel('Amount').press('Enter')
        await dialog.getByRole('button', { name: 'Add price' }).click()
        await page.getByRole('table', { name: 'Prices' }).getByText(`$${amount}.00 per ${interval}`).waitFor()
      }
      await page.getByRole('link', { name: 'Review and publish' }).click()
      await button('Publish').click()
      await page.getByText(/^Business is published\./).waitFor()
      const { packages } = await admin.data('{ packages { name status features { id } prices { amount } } }')
      expect(packages).toContainEqual({
        name: 'Business',
        status: 'PUBLISHED',
        features: [{ id: 'calls' }, { id: 'sso' }],
        prices: [{ amount: 9_900 }, { amount: 99_000 }],
      })
    },
  },
  {
    job: 'send a customer a payment link',
    clicks: [3, 4],
    async do(at) {
      await openCustomer(at, 'Eve Hopper')
      await more(at, 'Send payment link')
      await at.page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
      await at.page.getByRole('link', { name: 'Open the payment page' }).waitFor()
    },
  },
  {
    job: 'refund a part of a payment',
    clicks: [3, 4],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Gina Torvalds')
      await page.getByRole('tab', { name: 'Payments' }).click()
      await at.button('Refund $9.00').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Amount in USD').fill('4')
      await page.keyboard.press('Enter')
      await dialog.getByRole('button', { name: 'Refund $4.00' }).click()
      await page.getByText(/^\$4\.00 of \$9\.00 refunded\./).waitFor()
      await jobsDone(at.databaseUrl)
      await page.getByRole('table', { name: 'Payments' }).getByText('Refunded $4.00').waitFor()
    },
  },
]
