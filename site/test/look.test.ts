import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDashboard, type Visit } from '../../dashboard/test/harness/dashboard.ts'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'

const site = shared(() => openDashboard())

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

describe.each([
  ['light', { colorScheme: 'light' as const, viewport: { width: 1280, height: 860 } }],
  ['dark', { colorScheme: 'dark' as const, viewport: { width: 1280, height: 860 } }],
  ['on a phone', { colorScheme: 'light' as const, viewport: { width: 390, height: 844 } }],
])('%s', (_, options) => {
  let visit: Visit
  beforeAll(async () => {
    visit = await site.visit(options)
  })
  afterAll(() => visit?.close())

  it.each(LOOKED_AT)('%s has no violations, and fits', async (path) => {
    await visit.page.goto(`${site.server.url}${path}`)
    await visit.page.getByRole('heading', { level: 1 }).first().waitFor()
    await visit.idle()
    expect(await violations(visit.page)).toEqual([])
    expect(visit.problems).toEqual([])
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await visit.page.evaluate(wide)).toBe(0)
  })
})
