import { badUserInput, quote } from './errors.ts'
import { EVENT_TYPES } from './event.ts'

/** Checks a list of event types to deliver; returns it without repetitions. Empty: all types. */
export function eventFilter(field: string, types: readonly string[]): string[] {
  const known: readonly string[] = EVENT_TYPES
  const unknown = types.find((type) => !known.includes(type))
  if (unknown !== undefined) {
    throw badUserInput(
      `${field} contains the unknown event type ${quote(unknown)}. Known types: ${known.join(', ')}.`,
      field,
    )
  }
  return [...new Set(types)]
}
