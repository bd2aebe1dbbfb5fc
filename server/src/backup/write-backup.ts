import { createHash } from 'node:crypto'
import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { StartError } from '../domain/errors.ts'
import type { Contents } from './contents.ts'
import { END_OF_ROWS, FORMAT, FORMAT_VERSION, type Summary, type Tail, type Watch } from './format.ts'
import type { Undo } from './reach-database.ts'
import { RowSum, type TableSum } from './row-sum.ts'

/** Fast rather than small. */
const COMPRESSION = 2

const code = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Writes `path` completely or not at all: under another name until all of it is on disk. */
export async function writeBackup(
  path: string,
  contents: Contents,
  watch: Watch,
  undo: Undo,
): Promise<Summary & { bytes: number }> {
  if (await stat(path).catch(() => null)) throw new StartError(`${path} already exists: choose another name.`)
  const partial = `${path}.partial`
  const file = await open(partial, 'wx', 0o600).catch((error) => {
    throw new StartError(
      code(error) === 'EEXIST'
        ? `${partial} exists: another backup is writing it, or one was killed. If none is running, delete it.`
        : `${path} cannot be written (${(error as Error).message}).`,
    )
  })
  undo.push(() => rm(partial, { force: true }))
  try {
    const tables: TableSum[] = []
    await pipeline(
      Readable.from(linesOf(contents, tables, watch), { objectMode: false }),
      createGzip({ level: COMPRESSION }),
      async (compressed: AsyncIterable<Buffer>) => {
        for await (const piece of compressed) await file.writeFile(piece)
      },
    )
    await file.sync()
    const { size } = await file.stat()
    await file.close()
    await giveName(partial, path)
    return { head: contents.head, tables, bytes: size }
  } catch (error) {
    await file.close().catch(() => {})
    await rm(partial, { force: true })
    if (code(error) === 'ENOSPC')
      throw new StartError(`There is no space left for ${path}: nothing was written.`)
    throw error
  }
}

/** Unlike a rename, a link does not replace a file created there in the meantime. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    if (code(error) === 'EEXIST') throw new StartError(`${path} already exists: choose another name.`)
    // Not every file system has links.
    await rename(partial, path)
  }
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}

async function* linesOf(contents: Contents, tables: TableSum[], watch: Watch): AsyncGenerator<Buffer> {
  const sha = createHash('sha256')
  const queue = new Queue<Buffer>()
  const put = async (piece: Buffer) => {
    sha.update(piece)
    await queue.put(piece)
  }
  const line = (value: object) => put(Buffer.from(`${JSON.stringify(value)}\n`))
  const produce = async () => {
    await line({ format: FORMAT, version: FORMAT_VERSION, ...contents.head })
    const sequences = await contents.each(async (table, pieces) => {
      await line({ table: table.name, columns: table.columns })
      const sum = new RowSum(table.name)
      for await (const piece of pieces) {
        sum.add(piece)
        await put(piece)
        watch(sum, false)
      }
      await put(Buffer.from(`${END_OF_ROWS}\n`))
      watch(sum, true)
      tables.push(sum.result())
    })
    const tail: Tail = { tables, sequences, sha256: sha.digest('hex') }
    await queue.put(Buffer.from(`${JSON.stringify(tail)}\n`))
  }
  yield* queue.drain(produce())
}

/** Passes one piece at a time from a producer to a consumer. */
class Queue<T> {
  #waiting: { item: T; taken: () => void } | null = null
  #wake: () => void = () => {}

  put(item: T): Promise<void> {
    return new Promise((taken) => {
      this.#waiting = { item, taken }
      this.#wake()
    })
  }

  async *drain(producer: Promise<void>): AsyncGenerator<T> {
    let ended = false
    let failure: { error: unknown } | null = null
    producer
      .catch((error) => {
        failure = { error }
      })
      .finally(() => {
        ended = true
        this.#wake()
      })
    for (;;) {
      if (this.#waiting) {
        const { item, taken } = this.#waiting
        this.#waiting = null
        yield item
        taken()
      } else if (failure) {
        throw (failure as { error: unknown }).error
      } else if (ended) {
        return
      } else {
        await new Promise<void>((wake) => {
          this.#wake = wake
        })
      }
    }
  }
}
