import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDashboard } from '../../dashboard/test/harness/dashboard.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { ROOT } from '../pages.ts'

// The built documentation, as the service serves it. `npm run docs` builds it.

const HTML = join(ROOT, 'site/dist/html')
const files = readdirSync(HTML, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(HTML, join(entry.parentPath, entry.name)).split(sep).join('/'))
const pages = files.filter((name) => name.endsWith('.html') && name !== '404.html')
const read = (name: string) => readFileSync(join(HTML, name), 'utf8')

const site = shared(() => openDashboard())

/** The address of a built page: `guides/trials.html` is at `/docs/guides/trials`. */
const pathOf = (name: string) => `/docs/${name.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1')}`

/** The file that an address leads to. */
function fileOf(path: string): string | undefined {
  const name = path.replace(/^\/docs\//, '')
  return [name, `${name}.html`, `${name}index.html`].find((one) => files.includes(one))
}

describe('the built documentation', () => {
  it('has a page for every source, and no broken link, anchor or picture', () => {
    expect(pages.length).toBeGreaterThan(60)
    const idsOf = new Map(
      pages.map((name) => [name, new Set([...read(name).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
    )
    let looked = 0
    const broken = pages.flatMap((name) =>
      [...read(name).matchAll(/\s(?:href|src)="([^"]+)"/g)]
        .map(([, address = '']) => new URL(address.replaceAll('&amp;', '&'), `http://docs${pathOf(name)}`))
        .filter(({ host }) => host === 'docs')
        .filter(({ pathname, hash }) => {
          looked++
          // The dashboard.
          if (pathname === '/') return false
          const file = fileOf(pathname)
          if (file === undefined) return true
          return hash !== '' && !idsOf.get(file)?.has(decodeURIComponent(hash.slice(1)))
        })
        .map(({ pathname, hash }) => `${name}: ${pathname}${hash}`),
    )
    expect(looked).toBeGreaterThan(3_000)
    expect(broken).toEqual([])
  })

  it('loads nothing from elsewhere', () => {
    const outside = files
      .filter((name) => /\.(html|css)$/.test(name))
      .flatMap((name) =>
        [
          ...read(name).matchAll(
            /<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*"|url\(["']?(?:https?:)?\/\/[^)]*\)/g,
          ),
        ].map(([found]) => `${name}: ${found}`),
      )
    expect(outside).toEqual([])
  })
})

describe('the service', () => {
  const get = (path: string, init: RequestInit = {}) => fetch(`${site.server.url}${path}`, init)

  it.each([
    '/docs/',
    '/docs/guides/trials',
    '/docs/guides/trials.html',
    '/docs/decisions/',
  ])('serves %s', async (path) => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'(?: 'sha256-[\w+/=]{44}')+; /)
    expect(policy).toContain("frame-ancestors 'none'")
    const again = await get(path, { headers: { 'If-None-Match': response.headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
  })

  it('lets its assets be kept for ever, with their types', async () => {
    const kinds = ['.js', '.css', '.png', '.woff2'].map((type) =>
      files.find((name) => name.startsWith('assets/') && name.endsWith(type)),
    )
    const answers = await Promise.all(kinds.map((name) => get(`/docs/${name}`)))
    expect(answers.map(({ headers }) => headers.get('content-type'))).toEqual([
      'text/javascript; charset=utf-8',
      'text/css; charset=utf-8',
      'image/png',
      'font/woff2',
    ])
    for (const { headers } of answers)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  })

  it('leads from /docs to its first page, and says what is not there', async () => {
    const moved = await get('/docs', { redirect: 'manual' })
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/docs/'])
    const unknown = await get('/docs/nothing', { headers: { Accept: 'text/html' } })
    expect(unknown.status).toBe(404)
    expect(await unknown.text()).toContain('<div id="app">')
    expect((await get('/docs/../server/package.json')).status).toBe(404)
    expect((await get('/docs/%2e%2e/%2e%2e/package.json')).status).toBe(404)
    expect((await get('/docs/', { method: 'POST', body: 'x' })).status).toBe(405)
  })
})

describe('a reader', () => {
  it('searches, follows what is found, and nothing leaves the machine', async () => {
    const { page, problems } = await site.visit()
    const hosts = new Set<string>()
    page.on('request', (request) => hosts.add(new URL(request.url()).origin))
    await page.goto(`${site.server.url}/docs/`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('idempotency key')
    const results = page.getByRole('option')
    await results.first().waitFor()
    expect(await page.getByRole('listbox').innerText()).toContain('Idempotency')
    await results.filter({ hasText: 'Consistency and idempotency' }).first().click()
    await page.getByRole('heading', { name: 'Consistency and idempotency', level: 1 }).waitFor()
    expect([...hosts]).toEqual([site.server.url])
    expect(problems).toEqual([])
  })

  it('comes from the menu of the dashboard, and goes back', async () => {
    const { page } = await site.signedIn()
    await page.goto(`${site.server.url}/apps/default`)
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'Documentation', exact: true }).click(),
    ])
    await opened.getByRole('heading', { level: 1 }).first().waitFor()
    expect(new URL(opened.url()).pathname).toBe('/docs/')
    await opened.getByRole('link', { name: 'Dashboard', exact: true }).first().click()
    await opened.getByRole('navigation').first().waitFor()
    expect(new URL(opened.url()).pathname).not.toMatch(/^\/docs/)
  })
})
