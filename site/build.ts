import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { ROOT, read, writtenPages } from './pages.ts'
import { generatedPages } from './reference/generated-pages.ts'

const SITE = fileURLToPath(new URL('.', import.meta.url))
const MARKDOWN = join(SITE, 'dist/markdown')

/** Collects the written and the generated pages in one folder, which VitePress makes HTML of. */
function collectPages(): void {
  rmSync(MARKDOWN, { recursive: true, force: true })
  const written = writtenPages().map(({ source, page }) => ({ page, text: read(source) }))
  for (const { page, text } of [...written, ...generatedPages()]) {
    const path = join(MARKDOWN, page)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  cpSync(join(ROOT, 'docs/pictures'), join(MARKDOWN, 'pictures'), { recursive: true })
  cpSync(join(ROOT, 'docs/benchmarks.svg'), join(MARKDOWN, 'benchmarks.svg'))
  cpSync(join(ROOT, 'dashboard/public/mark.svg'), join(MARKDOWN, 'public/mark.svg'))
  // On the first page, by the theme.
  for (const name of ['publish-light.png', 'publish-dark.png'])
    cpSync(join(ROOT, 'docs/pictures', name), join(MARKDOWN, 'public', name))
}

const BUILDING = join(SITE, 'dist/building')
const HTML = join(SITE, 'dist/html')

collectPages()
await build(SITE, { outDir: BUILDING })
// As a whole: a service that reads it meanwhile finds all of it, or nothing.
rmSync(HTML, { recursive: true, force: true })
renameSync(BUILDING, HTML)
