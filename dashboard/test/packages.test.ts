import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

const found = async (id: string) =>
  (
    await dashboard.server.dashboard.data(
      `query ($id: String!) { package(appId: "default", id: $id) { name status isAddon grants { id limit } draft { grants { id limit } } } }`,
      { id },
    )
  ).package

describe('gap: packages in the dashboard', () => {
  it('duplicate one with its limits, as a draft', async () => {
    const { page, open, idle, problems } = visit
    await open('/apps/default/packages')
    await page.getByRole('button', { name: 'More for the package Basic' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    const dialog = page.getByRole('dialog', { name: 'Duplicate basic' })
    await dialog.getByText('Prices are not copied.').waitFor()
    await dialog.getByLabel('Id').fill('basic-2')
    await dialog.getByRole('button', { name: 'Duplicate package' }).click()
    await page.waitForURL(/packages\/basic-2$/)
    await idle()
    expect(await found('basic-2')).toEqual({
      name: 'Basic copy',
      status: 'DRAFT',
      isAddon: false,
      grants: [{ id: 'calls', limit: '10' }],
      draft: null,
    })
    expect(problems).toEqual([])
  })

  it('create a missing feature in the editor, and save it with the package', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/packages/basic-2')
    await page.getByRole('button', { name: 'Create feature' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create feature' })
    await dialog.getByLabel('Name').fill('Exports')
    await dialog.getByRole('button', { name: 'Create feature' }).click()
    await page.getByRole('group', { name: 'Exports' }).waitFor()
    const form = page.getByRole('form', { name: 'Content of the package' })
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Everything is saved').waitFor()
    expect((await found('basic-2')).grants).toEqual([
      { id: 'calls', limit: '10' },
      { id: 'exports', limit: '100' },
    ])
    expect(problems).toEqual([])
  })

  it('have the button that removes a feature beside its name on a phone', async () => {
    const { page, open, close } = await dashboard.signedIn(undefined, {
      viewport: { width: 390, height: 844 },
    })
    await open('/apps/default/packages/basic')
    const grant = page.getByRole('group', { name: 'API calls' })
    const [name, remove] = await Promise.all([
      grant.getByRole('link', { name: 'API calls' }).boundingBox(),
      grant.getByRole('button', { name: 'Remove API calls from the package' }).boundingBox(),
    ])
    expect(remove?.y).toBeLessThan((name?.y ?? 0) + (name?.height ?? 0))
    await close()
  })

  it('publish with a note, compare the versions, and restore one as a draft', async () => {
    const { page, open, idle, problems } = visit
    await open('/apps/default/packages/basic')
    await page.getByLabel('Limit').fill('25')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('These edits are not published yet').waitFor()
    await page.getByRole('link', { name: 'Review and publish' }).click()
    await page.getByLabel('Note').fill('More calls for everyone')
    await page.getByRole('button', { name: /^Publish/ }).click()
    await page.waitForURL(/packages\/basic$/)

    await open('/apps/default/packages/basic?tab=versions')
    const rows = page.getByRole('table', { name: 'Versions' }).locator('tbody tr')
    await rows.getByText('More calls for everyone').waitFor()
    const desk = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    const card = rows.first()
    for (const part of [
      card.getByText(/^Version\s+2/),
      card.getByText('API calls: 25 calls a month'),
      card.locator('time'),
    ])
      await part.waitFor()
    if (desk) await page.setViewportSize(desk)
    expect(await rows.first().getByText('owner@example.com').count()).toBe(1)
    await page.getByRole('button', { name: 'Actions for version 2' }).click()
    await page.getByRole('menuitem', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compare versions' })
    const cells = await dialog
      .getByRole('row')
      .filter({ hasText: 'API calls' })
      .getByRole('cell')
      .allInnerTexts()
    expect(cells).toEqual(['API calls', '10 calls a month', '25 calls a month', 'Changed'])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await cutOff(page)).toEqual([])
    if (desk) await page.setViewportSize(desk)
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Actions for version 1' }).click()
    await page.getByRole('menuitem', { name: 'Restore as a draft' }).click()
    const confirm = page.getByRole('dialog', { name: 'Restore version 1 of Basic?' })
    await confirm.getByRole('button', { name: 'Restore as a draft' }).click()
    await page.getByText('Version 1 of Basic restored as a draft.').waitFor()
    await idle()
    expect(await found('basic')).toMatchObject({
      grants: [{ id: 'calls', limit: '25' }],
      draft: { grants: [{ id: 'calls', limit: '10' }] },
    })
    expect(problems).toEqual([])
  })

  it('have caps and a limit of overage, in drafts, copies and versions too', async () => {
    const { page, open, idle, problems } = visit
    const entitlement = async (id: string) => {
      const fields = 'grants { id limit overageCap caps { limit period perEntity } }'
      const { package: all } = await dashboard.server.dashboard.data(
        `query ($id: String!) { package(appId: "default", id: $id) { ${fields} draft { ${fields} } } }`,
        { id },
      )
      return (all.draft ?? all).grants[0]
    }
    const limits = {
      overageCap: '5000',
      caps: [
        { limit: '1000', period: 'DAY', perEntity: null },
        { limit: '50', period: 'HOUR', perEntity: 'agent' },
      ],
    }
    await open('/apps/default/packages/basic')
    await page.getByRole('switch', { name: 'Overage' }).check()
    await page.getByLabel('Overage up to').fill('5000')
    const add = page.getByRole('button', { name: 'Add cap to API calls' })
    await add.click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    const first = page.getByRole('group', { name: 'Cap 1' })
    await first.getByText('Missing').waitFor()
    await first.getByRole('textbox', { name: 'Cap' }).fill('50')
    await first.getByRole('combobox', { name: 'Per' }).click()
    await page.getByRole('option', { name: 'hour', exact: true }).click()
    await first.getByLabel('For each').fill('agent')
    await add.click()
    const second = page.getByRole('group', { name: 'Cap 2' })
    await second.getByRole('textbox', { name: 'Cap' }).fill('1000')
    await add.click()
    await page.getByRole('button', { name: 'Remove cap 3' }).click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved.').waitFor()
    expect(await entitlement('basic')).toMatchObject({ id: 'calls', limit: '10', ...limits })

    const changes = page.getByRole('table', { name: 'Published and draft' })
    await changes
      .getByText(
        '10 calls a month, overage up to 5,000, at most 1,000 a day, at most 50 an hour for each agent',
      )
      .waitFor()
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await changes.waitFor()
    expect(await entitlement('basic')).toMatchObject(limits)

    await open('/apps/default/packages')
    await page.getByRole('button', { name: 'More for the package Basic', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByRole('dialog').getByLabel('Id').fill('basic-3')
    await page.getByRole('button', { name: 'Duplicate package' }).click()
    await page.waitForURL(/packages\/basic-3$/)
    await idle()
    expect(await entitlement('basic-3')).toMatchObject(limits)

    await page.setViewportSize({ width: 390, height: 844 })
    await open('/apps/default/packages/basic')
    await second.waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize({ width: 1280, height: 720 })
    expect(problems).toEqual([])
  })
})
