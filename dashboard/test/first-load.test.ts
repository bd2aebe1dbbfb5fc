import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { OWNER } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, signIn } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const MOST_BYTES = 310 * 1024
/** Nothing waits for the font: text is shown in another until it is there. */
const MOST_FONT_BYTES = 50 * 1024

interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
  isEntry?: boolean
}

const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8')) as Record<string, Chunk>

/** The files that a page needs before it shows, with all that they import. */
function filesOf(...names: string[]): Set<string> {
  const files = new Set<string>()
  const visit = (name: string) => {
    const chunk = manifest[name]
    if (!chunk) throw new Error(`no chunk ${name}`)
    if (files.has(chunk.file)) return
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const name of names) visit(name)
  return files
}

/** The fonts that have arrived and are in use. The fallback is a font of the machine, if it has one like it. */
const FONTS_SHOWN = `document.fonts.ready.then((fonts) =>
  [...fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family.replaceAll('"', ''))
    .filter((family) => family !== 'Inter Fallback'))`

const zipped = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(`${DIST}${file}`), { level: 9 }).length, 0)

describe('gap: the size of the dashboard', () => {
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/[\w-]+\.tsx$/.test(name))
  const lazy = ['src/pages/graphiql.tsx']

  it('knows the pages', () => {
    expect(pages).toContain('src/pages/home.tsx')
    expect(pages).toContain('src/pages/graphiql.tsx')
  })

  it.for(pages.filter((page) => !lazy.includes(page)))('%s loads in under 310 KB, compressed', (page) => {
    const files = filesOf('index.html', page)
    expect(files.size).toBeGreaterThan(2)
    expect(zipped(files)).toBeLessThan(MOST_BYTES)
  })

  it('leaves GraphiQL to its own page', () => {
    expect(zipped(filesOf('src/pages/graphiql.tsx'))).toBeGreaterThan(zipped(filesOf('src/pages/home.tsx')))
    const others = pages.filter((page) => !lazy.includes(page)).flatMap((page) => [...filesOf(page)])
    expect(others.filter((file) => /graphiql|codemirror/i.test(file))).toEqual([])
  })
})

describe('gap: what a browser loads that was never here', () => {
  const dashboard = shared(openDashboard)
  beforeAll(async () => {
    await furnish(dashboard.server)
  })

  it('is under 310 KB of scripts and styles for the sign-in page, and with it for the home page, and one font', async () => {
    const { page, open, idle, close } = await dashboard.visit()
    const loaded: Request[] = []
    const fonts: Request[] = []
    page.on('requestfinished', (request) => {
      if (['script', 'stylesheet'].includes(request.resourceType())) loaded.push(request)
      if (request.resourceType() === 'font') fonts.push(request)
    })
    const bytes = async (requests = loaded) => {
      const sizes = await Promise.all(requests.map((request) => request.sizes()))
      return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
    }
    await open('/sign-in')
    expect(await bytes()).toBeGreaterThan(50 * 1024)
    expect(await bytes()).toBeLessThan(MOST_BYTES)
    await signIn(page, OWNER)
    await page.getByRole('heading', { name: 'Checks and records' }).waitFor()
    await idle()
    expect(
      loaded.map((request) => request.url()).filter((url) => !url.startsWith(dashboard.server.url)),
    ).toEqual([])
    expect(await bytes()).toBeLessThan(MOST_BYTES)
    expect(fonts.map((request) => request.url())).toEqual([expect.stringMatching(/\/inter-latin-wght/)])
    expect(await bytes(fonts)).toBeLessThan(MOST_FONT_BYTES)
    expect(await page.evaluate(FONTS_SHOWN)).toEqual(['Inter Variable'])
    await close()
  })
})
