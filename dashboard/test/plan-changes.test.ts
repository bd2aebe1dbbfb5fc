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

/** Chooses a secondary action of the user's page. */
async function more(item: string): Promise<void> {
  await visit.page.getByRole('button', { name: /^More actions for/ }).click()
  await visit.page.getByRole('menuitem', { name: item }).click()
}

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
    const limits = form.getByRole('table', { name: 'Limits before and after' })
    expect(
      (await limits.locator('tbody tr').allInnerTexts()).map((row) => row.split(/\s*[\t\n]\s*/)),
    ).toEqual([
      ['API calls', '8 calls used', '10 calls a month', '100 calls a month'],
      ['Single sign-on', 'Not included', 'Included Gains access'],
    ])
    await form
      .getByText(/^Not charged\. At list prices, this would cost \$\S+ \(\$\S+ − \$\S+ credit\)\.$/)
      .waitFor()
    // Nothing sells it yet.
    await form.getByText('Pro costs $29.00 per month. Changing the plan here does not charge').waitFor()
    await form.getByRole('link', { name: 'Billing page' }).waitFor()
    await picture(page, 'change-plan-light')
    await form.getByRole('button', { name: 'Change now' }).click()
    await page.getByText('Ada Lovelace is now on Pro. Not charged.').waitFor()
    await dashboard.server.admin.data(
      'mutation { recordUsage(input: {userId: "ada", featureId: "calls", delta: 4}) { recorded } }',
    )

    await page.getByRole('button', { name: 'Change plan' }).click()
    await choose('Basic')
    await limits.getByText('Loses access').waitFor()
    // The next period starts with no usage, but this one shows that the limit will not suffice.
    const row = limits.getByRole('row').filter({ hasText: 'API calls' })
    await row.getByText('12 calls used now, 0 at the start of the new plan').waitFor()
    await row.getByText('Below current usage').waitFor()
    await form.getByRole('button', { name: 'Schedule change' }).click()
    await page.getByText(/^Ada Lovelace switches to Basic on /).waitFor()
    await open('/apps/default/users/ada?tab=subscriptions')
    const table = page.getByRole('table', { name: 'Subscriptions' })
    await table.getByText(/^Switches to Basic on /).waitFor()
    await idle()
    await picture(page, 'scheduled-change-light')

    await page.getByRole('button', { name: 'Actions for Pro of ada' }).click()
    await page.getByRole('menuitem', { name: 'Undo change' }).click()
    await page.getByText('Ada Lovelace stays on Pro.').waitFor()
    await table.getByText(/^Switches/).waitFor({ state: 'detached' })
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
    await more('Start a trial')
    const form = page.getByRole('dialog', { name: 'Start a trial for Bob' })
    await form.getByRole('combobox', { name: 'Plan or add-on' }).click()
    await page.getByRole('option', { name: 'Pro' }).click()
    await form.getByRole('combobox', { name: 'After the trial' }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await picture(page, 'trial-light')
    await form.getByRole('button', { name: 'Start trial' }).click()
    await page.getByText(/^Trial of Pro started for Bob\. It ends on /).waitFor()
    const header = page.getByRole('region', { name: 'Plan and add-ons' })
    await header.getByText('Trial', { exact: true }).waitFor()
    expect(await header.getByText('Active').count()).toBe(0)

    await open('/apps/default/users/bob?tab=subscriptions')
    const table = page.getByRole('table', { name: 'Subscriptions' })
    await table.getByText(/^Trial ends .*, then Basic$/).waitFor()
    await page.getByRole('button', { name: 'Actions for Pro of bob' }).click()
    await page.getByRole('menuitem', { name: 'Extend trial' }).click()
    const until = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('New end').fill(until)
    await page.getByRole('button', { name: 'Extend trial', exact: true }).click()
    await page.getByText(/^Trial of Pro extended to /).waitFor()
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
    }`)
    const choose = async (form: Locator, select: string, name: string) => {
      await form.getByRole('combobox', { name: select }).click()
      await page.getByRole('option', { name }).click()
    }
    const costs = 'Business costs $249.00 per month. '

    await open('/apps/default/users/carl')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const subscribing = page.getByRole('dialog', { name: 'Subscribe Carl' })
    await choose(subscribing, 'Plan', 'Business')
    await subscribing.getByText(`${costs}Subscribing the user here does not charge them.`).waitFor()
    await choose(subscribing, 'Plan', 'Free')
    await subscribing.getByText('Not charged').waitFor({ state: 'detached' })
    await subscribing.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('Carl is subscribed to Free.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'View subscription' }).click()
    await page.getByRole('heading', { level: 1, name: /^Free/ }).waitFor()

    await open('/apps/default/users/carl')
    await more('Start a trial')
    const trying = page.getByRole('dialog', { name: 'Start a trial for Carl' })
    await choose(trying, 'Plan or add-on', 'Business')
    expect(await trying.getByText('Not charged').count()).toBe(0)
    await choose(trying, 'After the trial', 'Business')
    await trying.getByText(`${costs}When the trial ends, the plan starts without a charge.`).waitFor()

    await open('/apps/default/users/carl')
    await page.getByRole('button', { name: 'Change plan' }).click()
    const changing = page.getByRole('dialog', { name: 'Change the plan of Carl' })
    await choose(changing, 'New plan', 'Business')
    await changing.getByText(`${costs}Changing the plan here does not charge the user.`).waitFor()
    await changing.getByText(/^Not charged\. At list prices, this would cost \$24\d\.\d\d\.$/).waitFor()
    await changing.getByText(/; Free has no recurring price$/).waitFor()
    await changing.getByRole('button', { name: 'Send a payment link instead' }).click()
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
