import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, picture, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
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
    await form
      .getByText(/^Not charged\. At list prices it would be \$\S+ to pay, \$\S+ given back\.$/)
      .waitFor()
    // Nothing sells it yet.
    await form.getByText('Pro costs $29.00 per month. Changing the plan here grants it').waitFor()
    await form.getByRole('link', { name: 'Billing page' }).waitFor()
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

  it('is told that a priced plan is not charged, and sells it by a payment link instead', async () => {
    const { page, open, problems } = visit
    const { admin, dashboard: api } = dashboard.server
    await api.data(`mutation {
      free: createPackage(appId: "default", input: {id: "free", name: "Free", features: [{id: "calls", entitlement: {limit: 1}}]}) { id }
      business: createPackage(appId: "default", input: {id: "business", name: "Business", features: [{id: "calls", entitlement: {limit: 1000}}]}) { id }
      publishFree: publishPackage(appId: "default", id: "free") { id }
      publishBusiness: publishPackage(appId: "default", id: "business") { id }
      createPrice(appId: "default", packageId: "business", input: {amount: 24900, currency: "usd", interval: "month"}) { id }
      createBillingTemplate(appId: "default", input: {id: "business", name: "Business, monthly", packageIds: ["business"]}) { id }
    }`)
    await admin.data(`mutation {
      createUser(input: {id: "carl", name: "Carl"}) { id }
      subscribe(userId: "carl", packageIds: ["free"]) { id }
    }`)
    const choose = async (form: Locator, select: string, name: string) => {
      await form.getByRole('combobox', { name: select }).click()
      await page.getByRole('option', { name }).click()
    }
    const costs = 'Business costs $249.00 per month. '

    await open('/apps/default/users/carl')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const subscribing = page.getByRole('dialog', { name: 'Subscribe Carl' })
    await choose(subscribing, 'Base plan', 'Business')
    await subscribing.getByText(`${costs}Subscribing the user here grants it without charging.`).waitFor()
    await choose(subscribing, 'Base plan', 'Free')
    await subscribing.getByText('Not charged').waitFor({ state: 'detached' })

    await open('/apps/default/users/carl')
    await page.getByRole('button', { name: 'Start a trial' }).click()
    const trying = page.getByRole('dialog', { name: 'Start a trial for Carl' })
    await choose(trying, 'Package to try', 'Business')
    expect(await trying.getByText('Not charged').count()).toBe(0)
    await choose(trying, 'Then', 'Business')
    await trying.getByText(`${costs}When the trial ends, it starts without charging.`).waitFor()

    await open('/apps/default/users/carl')
    await page.getByRole('button', { name: 'Change plan' }).click()
    const changing = page.getByRole('dialog', { name: 'Change the plan of Carl' })
    await choose(changing, 'New plan', 'Business')
    await changing.getByText(`${costs}Changing the plan here grants it without charging.`).waitFor()
    await changing.getByText(/^Not charged\. At list prices it would be \$24\d\.\d\d to pay/).waitFor()
    await changing.getByText(/; Free has no recurring price$/).waitFor()
    await changing.getByRole('button', { name: 'Sell it by a payment link' }).click()
    expect(await changing.getByLabel('User', { exact: true }).inputValue()).toContain('carl')
    await changing.getByRole('button', { name: 'Create link' }).click()
    const link = changing.getByRole('link', { name: 'Open the payment page' })
    const opened = page.waitForEvent('popup')
    await link.click()
    const checkout = await opened
    await checkout.getByText('$249.00').first().waitFor()
    await checkout.close()
    const { subscriptions } = await admin.data('{ subscriptions(userId: "carl") { package { id } status } }')
    expect(subscriptions).toEqual([{ package: { id: 'free' }, status: 'ACTIVE' }])
    // The link was made: there is nothing to lose by closing the form.
    await page.keyboard.press('Escape')
    await changing.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })
})
