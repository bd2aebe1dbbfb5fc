import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { StartError } from '../../domain/errors.ts'
import type { Contents, Head } from './contents.ts'
import { END_OF_ROWS, FORMAT, FORMAT_VERSION, type Summary, type Tail, type Watch } from './format.ts'
import { RowSum, type TableSum } from './row-sum.ts'

const NEWLINE = 10
/** Far longer than any of our lines; a file with a longer one is not ours. */
const LONGEST_LINE = 64 * 1024 * 1024

const broken = (path: string, why: string) =>
  new StartError(`${path} is not a complete backup (${why}). Nothing was restored. Use another backup.`)

/** Reads a whole backup and verifies its checksums. */
export async function verifyBackup(path: string, watch: Watch): Promise<Summary> {
  const contents = await openBackup(path)
  const tables: TableSum[] = []
  await contents.each(async (table, pieces) => {
    const sum = new RowSum(table.name)
    for await (const piece of pieces) {
      sum.add(piece)
      watch(sum, false)
    }
    watch(sum, true)
    tables.push(sum.result())
  })
  return { head: contents.head, tables }
}

/** The contents of a backup; reading to the end verifies them against the tail. */
export async function openBackup(path: string): Promise<Contents> {
  return {
    head: await headOf(path),
    async each(take) {
      const lines = new Lines(path)
      try {
        await lines.head()
        for (;;) {
          const { value, before } = await lines.json()
          if (typeof value.table === 'string' && Array.isArray(value.columns)) {
            await take({ name: value.table, columns: value.columns as string[] }, lines.rows())
            continue
          }
          const tail = value as unknown as Tail
          if (tail.sha256 !== before) throw broken(path, 'checksum mismatch')
          await lines.end()
          return tail.sequences
        }
      } catch (error) {
        throw error instanceof StartError || !isDamage(error) ? error : broken(path, (error as Error).message)
      } finally {
        lines.close()
      }
    },
  }
}

const code = (error: unknown) => (error as NodeJS.ErrnoException).code
const isDamage = (error: unknown) => /^Z_|^ERR_/.test(code(error) ?? '') || error instanceof SyntaxError

async function headOf(path: string): Promise<Head> {
  const file = await open(path).catch((error: Error) => {
    throw new StartError(`${path} cannot be read (${error.message}).`)
  })
  await file.close()
  const lines = new Lines(path)
  try {
    return await lines.head()
  } catch (error) {
    throw error instanceof StartError || !isDamage(error) ? error : broken(path, 'not a Tollgate backup')
  } finally {
    lines.close()
  }
}

/** The lines of a backup, read in pieces. */
class Lines {
  readonly #path: string
  readonly #stream: Readable
  readonly #pieces: AsyncIterator<Buffer>
  readonly #sha = createHash('sha256')
  #left: Buffer = Buffer.alloc(0)

  constructor(path: string) {
    this.#path = path
    const gunzip = createGunzip()
    const source = createReadStream(path, { highWaterMark: 256 * 1024 })
    source.on('error', (error) => gunzip.destroy(error))
    gunzip.on('close', () => source.destroy())
    this.#stream = source.pipe(gunzip)
    this.#pieces = this.#stream[Symbol.asyncIterator]()
  }

  close(): void {
    this.#stream.destroy()
  }

  async head(): Promise<Head> {
    const { value } = await this.json()
    if (value.format !== FORMAT) throw broken(this.#path, 'not a Tollgate backup')
    if (value.version !== FORMAT_VERSION)
      throw new StartError(
        `${this.#path} was written by a newer version of Tollgate (${value.app}). Use that version to restore it.`,
      )
    return value as unknown as Head
  }

  /** The next line, and the checksum of all lines before it. */
  async json(): Promise<{ value: Record<string, unknown>; before: string }> {
    const before = this.#sha.copy().digest('hex')
    let at = this.#left.indexOf(NEWLINE)
    while (at < 0) {
      if (!(await this.#more())) throw broken(this.#path, 'the file is truncated')
      at = this.#left.indexOf(NEWLINE)
    }
    const line = this.#take(at + 1)
    const value: unknown = JSON.parse(line.toString())
    if (typeof value !== 'object' || value === null) throw broken(this.#path, 'invalid line')
    return { value: value as Record<string, unknown>, before }
  }

  /** The rows up to the line that ends them, in pieces of whole lines. */
  async *rows(): AsyncGenerator<Buffer, void> {
    for (;;) {
      const end = this.#endOfRows()
      if (end >= 0) {
        if (end > 0) yield this.#take(end)
        this.#take(END_OF_ROWS.length + 1)
        return
      }
      const whole = this.#left.lastIndexOf(NEWLINE) + 1
      if (whole > 0) yield this.#take(whole)
      if (!(await this.#more())) throw broken(this.#path, 'the file is truncated')
    }
  }

  /** Where the line `\.` begins in the buffer; -1: it is not there. */
  #endOfRows(): number {
    const line = `${END_OF_ROWS}\n`
    if (this.#left.subarray(0, line.length).toString('latin1') === line) return 0
    const at = this.#left.indexOf(`\n${line}`, 0, 'latin1')
    return at < 0 ? -1 : at + 1
  }

  async end(): Promise<void> {
    if (this.#left.length > 0 || (await this.#more()))
      throw broken(this.#path, 'unexpected data after the end')
  }

  #take(length: number): Buffer {
    const taken = this.#left.subarray(0, length)
    this.#sha.update(taken)
    this.#left = this.#left.subarray(length)
    return taken
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    if (done) return false
    this.#left = this.#left.length === 0 ? value : Buffer.concat([this.#left, value])
    if (this.#left.length > LONGEST_LINE) throw broken(this.#path, 'line too long')
    return true
  }
}
