import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})
afterAll(() => dashboard?.close())

const PACKAGE =
  '{ package(appId: "default", id: "basic") { name grants { id limit } draft { name grants { id limit } } } }'
const packageNow = async () => (await dashboard.server.dashboard.data(PACKAGE)).package

describe('spec §3: publishing in the dashboard', () => {
  it('keeps an edit as a draft, shows who is affected, and publishes it', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/basic')
    await page.getByLabel('Limit').fill('5')
    await page.getByRole('combobox', { name: 'Add a feature' }).click()
    await page.getByRole('option', { name: 'Single sign-on' }).click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('These edits are not published yet').waitFor()
    const before = await packageNow()
    expect(before.grants).toEqual([{ id: 'calls', limit: '10' }])
    expect(before.draft.grants).toEqual([
      { id: 'calls', limit: '5' },
      { id: 'sso', limit: null },
    ])

    await page.getByRole('link', { name: 'Review and publish' }).click()
    const touched = page.getByRole('table', { name: 'Who gains or loses access' })
    await touched.waitFor()
    const rows = await touched.locator('tbody tr').allInnerTexts()
    const told = rows.map((row) => row.split('\t').slice(0, 3).join(' '))
    expect(told).toEqual([
      'Ada Lovelace API calls loses',
      'Ada Lovelace Single sign-on gains',
      'Bob Single sign-on gains',
    ])
    const figures = page.getByText(/^(subscribers now|gain access|lose access)$/).locator('..')
    expect((await figures.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      '2 subscribers now',
      '2 gain access',
      '1 lose access',
    ])
    await page.getByRole('button', { name: 'Publish, though 1 lose access' }).click()
    await page.getByRole('heading', { name: /^Basic/ }).waitFor()
    expect(await packageNow()).toMatchObject({ grants: before.draft.grants, draft: null })
    expect(visit.problems).toEqual([])
  })

  it('lists all affected users, page by page', async () => {
    const { page, open } = visit
    const { admin, dashboard: api } = dashboard.server
    const ids = Array.from({ length: 60 }, (_, i) => `many-${i}`)
    await api.data(`mutation {
      createPackage(appId: "default", input: {id: "many", name: "Many", features: [{id: "calls", entitlement: {limit: 1}}]}) { id }
      publishPackage(appId: "default", id: "many") { id }
    }`)
    for (const id of ids) {
      await admin.data(
        `mutation ($id: String!) { createUser(input: {id: $id}) { id } subscribe(userId: $id, packageIds: ["many"]) { id } }`,
        { id },
      )
    }
    await api.data(
      'mutation { editPackage(appId: "default", id: "many", input: {features: [{id: "calls", entitlement: {limit: 0}}]}) { id } }',
    )
    const users = page.getByRole('table', { name: 'Who gains or loses access' }).locator('tbody tr a')
    await open('/apps/default/packages/many/publish')
    const first = await users.allInnerTexts()
    expect(first).toHaveLength(50)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'many-59' }).waitFor()
    const rest = await users.allInnerTexts()
    expect([...first, ...rest]).toEqual(ids)

    await page.reload()
    await page.getByRole('link', { name: 'many-59' }).waitFor()
    expect(await users.allInnerTexts()).toEqual(rest)
    await page.getByRole('button', { name: 'Publish, though 60 lose access' }).waitFor()
    await page.getByRole('button', { name: 'To the beginning' }).click()
    await page.getByRole('link', { name: 'many-0', exact: true }).waitFor()
  })

  it('warns the second of two concurrent editors, and loses nothing of either', async () => {
    const [first, second] = [await dashboard.signedIn(), await dashboard.signedIn()]
    for (const { open } of [first, second]) await open('/apps/default/packages/extra')
    const name = '{ package(appId: "default", id: "extra") { draft { name } } }'
    const draftName = async () => (await dashboard.server.dashboard.data(name)).package.draft.name

    await first.page.getByLabel('Name').fill('Extra calls of the first')
    await first.page.getByRole('button', { name: 'Save draft' }).click()
    await first.page.getByText('These edits are not published yet').waitFor()
    await second.page.getByLabel('Name').fill('Extra calls of the second')
    await second.page.getByRole('button', { name: 'Save draft' }).click()
    await second.page.getByText('Somebody else changed this package meanwhile').waitFor()
    expect(await second.page.getByLabel('Name').inputValue()).toBe('Extra calls of the second')
    expect(await draftName()).toBe('Extra calls of the first')

    await second.page.getByRole('button', { name: 'Save mine over it' }).click()
    await second.page.getByText('Saved as a draft. Publish it to put it in force.').waitFor()
    expect(await draftName()).toBe('Extra calls of the second')
    for (const { close } of [first, second]) await close()
  })
})
