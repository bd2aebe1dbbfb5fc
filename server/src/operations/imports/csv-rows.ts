import { finished } from 'node:stream/promises'
import { type CsvError, type Parser, parse } from 'csv-parse'
import { badUserInput, quote } from '../../domain/errors.ts'
import { MAX_IMPORT_ROW_CHARACTERS } from '../../domain/limits.ts'

/** The columns of a file; only `id` is required. */
type ColumnName = 'id' | 'email' | 'billingId' | 'name' | 'plan' | 'metadata'

/** The columns, by header. */
export type Columns = Record<ColumnName, string>

/** The cells of a row; null: the file has no such column. */
type CsvCells = Record<Exclude<ColumnName, 'id'>, string | null> & { id: string }

/** One row of the file: its cells, or its error. */
export type CsvRow =
  | { line: number; cells: CsvCells }
  | { line: number; problem: 'WRONG_COLUMN_COUNT' | 'BAD_QUOTES' | 'INVALID_ENCODING'; message: string }

/**
 * Reads a CSV file in UTF-8 or UTF-16, no faster than its rows are consumed: one chunk's rows at a time. `idsOnly`:
 * whether a column of ids is enough.
 */
export async function* csvRows(
  file: AsyncIterable<Buffer>,
  columns: Columns,
  idsOnly: boolean,
): AsyncGenerator<CsvRow[]> {
  let parser: RecordParser | null = null
  let header: Header | null = null
  const rowsOf = (parsed: (Parsed | CsvRow)[]): CsvRow[] => {
    const rows: CsvRow[] = []
    for (const one of parsed) {
      if (!('record' in one)) rows.push(one)
      else if (header) rows.push(rowOf(one, header))
      else header = { width: one.record.length, indexes: columnIndexes(one.record, columns, idsOnly) }
    }
    return rows
  }
  for await (const text of decoded(file)) {
    parser ??= new RecordParser(delimiterOf(text))
    yield rowsOf(await parser.take(text))
  }
  if (parser) yield rowsOf(await parser.end())
  if (!header)
    throw badUserInput(
      'The file is empty. The first line must contain the column names, such as id,email,billingId.',
    )
}

interface Parsed {
  record: string[]
  /** first line */
  line: number
}

/** Returns the rows of each piece of text: a stream of single rows costs more than parsing them. */
class RecordParser {
  readonly #parser: Parser
  #found: (Parsed | CsvRow)[] = []

  constructor(delimiter: string) {
    let ended = 0
    this.#parser = parse({
      delimiter,
      relax_column_count: true,
      // A stray quote is text; only an unclosed one is an error.
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: MAX_IMPORT_ROW_CHARACTERS,
      skip_records_with_error: true,
      on_record: (record: string[], { lines }) => {
        ended = lines
        this.#found.push({ record, line: beginningOf(record, lines) })
        return null
      },
      on_skip: (error) => {
        if (error) this.#found.push(brokenRow(error, ended + 1))
        return undefined
      },
    })
    // The writer receives the error.
    this.#parser.on('error', () => {})
  }

  async take(text: string): Promise<(Parsed | CsvRow)[]> {
    await new Promise<void>((resolve, reject) => {
      this.#parser.write(text, (error) => (error ? reject(error) : resolve()))
    })
    return this.#taken()
  }

  async end(): Promise<(Parsed | CsvRow)[]> {
    await finished(this.#parser.end(), { readable: false })
    return this.#taken()
  }

  #taken(): (Parsed | CsvRow)[] {
    const found = this.#found
    this.#found = []
    return found
  }
}

interface Header {
  width: number
  indexes: ColumnIndexes
}

/** Negative: the file has no such column. */
type ColumnIndexes = Record<ColumnName, number>

function columnIndexes(names: readonly string[], columns: Columns, idsOnly: boolean): ColumnIndexes {
  const plain = (name: string) => name.trim().toLowerCase()
  // No name: the column is not to be read.
  const indexOf = (column: string) =>
    plain(column) === '' ? -1 : names.findIndex((name) => plain(name) === plain(column))
  const indexes = {
    id: indexOf(columns.id),
    email: indexOf(columns.email),
    billingId: indexOf(columns.billingId),
    name: indexOf(columns.name),
    plan: indexOf(columns.plan),
    metadata: indexOf(columns.metadata),
  }
  if (indexes.id < 0)
    throw badUserInput(`The file has no column ${quote(columns.id)}; it has ${listed(names)}`)
  const { id: _, ...others } = indexes
  if (!idsOnly && Object.values(others).every((index) => index < 0)) {
    const wanted = `${quote(columns.email)} and no column ${quote(columns.billingId)}`
    throw badUserInput(`The file has no column ${wanted}; it has ${listed(names)}`)
  }
  return indexes
}

const listed = (names: readonly string[]): string => names.slice(0, 20).map(quote).join(', ')

function rowOf({ record, line }: Parsed, { width, indexes }: Header): CsvRow {
  if (record.some((cell) => cell.includes(UNDECODABLE))) {
    const message = 'This row is not valid UTF-8 or UTF-16. Save the file as UTF-8.'
    return { line, problem: 'INVALID_ENCODING', message }
  }
  if (record.length !== width) {
    const message = `This row has ${record.length} columns, the header has ${width}`
    return { line, problem: 'WRONG_COLUMN_COUNT', message }
  }
  const cell = (index: number) => (index < 0 ? null : (record[index] ?? '').trim())
  return {
    line,
    cells: {
      id: cell(indexes.id) ?? '',
      email: cell(indexes.email),
      billingId: cell(indexes.billingId),
      name: cell(indexes.name),
      plan: cell(indexes.plan),
      metadata: cell(indexes.metadata),
    },
  }
}

function brokenRow(error: CsvError, line: number): CsvRow {
  const message =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'This row has an unclosed quote'
      : `This row is longer than ${MAX_IMPORT_ROW_CHARACTERS} characters or has an unclosed quote`
  return { line, problem: 'BAD_QUOTES', message }
}

/** The parser reports where a row ends, and a quoted cell may contain line breaks. */
function beginningOf(record: readonly string[], end: number): number {
  let breaks = 0
  for (const cell of record) if (cell.includes('\n')) breaks += cell.split('\n').length - 1
  return end - breaks
}

/** The decoder's replacement for invalid bytes. */
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

/** A comma, semicolon or tab, depending on country and format: the most frequent one in the header. */
function delimiterOf(beginning: string): string {
  const [header = ''] = beginning.split(/\r?\n/, 1)
  const outside = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => outside.split(delimiter).length
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best))
}
