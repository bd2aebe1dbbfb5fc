import { badUserInput } from '../../domain/errors.ts'
import { MAX_PAGE } from '../../domain/limits.ts'

/** A part of a list that is ordered by a key; `next` says where it goes on, null that this was all. */
export interface KeyedPage<Row> {
  rows: Row[]
  next: string | null
}

const USUAL = 50

export function pageSize(first: number | null | undefined): number {
  const size = first ?? USUAL
  if (size < 1 || size > MAX_PAGE) throw badUserInput(`first must be 1 to ${MAX_PAGE}`, 'first')
  return size
}

/** The key that a page goes on before, newest first: as `next` told it, or that of nothing yet. */
export function keyBefore(after: string | null | undefined): number {
  return after === null || after === undefined ? Number.MAX_SAFE_INTEGER : keyAfter(after)
}

/** The key that a page goes on after, as `next` told it. */
export function keyAfter(after: string): number {
  const key = /^\d{1,16}$/.test(after) ? Number(after) : Number.NaN
  if (!Number.isSafeInteger(key)) throw unknownCursor()
  return key
}

export const unknownCursor = () => badUserInput('after must be the `next` of an earlier page', 'after')

/** Rows asked for with one more than the page holds: whether there is more is known without counting. */
export function pageOf<Row>(rows: Row[], size: number, keyOf: (row: Row) => string | number): KeyedPage<Row> {
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return { rows: page, next: rows.length > size && last !== undefined ? String(keyOf(last)) : null }
}
