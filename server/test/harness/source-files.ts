import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const NOT_OURS = ['node_modules', '.git', 'dist', 'data', 'coverage', 'package-lock.json']

/** What an import takes whose namespace is handed on. */
export const EVERYTHING = '*'

export interface SourceFile {
  /** from the root of the repository */
  path: string
  text: string
  imports: Import[]
}

interface Import {
  from: string
  /** of a relative import, the file it leads to */
  path: string | null
  names: string[]
}

/** Every file of the repository below a folder, with what it imports. */
export function filesIn(folder: string): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const absolute = join(folder, entry.name)
    if (NOT_OURS.includes(entry.name) || entry.isSymbolicLink()) return []
    if (entry.isDirectory()) return filesIn(absolute)
    const path = relative(ROOT, absolute).split(sep).join('/')
    const text = readFileSync(absolute, 'utf8')
    return [{ path, text, imports: /\.(ts|tsx|mjs)$/.test(path) ? importsOf(path, text) : [] }]
  })
}

function importsOf(path: string, text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(?:type\s+)?(?:([^'"]*?)\s+from\s+)?['"]([^'"\n]+)['"]/gm,
  )
  const dynamic = text.matchAll(/\b(import)\(['"]([^'"\n]+)['"]\)/g)
  return [...statements, ...dynamic].map(([, clause = '', from = '']) => ({
    from,
    path: from.startsWith('.')
      ? relative(ROOT, resolve(ROOT, dirname(path), from))
          .split(sep)
          .join('/')
      : null,
    names: namesOf(clause, text),
  }))
}

/** What an import takes: names in braces, or whatever is used of a namespace. */
function namesOf(clause: string, text: string): string[] {
  const namespace = /\* as (\w+)/.exec(clause)?.[1]
  if (namespace) {
    const code = text.replace(/^import .*$|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const uses = code.matchAll(new RegExp(`(?<![\\w./])${namespace}(?![\\w/])(?:\\.(\\w+))?`, 'g'))
    return [...uses].map(([, name = EVERYTHING]) => name)
  }
  const [, inBraces = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  return inBraces
    .split(',')
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    )
    .filter((name) => name !== '')
}
