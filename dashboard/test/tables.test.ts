import { beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../server/test/harness/database.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
let phone: Visit
beforeAll(async () => {
  const { server } = dashboard
  await furnish(server)
  const sql = (text: string) => rowsOf({ connectionString: server.databaseUrl }, text)
  await sql(`insert into users (app_id, id, name, metadata)
    select 'default', 'user-' || i, 'User ' || i, '{}' from generate_series(1, 118) i`)
  await server.dashboard.data(
    'mutation { createPrice(appId: "default", packageId: "basic", input: {id: "price", amount: 900, currency: "usd", interval: "month"}) { id } }',
  )
  await sql(`insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, price_ids, quantities,
      billing_state, reversals)
    select app_id, 'sandbox', 'sub-ada', uid, 'active', now(), true, '{price}', '{1}', 'active',
      json_build_array(json_build_object('ref', 'in-1', 'currency', 'usd', 'amount', 900, 'refunded', 300, 'period', null,
        'paidAt', extract(epoch from now())::bigint * 1000,
        'refundedAt', extract(epoch from now())::bigint * 1000 + 1000, 'dispute', json_build_object('state', 'LOST',
        'reason', null, 'openedAt', extract(epoch from now())::bigint * 1000 + 1000)))
    from users where id = 'ada'`)
  await sql(`update subscription set provider = 'sandbox', provider_ref = 'sub-ada'
    where user_uid = (select uid from users where id = 'ada')`)
  visit = await dashboard.signedIn(undefined, { viewport: { width: 1440, height: 900 } })
  phone = await dashboard.signedIn(undefined, { viewport: { width: 390, height: 844 } })
})

describe('gap: tables', () => {
  it('say which rows of how many a page shows', async () => {
    const { page, open, idle, problems } = visit
    await open('/apps/default/users')
    const counted = page.getByRole('main').getByRole('status')
    expect(await counted.innerText()).toBe('1–50 of 120 users')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.waitForURL(/at=50/)
    await idle()
    expect(await counted.innerText()).toBe('51–100 of 120 users')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.waitForURL(/at=100/)
    await idle()
    expect(await counted.innerText()).toBe('101–120 of 120 users')
    await page.getByRole('columnheader', { name: 'User' }).getByRole('button').click()
    await page.waitForURL(/\?order=name$/)
    expect(problems).toEqual([])
  })

  it('never cut off the actions of a row, even of a refunded and disputed one', async () => {
    const { page, open } = visit
    await open('/apps/default/subscriptions')
    await page.getByText('Refunded $3.00 of $9.00').waitFor()
    await page.getByText('Dispute lost: $9.00').waitFor()
    expect(await cutOff(page)).toEqual([])
    const table = page.getByRole('table', { name: 'Subscriptions' })
    expect(await table.getByText('$9.00').first().isVisible()).toBe(true)
    for (const width of [1440, 1024, 800]) {
      await page.setViewportSize({ width, height: 900 })
      const box = await page.getByRole('button', { name: 'Actions for Basic of ada' }).boundingBox()
      const region = await page.getByRole('region', { name: 'Subscriptions' }).boundingBox()
      expect(box && region && box.x + box.width <= region.x + region.width, `${width}`).toBe(true)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('keep the menu of a row in sight, also of prices and templates', async () => {
    const { page, open, problems } = visit
    await dashboard.server.dashboard.data(
      `mutation {
        createBillingTemplate(appId: "default", input: {
          id: "a-template-with-a-rather-long-id-that-somebody-has-chosen", name: "Basic by card",
          packageIds: ["basic"], trialDays: 14, promotionCodes: true }) { id } }`,
    )
    for (const [path, region, menu, action] of [
      ['packages/basic?tab=prices', 'Prices', 'Actions for $9.00 per month', 'Archive'],
      ['billing', 'Billing templates', 'More for the template Basic by card', 'Create link'],
    ] as const) {
      await open(`/apps/default/${path}`)
      expect(await cutOff(page), path).toEqual([])
      for (const width of [1440, 800, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const button = page.getByRole('button', { name: menu })
        const box = await button.boundingBox()
        const table = await page.getByRole('region', { name: region }).boundingBox()
        expect(box && table && box.x + box.width <= table.x + table.width, `${path} ${width}`).toBe(true)
        await button.click()
        await page.getByRole('menuitem', { name: action }).waitFor()
        await page.keyboard.press('Escape')
      }
      await page.setViewportSize({ width: 1440, height: 900 })
    }
    expect(problems).toEqual([])
  })

  it('show what a package earns, and how much of a feature is used and denied', async () => {
    const { page, open } = visit
    await dashboard.server.admin.data('{ canUseFeature(userId: "nobody", featureId: "calls") { access } }')
    await open('/apps/default/packages')
    const basic = page.getByRole('row').filter({ hasText: 'basic' })
    expect((await basic.getByRole('cell').allInnerTexts()).slice(4, 6)).toEqual(['2', '$9.00'])
    await open('/apps/default/features')
    const calls = page.getByRole('row').filter({ hasText: 'calls' }).first()
    expect((await calls.getByRole('cell').allInnerTexts()).slice(3, 5)).toEqual(['10 calls', '1'])
    await page.getByRole('columnheader', { name: 'Denied' }).getByRole('button').click()
    await page.waitForURL(/order=-denials/)
    expect(await page.locator('tbody .row-link').allInnerTexts()).toEqual(['API calls', 'Single sign-on'])
  })

  it('are cards on a phone, with plan, status, amount and actions', async () => {
    const { page, open, problems } = phone
    await open('/apps/default/users?search=ada')
    const ada = page.getByRole('row').filter({ hasText: 'Ada Lovelace' })
    for (const text of ['Basic', 'Active', 'ada@example.com']) {
      expect(await ada.getByText(text, { exact: true }).isVisible(), text).toBe(true)
    }
    await ada.getByRole('button', { name: 'Actions for Ada Lovelace' }).click()
    await page.getByRole('menuitem', { name: 'Change plan' }).click()
    await page.getByRole('dialog', { name: /^Change the plan of/ }).waitFor()
    for (const path of [
      'users',
      'subscriptions',
      'packages',
      'features',
      'keys',
      'packages/basic?tab=prices',
      'audit',
    ]) {
      await open(`/apps/default/${path}`)
      expect(await cutOff(page), path).toEqual([])
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect(width, path).toBeLessThanOrEqual(390)
    }
    await open('/apps/default/users')
    await page.getByRole('combobox', { name: 'Sort by' }).click()
    await page.getByRole('option', { name: 'User, ascending' }).click()
    await page.waitForURL(/order=name/)
    expect(problems).toEqual([])
  })

  it('change the plan of the selected users, after a preview, and take it back', async () => {
    const { page, open, problems } = visit
    const { server } = dashboard
    await server.admin.data('mutation { createPackage(input: {id: "gold", name: "Gold"}) { id } }')
    await server.dashboard.data(`mutation {
      publishPackage(appId: "default", id: "gold") { id }
      createPrice(appId: "default", packageId: "gold", input: {amount: 900, currency: "usd", interval: "month"}) { id }
    }`)
    await open('/apps/default/users?order=name')
    for (const name of ['Ada Lovelace', 'Bob', 'User 1'])
      await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
    const bar = page.getByRole('region', { name: 'Selection' })
    await bar.getByText('3 users selected').waitFor()
    await bar.getByRole('button', { name: 'Select all 120 users' }).click()
    await bar.getByText('All 120 users selected').waitFor()
    await bar.getByRole('button', { name: 'Change selected' }).click()
    await page.getByRole('menuitem', { name: 'Change plan' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change plan: all 120 users' })
    await dialog.getByRole('combobox', { name: 'Plan' }).click()
    await page.getByRole('option', { name: 'Gold' }).click()
    await dialog
      .getByText('Gold costs $9.00 per month. Changing the plan here does not charge the users.')
      .waitFor()
    await dialog.getByRole('radio', { name: 'Now', exact: true }).check()
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('120 checked · 1 will change · 119 skipped.').waitFor()
    await page.getByText('118 skipped: No plan').waitFor()
    await page.getByRole('button', { name: 'Apply to 1 user' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Apply to 1 user' }).click()
    await page.getByText('1 changed.').waitFor()
    const planOfBob = async () => {
      const { subscriptions } = await server.admin.data(
        '{ subscriptions(userId: "bob") { status package { id } } }',
      )
      return subscriptions.find(({ status }: { status: string }) => status === 'ACTIVE').package.id
    }
    expect(await planOfBob()).toBe('gold')
    await page.getByRole('button', { name: 'Undo 1 change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 undone.').waitFor()
    expect(await planOfBob()).toBe('basic')
    expect(problems).toEqual([])
  })

  it('keep filters by a name in the browser, per app', async () => {
    const { page, open } = visit
    await open('/apps/default/users?package=none')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save this view' })
    await dialog.getByLabel('Name').fill('Without a plan')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await open('/apps/default/users')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Without a plan', exact: true }).click()
    await page.waitForURL(/package=none/)
    await open('/apps/default/subscriptions')
    await page.getByRole('button', { name: 'Views' }).click()
    expect(await page.getByRole('menuitem', { name: 'Without a plan', exact: true }).count()).toBe(0)
  })
})
