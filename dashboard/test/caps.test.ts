import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  const { admin, dashboard: api } = dashboard.server
  await admin.data(`mutation {
    createPackage(input: { id: "team", name: "Team", features: [{ id: "calls", entitlement: {
      limit: 100000, caps: [{ period: DAY, limit: 1000 }, { period: HOUR, limit: 50, perEntity: "agent" }] } }] }) { id }
    createUser(input: { id: "eve", name: "Eve" }) { id }
  }`)
  await api.data('mutation { publishPackage(appId: "default", id: "team") { id } }')
  await admin.data(`mutation {
    subscribe(userId: "eve", packageIds: ["team"]) { id }
    recordUsage(input: { userId: "eve", featureId: "calls", delta: 30, entities: ["agent:42"] }) { recorded }
  }`)
  visit = await dashboard.signedIn()
})

const record = async (userId: string, delta: number, entities: string[] = []) => {
  const { recordUsage } = await dashboard.server.admin.data(
    `mutation ($userId: String!, $delta: SafeInt!, $entities: [String!]) {
      recordUsage(input: { userId: $userId, featureId: "calls", delta: $delta, entities: $entities }) { recorded reason }
    }`,
    { userId, delta, entities },
  )
  return recordUsage
}
const capsOf = async (userId: string) =>
  (await dashboard.server.admin.data(`{ caps(userId: "${userId}") { entity period limit used } }`)).caps

describe('gap: the caps of a user in the dashboard', () => {
  it('list those of the plan, and one set for the user replaces them with the count', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/users/eve?tab=caps')
    const rows = page.getByRole('table', { name: 'Caps' }).locator('tbody tr')
    await rows.getByText('at most 1,000 a day').waitFor()
    await rows.getByText('at most 50 an hour for each agent').waitFor()
    await rows.getByText('30 of 1,000').waitFor()
    await rows.getByText('counted for each').waitFor()

    await page.getByRole('button', { name: /^Change the cap API calls, at most 1,000 a day/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('At most').fill('20')
    await dialog
      .getByText(/^Replaces the plan's cap of 1,000 for this user. 30 used.* refused until /)
      .waitFor()
    await dialog.getByLabel('At most').fill('40')
    await dialog.getByText(/10 left until/).waitFor()
    await dialog.getByRole('button', { name: 'Set the cap' }).click()
    await rows.getByText('of this user, instead of 1,000 of the plan').waitFor()
    expect(await capsOf('eve')).toEqual([{ entity: null, period: 'DAY', limit: 40, used: 30 }])
    expect((await record('eve', 11)).recorded).toBe(false)

    await page.getByRole('button', { name: 'Undo' }).click()
    await rows.getByText('at most 1,000 a day').waitFor()
    expect(await capsOf('eve')).toEqual([])
    await rows.getByText('30 of 1,000').waitFor()
    expect(problems).toEqual([])
  })

  it('are set for an entity, changed, removed, and each is undone', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/users/ada?tab=caps')
    await page.getByText('No caps').waitFor()
    await page.getByRole('button', { name: 'Set cap' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Feature' }).click()
    await page.getByRole('option', { name: 'API calls' }).click()
    await dialog.getByLabel('Usage of one entity').check()
    await dialog.getByLabel('At most').fill('1')
    await dialog.getByLabel('Entity', { exact: true }).fill('team')
    await dialog.getByRole('button', { name: 'Set the cap' }).click()
    await dialog.getByText('An entity has the form type:id').waitFor()
    await dialog.getByLabel('Entity', { exact: true }).fill('team:7')
    await dialog.getByText(/^Counts usage from now on. 0 used in the current window: 1 left/).waitFor()
    await dialog.getByRole('button', { name: 'Set the cap' }).click()
    const rows = page.getByRole('table', { name: 'Caps' }).locator('tbody tr')
    await rows.getByText('at most 1 a day for team:7').waitFor()
    expect(await record('ada', 1, ['team:7'])).toEqual({ recorded: true, reason: null })
    expect((await record('ada', 1, ['team:7'])).reason).toContain('"team:7"')

    await open('/apps/default/users/ada?tab=caps')
    await page.getByRole('button', { name: /^Change the cap API calls/ }).click()
    await dialog.getByLabel('At most').fill('2')
    await dialog.getByText(/^Replaces the limit of 1. 1 used in the current window: 1 left/).waitFor()
    await dialog.getByRole('button', { name: 'Set the cap' }).click()
    await rows.getByText('1 of 2').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await rows.getByText('1 of 1').waitFor()

    await page.getByRole('button', { name: /^Remove the cap API calls/ }).click()
    await dialog.getByText(/The count of 1 is deleted/).waitFor()
    await dialog.getByRole('button', { name: 'Remove the cap' }).click()
    await page.getByText('No caps').waitFor()
    expect(await capsOf('ada')).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await rows.getByText('0 of 1').waitFor()
    expect(await capsOf('ada')).toEqual([{ entity: 'team:7', period: 'DAY', limit: 1, used: 0 }])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize({ width: 1280, height: 720 })
    expect(problems).toEqual([])
  })

  it('are listed up to a bound, which says how many more there are', async () => {
    const { admin, dashboard: api } = dashboard.server
    const ids = Array.from({ length: 45 }, (_, i) => `f${i}`)
    for (const id of ids)
      await admin.data('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
        input: { id, name: id, type: 'CONSUMABLE' },
      })
    const caps = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'].map((period) => ({ period, limit: 9 }))
    const features = ids.map((id) => ({ id, entitlement: { limit: 9, caps } }))
    await admin.data('mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }', {
      input: { id: 'many', name: 'Many', features },
    })
    await admin.data('mutation { createUser(input: { id: "max" }) { id } }')
    await api.data('mutation { publishPackage(appId: "default", id: "many") { id } }')
    await admin.data('mutation { subscribe(userId: "max", packageIds: ["many"]) { id } }')
    const { page, open } = visit
    await open('/apps/default/users/max?tab=caps')
    await page.getByText('And 25 more caps of the plans.').waitFor()
  })
})
