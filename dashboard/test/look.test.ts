import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data('mutation { createApp(id: "acme", name: "Acme Analytics") { id } }')
  visit = await dashboard.signedIn()
})

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

describe('gap: the line below a name', () => {
  it('has dots between its parts only, also where it takes several lines', async () => {
    const { page, open, close } = await dashboard.signedIn(undefined, {
      viewport: { width: 390, height: 844 },
    })
    const long = 'the-id-of-an-account-in-another-system-0001'
    await dashboard.server.admin.data(
      `mutation { createUser(input: {id: "${long}", email: "someone@a-long-name-of-a-company.example"}) { id } }`,
    )
    await open(`/apps/default/users/${long}`)
    // A dot that shows has something on both of its sides.
    const line = (await page.evaluate(`(() => {
      const parts = [...document.querySelectorAll('nav[aria-label=Breadcrumb]')].at(-1).parentElement.parentElement.children
      const frame = parts[0].parentElement.parentElement.getBoundingClientRect()
      return [...parts].map((part) => {
        const { left, top, height } = part.getBoundingClientRect()
        const before = getComputedStyle(part, '::before')
        const own = before.content.startsWith('"·"')
        const trailing = part.lastElementChild?.textContent === '·'
        return { line: Math.round(top), starts: left <= frame.left, own: own && left >= frame.left - 4, trailing }
      })
    })()`)) as { line: number; starts: boolean; own: boolean; trailing: boolean }[]
    expect(new Set(line.map((part) => part.line)).size).toBeGreaterThan(1)
    for (const [index, part] of line.entries()) {
      expect(part.trailing && line[index + 1]?.line !== part.line).toBe(false)
      expect(part.starts && part.own).toBe(false)
    }
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
    await page.getByText('○ Current period (incomplete)').waitFor()
    expect(await page.locator('.u-legend').first().locator('tr:visible').allInnerTexts()).toEqual([
      'Used',
      'Limit',
    ])
    await page.getByRole('img', { name: 'Usage of API calls in the last 1 periods' }).hover()
    await page.getByText('8 so far').waitFor()
  })

  it('of calls end with the last whole hour, and show what there is of this one by itself', async () => {
    const { page, open } = visit
    await open('/apps/default')
    await page.getByText('○ Current hour (incomplete)').waitFor()
    await page.getByText('Last 30 days', { exact: true }).click()
    await page.getByText('○ Today (incomplete)').waitFor()
  })
})
