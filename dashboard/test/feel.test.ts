import { beforeAll, describe, expect, it, vi } from 'vitest'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, styleOf, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

describe('gap: feel', () => {
  it.each(['/nowhere', '/apps/default/nowhere'])('the menu stays at the unknown address %s', async (path) => {
    const { page, open } = visit
    await open(path)
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    // The browser reports the status 404 of such an address.
    visit.problems.length = 0
  })

  it('each page links to its page of the documentation, and the account menu to what is new', async () => {
    const { page, open } = visit
    await open('/apps/default/webhooks')
    const help = page.getByRole('link', { name: 'Documentation for this page' })
    expect(await help.getAttribute('href')).toBe('/docs/webhooks')
    expect(await help.getAttribute('target')).toBe('_blank')
    await page.getByRole('button', { name: 'Account' }).click()
    const news = page.getByRole('menuitem', { name: "What's new" })
    expect(await news.getAttribute('href')).toBe('/docs/changelog')
    await page.keyboard.press('Escape')
  })

  it('a message does not cover the next step', async () => {
    const { page, open } = visit
    await page.setViewportSize({ width: 1280, height: 500 })
    await open('/apps/default/packages/basic')
    await page.getByLabel('Limit (calls)').fill('12')
    await page.getByRole('button', { name: 'Save draft' }).click()
    const message = await page.getByText('Draft saved. Publish it to make it live.').boundingBox()
    const step = await page.getByRole('link', { name: 'Review and publish' }).boundingBox()
    expect(step && message && message.y + message.height < step.y).toBe(true)
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText('Draft discarded.').waitFor()
    await page.setViewportSize({ width: 1280, height: 720 })
    expect(visit.problems).toEqual([])
  })

  it('a search shows that it runs', async () => {
    const { page, open } = visit
    await open('/apps/default/users')
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await page.route('**/dashboard/graphql', async (route) => {
      if (route.request().postData()?.includes('"ada"')) await held
      await route.fallback()
    })
    const searching = page.getByRole('main').getByRole('status').getByText('Searching')
    await page.getByRole('main').getByRole('searchbox').fill('ada')
    await searching.waitFor()
    goOn()
    await searching.waitFor({ state: 'detached' })
    await page.unroute('**/dashboard/graphql')
    expect(visit.problems).toEqual([])
  })

  it('a page without an answer loads by itself once the service is back', async () => {
    const away = await dashboard.signedIn()
    const { page, open, go } = away
    await open('/apps/default/packages')
    let isAway = true
    for (const path of ['**/dashboard/graphql', '**/readyz'])
      await page.route(path, (route) => (isAway ? route.abort() : route.fallback()))
    await go('/apps/default/features')
    await page.getByText('This page retries by itself.').waitFor()
    isAway = false
    await page.getByRole('table', { name: 'Features' }).waitFor()
    await away.close()
  })

  it('a secret that is shown once is not closed by Esc', async () => {
    const { page, open } = visit
    await open('/apps/default/keys?make=1')
    const making = page.getByRole('dialog')
    await making.getByLabel('Name').fill('Once')
    await making.getByRole('button', { name: 'Create key' }).click()
    const secret = page.getByRole('dialog', { name: 'The secret of “Once”' })
    await secret.waitFor()
    await page.keyboard.press('Escape')
    expect(await secret.isVisible()).toBe(true)
    await secret.getByRole('button', { name: 'Done' }).click()
    await secret.waitFor({ state: 'detached' })
  })

  it('the only owner cannot be removed or demoted', async () => {
    const { page, open } = visit
    await open('/members')
    await page.getByRole('button', { name: 'Actions for owner@example.com' }).click()
    expect(await page.getByRole('menuitem', { name: 'Remove' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    const role = page.getByRole('combobox', { name: 'Role of owner@example.com' })
    expect(await role.isDisabled()).toBe(true)
    expect(await role.getAttribute('title')).toContain('Make another member an owner first.')
    // It can still be read.
    expect(await styleOf(role, 'opacity')).toBe('1')
  })

  it('the command bar has exact matches first', async () => {
    const { page, open } = visit
    const { admin } = dashboard.server
    for (const id of ['pro-legacy', 'pro-plus', 'pro'])
      await admin.data(
        `mutation { createFeature(input: { id: "${id}", name: "${id}", type: BINARY }) { id } }`,
      )
    await open('/apps/default')
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Go to a user' }).fill('pro')
    const first = page.locator('[data-action]').first()
    await vi.waitFor(async () => expect(await first.innerText()).toMatch(/^pro\s*($|\n)/), PATIENCE_MS)
    await page.keyboard.press('Escape')
    expect(visit.problems).toEqual([])
  })

  it('denied checks lead to who was denied, when and why, and on to the explanation', async () => {
    const { page, open } = visit
    await dashboard.server.admin.data(
      `{ canUseFeature(userId: "ada", featureId: "calls", delta: 99) { access } }`,
    )
    await open('/apps/default/features/calls')
    await page.getByRole('link', { name: 'See who was denied' }).click()
    const row = page.getByRole('table', { name: 'Denials' }).locator('tbody tr').first()
    await row.getByText('Ada Lovelace').waitFor()
    expect(await row.innerText()).toMatch(/Limit reached/)
    await row.getByRole('link', { name: 'Explain for ada' }).click()
    await page.waitForURL('**/apps/default/playground?*')
    expect(new URL(page.url()).searchParams.get('feature')).toBe('calls')
  })

  it('the sign-in says what to do about a forgotten password', async () => {
    const { page, open, close } = await dashboard.visit()
    await open('/sign-in')
    await page.getByRole('button', { name: 'Forgot password?' }).click()
    await page.getByText('Ask an owner of this installation').waitFor()
    await page.getByText('npx tollgate start --reset-owner').waitFor()
    await close()
  })
})
