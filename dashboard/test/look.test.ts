import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../server/test/harness/database.ts'
import { OWNER } from '../../server/test/harness/server.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data('mutation { createApp(id: "acme", name: "Acme Analytics") { id } }')
  visit = await dashboard.signedIn()
})
afterAll(() => dashboard?.close())

describe('gap: an address that leads to nothing', () => {
  const heading = () => visit.page.getByRole('heading', { level: 1, name: 'Page not found' })
  const remembered = () => visit.page.evaluate(`localStorage.getItem('tollgate-app')`)

  it.each([
    { path: '/nowhere', says: 'There is nothing at this address' },
    { path: '/apps/default/nowhere', says: 'There is nothing at this address' },
    { path: '/apps/nobodys', says: 'There is no app “nobodys”' },
    { path: '/apps/nobodys/users/ada', says: 'There is no app “nobodys”' },
    { path: '/apps/default/users/nobody', says: 'User not found: "nobody"' },
    { path: '/apps/default/packages/nothing', says: 'Package not found: "nothing"' },
    { path: '/apps/default/packages/nothing/publish', says: 'Package not found: "nothing"' },
  ])('$path is a page that says so', async ({ path, says }) => {
    const { page, open } = visit
    await open(path)
    await heading().waitFor()
    await page.getByText(says).waitFor()
    await page.getByRole('link', { name: 'Go to Home' }).click()
    await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor()
  })

  it('is not remembered, and an app that is gone is not gone back to', async () => {
    const { page, open } = visit
    await open('/apps/acme/users')
    expect(await remembered()).toBe('acme')
    await open('/apps/nobodys')
    await heading().waitFor()
    expect(await remembered()).toBe('acme')
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.waitForURL('**/apps/acme/users')
    await page.evaluate(`localStorage.setItem('tollgate-app', 'nobodys')`)
    await open('/')
    await page.waitForURL('**/apps/default')
  })

  it('is no page for a program', async () => {
    const status = async (accept: string) =>
      (await fetch(`${dashboard.server.url}/nowhere`, { headers: { accept } })).status
    expect(await status('text/html')).toBe(404)
    const plain = await fetch(`${dashboard.server.url}/nowhere`)
    expect(plain.headers.get('content-type')).toMatch(/^text\/plain/)
  })
})

