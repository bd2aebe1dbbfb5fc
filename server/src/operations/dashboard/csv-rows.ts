import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type CsvError, type Info, parse } from 'csv-parse'
import { badUserInput, quote } from '../../domain/errors.ts'
import { MAX_IMPORT_ROW_CHARACTERS } from '../../domain/limits.ts'

/** Which column of the file holds what, by its header. */
export interface Columns {
  id: string
  email: string
  billingId: string
}

/** One row of the file: its cells by column, where the file has that column, or what is wrong with it. */
export type CsvRow =
  | { line: number; cells: { id: string; email: string | null; billingId: string | null } }
  | { line: number; problem: 'WRONG_COLUMN_COUNT' | 'BAD_QUOTES' | 'INVALID_ENCODING'; message: string }

/** Reads a CSV file in UTF-8 or UTF-16, no faster than its rows are taken. */
export async function* csvRows(file: AsyncIterable<Buffer>, columns: Columns): AsyncGenerator<CsvRow> {
  const text = decoded(file)[Symbol.asyncIterator]()
  const first = await text.next()
  const beginning = first.done ? '' : first.value
  const skipped: CsvRow[] = []
  let ended = 0
  const parser = parse({
    delimiter: delimiterOf(beginning),
    info: true,
    relax_column_count: true,
    // A stray quote is text; only one that is never closed spoils anything.
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_IMPORT_ROW_CHARACTERS,
    skip_records_with_error: true,
    on_record: (record, { lines }) => {
      ended = lines
      return record
    },
    on_skip: (error) => {
      if (error) skipped.push(brokenRow(error, ended + 1))
      return undefined
    },
  })
  async function* whole(): AsyncGenerator<string> {
    if (beginning !== '') yield beginning
    for (let next = await text.next(); !next.done; next = await text.next()) yield next.value
  }
  const feeding = pipeline(Readable.from(whole()), parser)
  // Whoever reads the rows is told by the parser itself.
  feeding.catch(() => {})

  let header: { width: number; places: Places } | null = null
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
    yield* skipped.splice(0)
    if (header) yield rowOf(record, lineOf(record, info), header)
    else header = { width: record.length, places: placesOf(record, columns) }
  }
  yield* skipped.splice(0)
  if (!header)
    throw badUserInput('The file is empty: its first line must name the columns, such as id,email,billingId')
}

interface Places {
  id: number
  email: number
  billingId: number
}

function placesOf(names: readonly string[], columns: Columns): Places {
  const plain = (name: string) => name.trim().toLowerCase()
  const place = (column: string) => names.findIndex((name) => plain(name) === plain(column))
  const places = { id: place(columns.id), email: place(columns.email), billingId: place(columns.billingId) }
  if (places.id < 0)
    throw badUserInput(`The file has no column ${quote(columns.id)}; it has ${listed(names)}`)
  if (places.email < 0 && places.billingId < 0) {
    const wanted = `${quote(columns.email)} and no column ${quote(columns.billingId)}`
    throw badUserInput(`The file has no column ${wanted}; it has ${listed(names)}`)
  }
  return places
}

const listed = (names: readonly string[]): string => names.slice(0, 20).map(quote).join(', ')

function rowOf(
  record: readonly string[],
  line: number,
  { width, places }: { width: number; places: Places },
): CsvRow {
  if (record.some((cell) => cell.includes(UNDECODABLE))) {
    const message = 'This row is not valid UTF-8 or UTF-16: save the file as UTF-8'
    return { line, problem: 'INVALID_ENCODING', message }
  }
  if (record.length !== width) {
    const message = `This row has ${record.length} columns, the header has ${width}`
    return { line, problem: 'WRONG_COLUMN_COUNT', message }
  }
  const cell = (place: number) => (place < 0 ? null : (record[place] ?? '').trim())
  return {
    line,
    cells: { id: cell(places.id) ?? '', email: cell(places.email), billingId: cell(places.billingId) },
  }
}

function brokenRow(error: CsvError, line: number): CsvRow {
  const message =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'A quote in this row is never closed'
      : `This row is longer than ${MAX_IMPORT_ROW_CHARACTERS} characters, or a quote in it is never closed`
  return { line, problem: 'BAD_QUOTES', message }
}

/** Where the row begins: the parser tells where it ends, and a quoted cell may hold line breaks. */
function lineOf(record: readonly string[], info: Info): number {
  return info.lines - record.reduce((breaks, cell) => breaks + cell.split('\n').length - 1, 0)
}

/** What a decoder puts in the place of bytes that are none of its encoding. */
const UNDECODABLE = '\ufffd'

async function* decoded(file: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let held = Buffer.alloc(0)
  for await (const chunk of file) {
    let bytes = chunk
    if (!decoder) {
      held = Buffer.concat([held, chunk])
      if (held.length < 2) continue
      decoder = new TextDecoder(encodingOf(held))
      bytes = held
    }
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder ? decoder.decode() : held.toString()
  if (rest !== '') yield rest
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** Spreadsheets write a comma, a semicolon or a tab, by country and by format: whichever the header has most of. */
function delimiterOf(beginning: string): string {
  const [header = ''] = beginning.split(/\r?\n/, 1)
  const outside = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => outside.split(delimiter).length
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best))
}
