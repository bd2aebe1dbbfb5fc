import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readJson } from './findings.ts'
import type { Numbered } from './mutant.ts'
import type { Source } from './sources.ts'
import { switched } from './switches.ts'
import type { Done, Trial } from './test-process.ts'

/** What a mutant is tried with: this long by what the tests took, but never fewer than so many files, nor more. */
const BUDGETS = {
  first: { ms: 30_000, most: 10 },
  /** of one that has survived before */
  again: { ms: 300_000, most: 60 },
}
export type Budget = keyof typeof BUDGETS
/** What a file costs before its first test. */
const START_MS = 500
const FEWEST_TESTS = 3
/** How much sooner a test is tried that is named after the file. */
const NAMED = 4

/** Of one test file, as long as it stays the same. */
interface Known {
  hash: string
  ms: number
  /** Only one that passes without a mutant can notice any. */
  passed: boolean
  /** by source: the index of a mutant, the last test past it, how many come past it, and whether it acts on loading */
  past: Record<
    string,
    { hash: string; rows: [index: number, last: number, tests: number, onLoading: 0 | 1][] }
  >
}

/** Which test files come past which mutants, found out by running each of them once and kept from run to run. */
export class Coverage {
  readonly #root: string
  readonly #file: string
  readonly #sources: Map<string, Source>
  readonly #known: Record<string, Known>
  readonly #isUsed: (test: string) => boolean
  readonly #switchable = new Map<string, Set<number>>()
  readonly #tests = new Map<string, number>()

  /** `isUsed`: whether a test may be tried; by default all of them */
  constructor(
    root: string,
    file: string,
    sources: readonly Source[],
    isUsed: (test: string) => boolean = () => true,
  ) {
    this.#root = root
    this.#isUsed = isUsed
    this.#file = file
    this.#sources = new Map(sources.map((source) => [source.path, source]))
    this.#known = readJson<Record<string, Known>>(file) ?? {}
  }

  isKnown(test: string): boolean {
    return this.#known[test]?.hash === this.#hashOf(test)
  }

  note(test: string, done: Done | 'timed out'): void {
    const passed = done !== 'timed out' && done.failed === null
    const known: Known = { hash: this.#hashOf(test), ms: passed ? done.ms : 0, passed, past: {} }
    this.#known[test] = known
    const covered = new Map((passed ? done.covered : []).map((one) => [one.number, one]))
    for (const { path, text, mutants } of this.#sources.values()) {
      const rows = mutants.flatMap(({ number }, index): Known['past'][string]['rows'] => {
        const found = covered.get(number)
        return found ? [[index, found.last, found.tests, found.onLoading ? 1 : 0]] : []
      })
      if (rows.length > 0) known.past[path] = { hash: digest(text), rows }
    }
  }

  save(): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#known))
  }

  /** What to try it with, the test that is likeliest to notice it soon first; none: no test comes past it. */
  trialsOf(mutant: Numbered, budget: Budget): Trial[] {
    const source = this.#sources.get(mutant.path)
    if (!source) return []
    const index = source.mutants.indexOf(mutant)
    const hash = digest(source.text)
    let switchable = this.#switchableOf(source).has(mutant.number)
    const found = Object.entries(this.#known).flatMap(([test, { ms, passed, past }]) => {
      const own = past[mutant.path]
      if (!passed || !own || !this.#isUsed(test)) return []
      const row = own.hash === hash ? own.rows.find(([at]) => at === index) : undefined
      if (row?.[3]) switchable = false
      const share = row && switchable ? row[1] / this.#testsIn(test) : 1
      return [{ test, ms: START_MS + ms * share, row, exact: own.hash === hash, rows: own.rows.length }]
    })
    // Of one that acts on loading, or in a file that has changed since, all that is known is who uses its file.
    const near = switchable ? found.filter(({ row, exact }) => row || !exact) : found
    const most = Math.max(...near.map(({ rows }) => rows))
    const ranked = near
      .map(({ test, ms, row, rows }) => ({
        test,
        ms,
        last: switchable ? (row?.[1] ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER,
        // A test that is about this file reaches much of it, and this place often. Every service that is started comes past
        // some places once, and would be the quickest to have done so.
        rank: ms / (row?.[2] ?? 1) / (rows / most) ** 2 / (isNamedAfter(test, mutant.path) ? NAMED : 1),
      }))
      .sort((a, b) => a.rank - b.rank)
    let spent = 0
    const chosen = ranked.filter(({ ms }, at) => {
      spent += ms
      return at < FEWEST_TESTS || (at < BUDGETS[budget].most && spent <= BUDGETS[budget].ms)
    })
    const { path: file, text } = source
    const changed = text.slice(0, mutant.start) + mutant.becomes + text.slice(mutant.end)
    return chosen.map(({ test, last }) => ({
      test,
      last,
      mutant: switchable ? mutant.number : { file, text: changed },
    }))
  }

  #switchableOf({ path, text, mutants }: Source): Set<number> {
    const known = this.#switchable.get(path) ?? switched(path, text, mutants).numbers
    this.#switchable.set(path, known)
    return known
  }

  /** How many tests it has, as far as any of them comes past a mutant. */
  #testsIn(test: string): number {
    let most = this.#tests.get(test) ?? 0
    if (most > 0) return most
    for (const { rows } of Object.values(this.#known[test]?.past ?? {}))
      for (const [, last] of rows) most = Math.max(most, last)
    this.#tests.set(test, most)
    return most
  }

  #hashOf = (test: string): string => digest(readFileSync(join(this.#root, test), 'utf8'))
}

const isNamedAfter = (test: string, source: string): boolean =>
  basename(test).startsWith(basename(source, '.ts'))

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
