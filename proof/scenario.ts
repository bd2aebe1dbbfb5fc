import type { Trial } from './trial.ts'

/** One thing that must hold under one kind of trouble. */
export interface Scenario {
  name: string
  /** what is done, for the report */
  what: string
  /** its share of the time */
  weight: number
  /** what a run without a time limit comes to, by the names of the trial's counts */
  full: Readonly<Record<string, number>>
  /** what is looked for; the report says for each how often it was found */
  faults: readonly string[]
  /** how the product is broken to see the scenario turn red */
  breakage: Breakage
  /** Why it cannot run on this machine; null where it can. */
  unavailable?(previous: string | null): Promise<string | null>
  run(trial: Trial): Promise<void>
}

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
