import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sharedBrowser } from '../../server/test/harness/browser.ts'
import { createUsers } from '../../server/test/harness/catalogue.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { DOCUMENTS, type Operation } from '../src/documents.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { type Site, serveSite } from './support/site.ts'
import { tokenOf } from './support/user.ts'

const HOUR = 3_600_000

const server = shared(() => startTestServer({ clocks: { wall: () => Date.now() + ahead } }))
let browser: Browser
let app: SdkApp
let site: Site
let page: Page
/** how far the service's clock is ahead: a token that is older than an hour is refused */
let ahead = 0
beforeAll(async () => {
  browser = await sharedBrowser()
})

beforeEach(async () => {
  ahead = 0
  app = await sdkApp(server, 3)
  site = await serveSite({
    body: '<button id="use" disabled>Use</button> <output id="usage"></output> <output id="error"></output>',
    script: `
      import { TollgateClient } from '../src/browser.ts'
      const client = new TollgateClient({
        baseUrl: ${JSON.stringify(server.url)},
        token: () => fetch('/token').then((reply) => reply.text()),
        refreshEvery: 50,
        onError: (error) => { document.getElementById('error').value = error.name },
      })
      async function show() {
        const [check, usage] = await Promise.all([client.canUse('calls'), client.usage('calls')])
        document.getElementById('use').disabled = !check.data?.access
        const { used, budget } = usage.data?.consumption ?? {}
        document.getElementById('usage').value = used + ' of ' + budget
      }
      client.onChange(show)
      show()
    `,
    token: () => tokenOf(app),
  })
  page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
})
afterEach(async () => {
  await page.close()
  await site.close()
})

