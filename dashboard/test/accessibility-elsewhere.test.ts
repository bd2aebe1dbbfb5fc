import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { Visit } from './harness/dashboard.ts'
import { DESK, openCommandBar, openEveryPage, PHONE, turn } from './harness/every-page.ts'
import { INSIDE, OUTSIDE } from './harness/pages.ts'

const dashboard = shared(openEveryPage)

describe('gap: accessibility in the dark and on a phone', () => {
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.signedIn(undefined, { colorScheme: 'light', viewport: DESK })
    await visit.open('/account')
  })
  afterAll(() => visit?.close())

  /** No page is loaded anew, since it follows both. */
  async function looksWell(): Promise<void> {
    const { page } = visit
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
    await visit.go('/apps/default/users')
    await openCommandBar(visit.page)
    await looksWell()
  })
})

describe('gap: accessibility in front of the door, in the dark', () => {
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.visit({ colorScheme: 'dark' })
  })
  afterAll(() => visit?.close())

  it.for(OUTSIDE)('%s has no violations', async (path) => {
    await visit.open(path)
    await turn(visit.page, 'dark')
    expect(await violations(visit.page)).toEqual([])
  })
})
