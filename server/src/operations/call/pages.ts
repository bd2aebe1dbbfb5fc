import { badUserInput } from '../../domain/errors.ts'
import { MAX_PAGE } from '../../domain/limits.ts'

/** A page of a list ordered by a key; `next` is the cursor of the following page, null at the end. */
export interface KeyedPage<Row> {
  rows: Row[]
  next: string | null
}

const USUAL = 50

export function pageSize(first: number | null | undefined): number {
  const size = first ?? USUAL
  if (size < 1 || size > MAX_PAGE) throw badUserInput(`first must be from 1 to ${MAX_PAGE}`, 'first')
  return size
}

/** The key before which a page starts, newest first: a previous `next`, or the beginning. */
export function keyBefore(after: string | null | undefined): number {
  return after === null || after === undefined ? Number.MAX_SAFE_INTEGER : keyAfter(after)
}

/** The key after which a page starts: a previous `next`. */
export function keyAfter(after: string): number {
  const key = /^\d{1,16}$/.test(after) ? Number(after) : Number.NaN
  if (!Number.isSafeInteger(key)) throw unknownCursor()
  return key
}

export const unknownCursor = () => badUserInput('after must be the `next` value of a previous page', 'after')

/** One row more than the page is read, to find out whether there are more without counting. */
export function pageOf<Row>(rows: Row[], size: number, keyOf: (row: Row) => string | number): KeyedPage<Row> {
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return { rows: page, next: rows.length > size && last !== undefined ? String(keyOf(last)) : null }
}
