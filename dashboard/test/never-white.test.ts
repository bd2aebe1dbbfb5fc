import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page, Route } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { promised } from '../../server/test/harness/promised.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8')) as Record<
  string,
  { file: string; css?: string[] }
>
const fileOf = (source: string) => `**/${manifest[source]?.file}`
const STYLES = `**/${manifest['index.html']?.css?.[0]}`

/** Longer than the page waits for anything. */
const PATIENCE_MS = 20_000

const dashboard = shared(openDashboard)
beforeAll(async () => {
  await furnish(dashboard.server)
})

let visit: Visit
let page: Page
let mended: boolean
beforeEach(async () => {
  visit = await dashboard.signedIn()
  page = visit.page
  mended = false
})
afterEach(() => visit.close())

type Handler = (route: Route) => unknown
const never: Handler = () => {}
const refuse: Handler = (route) => route.abort('connectionreset')

/** Has requests for this address handled so, until `mend` is called. */
const trouble = (url: string, handler: Handler) =>
  page.route(url, (route) => (mended ? route.continue() : handler(route)))
const mend = () => {
  mended = true
}
const to = (path: string) => page.goto(`${dashboard.server.url}${path}`, { waitUntil: 'commit' })
const alert = (text: string | RegExp) => page.getByRole('alert').filter({ hasText: text })

/** Answers the dashboard's operation of this name in another way than the service does. */
const instead = (operation: string, handler: Handler) =>
  trouble('**/dashboard/graphql', (route) =>
    route.request().postDataJSON().query.includes(` ${operation}`) ? handler(route) : route.continue(),
  )

/** Lets the page's timers run ahead, once the page has begun to wait. */
async function waitInVain(): Promise<void> {
  await page.getByRole('status', { name: 'Loading' }).first().waitFor()
  await page.clock.fastForward(PATIENCE_MS)
}

describe('gap: a request that is never answered', () => {
  beforeEach(() => page.clock.install())

  it('the first one of all: the page says so, and asks again', async () => {
    await instead('Session', never)
    await to('/account')
    await waitInVain()
    await alert('Tollgate did not respond').waitFor()
    mend()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Users' }).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
  })

  it('one of a page: it says so in its place, and asks again', async () => {
    await instead('Users', never)
    await to('/apps/default/users')
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await waitInVain()
    await page.getByText('Tollgate did not respond').waitFor()
    mend()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  })

  it('the one about what the member may do: the shell says so, and asks again', async () => {
    await instead('Account', never)
    await to('/apps/default/users')
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await page.clock.fastForward(PATIENCE_MS)
    await alert('Tollgate did not respond').waitFor()
    mend()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'New user' }).waitFor()
    expect(await alert('').count()).toBe(0)
  })

  it('a change: its form says so, and that it may have been made', async () => {
    await to('/apps/default/users?make=1')
    await page.getByLabel('Id', { exact: true }).fill('zoe')
    await instead('CreateUser', never)
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.clock.fastForward(4 * PATIENCE_MS)
    await alert('may have been saved').waitFor()
  })

  it('a browser that believes it is offline asks all the same: the service may be on this machine', async () => {
    await page.addInitScript(`addEventListener('load', () => dispatchEvent(new Event('offline')))`)
    await to('/account')
    await page.getByRole('heading', { level: 1, name: 'Password and sessions' }).waitFor()
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  })
})

describe('gap: the code of a page', () => {
  it.each([
    { trouble: 'fails to load', handler: refuse },
    {
      trouble: 'is gone',
      handler: ((route) => route.fulfill({ status: 404, body: 'Not found' })) as Handler,
    },
  ])('that $trouble: the page says so, and comes when it is reloaded', async ({ handler }) => {
    await trouble(fileOf('src/pages/account.tsx'), handler)
    await to('/account')
    await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor()
    await alert('could not be loaded').waitFor()
    mend()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: 'Password and sessions' }).waitFor()
  })

  it.each(['by address', 'by link'])('that never comes, %s: the page says so', async (how) => {
    await page.clock.install()
    await trouble(fileOf('src/pages/account.tsx'), never)
    if (how === 'by address') await to('/account')
    else {
      await to('/apps/default/users')
      await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
      await page.evaluate(`history.pushState(null, '', '/account')`)
    }
    await waitInVain()
    await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor()
    await alert('has not loaded').waitFor()
    mend()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: 'Password and sessions' }).waitFor()
  })

  it('that throws while it renders: the page says so', async () => {
    await instead('Users', (route) => route.fulfill({ json: { data: { users: { rows: 'none' } } } }))
    await to('/apps/default/users')
    await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor()
    await alert('Something went wrong').waitFor()
    mend()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  })
})

