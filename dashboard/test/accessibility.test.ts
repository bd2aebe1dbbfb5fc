import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'
import { INSIDE, OUTSIDE, routesWithout } from './harness/pages.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data(`mutation {
    createApp(id: "clocked", name: "Clocked", testClock: true) { id }
    editPackage(appId: "default", id: "basic", input: {features: [{id: "calls", entitlement: {limit: 5}}, {id: "sso"}]}) { id }
    signing: rotateTokenKey(appId: "default") { id }
    retiring: rotateTokenKey(appId: "default") { id }
  }`)
})
afterAll(() => dashboard?.close())

const DESK = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }

async function turn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
}

describe('gap: accessibility', () => {
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.signedIn(undefined, { colorScheme: 'light', viewport: DESK })
    await visit.open('/account')
  })
  afterAll(() => visit?.close())

  /** In the light, in the dark and on a phone; no page is loaded anew, since it follows all three. */
  async function looksWell(): Promise<void> {
    const { page } = visit
    await page.setViewportSize(DESK)
    expect(await violations(page)).toEqual([])
    await turn(page, 'dark')
    expect(await violations(page, ['color-contrast'])).toEqual([])
    await turn(page, 'light')
    await page.setViewportSize(PHONE)
    expect(await violations(page)).toEqual([])
    // Nothing sticks out to the side.
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await page.setViewportSize(DESK)
  }

  it.for(INSIDE)('%s has no violations', async (path) => {
    await visit.go(path)
    await looksWell()
    expect(visit.problems).toEqual([])
  })

  it('the command bar has no violations', async () => {
    const { page, go } = visit
    await go('/apps/default/users')
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: /^Go to/ }).fill('ada')
    await page.getByText('ada@example.com').last().waitFor()
    await looksWell()
  })
})

it('gap: accessibility is looked at on every page', async () => {
  expect(await routesWithout([...INSIDE, ...OUTSIDE])).toEqual([])
})

describe('gap: accessibility in front of the door', () => {
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.visit()
  })
  afterAll(() => visit?.close())

  it.for(OUTSIDE)('%s has no violations', async (path) => {
    await visit.open(path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await turn(visit.page, colorScheme)
      expect(await violations(visit.page)).toEqual([])
    }
  })
})
