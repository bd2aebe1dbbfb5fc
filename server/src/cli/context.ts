import type { Clocks } from '../domain/clocks.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Questions } from './questions.ts'

/** Exit codes. A script can tell a refusal from a command that did not work. */
export const DONE = 0
export const FAILED = 1
/** access denied, usage not recorded, invalid rows, or something for an operator to fix */
export const DIFFERENT = 2

/** The surroundings of a command. */
export interface Context {
  /** of this package */
  version: string
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  clocks: Clocks
  /** null: not interactive */
  questions: Questions | null
  /** aborted by Ctrl-C */
  stopping: AbortSignal
  /** Runs another program of the package with these arguments. It ends this process by itself. */
  runProgram(program: Program, args: readonly string[]): Promise<void>
}

/** Built by `bundle.ts`, beside the dispatcher. */
export type Program = 'main.js' | 'data-tools.js'
