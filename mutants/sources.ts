import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Numbered } from './mutant.ts'
import { mutantsOf } from './mutate.ts'
import { FOLDERS, LEFT_OUT } from './options.ts'

export interface Source {
  /** from the root */
  path: string
  text: string
  mutants: Numbered[]
}

/** Every source with its mutants, numbered from 1: the same numbers in every process, as long as no file changes. */
export function readSources(root: string): Source[] {
  let number = 0
  return FOLDERS.flatMap((folder) => filesIn(root, `server/src/${folder}`))
    .filter((path) => !path.endsWith('.test.ts') && !LEFT_OUT.some((part) => path.includes(part)))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const mutants = mutantsOf(path, text).map((mutant) => ({ ...mutant, number: ++number }))
      return { path, text, mutants }
    })
}

/** The TypeScript files below a folder, from the root. */
export function filesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}
