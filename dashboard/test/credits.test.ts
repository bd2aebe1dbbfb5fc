import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

const remaining = async (): Promise<number> => {
  const { canUseFeature } = await dashboard.server.admin.data(
    '{ canUseFeature(userId: "ada", featureId: "calls") { consumption { remaining } } }',
  )
  return canUseFeature.consumption.remaining
}

describe('gap: the credits of a user', () => {
  it('are added, used, and voided, and a reservation is released', async () => {
    const { page, open } = visit
    const before = await remaining()
    await open('/apps/default/users/ada?tab=credits')
    await page.getByRole('button', { name: 'Add credit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Feature' }).click()
    await page.getByRole('option', { name: 'API calls' }).click()
    await dialog.getByLabel('Amount').fill('1500')
    await dialog.getByLabel('Priority').fill('1')
    await dialog.getByLabel('Reason').fill('a pilot')
    await dialog.getByText(/^Adds 1,500/).waitFor()
    await dialog.getByRole('button', { name: 'Add the credit' }).click()
    const row = page.getByRole('table', { name: 'Credits' }).locator('tbody tr')
    await row.getByText('a pilot').waitFor()
    expect(await remaining()).toBe(before + 1500)

    await dashboard.server.admin.data(`mutation {
      recordUsage(input: { userId: "ada", featureId: "calls", delta: 500 }) { recorded }
      reserveUsage(input: { userId: "ada", featureId: "calls", amount: 300 }) { reserved }
    }`)
    await open('/apps/default/users/ada?tab=credits')
    await row.getByText('700 of 1,500').waitFor()
    await page.getByRole('button', { name: /^Release the reservation/ }).click()
    await dialog.getByRole('button', { name: 'Release the reservation' }).click()
    await row.getByText('1,000 of 1,500').waitFor()
    await page.getByRole('table', { name: 'Open reservations' }).waitFor({ state: 'detached' })

    await row.getByRole('button', { name: /^Void the credit/ }).click()
    await dialog.getByLabel('Reason').fill('it ended')
    await dialog.getByRole('button', { name: 'Void the credit' }).click()
    await row.getByText('voided').waitFor()
    expect(await remaining()).toBe(before)

    await open('/apps/default/users/ada?tab=ledger')
    await page
      .getByRole('table', { name: 'Ledger' })
      .getByText(/^Credit crd_/)
      .waitFor()
  })
})
