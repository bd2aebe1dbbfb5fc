import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  visit = await dashboard.signedIn()
  await visit.open('/account')
})

describe('spec §2: any identifier, also one that means something in an address', () => {
  it.for([
    '.',
    '..',
    '~',
    '~.',
    'a/b',
    '%2e',
    'a?b#c',
    '...',
    'ada.png',
    ' ',
  ])('the user %j has a page, by link, by reload and back', async (id) => {
    const { page, go } = visit
    const { dashboard: api } = dashboard.server
    await api.data(
      'mutation ($id: String!, $name: String!) { createUser(appId: "default", input: {id: $id, name: $name}) { id } }',
      { id, name: `User ${JSON.stringify(id)}` },
    )
    const name = `User ${JSON.stringify(id)}`
    await go('/apps/default/users')
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.reload()
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe(id)
  })

  it('an app and its package', async () => {
    const { page, open } = visit
    await dashboard.server.dashboard.data(`mutation {
      createApp(id: "..", name: "Dots") { id }
      createPackage(appId: "..", input: {id: ".", name: "Dot"}) { id }
    }`)
    await open('/apps')
    await page.getByRole('link', { name: 'Dots' }).click()
    await page.getByRole('heading', { level: 1, name: 'Dots' }).waitFor()
    await page.getByRole('link', { name: 'Packages' }).click()
    await page.getByRole('link', { name: 'Dot', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: /^Dot/ }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: /^Dot/ }).waitFor()
  })
})
