// Merge the results of several places.

export interface Merge<Answer, Result> {
  merge(answers: readonly Answer[]): Result
  /** Whether this result makes it unnecessary to query the other places. */
  enough?(answer: Answer): boolean
}

export const allRows = <Row>(): Merge<Row[], Row[]> => ({ merge: (answers) => answers.flat() })

/** Rows that are all in one place. */
export const anyRows = <Row>(): Merge<Row[], Row[]> => ({
  merge: (answers) => answers.at(-1) ?? [],
  enough: (rows) => rows.length > 0,
})

export const sums = <Counts extends { [name: string]: number }>(): Merge<Counts, Counts> => ({
  merge: ([first, ...others]) => {
    const sum = { ...first } as { [name: string]: number }
    for (const counts of others) for (const name in counts) sum[name] = (sum[name] ?? 0) + (counts[name] ?? 0)
    return sum as Counts
  },
})

/** The first rows. `compare` is the order in which each place returns its own; equal rows are merged. */
export const firstRows = <Row>(limit: number, compare: (a: Row, b: Row) => number): Merge<Row[], Row[]> => ({
  merge: (pages) => inOrder(pages, compare).slice(0, limit),
})

/** Matching rows of a scan; `scannedTo`: the last scanned row, if fewer than the limit match and there are more. */
export interface Scan<Row> {
  rows: Row[]
  scannedTo: number | null
}

/** The first matching rows, as far as every place has scanned. `compare` orders the keys of rows. */
export const firstScanned = <Row>(
  limit: number,
  numberOf: (row: Row) => number,
  compare: (a: number, b: number) => number,
): Merge<Scan<Row>, Scan<Row>> => ({
  merge: (scans) => {
    if (scans.length === 1) return scans[0] as Scan<Row>
    const end = scans.flatMap(({ scannedTo }) => scannedTo ?? []).sort(compare)[0] ?? null
    const rows = inOrder(
      scans.map((scan) => scan.rows),
      (a, b) => compare(numberOf(a), numberOf(b)),
    )
      .filter((row) => end === null || compare(numberOf(row), end) <= 0)
      .slice(0, limit)
    return { rows, scannedTo: rows.length === limit ? null : end }
  },
})

/** A user who is being moved may be returned by two places. */
function inOrder<Row>(pages: readonly Row[][], compare: (a: Row, b: Row) => number): Row[] {
  if (pages.length === 1) return pages[0] as Row[]
  const rows = pages.flat().sort(compare)
  return rows.filter((row, i) => i === 0 || compare(rows[i - 1] as Row, row) !== 0)
}

export const ascending = (a: number, b: number): number => a - b
export const descending = (a: number, b: number): number => b - a

/** As PostgreSQL compares texts with the collation "C". */
export const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
