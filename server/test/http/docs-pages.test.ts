import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { docsPages } from '../../src/http/docs-pages.ts'

// The routes below /docs, over a small site. What is built from docs/ is looked at in site/test/.

let folder: string
let server: Server
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-docs-'))
  const docs = docsPages(() => folder)
  server = createServer((request, response) => void docs(request.url ?? '', request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  await rm(folder, { recursive: true, force: true })
})

const get = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { redirect: 'manual', ...init })

const SCRIPT = 'document.documentElement.classList.add("dark")'

async function build(): Promise<void> {
  await mkdir(join(folder, 'guides'))
  await writeFile(
    join(folder, 'index.html'),
    `<script src="/docs/app.js"></script><script id="first">${SCRIPT}</script>`,
  )
  await writeFile(join(folder, 'guides/index.html'), 'all guides')
  await writeFile(join(folder, 'guides/trials.html'), 'a guide')
  await writeFile(join(folder, '404.html'), 'no page')
  await writeFile(join(folder, '.hidden'), 'not served')
}

describe('gap: the documentation', () => {
  it('that is not built yet says what to do, and is served as soon as it is', async () => {
    const early = await get('/docs/')
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '30'])
    expect(await early.text()).toContain('npm run docs')
    await build()
    expect((await get('/docs/')).status).toBe(200)
  })

  it('once served is not affected by another build', async () => {
    await build()
    await get('/docs/')
    await writeFile(join(folder, 'guides/trials.html'), 'another guide')
    expect(await (await get('/docs/guides/trials')).text()).toBe('a guide')
  })

  it.each([
    ['/docs/guides/trials', 200, 'a guide'],
    ['/docs/guides/trials.html', 200, 'a guide'],
    ['/docs/guides/', 200, 'all guides'],
    ['/docs/guides', 404, 'no page'],
    ['/docs/.hidden', 404, 'no page'],
    ['/docs/guides/..%2f404', 404, 'no page'],
    ['/docs/constructor', 404, 'no page'],
  ])('%s gets %i', async (path, status, text) => {
    await build()
    const response = await get(path, { headers: { Accept: 'text/html' } })
    expect([response.status, await response.text()]).toEqual([status, text])
  })

  it('sends a program a line of text instead of a page that does not exist', async () => {
    await build()
    const response = await get('/docs/nothing', { headers: { Accept: 'application/json' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/plain; charset=utf-8',
    ])
  })

  it('runs the scripts of its own build, and no others', async () => {
    await build()
    const hash = createHash('sha256').update(SCRIPT).digest('base64')
    const { headers } = await get('/docs/')
    expect(headers.get('content-security-policy')).toContain(`script-src 'self' 'sha256-${hash}';`)
    const other = await get('/docs/guides/trials')
    expect(other.headers.get('content-security-policy')).toContain("script-src 'self';")
  })

  it('has one address', async () => {
    const response = await get('/docs')
    expect([response.status, response.headers.get('location')]).toEqual([308, '/docs/'])
  })
})
