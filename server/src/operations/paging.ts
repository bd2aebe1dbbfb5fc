import { badUserInput } from '../domain/errors.ts'

export interface Page {
  first?: number | null | undefined
  after?: string | null | undefined
}

export function checkFirst(first: number | null | undefined): void {
  if (first !== null && first !== undefined && first < 0) throw badUserInput('first must not be negative')
}

export const unknownAfter = () => badUserInput('after must be the id of an entry of this list')

/** A page of a list that is in memory anyway. */
export function pageOf<T extends { id: string }>(all: readonly T[], { first, after }: Page): readonly T[] {
  checkFirst(first)
  let start = 0
  if (after !== null && after !== undefined) {
    start = all.findIndex((entry) => entry.id === after) + 1
    if (start === 0) throw unknownAfter()
  }
  return all.slice(start, typeof first === 'number' ? start + first : undefined)
}
