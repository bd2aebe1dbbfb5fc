import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { Visit } from './harness/dashboard.ts'
import { DESK, openCommandBar, openEveryPage } from './harness/every-page.ts'
import { INSIDE, OUTSIDE, routesWithout } from './harness/pages.ts'

const dashboard = shared(openEveryPage)

describe('gap: accessibility', () => {
  let visit: Visit
  beforeAll(async () => {
    visit = await dashboard.signedIn(undefined, { colorScheme: 'light', viewport: DESK })
    await visit.open('/account')
  })
  afterAll(() => visit?.close())

  it.for(INSIDE)('%s has no violations', async (path) => {
    await visit.go(path)
    expect(await violations(visit.page)).toEqual([])
    expect(visit.problems).toEqual([])
  })

  it('the command bar has no violations', async () => {
    await visit.go('/apps/default/users')
    await openCommandBar(visit.page)
    expect(await violations(visit.page)).toEqual([])
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
    expect(await violations(visit.page)).toEqual([])
  })
})
