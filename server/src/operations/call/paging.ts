import { badUserInput } from '../../domain/errors.ts'

export interface Page {
  first?: number | null | undefined
  after?: string | null | undefined
}

export function checkFirst(first: number | null | undefined): void {
  if (first !== null && first !== undefined && first < 0)
    throw badUserInput('first must not be negative', 'first')
}

export const unknownAfter = () => badUserInput('after must be the ID of an item of this list', 'after')

/** A page of a list that is already in memory. */
export function pageOfAll<T>(all: readonly T[], { first, after }: Page, idOf: (entry: T) => string): T[] {
  checkFirst(first)
  let start = 0
  if (after !== null && after !== undefined) {
    start = all.findIndex((entry) => idOf(entry) === after) + 1
    if (start === 0) throw unknownAfter()
  }
  return all.slice(start, typeof first === 'number' ? start + first : undefined)
}

/** Where to continue a list too long for memory: after this key, for this many rows (null: all). */
export interface Cursor {
  after: number
  left: number | null
}

export interface Chunk<Row> {
  rows: Row[]
  /** null: at the end */
  next: Cursor | null
}

/** Few enough to read and render between two checks, enough to make the round trips negligible. */
const CHUNK_SIZE = 100

/** Reads the next chunk of a list ordered by a key. */
export async function readChunk<Row>(
  { after, left }: Cursor,
  read: (after: number, limit: number) => Promise<Row[]>,
  keyOf: (row: Row) => number,
): Promise<Chunk<Row>> {
  const wanted = Math.min(left ?? CHUNK_SIZE, CHUNK_SIZE)
  const rows = await read(after, wanted)
  const last = rows.at(-1)
  const remaining = left === null ? null : left - rows.length
  const more = last !== undefined && rows.length === wanted && remaining !== 0
  return { rows, next: more ? { after: keyOf(last), left: remaining } : null }
}