describe('gap: times', () => {
  it('are in the zone of whoever reads them, and in UTC when they are pointed at', async () => {
    const { page, open, close } = await dashboard.signedIn(undefined, { timezoneId: 'Pacific/Auckland' })
    await dashboard.server.admin.data(`mutation {
      setOverride(input: {userId: "bob", featureId: "sso", mode: GRANT, expiresAt: "2090-06-30T18:30:00.000Z"}) { mode }
    }`)
    await open('/apps/default/users/bob?tab=overrides')
    const time = page.getByRole('table', { name: 'Overrides' }).locator('tbody time').first()
    expect(await time.innerText()).toMatch(/^Jul 1, 2090, 6:30\sAM$/)
    expect(await time.getAttribute('title')).toBe('2090-06-30 18:30:00.000 UTC')
    // What is entered is in the same zone.
    await page.getByRole('button', { name: 'Change the override of Single sign-on' }).click()
    const until = page.getByRole('dialog').getByLabel('Until')
    expect(await until.inputValue()).toBe('2090-07-01T06:30')
    await until.fill('2090-07-01T07:45')
    await page.getByRole('dialog').getByRole('button', { name: 'Save override' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { overrides } = await dashboard.server.admin.data('{ overrides(userId: "bob") { expiresAt } }')
    expect(overrides).toEqual([{ expiresAt: '2090-06-30T19:45:00.000Z' }])
    await close()
  })
})

describe('gap: a phone', () => {
  it('names the app in its header, and breaks neither the header nor the tabs', async () => {
    const { page, open, close } = await dashboard.signedIn(undefined, {
      viewport: { width: 390, height: 844 },
    })
    await open('/apps/acme/users')
    await page.getByRole('banner').getByText('Acme Analytics').waitFor()
    await open('/apps/default/packages/basic')
    await page.getByRole('tab', { name: 'Metadata' }).waitFor()
    const tops = await page.evaluate(
      `[...document.querySelectorAll('[role=tab]')].map((tab) => tab.getBoundingClientRect().top)`,
    )
    expect(new Set(tops as number[]).size).toBe(1)
    const heading = page.getByRole('heading', { level: 1, name: 'Users' })
    await open('/apps/default/users')
    const [title, button] = await Promise.all([
      heading.boundingBox(),
      page.getByRole('button', { name: 'New user' }).boundingBox(),
    ])
    expect(button?.y).toBeLessThan((title?.y ?? 0) + (title?.height ?? 0))
    await close()
  })
})

describe('gap: the first thing to see', () => {
  const outline = `(() => {
    const blocks = [...document.querySelectorAll('#starting i')].filter((block) => block.offsetHeight > 0)
    return { blocks: blocks.length, ground: getComputedStyle(document.documentElement).backgroundColor }
  })()`

  it.each([
    { colorScheme: 'light', ground: 'rgb(255, 255, 255)' },
    { colorScheme: 'dark', ground: 'rgb(18, 25, 29)' },
  ] as const)('is the outline of a page, in the $colorScheme', async ({ colorScheme, ground }) => {
    const { page, close } = await dashboard.signedIn(undefined, { colorScheme })
    // All the scripts of the page proper are held back.
    await page.route(/\/assets\/.*\.js$/, () => {})
    await page.goto(`${dashboard.server.url}/apps/default/users`, { waitUntil: 'commit' })
    await page.locator('#starting i').first().waitFor()
    expect(await page.evaluate(outline)).toEqual({ blocks: 12, ground })
    await close()
  })

  it('stays until there is something else: at no moment is the page empty', async () => {
    const { page, close } = await dashboard.signedIn()
    await page.addInitScript(`globalThis.empty = 0
      const look = () => {
        const shown = document.body?.innerText.trim() || document.querySelector('#starting i, .mantine-Skeleton-root')
        if (document.body && document.readyState !== 'loading' && !shown) globalThis.empty += 1
        requestAnimationFrame(look)
      }
      look()`)
    await page.goto(`${dashboard.server.url}/apps/default/users`)
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await page.getByRole('link', { name: 'Packages', exact: true }).click()
    await page.getByRole('link', { name: 'Extra calls' }).waitFor()
    expect(await page.evaluate('globalThis.empty')).toBe(0)
    await close()
  })
})

describe('gap: charts', () => {
  it('of periods have one tick and one bar for each, and the one that runs is set apart', async () => {
    const { page, open } = visit
    await open('/apps/default/users/ada?feature=calls')
    await page.getByRole('img', { name: 'Usage of API calls in the last 1 periods' }).waitFor()
    await page.getByText('The pale bar is the current period, so far.').waitFor()
    expect(await page.locator('.u-legend tr:visible').allInnerTexts()).toEqual(['Used', 'Budget'])
    await page.getByRole('img', { name: /^Usage of API calls/ }).hover()
    await page.getByText('8 so far').waitFor()
  })

  it('of calls end with the last whole hour, and show what there is of this one by itself', async () => {
    const { page, open } = visit
    await open('/apps/default')
    await page.getByText('The circle is this hour, so far.').waitFor()
    await page.getByText('Last 30 days', { exact: true }).click()
    await page.getByText('The circle is today, so far.').waitFor()
  })
})

interface Step {
  /** a choice, as "Order: By name", a part of "Show", or what is typed into the search */
  choose?: [list: string, option: string]
  show?: string
  search?: string
  /** how the address says it */
  says: RegExp
  rows: string[]
  total: string
}

const SHOP = `mutation {
  createPackage(appId: "acme", input: {id: "plan", name: "Plan"}) { id }
  publishPackage(appId: "acme", id: "plan") { id }
  nine: createPrice(appId: "acme", packageId: "plan", input: {id: "nine", amount: 900, currency: "usd", interval: "month"}) { id }
  five: createPrice(appId: "acme", packageId: "plan", input: {id: "five", amount: 500, currency: "usd", interval: "month"}) { id }
  old: createPrice(appId: "acme", packageId: "plan", input: {id: "old", amount: 700, currency: "usd", interval: "month"}) { id }
  archivePrice(appId: "acme", provider: "sandbox", id: "old", archived: true) { id }
  zeta: createBillingTemplate(appId: "acme", input: {id: "zeta", name: "Zeta", packageIds: ["plan"]}) { id }
  alpha: createBillingTemplate(appId: "acme", input: {id: "alpha", name: "Alpha", packageIds: ["plan"]}) { id }
  gone: createBillingTemplate(appId: "acme", input: {id: "gone", name: "Gone", packageIds: ["plan"]}) { id }
  archiveBillingTemplate(appId: "acme", id: "gone") { id }
  zulu: createApiKey(appId: "acme", name: "Zulu") { id }
  echo: createApiKey(appId: "acme", name: "Echo") { id }
  createUser(appId: "default", input: {id: "cyd", name: "Cyd"}) { id }
}`

const LISTS: { path: string; table: string; all: string[]; steps: Step[] }[] = [
  {
    path: '/apps/acme/billing',
    table: 'Billing templates',
    all: ['Zeta', 'Alpha'],
    steps: [
      { choose: ['Order', 'By name'], says: /order=name/, rows: ['Alpha', 'Zeta'], total: '2 templates' },
      {
        choose: ['Order', 'Newest first'],
        says: /order=newest/,
        rows: ['Alpha', 'Zeta'],
        total: '2 templates',
      },
      { search: 'zet', says: /search=zet/, rows: ['Zeta'], total: '1 template' },
      { search: '', show: 'Archived', says: /show=archived/, rows: ['Gone'], total: '1 template' },
    ],
  },
  {
    path: '/members',
    table: 'Members',
    all: [OWNER.email, 'zoe@list.example', 'ann@list.example'],
    steps: [
      {
        choose: ['Order', 'By email'],
        says: /order=email/,
        rows: ['ann@list.example', OWNER.email, 'zoe@list.example'].sort((a, b) => a.localeCompare(b)),
        total: '3 members',
      },
      { choose: ['Role', 'Editor'], says: /role=EDITOR/, rows: ['ann@list.example'], total: '1 member' },
      { choose: ['Role', 'Viewer'], says: /role=VIEWER/, rows: ['zoe@list.example'], total: '1 member' },
    ],
  },
  {
    path: '/apps/acme/keys',
    table: 'API keys',
    all: ['Zulu', 'Echo'],
    steps: [
      { choose: ['Order', 'By name'], says: /order=name/, rows: ['Echo', 'Zulu'], total: '2 keys' },
      { show: 'Ended', says: /show=ended/, rows: ['Zulu'], total: '1 key' },
      { show: 'In use', says: /show=working/, rows: ['Echo'], total: '1 key' },
      { show: 'All', search: 'ZU', says: /search=ZU/, rows: ['Zulu'], total: '1 key' },
    ],
  },
  {
    path: '/apps/acme/packages/plan?tab=prices',
    table: 'Prices',
    all: ['$9.00 per month', '$5.00 per month', '$7.00 per month'],
    steps: [
      {
        choose: ['Order', 'Newest first'],
        says: /order=newest/,
        rows: ['$7.00 per month', '$5.00 per month', '$9.00 per month'],
        total: '3 prices',
      },
      {
        show: 'In use',
        says: /show=current/,
        rows: ['$5.00 per month', '$9.00 per month'],
        total: '2 prices',
      },
      { show: 'Archived', says: /show=archived/, rows: ['$7.00 per month'], total: '1 price' },
    ],
  },
  {
    path: '/apps/default/users',
    table: 'Users',
    all: ['Cyd', 'Bob', 'Ada Lovelace'],
    steps: [
      {
        choose: ['Order', 'By name'],
        says: /order=name/,
        rows: ['Ada Lovelace', 'Bob', 'Cyd'],
        total: '3 users',
      },
      { choose: ['Status', 'Active'], says: /state=ACTIVE/, rows: ['Bob', 'Ada Lovelace'], total: '2 users' },
      { choose: ['Plan', 'No plan'], says: /package=none/, rows: ['Cyd'], total: '1 user' },
    ],
  },
]

describe('gap: lists', () => {
  beforeAll(async () => {
    const { databaseUrl, dashboard: api } = dashboard.server
    const { zulu } = await api.data(SHOP)
    await api.data('mutation ($id: String!) { revokeApiKey(appId: "acme", id: $id) { id } }', zulu)
    await rowsOf(
      { connectionString: databaseUrl },
      `insert into member (email, password_hash, role)
       values ('zoe@list.example', '', 'VIEWER'), ('ann@list.example', '', 'EDITOR')`,
    )
  })

  it.each(LISTS)('$table are ordered, narrowed and counted, and the address says so', async (list) => {
    const { page, open, idle, problems } = visit
    await open(list.path)
    const table = page.getByRole('table', { name: list.table, exact: true })
    const shown = async () =>
      (await table.locator('tbody tr td:first-child').allInnerTexts()).map((text) =>
        text.split('\n')[0]?.trim(),
      )
    expect(await shown()).toEqual(list.all)
    for (const { choose, show, search, says, rows, total } of list.steps) {
      if (choose) {
        await page.getByRole('combobox', { name: choose[0], exact: true }).click()
        await page.getByRole('option', { name: choose[1] }).click()
      }
      if (search !== undefined) await page.getByRole('searchbox').fill(search)
      if (show) await page.getByRole('radiogroup').getByText(show, { exact: true }).click()
      await page.waitForURL(says)
      await page
        .getByRole('status')
        .filter({ hasText: new RegExp(`^${total}$`) })
        .waitFor()
      await idle()
      expect(await shown()).toEqual(rows)
    }
    // Somebody who is sent the address sees the same.
    const last = list.steps.at(-1)
    await open(new URL(page.url()).pathname + new URL(page.url()).search)
    expect(await shown()).toEqual(last?.rows)
    expect(problems).toEqual([])
  })
})
