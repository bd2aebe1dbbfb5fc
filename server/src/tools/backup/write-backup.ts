import { createHash } from 'node:crypto'
import type { Contents } from './contents.ts'
import { END_OF_ROWS, FORMAT, FORMAT_VERSION, type Summary, type Tail, type Watch } from './format.ts'
import type { Undo } from './reach-database.ts'
import { RowSum, type TableSum } from './row-sum.ts'
import { type Target, writeWholeFile } from './whole-file.ts'

export async function writeBackup(
  target: Target,
  contents: Contents,
  watch: Watch,
  undo: Undo,
): Promise<Summary & { bytes: number }> {
  const tables: TableSum[] = []
  const bytes = await writeWholeFile(target, linesOf(contents, tables, watch), undo)
  return { head: contents.head, tables, bytes }
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
