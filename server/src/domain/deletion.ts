import { badUserInput, quote } from './errors.ts'
import { number } from './sentence.ts'

/** "has 1,204 subscriptions"; null where there are none. */
export const counted = (verb: string, count: number, one: string, several: string): string | null =>
  count === 0 ? null : `${verb} ${number(count)} ${count === 1 ? one : several}`

/** Reason why something cannot be deleted and how to resolve it; null: nothing refers to it. */
export function deletionRefusal(
  what: string,
  id: string,
  reasons: readonly (string | null)[],
  instead = 'Archive it instead.',
): string | null {
  const given = reasons.filter((reason) => reason !== null)
  if (given.length === 0) return null
  const all = given.length === 1 ? given[0] : `${given.slice(0, -1).join(', ')} and ${given.at(-1)}`
  return `The ${what} ${quote(id)} ${all}. ${instead}`
}

export function checkDeletable(what: string, id: string, reasons: readonly (string | null)[]): void {
  const refusal = deletionRefusal(what, id, reasons)
  if (refusal !== null) throw badUserInput(refusal, 'id')
}
