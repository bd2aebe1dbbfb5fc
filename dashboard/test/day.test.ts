import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard } from './harness/dashboard.ts'
import { atWork, openShop, type Worker } from './harness/day.ts'
import { JOBS } from './harness/day-jobs.ts'
import { LATE_JOBS } from './harness/day-jobs-late.ts'
import { MONEY_JOBS } from './harness/day-jobs-money.ts'

const dashboard = shared(openDashboard)

const DESK = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }
const DAYS = [
  { name: 'light', colorScheme: 'light', viewport: DESK, phone: false },
  { name: 'dark', colorScheme: 'dark', viewport: DESK, phone: false },
  { name: 'phone', colorScheme: 'light', viewport: PHONE, phone: true },
] as const

/** At 200 %, a page has half the pixels: nothing is cut off or scrolls sideways. */
async function zoomed(page: Page): Promise<void> {
  await page.setViewportSize({ width: DESK.width / 2, height: DESK.height / 2 })
  const wide = await page.evaluate('document.documentElement.scrollWidth')
  const cut = await cutOff(page)
  await page.setViewportSize(DESK)
  expect(wide, 'at 200 %').toBeLessThanOrEqual(DESK.width / 2)
  // A comparison stays a table, which scrolls by itself.
  expect(
    cut.filter((table) => !table.startsWith('Published and draft')),
    'at 200 %',
  ).toEqual([])
}

/** All three with `npm run day`. */
const SHOWN = process.env.TOLLGATE_DAY === 'all' ? DAYS : DAYS.slice(0, 1)

describe.each(SHOWN)("gap: a product manager's day, $name", ({ name, colorScheme, viewport, phone }) => {
  let worker: Worker
  let problems: string[]
  const taken: Record<string, number> = {}
  beforeAll(async () => {
    const shop = await openShop(dashboard.server, `day-${name}`)
    const visit = await dashboard.visit({ colorScheme, viewport, acceptDownloads: true })
    problems = visit.problems
    worker = await atWork(visit, shop, name)
    await visit.open(`/sign-in?to=${encodeURIComponent(`/apps/${shop.id}`)}`)
  })
  afterAll(() => {
    if (process.env.TOLLGATE_DAY === 'all') console.log(name, taken)
  })

  it.each([...JOBS, ...MONEY_JOBS, ...LATE_JOBS])('$job', async ({ job, clicks, do: work }) => {
    if (job !== 'sign in') await worker.go(`/apps/${worker.app}`)
    const before = await worker.clicks()
    await work(worker)
    const count = (await worker.clicks()) - before
    taken[job] = count
    expect(count, 'clicks').toBeLessThanOrEqual(clicks[phone ? 1 : 0])
    expect(count, 'somebody clicked').toBeGreaterThan(0)
    expect(await violations(worker.page)).toEqual([])
    expect(problems).toEqual([])
    if (!phone) await zoomed(worker.page)
    await worker.page.keyboard.press('Escape')
  })
})
