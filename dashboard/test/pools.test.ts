import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  await dashboard.server.admin.data(`mutation {
    image: createFeature(input: {id: "image", name: "Images", type: CONSUMABLE, unitLabel: "image", unitLabelPlural: "images"}) { id }
    video: createFeature(input: {id: "video", name: "Videos", type: CONSUMABLE}) { id }
  }`)
  visit = await dashboard.signedIn()
})

const costs = async () =>
  (await dashboard.server.admin.data('{ feature(id: "calls") { costs { featureId cost } } }')).feature.costs
const hasAccess = async (featureId: string): Promise<boolean> =>
  (
    await dashboard.server.admin.data(
      'query ($featureId: String!) { canUseFeature(userId: "bob", featureId: $featureId) { access } }',
      { featureId },
    )
  ).canUseFeature.access

describe('gap: a pool in the dashboard', () => {
  it('is made, changed and taken apart by its costs', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/features/calls?tab=pool')
    await page.getByText('Not a pool').waitFor()
    await page.getByRole('button', { name: 'Add feature' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Feature' }).click()
    await page.getByRole('option', { name: 'Images' }).click()
    await dialog.getByRole('button', { name: 'Add feature' }).click()
    await dialog.getByText('The cost is missing.').waitFor()
    await dialog.getByLabel('Cost of a unit').fill('12')
    await dialog.getByRole('button', { name: 'Add feature' }).click()
    const rows = page.getByRole('table', { name: 'Features that draw on the pool' }).locator('tbody tr')
    await rows.getByText('12 calls').waitFor()
    expect(await costs()).toEqual([{ featureId: 'image', cost: 12 }])
    expect(await hasAccess('image')).toBe(false)

    await page.getByRole('button', { name: 'Change the cost of Images' }).click()
    await dialog.getByLabel('Cost of a unit').fill('3')
    await dialog.getByRole('button', { name: 'Save cost' }).click()
    await rows.getByText('3 calls').waitFor()
    expect(await hasAccess('image')).toBe(true)

    await page.getByRole('button', { name: 'Add feature' }).click()
    await dialog.getByLabel('Cost of a unit').fill('8')
    await dialog.getByRole('button', { name: 'Add feature' }).click()
    await rows.getByText('Videos').waitFor()
    expect(await costs()).toEqual([
      { featureId: 'image', cost: 3 },
      { featureId: 'video', cost: 8 },
    ])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize({ width: 1280, height: 720 })

    await page.getByRole('button', { name: 'Remove Images from the pool' }).click()
    await rows.getByText('Images').waitFor({ state: 'detached' })
    expect(await costs()).toEqual([{ featureId: 'video', cost: 8 }])
    await page.getByRole('button', { name: 'Undo' }).click()
    await rows.getByText('Images').waitFor()

    await rows.getByRole('link', { name: 'Videos' }).click()
    await page.getByRole('tab', { name: 'Pool' }).click()
    await page.getByText(/^Videos draws on the pool API calls: each unit costs 8 calls/).waitFor()
    expect(problems).toEqual([])
  })

  it('shows what someone else has changed meanwhile, instead of undoing it', async () => {
    const { page, open } = visit
    await open('/apps/default/features/calls?tab=pool')
    await page.getByRole('button', { name: 'Change the cost of Videos' }).click()
    const dialog = page.getByRole('dialog')
    await dashboard.server.admin.data(
      'mutation { updateFeature(id: "calls", input: { costs: [{ featureId: "image", cost: 7 }] }) { id } }',
    )
    await dialog.getByLabel('Cost of a unit').fill('9')
    await dialog.getByRole('button', { name: 'Save cost' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await costs()).toEqual([{ featureId: 'image', cost: 7 }])
  })
})
