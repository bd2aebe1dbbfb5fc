interface State {
  /** the mutant that is on; 0: none */
  on: number
  /** the last test of the file that needs to be run, counted from 1 */
  last: number
  /** 1 for each mutant whose place was come past since it was last looked at */
  asked: Uint8Array
}

const MOST_MUTANTS = 100_000

// Test files and switched sources find it by its name, without an import.
const shared = globalThis as {
  __mutants?: State
  __mutantIsOn?: (number: number) => boolean
}

shared.__mutants ??= { on: 0, last: Infinity, asked: new Uint8Array(MOST_MUTANTS) }

export const state: State = shared.__mutants

shared.__mutantIsOn = (number) => {
  state.asked[number] = 1
  return number === state.on
}
