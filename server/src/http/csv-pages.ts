import { stringify } from 'csv-stringify/sync'

export type CsvColumns<Row> = readonly (readonly [name: string, value: (row: Row) => unknown])[]

/** A CSV file of the rows of all pages. A text that a spreadsheet would take for a formula is marked as text. */
export async function* csvPages<Row>(
  columns: CsvColumns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  // The mark at the beginning tells spreadsheets that this is UTF-8.
  yield `\ufeff${columns.map(([name]) => name).join(',')}\r\n`
  for await (const rows of pages) {
    yield stringify(
      rows.map((row) => columns.map(([, value]) => cell(value(row)))),
      { quoted: true, quoted_empty: true, record_delimiter: '\r\n', escape_formulas: true },
    )
  }
}

/** A time as ISO 8601; null stays empty. */
export const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const cell = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value
