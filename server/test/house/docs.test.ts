import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const NOT_OURS = ['node_modules', '.git', 'dist', 'data', 'coverage']

const paths = pathsIn(ROOT)
const pages = paths.filter((path) => path.endsWith('.md'))

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

  it.each([
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/decisions.md',
  ])('%s names files that exist', (page) => {
    const named = [...read(page).matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|md|sql)|[\w./-]+\/)`/g)].map(
      ([, name = '']) => name,
    )
    const missing = named.filter((name) => !paths.some((path) => `/${path}`.endsWith(`/${name}`)))
    expect(named.length).toBeGreaterThan(5)
    expect(missing).toEqual([])
  })

  it('ARCHITECTURE.md has a row for every folder of the server and every room in it', () => {
    const text = read('ARCHITECTURE.md')
    const folders = ['server/src/', 'server/src/operations/', 'server/src/graphql/'].flatMap((parent) =>
      paths.flatMap((path) => new RegExp(`^${parent}([^/]+/)$`).exec(path)?.[1] ?? []),
    )
    expect(folders.length).toBeGreaterThan(20)
    expect(folders.filter((name) => !text.includes(`\n| \`${name}\` |`))).toEqual([])
  })
})

describe('docs/decisions.md', () => {
  const text = read('docs/decisions.md')
  const sections = [...text.matchAll(/^## (\d+)\. (.+)\n\*(\d{4}-\d\d-\d\d) · (.+)\*\n/gm)].map(
    ([, number, title, date = '', status = '']) => ({ number: Number(number), title, date, status }),
  )
  const rows = [...text.matchAll(/^\| (\d+) \| \[(.+?)\]\(#.+?\) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
    ([, number, title, summary, date, status]) => ({ number: Number(number), title, summary, date, status }),
  )

  it('gives every decision a number, a date and a status', () => {
    expect(sections.length).toBe(headingsOf('docs/decisions.md').length - 1)
    // Those decided at the same time leave gaps for each other.
    const numbers = sections.map(({ number }) => number)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(sections.map(({ date }) => date)).toEqual(sections.map(({ date }) => date).sort())
    const known = /^(proposed|accepted|rejected|superseded by \[\d+\])/
    expect(sections.filter(({ status }) => !known.test(status))).toEqual([])
  })

  it('lists every decision in its table', () => {
    expect(rows.map(({ number, title, date }) => ({ number, title, date }))).toEqual(
      sections.map(({ number, title, date }) => ({ number, title, date })),
    )
    const strays = sections.filter(({ status }, index) => !status.startsWith(rows[index]?.status ?? '?'))
    expect(strays).toEqual([])
  })
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
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
