import type { Mutant } from './mutant.ts'
import { shown } from './mutant.ts'

/** Why a survivor may live: nobody could see the difference, or it does not matter. */
export interface Explanation {
  path: string
  /** of the line that it begins on, where the same change is possible in several places; absent: all of them */
  line?: string
  was: string
  becomes: string
  why: string
}

export function explanationOf(
  mutant: Mutant,
  text: string,
  explained: readonly Explanation[],
): Explanation | null {
  const line = (text.split('\n')[mutant.line - 1] ?? '').trim()
  const fits = (e: Explanation) =>
    e.path === mutant.path &&
    e.was === shown(mutant.was) &&
    e.becomes === shown(mutant.becomes) &&
    (e.line === undefined || e.line === line)
  return explained.find(fits) ?? null
}
