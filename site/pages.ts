import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A page of the site and the file of the repository that it is made from. */
export interface Page {
  /** path in the repository */
  source: string
  /** path in the site, such as `guides/trials.md` */
  page: string
}

/** Pages of files that are not in `docs/`. */
const ELSEWHERE: Page[] = [
  { source: 'ARCHITECTURE.md', page: 'architecture.md' },
  { source: 'CHANGELOG.md', page: 'changelog.md' },
  { source: 'SECURITY.md', page: 'security.md' },
  { source: 'deploy/README.md', page: 'deploy.md' },
  { source: 'examples/README.md', page: 'examples.md' },
]

/** Files of the repository, and the page that shows the same facts: a link to the one leads to the other. */
export const SHOWN_AS: Record<string, string> = {
  'README.md': 'index.md',
  'server/schema/admin.graphql': 'reference/admin-api.md',
  'server/schema/client.graphql': 'reference/client-api.md',
  'server/schema/dashboard.graphql': 'reference/dashboard-api.md',
  'server/schema/openapi.json': 'reference/rest-api.md',
  'server/src/domain/errors.ts': 'reference/errors.md',
  'server/src/domain/limits.ts': 'reference/limits.md',
}

/** Every page that is written by hand: all of `docs/`, and a few files from elsewhere. */
export function writtenPages(): Page[] {
  const docs = markdownIn('docs').map((source) => ({
    source,
    page: source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md'),
  }))
  return [...docs, ...ELSEWHERE]
}

/** The page of a file of the repository; null if the site does not have it. */
export function pageOf(source: string, pages: Page[] = writtenPages()): string | null {
  return pages.find((page) => page.source === source)?.page ?? SHOWN_AS[source] ?? null
}

/** Where a link in a file leads, as a path in the repository. */
export const targetOf = (source: string, href: string): string =>
  posix.normalize(posix.join(posix.dirname(source), decodeURIComponent(href)))

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}
