/** A replacement of the code between two offsets. */
export interface Change {
  start: number
  end: number
  becomes: string
}

/** One small change of a source file that some test should notice. */
export interface Mutant extends Change {
  /** from the root of the repository */
  path: string
  /** where it begins, from 1 */
  line: number
  /** the code that is replaced */
  was: string
}

/** A mutant with its number among all of them. */
export interface Numbered extends Mutant {
  number: number
}

export const applied = (text: string, { start, end, becomes }: Change): string =>
  text.slice(0, start) + becomes + text.slice(end)

/** On one line, for people. */
export const shown = (code: string): string => code.replace(/\s+/g, ' ').trim()
