import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'

const ASSETS = readdirSync(fileURLToPath(new URL('../dist/assets', import.meta.url)))

const server = shared(startTestServer)

const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init)

/** As it is written: fetch would make the path plain before it is sent. */
function statusOfRaw(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}

describe('gap: the pages of the dashboard', () => {
  const PAGES = [
    '/',
    '/sign-in',
    '/setup',
    '/invite',
    '/reset',
    '/apps',
    '/apps/default/users/a%2Fb',
    '/members',
    '/account',
  ]
  it.for(PAGES)('%s is the dashboard', async (path) => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.text()).toContain('<div id="root">')
  })

  const OTHERS = [
    '/nothing',
    '/appsx',
    '/signin',
    '/.vite/manifest.json',
    '/assets/',
    '/assets/nothing.js',
    '/index.htm',
  ]
  it.for(OTHERS)('%s is nothing', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  const ESCAPES = [
    '/../package.json',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '//etc/passwd',
    '/assets/%00',
    '/%',
  ]
  it.for(ESCAPES)('%s leads nowhere', async (path) => {
    expect(await statusOfRaw(path)).toBe(404)
  })

  it('are not for other methods', async () => {
    const response = await get('/', { method: 'POST', body: 'x' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD')
  })

  it('run no script but their own, stand in no frame, and tell nobody where they are', async () => {
    const { headers } = await get('/setup?token=secret')
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [name = '', ...values] = rule.split(' ')
        return [name, values.join(' ')]
      }),
    )
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'connect-src': "'self'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
    })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    const html = await (await get('/')).text()
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/)
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  })

  it('are compressed for clients that accept it, and not sent again when unchanged', async () => {
    const first = await get('/', { headers: { 'Accept-Encoding': 'gzip' } })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    expect(await first.text()).toContain('<div id="root">')
    const plain = await get('/', { headers: { 'Accept-Encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const again = await get('/', { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  it.for(
    ASSETS.filter((name) => /^index-.*\.(js|css)$/.test(name)),
  )('assets/%s may be cached forever', async (name) => {
    const response = await get(`/assets/${name}`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
  })
})
