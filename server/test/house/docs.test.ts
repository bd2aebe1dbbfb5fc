import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const NOT_OURS = ['node_modules', '.git', 'dist', 'data', 'coverage']

const paths = pathsIn(ROOT)
const pages = paths.filter((path) => path.endsWith('.md'))
const records = pages.filter((page) => /^docs\/decisions\/(?!README)/.test(page))

describe('the documentation', () => {
  it('has no broken link', () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target })),
    )
    const broken = links
      .filter(({ target }) => !/^(https?|mailto):/.test(target))
      .filter(({ page, target }) => {
        const [path = '', fragment] = target.split('#')
        const file = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(ROOT, file))) return true
        return fragment !== undefined && !headingsOf(file).map(anchorOf).includes(fragment)
      })
    expect(links.length).toBeGreaterThan(100)
    expect(broken).toEqual([])
  })

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names files that exist', (page) => {
    expect(namesIn(page).length).toBeGreaterThan(5)
    expect(namesIn(page).filter(isMissing)).toEqual([])
  })

  it('ARCHITECTURE.md has a row for every folder of the server', () => {
    const text = read('ARCHITECTURE.md')
    const folders = foldersIn('server/src/')
    expect(folders.length).toBeGreaterThan(8)
    expect(folders.filter((name) => !text.includes(`\n| \`${name}\` |`))).toEqual([])
  })

  const parents = ['server/src/', 'server/src/store/', 'server/src/operations/', 'server/src/graphql/']
  const rooms = [
    ...parents.flatMap((parent) => foldersIn(parent).map((name) => `${parent}${name}README.md`)),
    ...['bench', 'dashboard', 'server/test', 'site'].map((folder) => `${folder}/README.md`),
  ]

  it('has a README.md of 10 to 30 lines in every folder of the server, every room and every other package', () => {
    expect(rooms.length).toBeGreaterThan(50)
    expect(rooms.filter((readme) => !paths.includes(readme))).toEqual([])
    const lengths = rooms.map((readme) => ({ readme, lines: read(readme).trimEnd().split('\n').length }))
    expect(lengths.filter(({ lines }) => lines < 10 || lines > 30)).toEqual([])
  })

  it.each(rooms)('%s names files that exist', (readme) => {
    expect(namesIn(readme).filter(isMissing)).toEqual([])
  })
})

describe('the decision records', () => {
  it.each(records)('%s has all four sections, and names files that exist', (page) => {
    const [title, ...sections] = headingsOf(page)
    expect(title).toBeTruthy()
    expect(sections).toEqual(['Context', 'Decision', 'Consequences', 'Alternatives rejected'])
    expect(namesIn(page).filter(isMissing)).toEqual([])
  })

  it('are listed in the index, each once', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/^- \[.+?\]\((.+?\.md)\): /gm)].map(
      ([, file = '']) => `docs/decisions/${file}`,
    )
    expect(records.length).toBeGreaterThan(20)
    expect(listed.toSorted()).toEqual(records.toSorted())
  })
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Folders directly in `parent`, with a slash at the end. */
function foldersIn(parent: string): string[] {
  return paths
    .filter((path) => path.startsWith(parent) && /^[^/]+\/$/.test(path.slice(parent.length)))
    .map((path) => path.slice(parent.length))
}

/** Names of files and folders in backticks. */
function namesIn(page: string): string[] {
  return [...read(page).matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|md|sql)|[\w./-]+\/)`/g)].map(
    ([, name = '']) => name,
  )
}

/** Whether no path ends with this name: records name files without their folders, which change more often. */
function isMissing(name: string): boolean {
  return !paths.some((path) => `/${path}`.endsWith(`/${name}`))
}

/** Headings outside of code blocks. */
function headingsOf(path: string): string[] {
  if (statSync(join(ROOT, path)).isDirectory()) return []
  const prose = read(path).replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** Files, and folders with a slash at the end, from the root of the repository. */
function pathsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.includes(entry.name) || entry.isSymbolicLink()) return []
    const path = relative(ROOT, join(folder, entry.name)).split(sep).join('/')
    return entry.isDirectory() ? [`${path}/`, ...pathsIn(join(folder, entry.name))] : [path]
  })
}