const shows = (usage: string) => page.locator('#usage', { hasText: usage }).waitFor()
/** As when another tab is chosen, and this one again. */
const turn = (state: 'hidden' | 'visible') =>
  page.evaluate((value) => {
    const { document } = globalThis as unknown as { document: EventTarget }
    Object.defineProperty(document, 'visibilityState', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
const button = () => page.locator('#use')

describe('spec §5.5: a page on another origin', () => {
  it('gates a button, and shows usage live after a record', async () => {
    await app.allow(site.url)
    await page.goto(site.url)
    await shows('0 of 3')
    expect(await button().isEnabled()).toBe(true)
    await app.tollgate().recordUsage({ ...CALL, delta: 2 })
    await shows('2 of 3')
    expect(await button().isEnabled()).toBe(true)
    await app.tollgate().recordUsage(CALL)
    await shows('3 of 3')
    await page.locator('#use:disabled').waitFor()
    await app.tollgate().recordUsage({ ...CALL, delta: -1 })
    await page.locator('#use:enabled').waitFor()
  })

  it('survives that its token runs out', async () => {
    await app.allow(site.url)
    await page.goto(site.url)
    await shows('0 of 3')
    expect(site.tokens).toBe(1)
    ahead = 2 * HOUR
    await app.tollgate().recordUsage(CALL)
    await shows('1 of 3')
    // A request that was let in before the clock moved may have shown it; the next one needs another token.
    await expect.poll(() => site.tokens, { timeout: PATIENCE_MS }).toBe(2)
    expect(await page.locator('#error').textContent()).toBe('')
  })

  it('asks nothing while nobody sees it, and at once when it is seen again', async () => {
    await app.allow(site.url)
    await page.goto(site.url)
    await shows('0 of 3')
    await turn('hidden')
    await page.waitForLoadState('networkidle')
    let asked = 0
    page.on('request', () => asked++)
    await app.tollgate().recordUsage(CALL)
    await page.waitForTimeout(300)
    expect(asked).toBe(0)
    await turn('visible')
    await shows('1 of 3')
  })

  it('learns nothing where the app does not list its origin', async () => {
    await page.goto(site.url)
    await page.locator('#error', { hasText: 'NetworkError' }).waitFor()
    expect(await button().isEnabled()).toBe(false)
    const other = await sdkApp(server)
    await other.allow(site.url)
    await page.reload()
    await page.locator('#error', { hasText: 'NetworkError' }).waitFor()
    expect(await button().isEnabled()).toBe(false)
  })
})

/** Every field of the Admin API, with a document that calls it. */
const ADMIN_SDL = readFileSync(new URL('../../server/schema/admin.graphql', import.meta.url), 'utf8')
const admin = buildSchema(ADMIN_SDL)
const OFFERED = [admin.getQueryType(), admin.getMutationType()].flatMap((type) =>
  Object.keys(type?.getFields() ?? {}),
)
const LINK = `mutation { generateSubscriptionLink(templateId: "t", successUrl: "https://a.example", cancelUrl: "https://a.example") { url } }`
const documentOf = (operation: string): string =>
  operation === 'generateSubscriptionLink' ? LINK : DOCUMENTS[operation as Operation]

const VARIABLES = {
  id: 'bob',
  userId: 'bob',
  featureId: 'calls',
  featureIds: ['calls'],
  packageIds: ['plan'],
  includeFeatures: true,
  input: { id: 'new', name: 'New', type: 'BINARY', userId: 'bob', featureId: 'calls', delta: 1 },
  inputs: [{ userId: 'bob', featureId: 'calls', delta: 1 }],
}

interface Reply {
  data?: unknown
  errors?: { extensions: { code: string } }[]
}

/** What a page gets that asks by itself, with its token. */
async function fromPage(path: string, query: string): Promise<Reply | 'blocked'> {
  const [url, token] = [server.url + path, await tokenOf(app)]
  return page.evaluate(
    async ({ url, token, query, variables }) => {
      const headers = { Authorization: token, 'Content-Type': 'application/json' }
      const body = JSON.stringify({ query, variables })
      return fetch(url, { method: 'POST', headers, body }).then(
        (reply) => reply.json() as Promise<Reply>,
        () => 'blocked' as const,
      )
    },
    { url, token, query, variables: VARIABLES },
  )
}

/** There is no such thing in the client API; of packages, it has the published ones. */
function isRefused([operation, reply]: [string, Reply | 'blocked']): boolean {
  if (reply === 'blocked' || reply.errors === undefined) return false
  const codes = new Set(reply.errors.map(({ extensions }) => extensions.code))
  const expected =
    operation === 'package' ? ['PACKAGE_NOT_FOUND'] : ['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']
  return [...codes].every((code) => expected.includes(code))
}

describe('spec §5.5: a user’s token in a page', () => {
  beforeEach(async () => {
    await app.allow(site.url)
    await createUsers(app.admin, ['bob'])
    await app.admin.data('mutation { subscribe(userId: "bob", packageIds: ["plan"]) { id } }')
    await page.goto(site.url)
    await shows('0 of 3')
  })

  it('reaches no operation of the Admin API: all of them are tried', async () => {
    const before = await app.ledger()
    for (const operation of OFFERED) {
      expect([operation, await fromPage('/graphql', documentOf(operation))]).toEqual([operation, 'blocked'])
      const reply = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { Authorization: await tokenOf(app) },
        body: JSON.stringify({ query: documentOf(operation), variables: VARIABLES }),
      })
      const { errors } = (await reply.json()) as { errors: unknown }
      expect([operation, errors]).toMatchObject([operation, [{ extensions: { code: 'UNAUTHENTICATED' } }]])
      const asClient = await fromPage('/client/graphql', documentOf(operation))
      expect([operation, asClient]).toSatisfy(isRefused)
    }
    expect(OFFERED.length).toBeGreaterThan(20)
    expect(await app.ledger()).toEqual(before)
  })

  it('reaches no other user’s data: whatever is asked is about the token’s user', async () => {
    await app.tollgate().recordUsage({ ...CALL, userId: 'bob', delta: 2 })
    expect(
      await fromPage(
        '/client/graphql',
        `{ me { id } canUseFeature(featureId: "calls") { consumption { used } }
          canUseFeatures(featureIds: ["calls"]) { consumption { used } }
          showUsage(featureId: "calls") { current { consumption { used } } } subscriptions { userId } }`,
      ),
    ).toEqual({
      data: {
        me: { id: 'ann' },
        canUseFeature: { consumption: { used: 0 } },
        canUseFeatures: [{ consumption: { used: 0 } }],
        showUsage: { current: { consumption: { used: 0 } } },
        subscriptions: [{ userId: 'ann' }],
      },
    })
    const client = buildSchema(
      readFileSync(new URL('../../server/schema/client.graphql', import.meta.url), 'utf8'),
    )
    const takes = Object.values(client.getQueryType()?.getFields() ?? {}).flatMap(({ args }) =>
      args.map(({ name }) => name),
    )
    expect(new Set(takes)).toEqual(new Set(['featureId', 'featureIds', 'delta', 'id']))
    expect(client.getMutationType()).toBeUndefined()
  })
})
