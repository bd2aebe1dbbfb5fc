import { beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

describe('gap: REST: its page in the dashboard', () => {
  it('lists the routes, finds one and shows what it takes and answers', async () => {
    const { page, open } = visit
    await open('/apps/default/rest')
    await page.getByRole('heading', { name: 'Payment links' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search routes' }).fill('change-plan')
    const route = page.getByRole('button', { name: /change-plan/ })
    await page.getByRole('heading', { name: 'Payment links' }).waitFor({ state: 'detached' })
    await route.click()
    const body = page.getByRole('table', { name: 'Body of /v1/users/{id}/change-plan' })
    await body.getByText('packageId', { exact: true }).waitFor()
    expect(await body.locator('tbody tr').count()).toBe(4)
    const answer = page.getByRole('table', { name: 'Answer of /v1/users/{id}/change-plan' })
    expect(await answer.getByText('quotedBy', { exact: true }).count()).toBe(1)
    const command = await page.getByRole('figure', { name: 'Command' }).innerText()
    expect(command).toContain(`curl -X POST "${dashboard.server.url}/v1/users/{id}/change-plan"`)
    expect(command).toContain(`-d '{"packageId":"…"}'`)
    expect(await violations(page)).toEqual([])
    expect(visit.problems).toEqual([])
  })

  it('keeps the open route in its address', async () => {
    const { page, open } = visit
    await open('/apps/default/rest?route=recordUsages')
    await page.getByRole('table', { name: 'Body of /v1/usage/batch' }).waitFor()
    expect(await page.getByRole('figure', { name: 'Command' }).innerText()).toContain(
      `-d '{"events":[{"delta":1,"featureId":"…","userId":"…"}]}'`,
    )
  })
})
