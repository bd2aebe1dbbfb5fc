import type { Page } from 'playwright-core'
import { type Dashboard, openDashboard } from './dashboard.ts'
import { furnish } from './furnish.ts'

export const DESK = { width: 1280, height: 860 }
export const PHONE = { width: 390, height: 844 }

/** A dashboard with something on each of the pages that pages.ts lists. */
export async function openEveryPage(): Promise<Dashboard> {
  const dashboard = await openDashboard()
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data(`mutation {
    createApp(id: "clocked", name: "Clocked", testClock: true) { id }
    sampled: createApp(id: "sampled", name: "Sampled") { id }
    loadSample(appId: "sampled") { users }
    editPackage(appId: "default", id: "basic", input: {features: [{id: "calls", entitlement: {limit: 5}}, {id: "sso"}]}) { id }
    signing: rotateTokenKey(appId: "default") { id }
    retiring: rotateTokenKey(appId: "default") { id }
  }`)
  return dashboard
}

export async function turn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
}

/** The list of what can be gone to, with a user found in it. */
export async function openCommandBar(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /^Go to/ }).fill('ada')
  await page.getByText('ada@example.com').last().waitFor()
}
