import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('./migrations/', import.meta.url)

/**
 * The text of each numbered file in `migrations/`, by its name without `.sql`, in order. `bundle.ts` replaces this
 * module by the files' contents, since a bundle is one file.
 */
export const MIGRATION_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => [name.slice(0, -'.sql'.length), readFileSync(new URL(name, FOLDER), 'utf8')]),
)
