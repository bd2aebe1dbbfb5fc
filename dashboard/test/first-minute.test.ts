import { beforeAll, describe, expect, it } from 'vitest'
import { adminClient } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'

/** The key and the call that a copied curl line holds. */
function callOf(text: string): { key: string; body: { query: string; variables: Record<string, unknown> } } {
  const key = /Authorization: ([^"]+)"/.exec(text)?.[1] ?? ''
  const body = /-d '([\s\S]+)'/.exec(text)?.[1] ?? ''
  return { key, body: JSON.parse(body) }
}

describe('gap: the first minute', () => {
  const dashboard = shared(() =>
    openDashboard({ env: { TOLLGATE_OWNER_EMAIL: '', TOLLGATE_OWNER_PASSWORD: '' } }),
  )
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.visit()
  })

  it('goes from the one-time link to the first answered check', async () => {
    const { page } = visit
    const { server } = dashboard
    const button = (name: string | RegExp) => page.getByRole('button', { name })
    const step = () => page.locator('[aria-current="step"]')

    // Before there is an owner nobody can sign in: the page says where the link is.
    await page.goto(server.url)
    await page.getByText('This installation has no owner yet.').waitFor()
    await page.getByText('npx tollgate start --reset-owner').waitFor()
    expect(await page.getByLabel('Email').count()).toBe(0)

    await page.goto(`${server.url}/setup#token=${server.firstStart.ownerToken}`)
    await page.getByLabel('Email').fill('first@example.com')
    // The secret is not left in the address, nor in the history.
    expect(page.url()).toBe(`${server.url}/setup`)
    await page.getByRole('textbox', { name: 'Password' }).fill('short')
    await button('Become the owner').click()
    await page.getByText('A password has at least 10 characters.').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill('a good long password')
    await button('Become the owner').click()

    await page.getByRole('heading', { name: 'Your first minute' }).waitFor()
    expect(await step().innerText()).toContain('Create a feature')
    await step().getByRole('link', { name: 'Create a feature' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('API calls')
    await page.getByRole('dialog').getByRole('button', { name: 'Create feature' }).click()
    await page.getByRole('link', { name: 'API calls' }).waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    await step().getByRole('link', { name: 'Create a package' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Pro')
    await page.getByRole('dialog').getByRole('button', { name: 'Create package' }).click()
    await page.getByRole('combobox', { name: 'Add a feature' }).click()
    await page.getByRole('option', { name: 'API calls' }).click()
    await page.getByLabel('Limit').fill('3')
    await button('Save').click()
    await page.getByText('Saved.').waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    await step().getByRole('link', { name: 'Review and publish pro' }).click()
    await button('Publish').click()
    await page.getByRole('heading', { level: 1 }).getByText('Published', { exact: true }).waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    await step().getByRole('link', { name: 'Create a user' }).click()
    await page.getByRole('dialog').getByLabel('Id', { exact: true }).fill('ada')
    await page.getByRole('dialog').getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { name: 'ada' }).waitFor()

    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Plan', exact: true }).click()
    await page.getByRole('option', { name: 'Pro' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('0 of 3').waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    await step().filter({ hasText: 'Run your first check' }).waitFor()
    await step().getByRole('button', { name: 'Use a new key in these examples' }).click()
    const lines = step().getByRole('figure', { name: 'The same with curl' })
    await lines.getByText(/Authorization: tg_/).waitFor()
    const { key, body } = callOf(await lines.innerText())
    expect(await adminClient(server.url, key).data(body.query, body.variables)).toMatchObject({
      canUseFeature: { access: true },
    })
    await page.getByRole('heading', { name: 'Your first minute' }).waitFor({ state: 'detached' })
    expect(visit.problems).toEqual([])
  })

  it('of a second app names a key variable of its own, and offers the first key where there is none', async () => {
    const { page } = visit
    const { url } = dashboard.server
    await page.goto(`${url}/apps`)
    await page.getByRole('button', { name: 'New app' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Shop 2')
    await page.getByRole('dialog').getByRole('button', { name: 'Create app' }).click()
    await page.goto(`${url}/apps/shop-2`)
    await page.getByText('stands for an API key of this app').waitFor()
    expect(await page.getByRole('figure', { name: 'The same with curl' }).innerText()).toContain(
      'Authorization: $SHOP_2_TOLLGATE_API_KEY"',
    )
    await page.goto(`${url}/apps/shop-2/keys`)
    await page.getByRole('heading', { name: 'Create your first key' }).waitFor()
    expect(await page.getByRole('table', { name: 'API keys' }).count()).toBe(0)
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Backend')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const secret = page.getByRole('figure', { name: 'The secret' })
    const key = /tg_\S+/.exec(await secret.innerText())?.[0] ?? ''
    expect(await adminClient(url, key).data('{ features { id } }')).toEqual({ features: [] })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('table', { name: 'API keys' }).waitFor()
  })

  it('a forgotten password is set anew by the link that an owner hands over', async () => {
    const { page } = visit
    const { url } = dashboard.server
    await page.goto(`${url}/members`)
    await page.getByRole('button', { name: 'Actions for first@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Reset password' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const link = page.getByRole('dialog').getByRole('figure', { name: 'The password reset link' })
    const [address = ''] = /http\S+/.exec(await link.innerText()) ?? []
    const other = await dashboard.visit()
    await other.page.goto(address)
    await other.page.getByText('For first@example.com.').waitFor()
    expect(other.page.url()).toBe(`${url}/reset`)
    await other.page.getByRole('textbox', { name: 'Password' }).fill('another good password')
    await other.page.getByRole('button', { name: 'Set password' }).click()
    await other.page.getByRole('navigation').first().waitFor()
    await page.goto(`${url}/members`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.page.goto(address)
    await other.page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  })

  it('says that the link works once', async () => {
    const { page } = visit
    await page.goto(`${dashboard.server.url}/setup#token=${dashboard.server.firstStart.ownerToken}`)
    await page.getByLabel('Email').fill('second@example.com')
    await page.getByRole('textbox', { name: 'Password' }).fill('a good long password')
    await page.getByRole('button', { name: 'Become the owner' }).click()
    expect(await page.getByRole('alert').innerText()).toBe('This link was already used. Sign in instead.')
  })
})
