import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDashboard, type Visit } from '../../dashboard/test/harness/dashboard.ts'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'

const site = shared(() => openDashboard())

const DESK = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }

const LOOKED_AT = [
  '/docs/',
  '/docs/start/curl',
  '/docs/guides/metered-api',
  '/docs/concepts/checks-and-usage',
  '/docs/reference/admin-api',
  '/docs/reference/errors',
  '/docs/operations',
  '/docs/dashboard',
]

let visit: Visit
beforeAll(async () => {
  visit = await site.visit({ colorScheme: 'light', viewport: DESK })
})
afterAll(() => visit?.close())

const width = () =>
  visit.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

it.each(LOOKED_AT)('%s has no violations and fits, in both colours and on a phone', async (path) => {
  const { page } = visit
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESK)
  await page.goto(`${site.server.url}${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await visit.idle()
  expect(await violations(page)).toEqual([])
  expect(await width()).toBe(0)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html.dark').waitFor()
  // Other rules do not depend on the colours.
  expect(await violations(page, ['color-contrast'])).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html:not(.dark)').waitFor()
  await page.setViewportSize(PHONE)
  expect(await violations(page)).toEqual([])
  expect(await width()).toBe(0)
  expect(visit.problems).toEqual([])
})
