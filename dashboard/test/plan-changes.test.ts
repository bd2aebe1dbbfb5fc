import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dashboard, openDashboard, picture, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  const { server } = dashboard
  await furnish(server)
  await server.admin.data(`mutation {
    createPackage(input: {id: "pro", name: "Pro", features: [{id: "calls", entitlement: {limit: 100}}, {id: "sso"}]}) { id }
  }`)
  await server.dashboard.data(`mutation {
    publishPackage(appId: "default", id: "pro") { id }
    basic: createPrice(appId: "default", packageId: "basic", input: {amount: 900, currency: "usd", interval: "month"}) { id }
    pro: createPrice(appId: "default", packageId: "pro", input: {amount: 2900, currency: "usd", interval: "month"}) { id }
  }`)
  visit = await dashboard.signedIn()
})
afterAll(() => dashboard?.close())

describe("gap: lifecycle: a product manager changes a customer's plan", () => {
  it('upgrades at once, schedules a downgrade, sees it and takes it back', async () => {
    const { page, open, idle, problems } = visit
    await open('/apps/default/users/ada')
    await page.getByRole('button', { name: 'Change plan' }).click()
    const form = page.getByRole('dialog', { name: 'Change the plan of Ada Lovelace' })
    const choose = async (plan: string) => {
      await form.getByRole('combobox', { name: 'New plan' }).click()
      await page.getByRole('option', { name: plan }).click()
    }
    await choose('Pro')
    await form.getByText('Takes effect now').waitFor()
    await form.getByText('Can be used from then on: Single sign-on').waitFor()
    await form.getByText(/to pay, \$\S+ given back \(by the list prices; nobody is charged\)/).waitFor()
    await picture(page, 'change-plan-light')
    await form.getByRole('button', { name: 'Change now' }).click()
    await page.getByText('Pro is their plan now.').waitFor()

    await page.getByRole('button', { name: 'Change plan' }).click()
    await choose('Basic')
    await form.getByText('No longer: Single sign-on').waitFor()
    await form.getByRole('button', { name: 'Schedule the change' }).click()
    await page.getByText(/^Basic follows on /).waitFor()
    await open('/apps/default/users/ada?tab=subscriptions')
    const table = page.getByRole('table', { name: 'Subscriptions' })
    await table.getByText(/^Changes .*, then Basic$/).waitFor()
    await idle()
    await picture(page, 'scheduled-change-light')

    await page.getByRole('button', { name: 'Take back the change of ada' }).click()
    await page.getByText('The plan stays as it is.').waitFor()
    await table.getByText(/^Becomes/).waitFor({ state: 'detached' })
    const { subscriptions } = await dashboard.server.admin.data(
      '{ subscriptions(userId: "ada") { status cancelAt scheduled { at } package { id } } }',
    )
    expect(subscriptions).toEqual([
      { status: 'CANCELLED', cancelAt: null, scheduled: null, package: { id: 'basic' } },
      { status: 'ACTIVE', cancelAt: null, scheduled: null, package: { id: 'pro' } },
    ])
    expect(problems).toEqual([])
  })

  it('starts a trial that goes back to the plan before it, and extends it', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/users/bob')
    await page.getByRole('button', { name: 'Start a trial' }).click()
    const form = page.getByRole('dialog', { name: 'Start a trial for Bob' })
    await form.getByRole('combobox', { name: 'Package to try' }).click()
    await page.getByRole('option', { name: 'Pro' }).click()
    await form.getByRole('combobox', { name: 'Then' }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await picture(page, 'trial-light')
    await form.getByRole('button', { name: 'Start the trial' }).click()
    await page.getByText(/^The trial lasts until /).waitFor()
    const header = page.getByRole('region', { name: 'Plan and add-ons' })
    await header.getByText('Trial', { exact: true }).waitFor()
    expect(await header.getByText('Active').count()).toBe(0)

    await open('/apps/default/users/bob?tab=subscriptions')
    const table = page.getByRole('table', { name: 'Subscriptions' })
    await table.getByText(/^Trial ends .*, then Basic$/).waitFor()
    await page.getByRole('button', { name: 'Extend the trial of Pro of bob' }).click()
    const until = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('New end').fill(until)
    await page.getByRole('button', { name: 'Extend the trial', exact: true }).click()
    await page
      .getByText(/^The trial lasts until /)
      .last()
      .waitFor()
    const { subscriptions } = await dashboard.server.admin.data(
      '{ subscriptions(userId: "bob") { trialEndsAt scheduled { packageId at } package { id } } }',
    )
    const at = `${until}T00:00:00.000Z`
    expect(subscriptions.at(-1)).toEqual({
      trialEndsAt: at,
      scheduled: { packageId: 'basic', at },
      package: { id: 'pro' },
    })
    expect(problems).toEqual([])
  })
})
