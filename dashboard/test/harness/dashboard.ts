import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type {
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Locator,
  Page,
  Request,
} from 'playwright-core'
import { vi } from 'vitest'
import { sharedBrowser } from '../../../server/test/harness/browser.ts'
import { sessionCookie } from '../../../server/test/harness/import.ts'
import { PATIENCE_MS } from '../../../server/test/harness/patience.ts'
import {
  OWNER,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../../server/test/harness/server.ts'

const PICTURES = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url))

/** Sessions of a real browser in front of a dashboard. */
export interface Visitors {
  /** A browser session of its own, on the sign-in page's side of the door. */
  visit(options?: BrowserContextOptions): Promise<Visit>
  /** A browser session that has signed in, as the owner unless another is named. */
  signedIn(member?: { email: string; password: string }, options?: BrowserContextOptions): Promise<Visit>
  close(): Promise<void>
}

/** The service with its pages, and a browser to look at them. */
export interface Dashboard extends Visitors {
  server: TestServer
}

export interface Visit {
  page: Page
  /** What went wrong in the page: exceptions and refusals of its own security policy. */
  problems: string[]
  /** Goes to a path of the dashboard, and waits for its heading. */
  open(path: string): Promise<void>
  /** Goes to a path as the page's own links do: without loading it anew. */
  go(path: string): Promise<void>
  /** Until everything that was asked for is there. */
  idle(): Promise<void>
  close(): Promise<void>
}

export async function openDashboard(options: TestServerOptions = {}): Promise<Dashboard> {
  const server = await startTestServer(options)
  try {
    const visitors = await openBrowser(server.url)
    return {
      ...visitors,
      server,
      async close() {
        await visitors.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Sessions for a service that runs already. */
export async function openBrowser(url: string): Promise<Visitors> {
  const browser = await sharedBrowser()
  const contexts: BrowserContext[] = []
  const idle: Page[] = []
  const newTab = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
      ...options,
    })
    context.setDefaultTimeout(PATIENCE_MS)
    contexts.push(context)
    return context.newPage()
  }
  return {
    async visit(options) {
      const tab = await newTab(options)
      return visitIn(tab, tab, url, () => tab.context().close())
    },
    async signedIn(member = OWNER, options) {
      const tab = (options ? undefined : idle.pop()) ?? (await newTab(options))
      const { page, isUnchanged } = watched(tab)
      const visitor = visitIn(tab, page, url, async () => {
        if (!options && isUnchanged() && (await emptied(tab, url))) idle.push(tab)
        else await tab.context().close()
      })
      const [name = '', value = ''] = (await sessionCookie({ url }, member)).split('=', 2)
      await tab.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
      return visitor
    },
    async close() {
      for (const context of contexts) await context.close()
    },
  }
}

/** What leaves nothing behind in a tab that the next page does not replace. Locators are found by `getBy…`. */
const HARMLESS = new Set<string | symbol>([
  ...['goto', 'reload', 'goBack', 'goForward', 'url', 'title', 'content', 'isClosed', 'viewportSize'],
  ...['locator', 'keyboard', 'mouse', 'evaluate', 'screenshot', 'focus', 'addScriptTag', 'addStyleTag'],
  ...['waitForEvent', 'waitForFunction', 'waitForRequest', 'waitForResponse', 'waitForTimeout', 'waitForURL'],
])

/** A tab, and whether nothing was done to it that outlives a page, such as a route or another size. */
function watched(tab: Page): { page: Page; isUnchanged(): boolean } {
  let unchanged = true
  const page = new Proxy(tab, {
    get(target, name) {
      if (!HARMLESS.has(name) && !String(name).startsWith('getBy')) unchanged = false
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { page, isUnchanged: () => unchanged }
}

/**
 * Makes a tab as good as a new one, which costs three times as much CPU: it would read and compile all scripts again. False:
 * there is more to it than its page.
 */
async function emptied(tab: Page, url: string): Promise<boolean> {
  if (tab.isClosed() || tab.context().pages().length > 1 || !tab.url().startsWith(url)) return false
  await tab.evaluate('localStorage.clear(); sessionStorage.clear()')
  await tab.mouse.move(0, 0)
  await tab.goto('about:blank')
  await tab.context().clearCookies()
  return true
}

/** `page` is the tab, or watches it. */
function visitIn(tab: Page, page: Page, url: string, leave: () => Promise<void>): Visit {
  const problems: string[] = []
  const underWay = new Set<Request>()
  const note = (error: Error) => problems.push(error.message)
  const read = (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(message.text())
  }
  const begin = (request: Request) => underWay.add(request)
  const end = (request: Request) => underWay.delete(request)
  tab.on('pageerror', note).on('console', read)
  tab.on('request', begin).on('requestfinished', end).on('requestfailed', end)
  const loading = page.getByRole('status', { name: 'Loading' })
  const idle = async () => {
    await vi.waitUntil(async () => {
      await page.evaluate(IDLE)
      return underWay.size === 0 && (await loading.count()) === 0
    }, SOON)
  }
  return {
    page,
    problems,
    idle,
    async open(path) {
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await idle()
    },
    async go(path) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
      await idle()
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
    async close() {
      await leave()
      tab.off('pageerror', note).off('console', read)
      tab.off('request', begin).off('requestfinished', end).off('requestfailed', end)
    },
  }
}

/**
 * Resolves when the page has nothing left to do: what it made of the last answer is shown, what it asks next is asked.
 * An idle callback would say so too, but may not come for half a minute when nothing is drawn.
 */
const IDLE = `(async () => {
  for (let i = 0; i < 2; i++) {
    await new Promise(requestAnimationFrame)
    await scheduler.postTask(() => {}, { priority: 'background' })
  }
})()`
const SOON = { timeout: PATIENCE_MS, interval: 10 }

export async function signIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** How an element is shown. */
export const styleOf = (element: Locator, property: string): Promise<string | undefined> =>
  element.evaluate((it: unknown, property) => {
    type Styles = { getComputedStyle: (of: unknown) => Record<string, string> }
    return (globalThis as unknown as Styles).getComputedStyle(it)[property]
  }, property)

/** Tables that have to be scrolled sideways. */
export const cutOff = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('[role=region]')]
    .filter((region) => region.scrollWidth > region.clientWidth)
    .map((region) => region.ariaLabel + ': ' + region.scrollWidth + ' in ' + region.clientWidth)`) as Promise<
    string[]
  >

/** Whether what is typed goes there. */
export const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((it: unknown) => {
    const { document } = globalThis as unknown as { document: { activeElement: unknown } }
    return it === document.activeElement
  })

/** A picture for the documentation, when TOLLGATE_PICTURES=1 asks for them. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.TOLLGATE_PICTURES !== '1') return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}${name}.png` })
}
