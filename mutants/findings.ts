import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Verdict } from './judge.ts'
import type { Mutant } from './mutant.ts'

export interface Finding {
  mutant: Mutant
  verdict: Verdict
}

/** What is remembered of a file's mutants, as long as the file stays the same. */
interface Known {
  hash: string
  verdicts: Record<string, Verdict>
}

/** What earlier runs found, for `--continue`: mutants that were killed are not tried again, survivors are. */
export class Findings {
  readonly #file: string
  readonly #known: Record<string, Known>

  constructor(file: string) {
    this.#file = file
    this.#known = readJson<Record<string, Known>>(file) ?? {}
  }

  known(mutant: Mutant, text: string): Verdict | null {
    const known = this.#known[mutant.path]
    return known?.hash === hashOf(text) ? (known.verdicts[nameOf(mutant)] ?? null) : null
  }

  note(mutant: Mutant, text: string, verdict: Verdict): void {
    const hash = hashOf(text)
    const known = this.#known[mutant.path]
    const before = known?.hash === hash ? known : { hash, verdicts: {} }
    before.verdicts[nameOf(mutant)] = verdict
    this.#known[mutant.path] = before
  }

  save(): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#known))
  }
}

export function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const nameOf = ({ start, end, becomes }: Mutant): string => `${start} ${end} ${becomes}`
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
