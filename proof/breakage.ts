/** A product broken on purpose, from outside: its sources as they are built, its settings, its database. */
export interface Breakage {
  /** what was taken away */
  what: string
  sources?: readonly SourceChange[]
  settings?: Readonly<Record<string, string>>
  /** executed once the first service has made the schema */
  sql?: string
}

/** Replaces a snippet of a source file, which has to be there. */
export interface SourceChange {
  /** below server/src */
  file: string
  find: string
  replace: string
}
