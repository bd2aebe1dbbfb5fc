import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { rowsOf } from '../../server/test/harness/database.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, picture, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)

const DESK = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
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
    await row.getByText('Voided', { exact: true }).waitFor()
    expect(await remaining()).toBe(before)
    await row.getByText('0 of 1,500').waitFor()
    await row.getByText('1,000 voided unused').waitFor()

    await open('/apps/default/users/ada?tab=ledger')
    await page
      .getByRole('table', { name: 'Ledger' })
      .getByText(/^Credit crd_/)
      .waitFor()
  })

  it('are burnt through the playground, and the balance follows, on a phone too', async () => {
    await dashboard.server.admin.data(`mutation {
      createUser(input: { id: "cy", name: "Cy" }) { id }
      addCredit(input: { userId: "cy", featureId: "calls", amount: 1200, reason: "a start" }) { id }
      reserveUsage(input: { userId: "cy", featureId: "calls", amount: 200 }) { id }
    }`)
    const phone = await dashboard.signedIn(undefined, { viewport: PHONE })
    const { page, open, problems } = phone
    await open('/apps/default/users/cy')
    await page.getByText('1,000 calls left in credits').waitFor()
    await page.getByText('Not part of a package').waitFor()

    await open('/apps/default/playground?user=cy&feature=calls&delta=300')
    await page.getByText('1,000 calls left, 200 reserved').waitFor()
    await page.getByRole('button', { name: 'Record usage' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Amount, in calls').inputValue()).toBe('300')
    await dialog.getByRole('button', { name: 'Record', exact: true }).click()
    await page.getByText('700 calls left, 200 reserved').waitFor()

    await open('/apps/default/users/cy?tab=credits')
    const row = page.getByRole('table', { name: 'Credits' }).locator('tbody tr')
    await row.getByText('700 of 1,200').waitFor()
    await row.getByText('Never').waitFor()
    await page.getByRole('button', { name: /^Release the reservation/ }).click()
    await dialog.getByRole('button', { name: 'Release the reservation' }).click()
    await row.getByText('900 of 1,200').waitFor()
    expect(await cutOff(page)).toEqual([])
    await page.getByRole('link', { name: 'ledger' }).click()
    await page.getByRole('table', { name: 'Ledger' }).getByText('300').first().waitFor()
    expect(problems).toEqual([])
    await phone.close()
  })

  it('are listed with those that can be used first, and continue on a second page', async () => {
    const { page, open } = visit
    const { admin, databaseUrl } = dashboard.server
    await admin.data(`mutation {
      createUser(input: { id: "many", name: "Many" }) { id }
      addCredit(input: { id: "oldest", userId: "many", featureId: "calls", amount: 70, reason: "the oldest" }) { id }
    }`)
    const copies = `insert into credit (app_id, id, user_uid, feature_id, amount, kind, priority, effective_at, reason, created_at, voided_at, ended)
      select app_id, 'over-' || n, user_uid, feature_id, 30, kind, priority, effective_at, 'over ' || n, created_at, now(), true
      from credit, generate_series(1, 520) n where id = 'oldest'`
    await rowsOf({ connectionString: databaseUrl }, copies)
    await open('/apps/default/users/many?tab=credits')
    await page.getByText('70 calls left').waitFor()
    const rows = page.getByRole('table', { name: 'Credits' }).locator('tbody tr')
    await rows.first().getByText('70 of 70').waitFor()
    await rows.nth(1).getByText('over 520').waitFor()
    expect(await rows.count()).toBe(50)
    await page.getByRole('button', { name: 'Next' }).click()
    await rows.first().getByText('over 471').waitFor()
    await page.getByText('70 calls left').waitFor()
  })

  it('are sold through a price and a payment link, and show refunds', async () => {
    const { page, open } = visit
    await open('/apps/default/features/calls?tab=prices')
    await page.getByRole('button', { name: 'Add price' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByText('The number of units is missing.').waitFor()
    await dialog.getByLabel('Units of API calls').fill('10000')
    await dialog.getByLabel('Usable for (days)').fill('30')
    await dialog.getByLabel('Amount').fill('20')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByRole('button', { name: 'Add price' }).click()
    const price = page.getByRole('table', { name: 'Prices of credits' }).locator('tbody tr')
    await price.getByText('10,000').waitFor()
    await price.getByText('$20.00').waitFor()

    await open('/apps/default/users/ada?tab=credits')
    await page.getByRole('button', { name: 'Sell credits' }).click()
    await dialog.getByLabel('Quantity').fill('2')
    await dialog.getByText('Sells 20,000 units of API calls for $40.00, usable for 30 days').waitFor()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const opened = page.context().waitForEvent('page')
    await dialog.getByRole('link', { name: 'Open the payment page' }).click()
    const checkout = await opened
    await checkout.getByLabel('Card number').fill('4242 4242 4242 4242')
    await checkout.getByLabel('Expires (MM/YY)').fill('12/60')
    await checkout.getByLabel('Security code').fill('123')
    await checkout.getByRole('button', { name: /^Pay/ }).click()
    await checkout.getByRole('heading', { name: 'Payment complete' }).waitFor()
    await checkout.close()
    await jobsDone(dashboard.server.databaseUrl)

    await open('/apps/default/users/ada?tab=credits')
    const credit = page.getByRole('table', { name: 'Credits' }).locator('tbody tr').first()
    await credit.getByText('20,000 of 20,000').waitFor()
    await dashboard.server.dashboard.data(
      'mutation { setAccessAfterRefund(appId: "default", access: END) { graceDays } }',
    )
    await open('/apps/default/users/ada?tab=payments')
    await page.getByRole('cell', { name: '20,000 units of API calls' }).waitFor()
    await page.getByRole('button', { name: 'Refund $40.00' }).click()
    await dialog.getByLabel('Amount in USD').fill('10')
    await dialog.getByRole('button', { name: 'Review refund' }).click()
    await dialog.getByText('Units that are neither used nor reserved are taken back').waitFor()
    await dialog.getByRole('button', { name: 'Refund $10.00' }).click()
    await dialog.waitFor({ state: 'detached' })
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/default/users/ada?tab=credits')
    await credit.getByText('15,000 of 15,000').waitFor()
    await credit.getByText('20,000 bought, the rest refunded').waitFor()
  })

  it('are on Home: sold, burnt and expiring', async () => {
    const { page, open } = visit
    await open('/apps/default')
    const table = page.getByRole('table', { name: 'Credits by feature' })
    const cells = table.locator('tbody tr').first().getByRole('cell')
    await cells.first().waitFor()
    expect((await cells.allInnerTexts()).map((text) => text.split(/\n+/))).toEqual([
      ['API calls'],
      ['20,000', '$40.00 in the sandbox'],
      // Of the credit that was voided, and in the playground.
      ['800'],
      // After the refund.
      ['15,000'],
    ])
    await table.getByRole('link', { name: '20,000' }).click()
    await page.getByRole('table', { name: 'Prices of credits' }).waitFor()
  })
})

/** A user with a plan, credits of several kinds, and answers that are being streamed. */
async function furnishCredits(): Promise<void> {
  const { admin, dashboard: members } = dashboard.server
  await admin.data(`mutation {
    token: createFeature(input: {id: "token", name: "AI tokens", type: CONSUMABLE, unitLabel: "token", unitLabelPlural: "tokens"}) { id }
    plan: createPackage(input: {id: "writer", name: "Writer", features: [{id: "token", entitlement: {limit: 50000}}]}) { id }
    grace: createUser(input: {id: "grace", name: "Grace Hopper", email: "grace@example.com"}) { id }
  }`)
  await members.data('mutation { publishPackage(appId: "default", id: "writer") { id } }')
  await admin.data(`mutation {
    subscribe(userId: "grace", packageIds: ["writer"]) { id }
    gift: addCredit(input: {userId: "grace", featureId: "token", amount: 20000, priority: 10, expiresAt: "2090-01-31T00:00:00Z", reason: "Welcome"}) { id }
    order: addCredit(input: {userId: "grace", featureId: "token", amount: 100000, kind: PAID, reason: "Order 1042"}) { id }
    old: addCredit(input: {id: "old", userId: "grace", featureId: "token", amount: 5000, priority: 5, reason: "Pilot"}) { id }
    voided: voidCredit(id: "old", reason: "The pilot is over") { id }
    used: recordUsage(input: {userId: "grace", featureId: "token", delta: 12400}) { recorded }
    stream: reserveUsage(input: {userId: "grace", featureId: "token", amount: 4000, ttlSeconds: 900}) { id }
    other: reserveUsage(input: {userId: "grace", featureId: "token", amount: 1500, ttlSeconds: 900}) { id }
  }`)
}

describe.skipIf(process.env.TOLLGATE_PICTURES !== '1')('pictures of credits', () => {
  beforeAll(furnishCredits)

  it.each([
    { look: 'light', colorScheme: 'light', viewport: DESK },
    { look: 'dark', colorScheme: 'dark', viewport: DESK },
    { look: 'phone', colorScheme: 'light', viewport: PHONE },
  ] as const)('$look', async ({ look, ...options }) => {
    const { page, open, close } = await dashboard.signedIn(undefined, options)
    await open('/apps/default/users/grace?tab=credits')
    await page.getByRole('table', { name: 'Open reservations' }).waitFor()
    await picture(page, `credits-${look}`)
    await open('/apps/default/users/grace')
    await page.getByText(/left in credits/).waitFor()
    await picture(page, `credits-usage-${look}`)
    await open('/apps/default/playground?user=grace&feature=token&delta=2000')
    await page.getByText(/^Paid in this order/).waitFor()
    await picture(page, `credits-playground-${look}`)
    await close()
  })
})
