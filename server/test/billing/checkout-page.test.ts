import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { violations } from '../harness/axe.ts'
import { sharedBrowser } from '../harness/browser.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// The payment page in a real browser: what a payer sees and does, by keyboard and on a phone too.

const server = shared(startTestServer)
let landing: Server
let shopUrl = ''
let browser: Browser
let shop: SandboxShop
let page: Page
const problems: string[] = []

beforeAll(async () => {
  browser = await sharedBrowser()
  landing = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<title>${request.url}</title>`)
  })
  await new Promise<void>((resolve) => landing.listen(0, '127.0.0.1', resolve))
  shopUrl = `http://127.0.0.1:${(landing.address() as AddressInfo).port}`
})
afterAll(async () => {
  landing?.closeAllConnections()
  await new Promise((resolve) => landing?.close(resolve))
})
beforeEach(async () => {
  shop = await openSandboxShop(server)
  problems.length = 0
})
afterEach(async () => {
  await page?.context().close()
})

async function open(
  template: string,
  userId: string | null,
  options: BrowserContextOptions = {},
): Promise<string> {
  const generateSubscriptionLink = await shop.admin.call('generateSubscriptionLink { url }', {
    templateId: template,
    userId,
    successUrl: `${shopUrl}/paid?a=1`,
    cancelUrl: `${shopUrl}/back`,
  })
  const context = await browser.newContext(options)
  context.setDefaultTimeout(PATIENCE_MS)
  page = await context.newPage()
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(generateSubscriptionLink.url)
  return generateSubscriptionLink.url
}

async function enterCard(number: string): Promise<void> {
  await page.getByLabel('Card number').fill(number)
  await page.getByLabel('Expires (MM/YY)').fill('12/60')
  await page.getByLabel('Security code').fill('123')
}

const pay = () => page.getByRole('button', { name: /^Pay/ }).click()

describe('gap: billing, the payment page', () => {
  it('shows what is paid for, accepts a card, and redirects to successUrl', async () => {
    await open('both', 'ann')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/\$14\.00\s*per month/)
    expect(await page.locator('dl').innerText()).toMatch(
      /plan\s+\$12\.00\s+extra\s+\$2\.00\s+Total today\s+\$14\.00/,
    )
    expect(await page.getByLabel('Email').count()).toBe(0)
    await enterCard('4242 4242 4242 4242')
    await pay()
    await page.waitForURL(`${shopUrl}/paid?a=1`)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE', 'extra ACTIVE'])
    expect(await shop.canUse()).toMatchObject({ access: true })
    expect(problems).toEqual([])
  })

  it('is paid by keyboard alone, and twice is once', async () => {
    const url = await open('plan', null)
    await page.getByLabel('Email').focus()
    for (const text of ['pat@example.com', 'Pat', '4242424242424242', '12/60', '123']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(`${shopUrl}/paid?a=1`)
    await page.goBack()
    await page.goto(url)
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Payment complete')
    await page.getByRole('link', { name: 'Back to' }).click()
    await page.waitForURL(`${shopUrl}/paid?a=1`)
    await jobsDone(server.databaseUrl)
    const { subscriptions } = await shop.admin.data('{ subscriptions { userId } }')
    expect(subscriptions).toEqual([{ userId: expect.stringMatching(/^cus_sandbox_/) }])
  })

  it('shows the error beside the field, focuses it, and keeps the input', async () => {
    await open('plan', null)
    await page.getByLabel('Email').fill('nobody')
    await enterCard('4000 0000 0000 0002')
    await pay()
    const email = page.getByLabel('Email')
    expect(await email.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(`#${await email.getAttribute('aria-describedby')}`).innerText()).toMatch(
      /email address/,
    )
    expect(await page.evaluate('document.activeElement.id')).toBe('email')
    expect(await page.getByRole('alert').innerText()).toMatch(/payment failed/)
    expect(await page.title()).toMatch(/^Payment failed/)
    expect(await page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 0002')

    await email.fill('pat@example.com')
    await page.getByLabel('Security code').fill('123')
    await pay()
    expect(await page.locator('#number-problem').innerText()).toMatch(/declined/)
    await enterCard('4242424242424242')
    await pay()
    await page.waitForURL(`${shopUrl}/paid?a=1`)
  })

  it('redirects to cancelUrl, with nothing entered and nothing charged', async () => {
    await open('plan', 'ann')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${shopUrl}/back`)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual([])
    expect(problems).toEqual([])
  })

  it('shows names that are markup as what they are', async () => {
    const name = '<img src=x onerror=alert(1)>"\'&'
    await shop.dashboard.data(
      `mutation ($appId: String!, $name: String!) {
        editPackage(appId: $appId, id: "plan", input: { name: $name }) { id }
        publishPackage(appId: $appId, id: "plan") { id }
      }`,
      { appId: shop.id, name },
    )
    await open('plan', 'ann')
    expect(await page.locator('dt').first().innerText()).toBe(name)
    expect(await page.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('allows no script, no frame and no other form target', async () => {
    const url = await open('plan', 'ann')
    const policy = (await fetch(url)).headers.get('content-security-policy')
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'nonce-[^']+'; font-src 'self'; form-action 'self' http:\/\/127\.0\.0\.1:\d+; base-uri 'none'; frame-ancestors 'none'$/,
    )
    await page.evaluate(
      `(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s) })()`,
    )
    expect(await page.evaluate('window.ran')).toBeUndefined()
  })

  const LOOKS: [string, BrowserContextOptions][] = [
    ['on a phone, light', { viewport: { width: 320, height: 640 }, colorScheme: 'light' }],
    ['on a phone, dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
    ['on a desk, light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
    ['on a desk, dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }],
  ]
  it.each(LOOKS)('is accessible and fits, %s', async (_, options) => {
    await open('both', null, options)
    expect(await violations(page)).toEqual([])
    await pay()
    expect(await violations(page)).toEqual([])
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    expect(overflow).toBe(0)
  })

  it('is not there for a link that is none', async () => {
    const answer = await fetch(`${server.url}/checkout/cs_sandbox_nothing`)
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('Payment not found')
  })
})
