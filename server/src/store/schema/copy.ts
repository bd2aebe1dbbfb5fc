import { once } from 'node:events'
import type { ClientBase, Connection, Submittable } from 'pg'

/** Rows are sent in pieces of this size, not one by one. */
const PIECE_BYTES = 64 * 1024
/** At most this much is buffered for a reader slower than PostgreSQL. */
const HELD_BYTES = 1024 * 1024

/** The part of pg's connection that COPY needs and pg's types omit. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** The output of `copy … to stdout`, in pieces of whole rows; PostgreSQL waits for a slower reader. */
export async function* copyOut(client: ClientBase, sql: string): AsyncGenerator<Buffer, void> {
  const copy = new CopyOut(sql)
  client.query(copy)
  try {
    for (;;) {
      const piece = await copy.next()
      if (piece === null) return
      yield piece
    }
  } finally {
    copy.abandon()
  }
}

class CopyOut implements Submittable {
  readonly text: string
  #connection: Connection | null = null
  #piece = Buffer.allocUnsafe(PIECE_BYTES)
  #filled = 0
  #ready: Buffer[] = []
  #held = 0
  #done = false
  #abandoned = false
  #error: unknown = null
  #wake: () => void = () => {}

  constructor(text: string) {
    this.text = text
  }

  submit(connection: Connection): void {
    this.#connection = connection
    connection.query(this.text)
  }

  /** The bytes are in pg's buffer, which is reused: copy them. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#abandoned) return
    if (this.#filled + chunk.length > this.#piece.length) this.#hand()
    if (chunk.length > this.#piece.length) {
      this.#push(Buffer.from(chunk))
    } else {
      chunk.copy(this.#piece, this.#filled)
      this.#filled += chunk.length
    }
    if (this.#held > HELD_BYTES) this.#connection?.stream.pause()
  }

  #hand(): void {
    if (this.#filled === 0) return
    this.#push(this.#piece.subarray(0, this.#filled))
    this.#piece = Buffer.allocUnsafe(PIECE_BYTES)
    this.#filled = 0
  }

  #push(piece: Buffer): void {
    this.#ready.push(piece)
    this.#held += piece.length
    this.#wake()
  }

  handleCommandComplete(): void {
    this.#hand()
  }

  handleReadyForQuery(): void {
    this.#done = true
    this.#wake()
  }

  handleError(error: unknown): void {
    this.#error = error
    this.#wake()
  }

  async next(): Promise<Buffer | null> {
    for (;;) {
      if (this.#error) throw this.#error
      const piece = this.#ready.shift()
      if (piece) {
        this.#held -= piece.length
        if (this.#held <= HELD_BYTES / 2) this.#connection?.stream.resume()
        return piece
      }
      if (this.#done) return null
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
  }

  /** Discards the rest, so that the connection can be reused or closed. */
  abandon(): void {
    this.#abandoned = true
    this.#ready = []
    this.#connection?.stream.resume()
  }
}

/** Sends pieces to `copy … from stdin`, no faster than PostgreSQL reads them. */
export function copyIn(client: ClientBase, sql: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(sql, pieces, resolve, reject))
  })
}

class CopyIn implements Submittable {
  readonly text: string
  readonly #pieces: AsyncIterable<Buffer>
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  readonly #ended = new AbortController()
  #sourceFailed: { error: unknown } | null = null

  constructor(
    text: string,
    pieces: AsyncIterable<Buffer>,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.text = text
    this.#pieces = pieces
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: Connection): void {
    connection.query(this.text)
  }

  handleCopyInResponse(connection: Connection): void {
    void this.#send(connection as CopyConnection)
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection
    try {
      for await (const piece of this.#pieces) {
        if (this.#ended.signal.aborted) return
        connection.sendCopyFromChunk(piece)
        if (stream.writableNeedDrain)
          await once(stream, 'drain', { signal: this.#ended.signal }).catch(() => {})
      }
      connection.endCopyFrom()
    } catch (error) {
      this.#sourceFailed = { error }
      connection.sendCopyFail('the rows could not be parsed')
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#ended.abort()
    this.#resolve()
  }

  handleError(error: unknown): void {
    this.#ended.abort()
    this.#reject(this.#sourceFailed ? this.#sourceFailed.error : error)
  }
}
