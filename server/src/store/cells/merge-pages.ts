// Pages that several cells have given of one list.

/** In order. `compare` is that of each page; equal rows are one: whoever was moved meanwhile may have been given by two. */
export function merged<Row>(pages: readonly Row[][], compare: (a: Row, b: Row) => number): Row[] {
  if (pages.length === 1) return pages[0] as Row[]
  const rows = pages.flat().sort(compare)
  return rows.filter((row, i) => i === 0 || compare(rows[i - 1] as Row, row) !== 0)
}

/** What was found among a number of rows; `lookedTo`: the last of these, if fewer than wanted were found and there are more. */
export interface Stretch<Row> {
  rows: Row[]
  lookedTo: number | null
}

/** Looks no further than each of them has looked. `compare` orders the numbers of rows. */
export function mergedStretch<Row>(
  stretches: readonly Stretch<Row>[],
  limit: number,
  numberOf: (row: Row) => number,
  compare: (a: number, b: number) => number,
): Stretch<Row> {
  if (stretches.length === 1) return stretches[0] as Stretch<Row>
  const end = stretches.flatMap(({ lookedTo }) => lookedTo ?? []).sort(compare)[0] ?? null
  const rows = merged(
    stretches.map((stretch) => stretch.rows),
    (a, b) => compare(numberOf(a), numberOf(b)),
  )
    .filter((row) => end === null || compare(numberOf(row), end) <= 0)
    .slice(0, limit)
  return { rows, lookedTo: rows.length === limit ? null : end }
}

/** Numbers in the order of a list. */
export const ascending = (a: number, b: number): number => a - b
export const descending = (a: number, b: number): number => b - a

/** As PostgreSQL compares texts with the collation "C". */
export const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
