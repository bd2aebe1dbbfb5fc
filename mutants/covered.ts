/** That a test file comes past a mutant. */
export interface Covered {
  number: number
  /** the last of its tests that does, counted from 1 */
  last: number
  /** how many of its tests do */
  tests: number
  /** already while the file with the mutant is loaded: it acts before anything could be switched */
  onLoading: boolean
}
