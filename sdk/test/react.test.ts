import type { Browser, Page } from 'playwright-core'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sharedBrowser } from '../../server/test/harness/browser.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { type InitialAnswers, TollgateClient, type TollgateClientOptions } from '../src/browser.ts'
import { useFeature } from '../src/react.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { App } from './support/react-app.ts'
import { type Site, serveSite } from './support/site.ts'
import { tokenOf } from './support/user.ts'

const server = shared(startTestServer)
let browser: Browser
let app: SdkApp
let page: Page
let site: Site | undefined
/** what the page said on its console that is not well */
let complaints: string[]
beforeAll(async () => {
  browser = await sharedBrowser()
})
beforeEach(async () => {
  app = await sdkApp(server, 3)
  page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  complaints = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
})
afterEach(async () => {
  await page.close()
  await site?.close()
})

const serverClient = (initial?: InitialAnswers) =>
  new TollgateClient({ baseUrl: 'http://tollgate.invalid', token: 'a.b.c', initial })

/** Notes every state that the gate is ever in. */
const NOTE_STATES = `
  window.states = []
  const note = () => {
    const state = document.getElementById('gate')?.textContent
    if (state && state !== window.states.at(-1)) window.states.push(state)
  }
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true })
  note()`

/** Serves a page with this HTML and this client's answers, and opens it. */
async function open(
  html: string,
  { initial, baseUrl = server.url, refreshEvery = 50 }: Partial<TollgateClientOptions> = {},
): Promise<void> {
  site = await serveSite({
    body: `<div id="root">${html}</div><script>${NOTE_STATES}</script>`,
    script: `
      import { createElement as h } from 'react'
      import { createRoot, hydrateRoot } from 'react-dom/client'
      import { TollgateClient } from '../src/browser.ts'
      import { App } from './support/react-app.ts'
      const client = new TollgateClient({
        baseUrl: ${JSON.stringify(baseUrl)},
        token: () => fetch('/token').then((reply) => reply.text()),
        refreshEvery: ${refreshEvery},
        initial: ${JSON.stringify(initial)},
      })
      window.client = client
      const root = document.getElementById('root')
      const app = h(App, { client, onUse: () => fetch('/use', { method: 'POST' }) })
      if (root.firstChild) hydrateRoot(root, app, { onRecoverableError: (error) => console.error(String(error)) })
      else createRoot(root).render(app)
    `,
    token: () => tokenOf(app),
    use: () => app.tollgate().recordUsage(CALL),
  })
  await app.allow(site.url)
  await page.goto(site.url)
}

const shows = (id: string, text: string) => page.locator(`#${id}`, { hasText: text }).waitFor()
const states = () => page.evaluate(() => (globalThis as unknown as { states: string[] }).states)

describe('React, in StrictMode', () => {
  it('an open gate is never seen closed', async () => {
    await open('')
    await shows('gate', 'open')
    await shows('usage', '0 used, 3 left')
    expect(await states()).toEqual(['pending', 'open'])
    expect(complaints).toEqual([])
  })

  it('a closed gate is never seen open', async () => {
    await app.tollgate().recordUsage({ ...CALL, delta: 3 })
    await open('')
    await shows('gate', 'closed')
    await shows('usage', '3 used, 0 left')
    await shows('reason', 'LIMIT_EXCEEDED')
    expect(await states()).toEqual(['pending', 'closed'])
    expect(complaints).toEqual([])
  })

  it('what changes elsewhere is seen', async () => {
    await open('')
    await shows('usage', '0 used, 3 left')
    await app.tollgate().recordUsage({ ...CALL, delta: 2 })
    await shows('usage', '2 used, 1 left')
    await shows('use', 'false')
    expect(await states()).toEqual(['pending', 'open'])
    await app.tollgate().recordUsage(CALL)
    await shows('gate', 'closed')
  })

  it('what the page did itself is seen after a refresh', async () => {
    await open('', { refreshEvery: 0 })
    await shows('usage', '0 used, 3 left')
    await page.locator('#use').click()
    await shows('usage', '1 used, 2 left')
    await page.locator('#use').click()
    await page.locator('#use:disabled').waitFor()
  })

  it('a gate that nobody can answer for stays shut, and says why', async () => {
    await open('', { baseUrl: 'http://127.0.0.1:1' })
    await shows('gate', 'closed')
    await shows('error', 'NetworkError')
    expect(await states()).toEqual(['pending', 'closed'])
  })
})

describe('React, rendered on the server', () => {
  it('without answers it shows neither state, and wakes up without a difference', async () => {
    const html = renderToString(h(App, { client: serverClient() }))
    expect(html).toContain('>pending<')
    await open(html)
    await shows('gate', 'open')
    expect(await states()).toEqual(['pending', 'open'])
    expect(complaints).toEqual([])
  })

  it('with answers from the backend it is right from the first paint', async () => {
    await app.tollgate().recordUsage(CALL)
    const checks = await app.tollgate().canUseFeatures({ userId: 'ann', featureIds: ['calls'] })
    const usage = await app.tollgate().showUsage({ userId: 'ann', featureId: 'calls' })
    const initial = { features: checks.data ?? [], usage: { calls: usage.data } }
    const html = renderToString(h(App, { client: serverClient(initial) }))
    expect(html).toContain('>open<')
    expect(html).toContain('1 used, 2 left')
    await open(html, { initial })
    await app.tollgate().recordUsage({ ...CALL, delta: 2 })
    await shows('gate', 'closed')
    expect(await states()).toEqual(['open', 'closed'])
    expect(complaints).toEqual([])
  })

  it('asks nobody anything while it renders', () => {
    let asked = 0
    const token = () => {
      asked++
      return 'a.b.c'
    }
    renderToString(h(App, { client: new TollgateClient({ baseUrl: 'http://tollgate.invalid', token }) }))
    expect(asked).toBe(0)
  })

  it('a hook without a provider says what is missing', () => {
    const Bare = () => String(useFeature('calls').access)
    expect(() => renderToString(h(Bare))).toThrow(/TollgateProvider/)
  })
})
