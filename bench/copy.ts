import type { Client, Connection, Submittable } from 'pg'

/** The part of pg's connection that COPY needs and pg's types omit. */
interface CopyConnection extends Connection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** COPY FROM STDIN, through the hooks that `pg` calls on its running query. */
class CopyIn implements Submittable {
  readonly done: Promise<void>
  readonly #text: string
  readonly #data: Buffer
  #settle: (error: Error | null) => void = () => {}
  #error: Error | null = null

  constructor(text: string, data: Buffer) {
    this.#text = text
    this.#data = data
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => (error ? reject(error) : resolve())
    })
  }

  submit(connection: Connection): void {
    ;(connection as CopyConnection).query(this.#text)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#data)
    connection.endCopyFrom()
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#error = error
    this.#settle(error)
  }

  handleReadyForQuery(): void {
    this.#settle(this.#error)
  }
}

type Value = string | number | boolean | null

/** Copies rows into a table, given as `table (columns)`. */
export async function copyIn(client: Client, into: string, rows: readonly Value[][]): Promise<void> {
  const text = rows.map((row) => row.map(field).join('\t')).join('\n')
  await client.query(new CopyIn(`copy ${into} from stdin`, Buffer.from(`${text}\n`))).done
}

function field(value: Value): string {
  if (value === null) return '\\N'
  return String(value).replace(/[\\\t\n\r]/g, (c) => `\\${{ '\t': 't', '\n': 'n', '\r': 'r' }[c] ?? c}`)
}
