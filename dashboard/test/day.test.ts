import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard } from './harness/dashboard.ts'
import { atWork, openShop, type Worker } from './harness/day.ts'
import { JOBS } from './harness/day-jobs.ts'
import { LATE_JOBS } from './harness/day-jobs-late.ts'

const dashboard = shared(openDashboard)

const DESK = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }
const DAYS = [
  { name: 'light', colorScheme: 'light', viewport: DESK, phone: false },
  { name: 'dark', colorScheme: 'dark', viewport: DESK, phone: false },
  { name: 'phone', colorScheme: 'light', viewport: PHONE, phone: true },
] as const

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

  it.each([...JOBS, ...LATE_JOBS])('$job', async ({ job, clicks, do: work }) => {
    if (job !== 'sign in') await worker.go(`/apps/${worker.app}`)
    const before = await worker.clicks()
    await work(worker)
    const count = (await worker.clicks()) - before
    taken[job] = count
    expect(count, 'clicks').toBeLessThanOrEqual(clicks[phone ? 1 : 0])
    expect(count, 'somebody clicked').toBeGreaterThan(0)
    expect(await violations(worker.page)).toEqual([])
    expect(problems).toEqual([])
    await worker.page.keyboard.press('Escape')
  })
})
