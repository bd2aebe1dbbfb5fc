import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core'
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
  const visit = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
      ...options,
    })
    context.setDefaultTimeout(PATIENCE_MS)
    contexts.push(context)
    return visitIn(context, url)
  }
  return {
    visit,
    async signedIn(member = OWNER, options = {}) {
      const visitor = await visit(options)
      const [name = '', value = ''] = (await sessionCookie({ url }, member)).split('=', 2)
      await visitor.page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
      return visitor
    },
    async close() {
      for (const context of contexts) await context.close()
    },
  }
}

async function visitIn(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const underWay = new Set<Request>()
  page.on('request', (request) => underWay.add(request))
  page.on('requestfinished', (request) => underWay.delete(request))
  page.on('requestfailed', (request) => underWay.delete(request))
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
    close: () => context.close(),
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
    .map((region) => region.ariaLabel + ': ' + region.scrollWidth + ' in ' + region.clientWidth)`)

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