describe('gap: before anything runs', () => {
  /** What stands in the page from the start is shown by the time alone: no script has to arrive for it. */
  const late = () => page.evaluate('for (const one of document.getAnimations()) one.finish()')

  it.each([
    { what: 'the first script never comes', url: fileOf('index.html'), handler: never },
    { what: 'the first script fails to load', url: fileOf('index.html'), handler: refuse },
    { what: 'the styles never come', url: STYLES, handler: never },
    { what: 'the script of the first paint never comes', url: '**/first-paint.js', handler: never },
    {
      what: 'the first script throws',
      url: fileOf('index.html'),
      handler: ((route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'throw new Error()' })) as Handler,
    },
  ])('$what: the page says so, and comes when it is reloaded', async ({ url, handler }) => {
    await trouble(url, handler)
    await to('/account')
    const message = page.getByText('The dashboard has not started')
    await message.waitFor({ state: 'attached' })
    expect(await message.isVisible()).toBe(false)
    await late()
    await message.waitFor()
    // The browser paints it, too: styles that are still to come hold nothing back.
    await page.evaluate('new Promise(requestAnimationFrame)')
    mend()
    await page.getByRole('link', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: 'Password and sessions' }).waitFor()
  })

  it('what breaks outside of every page leaves the same message', async () => {
    await page.addInitScript('matchMedia = () => { throw new Error("no media") }')
    await to('/account')
    const message = page.getByText('The dashboard has not started')
    await message.waitFor({ state: 'attached' })
    await late()
    await message.waitFor()
  })
})

/** Of the first table, or what stands for it: where it starts, and how high its first rows are. */
const TABLE = `(() => {
  const all = (...selectors) => selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
  const rows = all('main [role=status] [data-row]', 'main tbody tr').map((row) => row.getBoundingClientRect())
  return { top: Math.round(rows[0].top), height: Math.round(rows[0].height) }
})()`
/** Of the first card, or what stands for it. */
const CARD = `(() => {
  const { top, left, width } = document.querySelector('main .mantine-SimpleGrid-root > *').getBoundingClientRect()
  return { top: Math.round(top), left: Math.round(left), width: Math.round(width) }
})()`

/** Which nobody sees move. */
const FEW_PIXELS = 4

describe('gap: what stands for a list while it is on its way', () => {
  it.each([
    { path: '/apps/default/users', operation: 'Users(', place: TABLE, there: 'Ada Lovelace' },
    { path: '/apps/default/features', operation: 'Features(', place: TABLE, there: 'API calls' },
    { path: '/apps/default/keys', operation: 'ApiKeys(', place: TABLE, there: 'Last used' },
    { path: '/members', operation: 'Members ', place: TABLE, there: 'Last seen' },
    { path: '/apps/default/users/ada', operation: 'GrantedFeatures(', place: CARD, there: '8 of 10 calls' },
  ])('$path is where the list will be, and as high', async ({ path, operation, place, there }) => {
    const { promise: held, fulfil: release } = promised()
    let asked = 0
    await page.route('**/dashboard/graphql', async (route) => {
      if (route.request().postDataJSON().query.includes(` ${operation}`)) {
        asked += 1
        await held
      }
      await route.continue()
    })
    await to(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => asked).toBeGreaterThan(0)
    // What else the page asks for is there first.
    await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(1)
    await page.evaluate('document.fonts.ready')
    const before = (await page.evaluate(place)) as Record<string, number>
    release()
    await page.getByText(there).first().waitFor()
    await visit.idle()
    const after = (await page.evaluate(place)) as Record<string, number>
    expect(Object.keys(before).length).toBeGreaterThan(1)
    for (const [side, pixels] of Object.entries(before))
      expect(Math.abs((after[side] ?? Number.NaN) - pixels), side).toBeLessThanOrEqual(FEW_PIXELS)
  })
})
